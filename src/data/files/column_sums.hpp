// What one pass keeps of a column: moments, levels, and a hash by which equal columns are known.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flymc/core/linear.hpp"

namespace flymc {

// A sum over rows of a hash of (row, value), zero for the value 0. Being a sum, a level's 0/1 column costs nothing in
// the rows where it is 0; having 128 bits, two columns that differ agree with probability 3e-39.
struct ColumnHash {
  std::uint64_t low = 0, high = 0;
  void add(RowId row, double value) {
    if (value == 0.0) return;
    const std::uint64_t key[2] = {static_cast<std::uint64_t>(row), std::bit_cast<std::uint64_t>(value)};
    const XXH128_hash_t hash = XXH3_128bits(key, sizeof key);
    low += hash.low64;
    high += hash.high64;
  }
  auto operator<=>(const ColumnHash&) const = default;
};

// Numbers in the order of the rows, by Welford's update, so that the result does not depend on batches.
struct NumberSums {
  RowId count = 0;
  double minimum = std::numeric_limits<double>::infinity(), maximum = -minimum;
  double mean = 0.0, squares = 0.0;
  ColumnHash hash;
  void add(RowId row, double value) {
    ++count;
    minimum = std::min(minimum, value);
    maximum = std::max(maximum, value);
    const double step = value - mean;
    mean += step / static_cast<double>(count);
    squares += step * (value - mean);
    hash.add(row, value);
  }
  double deviation() const { return count > 1 ? std::sqrt(squares / static_cast<double>(count - 1)) : 0.0; }
};

// Levels in the order in which they appear.
struct LevelSums {
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> index;
  std::vector<ColumnHash> hashes;
  std::vector<std::string> places;  // where each was met first

  std::size_t level(std::string_view text) {
    const auto found = index.find(text);
    if (found != index.end()) return found->second;
    hashes.emplace_back();
    return index.emplace(std::string(text), hashes.size() - 1).first->second;
  }
  std::vector<std::string> sorted() const {
    std::vector<std::string> levels;
    for (const auto& [text, at] : index) levels.push_back(text);
    std::ranges::sort(levels);
    return levels;
  }
};

}  // namespace flymc
