// The layout of a row: which features its cells become, and where they are stored.
//
// A cell is a number, which is one feature, or a code, which stands for many: code 0 sets none of them, and code c sets
// the c-th to 1 and the others to 0. So a category of 300 levels takes a byte or two instead of 300 numbers, and a row
// has at most as many nonzero entries as cells. A slope is a code with a number of its own in place of the 1: a column
// of numbers that has a coefficient for each of 300 levels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "flymc/core/linear.hpp"
#include "flymc/data/facts.hpp"

namespace flymc {

// How numbers are stored. Targets and all arithmetic are double either way.
enum class NumberType { float64, float32 };

constexpr std::size_t bytes_per_number(NumberType number_type) {
  return number_type == NumberType::float64 ? sizeof(double) : sizeof(float);
}

// A row without codes: its features, contiguous.
template <class Scalar>
struct Numbers {
  Numbers(const std::byte* row, Index count) : x(reinterpret_cast<const Scalar*>(row)), features(count) {}
  const Scalar* x;
  Index features;
};

template <class Scalar>
double dot(const Numbers<Scalar>& row, const double* theta) {
  return dot(row.x, theta, row.features);
}
template <class Scalar>
void add_scaled(double weight, const Numbers<Scalar>& row, double* out) {
  add_scaled(weight, row.x, out, row.features);
}
template <class Scalar>
double value_of(const Numbers<Scalar>& row, Index feature) {
  return static_cast<double>(row.x[feature]);
}

// The possibly nonzero entries of rows, `cells` per row: the feature, and its value. Features ascend within a row;
// where a code is 0 the value is 0.
struct Entries {
  const std::int32_t* feature = nullptr;
  const double* value = nullptr;
  Index cells = 0;
  Entries row(Index i) const { return {feature + i * cells, value + i * cells, cells}; }
};

// x'theta of one row.
inline double dot(const Entries& row, const double* theta) {
  double sum = 0.0;
  for (Index e = 0; e < row.cells; ++e) sum += row.value[e] * theta[row.feature[e]];
  return sum;
}

// out += weight x of one row.
inline void add_scaled(double weight, const Entries& row, double* out) {
  for (Index e = 0; e < row.cells; ++e) out[row.feature[e]] += weight * row.value[e];
}

inline double value_of(const Entries& row, Index feature) {
  double sum = 0.0;
  for (Index e = 0; e < row.cells; ++e) sum += row.feature[e] == feature ? row.value[e] : 0.0;
  return sum;
}

class Layout {
 public:
  Layout() = default;
  // Every feature is a number.
  explicit Layout(std::vector<std::string> features, NumberType number_type = NumberType::float64);
  // Cells are in the order of their features. `levels` has, for each cell, the number of features that a code stands
  // for, minus that number for a slope, or 0 for a number. Throws InputError if they do not add up to all features.
  Layout(std::vector<std::string> features, NumberType number_type, std::vector<Index> levels);

  const std::vector<std::string>& names() const { return names_; }
  Index features() const { return static_cast<Index>(names_.size()); }
  NumberType number_type() const { return number_type_; }
  Index cells() const { return static_cast<Index>(levels_.size()); }
  const std::vector<Index>& levels() const { return levels_; }
  // How many numbers represent the cells of a row: one each, and two for a slope, its code and its number.
  std::size_t width() const { return levels_.size() + slopes_; }
  bool has_slopes() const { return slopes_ > 0; }
  // The feature of a number; the first feature of a code.
  Index feature(Index cell) const { return first_[static_cast<std::size_t>(cell)]; }
  // Whether some cell is a code. If not, a row is its features, contiguous.
  bool coded() const { return !codes_.empty(); }
  // The size of a row: its numbers, then its codes with the wide ones first, padded to a multiple of a number.
  std::size_t row_bytes() const { return row_bytes_; }
  bool operator==(const Layout& other) const {
    return names_ == other.names_ && levels_ == other.levels_ && number_type_ == other.number_type_;
  }

  // Throws InputError, naming row and column, if there are not width() numbers, a number is not finite or does not fit
  // the number type, a code is not one of the levels, a fact is not finite, or a weight is negative.
  void check(RowId row, std::span<const double> cells, const RowFacts& facts) const;
  // Writes cells that have been checked to row_bytes() bytes.
  void pack(std::span<const double> cells, std::byte* row) const;
  // Reads the entries of `count` consecutive rows, cells() per row.
  void unpack(const std::byte* rows, Index count, std::int32_t* feature, double* value) const;
  // The entries of a row given as cells.
  void entries(std::span<const double> cells, std::int32_t* feature, double* value) const;
  // All features of a row given as cells.
  void expand(std::span<const double> cells, std::span<double> features) const;

 private:
  struct Number {
    Index cell = 0, feature = 0;
    std::size_t at = 0;  // index among the numbers that represent the cells
  };
  struct Code {
    Index cell = 0, first = 0, levels = 0;  // code c is feature first + c - 1
    std::size_t bytes = 1, at = 0;          // place in the row
    bool slope = false;
    std::size_t given = 0;     // index among the numbers that represent the cells; the number of a slope follows
    std::size_t value_at = 0;  // place of a slope's number in the row
  };
  void set_places();
  // Read one cell of `count` rows.
  template <class Scalar>
  void unpack_numbers(const std::byte* from, Index count, Index cell, double* value) const;
  template <class Kept>
  void unpack_codes(const Code& code, const std::byte* rows, Index count, std::int32_t* feature, double* value) const;
  void check_finite(RowId row, double value, Index feature) const;

  std::vector<std::string> names_;
  NumberType number_type_ = NumberType::float64;
  std::vector<Index> levels_, first_;
  std::vector<Number> numbers_;
  std::vector<Code> codes_;  // in the order of the row
  std::size_t row_bytes_ = 0, slopes_ = 0;
};

}  // namespace flymc
