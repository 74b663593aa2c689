// Packs cells into bytes, and unpacks bytes into entries.
#include "flymc/data/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "flymc/core/error.hpp"
#include "flymc/core/within.hpp"

namespace flymc {

namespace {

std::string cells_do_not_suit(Index features) {
  return fmt::format("the levels of its cells do not fit the {} names of its features", features);
}

}  // namespace

Layout::Layout(std::vector<std::string> features, NumberType number_type)
    : Layout(features, number_type, std::vector<Index>(features.size(), 0)) {}

Layout::Layout(std::vector<std::string> features, NumberType number_type, std::vector<Index> levels)
    : names_(std::move(features)), number_type_(number_type), levels_(std::move(levels)) {
  if (names_.empty()) throw InputError("a store needs at least one column of features (an intercept counts)");
  // Subtracts one at a time, because the numbers in a forged file may overflow a sum.
  Index left = this->features();
  for (const Index own : levels_) {
    if (own > left || own < -left || left == 0) throw InputError(cells_do_not_suit(this->features()));
    left -= std::max<Index>(1, std::abs(own));
  }
  if (left != 0) throw InputError(cells_do_not_suit(this->features()));
  set_places();
}

void Layout::set_places() {
  Index first = 0;
  std::size_t given = 0;
  for (Index cell = 0; cell < cells(); ++cell) {
    const Index own = levels_[static_cast<std::size_t>(cell)], count = std::abs(own);
    const auto largest = static_cast<std::uint64_t>(count);
    if (own == 0)
      numbers_.push_back({cell, first, given});
    else
      codes_.push_back({cell, first, count, largest < 256u ? 1u : largest < 65536u ? 2u : 4u, 0, own < 0, given, 0});
    slopes_ += own < 0 ? 1 : 0;
    given += own < 0 ? 2 : 1;
    first_.push_back(first);
    first += std::max<Index>(1, count);
  }
  std::ranges::stable_sort(codes_, std::ranges::greater(), &Code::bytes);
  const std::size_t number = bytes_per_number(number_type_);
  row_bytes_ = numbers_.size() * number;
  for (Code& code : codes_) {
    if (!code.slope) continue;
    code.value_at = row_bytes_;
    row_bytes_ += number;
  }
  for (Code& code : codes_) {
    code.at = row_bytes_;
    row_bytes_ += code.bytes;
  }
  row_bytes_ = (row_bytes_ + number - 1) / number * number;
}

namespace {

double largest_number(NumberType number_type) {
  return number_type == NumberType::float32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
}

}  // namespace

void Layout::check_finite(RowId row, double value, Index feature) const {
  const std::string& name = names_[static_cast<std::size_t>(feature)];
  if (!std::isfinite(value))
    throw InputError(
        fmt::format("row {}, column '{}': {} is not a finite number; drop or fill such rows first", row, name, value));
  if (std::abs(value) > largest_number(number_type_))
    throw InputError(fmt::format("row {}, column '{}': {} does not fit float32; rescale the column or use float64", row,
                                 name, value));
}

void Layout::check(RowId row, std::span<const double> cells, const RowFacts& facts) const {
  if (cells.size() != width())
    throw InputError(
        fmt::format("row {} has {} {}, expected {}", row, cells.size(), coded() ? "cells" : "features", width()));
  const double largest = largest_number(number_type_);
  if (!all_within(cells, largest))
    for (const Number& at : numbers_) check_finite(row, cells[at.at], at.feature);
  for (const Code& code : codes_) {
    const double value = cells[code.given];
    if (!(value >= 0.0 && value <= static_cast<double>(code.levels) && value == std::floor(value)))
      throw InputError(fmt::format("row {}, column '{}': {} is not a code from 0 to {}", row,
                                   names_[static_cast<std::size_t>(code.first)], value, code.levels));
    if (code.slope) check_finite(row, cells[code.given + 1], code.first);
  }
  if (!std::isfinite(facts.target))
    throw InputError(fmt::format("row {}: the target {} is not a finite number", row, facts.target));
  if (!(facts.weight >= 0.0) || !std::isfinite(facts.weight))
    throw InputError(fmt::format("row {}: the weight {} is not a finite number of 0 or more", row, facts.weight));
  if (!std::isfinite(facts.offset))
    throw InputError(fmt::format("row {}: the offset {} is not a finite number", row, facts.offset));
}

namespace {

template <class T>
void put(double value, std::byte* at) {
  const T as = static_cast<T>(value);
  std::memcpy(at, &as, sizeof as);
}

template <class T>
T get(const std::byte* at) {
  T out;
  std::memcpy(&out, at, sizeof out);
  return out;
}

}  // namespace

void Layout::pack(std::span<const double> cells, std::byte* row) const {
  if (!coded() && number_type_ == NumberType::float64) {
    std::memcpy(row, cells.data(), cells.size_bytes());
    return;
  }
  const auto put_number = [&](double value, std::byte* at) {
    number_type_ == NumberType::float64 ? put<double>(value, at) : put<float>(value, at);
  };
  std::byte* at = row;
  for (const Number& number : numbers_) {
    put_number(cells[number.at], at);
    at += bytes_per_number(number_type_);
  }
  std::fill(at, row + row_bytes_, std::byte{0});  // the padding is the same in every file
  for (const Code& code : codes_) {
    const double value = cells[code.given];
    code.bytes == 1   ? put<std::uint8_t>(value, row + code.at)
    : code.bytes == 2 ? put<std::uint16_t>(value, row + code.at)
                      : put<std::uint32_t>(value, row + code.at);
    if (code.slope) put_number(cells[code.given + 1], row + code.value_at);
  }
}

template <class Scalar>
void Layout::unpack_numbers(const std::byte* from, Index count, Index cell, double* value) const {
  for (value += cell; count > 0; --count, from += row_bytes_, value += cells())
    *value = static_cast<double>(get<Scalar>(from));
}

template <class Kept>
void Layout::unpack_codes(const Code& code, const std::byte* rows, Index count, std::int32_t* feature,
                          double* value) const {
  const Index width = cells();
  const auto first = static_cast<std::int32_t>(code.first);
  const auto levels = static_cast<std::uint32_t>(code.levels);
  const std::byte* from = rows + code.at;
  for (Index i = code.cell, end = code.cell + count * width; i < end; i += width, from += row_bytes_) {
    // A code in a damaged file must not lead outside of the features.
    const auto c = static_cast<std::int32_t>(std::min<std::uint32_t>(get<Kept>(from), levels));
    const std::int32_t some = c > 0 ? 1 : 0;
    feature[i] = first + c - some;
    value[i] = some;
  }
}

// Goes column by column, so that a column's facts are looked up once and not for each row.
void Layout::unpack(const std::byte* rows, Index count, std::int32_t* feature, double* value) const {
  const bool wide = number_type_ == NumberType::float64;
  const std::byte* at = rows;
  for (const Number& number : numbers_) {
    for (Index i = 0; i < count; ++i) feature[i * cells() + number.cell] = static_cast<std::int32_t>(number.feature);
    wide ? unpack_numbers<double>(at, count, number.cell, value) : unpack_numbers<float>(at, count, number.cell, value);
    at += bytes_per_number(number_type_);
  }
  for (const Code& code : codes_) {
    code.bytes == 1   ? unpack_codes<std::uint8_t>(code, rows, count, feature, value)
    : code.bytes == 2 ? unpack_codes<std::uint16_t>(code, rows, count, feature, value)
                      : unpack_codes<std::uint32_t>(code, rows, count, feature, value);
    if (!code.slope) continue;
    for (Index i = 0; i < count; ++i) {
      const std::byte* from = rows + static_cast<std::size_t>(i) * row_bytes_ + code.value_at;
      double& own = value[i * cells() + code.cell];
      if (own != 0.0) own = wide ? get<double>(from) : static_cast<double>(get<float>(from));
    }
  }
}

void Layout::entries(std::span<const double> cells, std::int32_t* feature, double* value) const {
  for (const Number& number : numbers_) {
    feature[number.cell] = static_cast<std::int32_t>(number.feature);
    value[number.cell] = cells[number.at];
  }
  for (const Code& code : codes_) {
    const auto c = static_cast<Index>(cells[code.given]);
    feature[code.cell] = static_cast<std::int32_t>(code.first + std::max<Index>(c - 1, 0));
    value[code.cell] = c == 0 ? 0.0 : code.slope ? cells[code.given + 1] : 1.0;
  }
}

void Layout::expand(std::span<const double> cells, std::span<double> features) const {
  std::ranges::fill(features, 0.0);
  for (const Number& number : numbers_) features[static_cast<std::size_t>(number.feature)] = cells[number.at];
  for (const Code& code : codes_)
    if (const auto c = static_cast<Index>(cells[code.given]); c > 0)
      features[static_cast<std::size_t>(code.first + c - 1)] = code.slope ? cells[code.given + 1] : 1.0;
}

}  // namespace flymc
