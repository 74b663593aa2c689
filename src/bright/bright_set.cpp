// Swaps across the border between bright and dark.
#include "flymc/bright/bright_set.hpp"

#include <limits>
#include <numeric>

#include "flymc/core/error.hpp"

namespace flymc {

BrightSet::BrightSet(RowId rows) {
  if (rows > static_cast<RowId>(std::numeric_limits<std::uint32_t>::max()))
    throw InputError("the two-array bright set holds fewer than 2^32 rows");
  order_.resize(static_cast<std::size_t>(rows));
  std::iota(order_.begin(), order_.end(), 0u);
  place_ = order_;
}

void BrightSet::swap(RowId row, std::uint32_t place) {
  const std::uint32_t from = place_[static_cast<std::size_t>(row)];
  const std::uint32_t other = order_[place];
  order_[place] = static_cast<std::uint32_t>(row);
  order_[from] = other;
  place_[static_cast<std::size_t>(row)] = place;
  place_[other] = from;
}

void BrightSet::brighten(RowId row) {
  if (!is_bright(row)) swap(row, bright_++);
}

void BrightSet::darken(RowId row) {
  if (is_bright(row)) swap(row, --bright_);
}

}  // namespace flymc
