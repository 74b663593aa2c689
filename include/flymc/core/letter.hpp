// Letters between ranks: values written as bytes, one after the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

namespace flymc {

template <class T>
void put(std::vector<std::byte>& letter, std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  letter.insert(letter.end(), bytes.begin(), bytes.end());
}

// Moves `count` values from the front of the letter to the end of `out`. Throws if the letter is too short.
template <class T>
void take(std::span<const std::byte>& letter, std::size_t count, std::vector<T>& out) {
  const std::size_t old = out.size();
  out.resize(old + count);
  const auto bytes = std::as_writable_bytes(std::span(out).subspan(old));
  if (letter.size() < bytes.size()) throw std::runtime_error("ranks are at different places: a letter is too short");
  std::copy_n(letter.begin(), bytes.size(), bytes.begin());
  letter = letter.subspan(bytes.size());
}

}  // namespace flymc
