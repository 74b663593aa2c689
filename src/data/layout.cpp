// Cells to bytes, and back to entries.
#include "flymc/data/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "flymc/core/error.hpp"

namespace flymc {

Layout::Layout(std::vector<std::string> features, Precision precision)
    : Layout(features, precision, std::vector<Index>(features.size(), 0)) {}

Layout::Layout(std::vector<std::string> features, Precision precision, std::vector<Index> levels)
    : names_(std::move(features)), precision_(precision), levels_(std::move(levels)) {
  if (names_.empty()) throw InputError("a store needs at least one column of features (an intercept counts)");
  const bool negative = std::ranges::any_of(levels_, [](Index own) { return own < 0; });
  const Index all = std::transform_reduce(levels_.begin(), levels_.end(), Index{0}, std::plus<>(),
                                          [](Index own) { return std::max<Index>(1, own); });
  if (negative || all != this->features())
    throw InputError(fmt::format("cells of {} features do not suit {} names", all, this->features()));
  set_places();
}

void Layout::set_places() {
  Index first = 0;
  for (Index cell = 0; cell < cells(); ++cell) {
    const Index own = levels_[static_cast<std::size_t>(cell)];
    const auto largest = static_cast<std::uint64_t>(own);
    if (own == 0)
      numbers_.push_back({cell, first});
    else
      codes_.push_back({cell, first, own, largest < 256u ? 1u : largest < 65536u ? 2u : 4u, 0});
    first_.push_back(first);
    first += std::max<Index>(1, own);
  }
  std::ranges::stable_sort(codes_, std::ranges::greater(), &Code::bytes);
  const std::size_t number = bytes_per_number(precision_);
  row_bytes_ = numbers_.size() * number;
  for (Code& code : codes_) {
    code.at = row_bytes_;
    row_bytes_ += code.bytes;
  }
  row_bytes_ = (row_bytes_ + number - 1) / number * number;
}

void Layout::check(RowId row, std::span<const double> cells, const RowFacts& facts) const {
  if (cells.size() != levels_.size())
    throw InputError(fmt::format("row {} has {} {}, expected {}", row, cells.size(), coded() ? "cells" : "features",
                                 levels_.size()));
  const double largest =
      precision_ == Precision::float32 ? static_cast<double>(std::numeric_limits<float>::max()) : HUGE_VAL;
  for (const Number& at : numbers_) {
    const double value = cells[static_cast<std::size_t>(at.cell)];
    const std::string& name = names_[static_cast<std::size_t>(at.feature)];
    if (!std::isfinite(value))
      throw InputError(fmt::format("row {}, column '{}': {} is not a finite number; drop or fill such rows first", row,
                                   name, value));
    if (std::abs(value) > largest)
      throw InputError(fmt::format("row {}, column '{}': {} does not fit float32; rescale the column or use float64",
                                   row, name, value));
  }
  for (const Code& code : codes_) {
    const double value = cells[static_cast<std::size_t>(code.cell)];
    if (!(value >= 0.0 && value <= static_cast<double>(code.levels) && value == std::floor(value)))
      throw InputError(fmt::format("row {}, column '{}': {} is not a code from 0 to {}", row,
                                   names_[static_cast<std::size_t>(code.first)], value, code.levels));
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
  if (!coded() && precision_ == Precision::float64) {
    std::memcpy(row, cells.data(), cells.size_bytes());
    return;
  }
  std::byte* at = row;
  for (const Number& number : numbers_) {
    const double value = cells[static_cast<std::size_t>(number.cell)];
    precision_ == Precision::float64 ? put<double>(value, at) : put<float>(value, at);
    at += bytes_per_number(precision_);
  }
  std::fill(at, row + row_bytes_, std::byte{0});  // what is left over at the end is the same in every file
  for (const Code& code : codes_) {
    const double value = cells[static_cast<std::size_t>(code.cell)];
    code.bytes == 1   ? put<std::uint8_t>(value, row + code.at)
    : code.bytes == 2 ? put<std::uint16_t>(value, row + code.at)
                      : put<std::uint32_t>(value, row + code.at);
  }
}

void Layout::unpack(const std::byte* row, std::int32_t* feature, double* value) const {
  const std::byte* at = row;
  for (const Number& number : numbers_) {
    feature[number.cell] = static_cast<std::int32_t>(number.feature);
    value[number.cell] = precision_ == Precision::float64 ? get<double>(at) : static_cast<double>(get<float>(at));
    at += bytes_per_number(precision_);
  }
  for (const Code& code : codes_) {
    const std::byte* from = row + code.at;
    const std::uint32_t kept = code.bytes == 1   ? get<std::uint8_t>(from)
                               : code.bytes == 2 ? get<std::uint16_t>(from)
                                                 : get<std::uint32_t>(from);
    // One that a damaged file has must not lead anywhere else.
    const auto c = static_cast<std::int32_t>(std::min(kept, static_cast<std::uint32_t>(code.levels)));
    const std::int32_t some = c > 0 ? 1 : 0;
    feature[code.cell] = static_cast<std::int32_t>(code.first) + c - some;
    value[code.cell] = some;
  }
}

void Layout::entries(std::span<const double> cells, std::int32_t* feature, double* value) const {
  for (std::size_t e = 0; e < cells.size(); ++e) {
    const bool code = levels_[e] > 0, some = code && cells[e] > 0.0;
    feature[e] = static_cast<std::int32_t>(first_[e] + (some ? static_cast<Index>(cells[e]) - 1 : 0));
    value[e] = code ? (some ? 1.0 : 0.0) : cells[e];
  }
}

void Layout::expand(std::span<const double> cells, std::span<double> features) const {
  std::ranges::fill(features, 0.0);
  for (std::size_t e = 0; e < cells.size(); ++e) {
    if (levels_[e] == 0) features[static_cast<std::size_t>(first_[e])] = cells[e];
    if (levels_[e] > 0 && cells[e] > 0.0)
      features[static_cast<std::size_t>(first_[e]) + static_cast<std::size_t>(cells[e]) - 1] = 1.0;
  }
}

}  // namespace flymc
