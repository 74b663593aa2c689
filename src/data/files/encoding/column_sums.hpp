// The sums that one pass keeps of a column: moments, levels, and a hash that detects equal columns.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flymc/core/exact_sum.hpp"
#include "flymc/core/linear.hpp"

namespace flymc {

// A sum over rows of a hash of (key of the row, value), zero for the value 0. Because it is a sum, the 0/1 column of a
// level costs no time in rows where it is 0. It has 64 bits, so two different columns agree with probability 5e-20.
struct ColumnHash {
  std::uint64_t sum = 0;
  void add(std::uint64_t row, double value) {
    if (value == 0.0) return;
    const std::uint64_t key[2] = {row, std::bit_cast<std::uint64_t>(value)};
    sum += XXH3_64bits(key, sizeof key);
  }
  ColumnHash& operator+=(const ColumnHash& other) {
    sum += other.sum;
    return *this;
  }
  auto operator<=>(const ColumnHash&) const = default;
};

// Sums of numbers, in any order: sums without rounding, so that the result does not depend on batches, threads or
// ranks. A number counts with the weight of its row.
struct NumberSums {
  ExactSum count;
  double minimum = std::numeric_limits<double>::infinity(), maximum = -minimum;
  ExactSum sum, squares;
  ColumnHash hash;
  std::int64_t rows = 0;  // rows that were added with a weight
  void add(std::uint64_t row, double value, double weight) {
    ++rows;
    count.add(weight);
    sum.add_product(weight, value);
    const double product = weight * value;  // its rounding error is added below, which makes the squares exact
    squares.add_product(product, value);
    squares.add_product(std::fma(weight, value, -product), value);
    add_to_rest(row, value);
  }
  // Adds a number of weight 1; the caller adds to the count.
  void add_uncounted(std::uint64_t row, double value) {
    sum.add(value);
    squares.add_product(value, value);
    add_to_rest(row, value);
  }
  // Adds many such numbers; key(i) is the key of the row of values[i].
  template <class Key>
  void add_uncounted(const Key& key, std::span<const double> values) {
    ExactSum::add_moments(values, sum, squares);
    NumberSums rest;  // in registers
    for (std::size_t i = 0; i < values.size(); ++i) rest.add_to_rest(key(i), values[i]);
    minimum = std::min(minimum, rest.minimum);
    maximum = std::max(maximum, rest.maximum);
    hash += rest.hash;
  }
  NumberSums& operator+=(const NumberSums& other) {
    count += other.count;
    minimum = std::min(minimum, other.minimum);
    maximum = std::max(maximum, other.maximum);
    sum += other.sum;
    squares += other.squares;
    hash += other.hash;
    rows += other.rows;
    return *this;
  }
  void add_to_rest(std::uint64_t row, double value) {
    minimum = std::min(minimum, value);
    maximum = std::max(maximum, value);
    hash.add(row, value);
  }
  // For sending to other ranks, bit for bit.
  nlohmann::json to_json();
  static NumberSums from_json(const nlohmann::json& value);
  double mean() const { return sum.value() / count.value(); }
  // sqrt((count squares - sum^2) / (count (count - 1))). The difference takes each sum as three doubles, because its
  // two terms agree in their first digits if the numbers are far from 0. Weights whose sum is less than the number of
  // rows, such as weights that sum to 1, are scaled to that number, because the deviation must not depend on their
  // unit.
  double deviation() const {
    const double n = count.value();
    if (!(n > 0.0)) return 0.0;
    const double numbers = std::max(n, static_cast<double>(rows));
    const auto parts = [](ExactSum left) {
      std::array<double, 3> out;
      for (double& part : out) {
        part = left.value();
        left.add(-part);
      }
      return out;
    };
    ExactSum difference;
    const auto of_sum = parts(sum), of_squares = parts(squares);
    for (const double one : parts(count))
      for (const double other : of_squares) difference.add_product(one, other);
    for (const double one : of_sum)
      for (const double other : of_sum) difference.add_product(-one, other);
    return std::sqrt(std::max(0.0, difference.value()) / n / std::max(numbers - 1.0, 0.5 * numbers) * (numbers / n));
  }
};

// Levels in the order in which they appear.
struct LevelSums {
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> index;
  std::vector<ColumnHash> hashes;
  std::vector<std::int64_t> rows;
  std::vector<std::string> first_cells;  // the cell of each level's first occurrence

  std::size_t level(std::string_view text) {
    const auto found = index.find(text);
    if (found != index.end()) return found->second;
    hashes.emplace_back();
    rows.push_back(0);
    return index.emplace(std::string(text), hashes.size() - 1).first->second;
  }
  // Adds the levels of later rows.
  LevelSums& operator+=(const LevelSums& other) {
    std::vector<const std::string*> in_order(other.hashes.size());
    for (const auto& [text, at] : other.index) in_order[at] = &text;
    for (std::size_t l = 0; l < in_order.size(); ++l) {
      const std::size_t at = level(*in_order[l]);
      hashes[at] += other.hashes[l];
      rows[at] += other.rows[l];
      if (first_cells.size() < hashes.size()) first_cells.push_back(other.first_cells[l]);
    }
    return *this;
  }
  std::vector<std::string> sorted() const {
    std::vector<std::string> levels;
    for (const auto& [text, at] : index) levels.push_back(text);
    std::ranges::sort(levels);
    return levels;
  }
};

}  // namespace flymc
