// The set as a list, and as arrays in which rows are swapped across the border between bright and dark.
#include "flymc/bright/bright_set.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace flymc {
namespace {

constexpr RowId small_table = 4096;
constexpr RowId sparse = 64;  // the list is used below one bright row in this many

bool fits_arrays(RowId rows) { return rows <= static_cast<RowId>(std::numeric_limits<std::uint32_t>::max()); }

}  // namespace

BrightSet::BrightSet(RowId rows) : rows_(rows) {
  if (rows <= small_table) move_to_arrays();
}

void BrightSet::move_to_arrays() {
  order_.resize(static_cast<std::size_t>(rows_));
  std::iota(order_.begin(), order_.end(), 0u);
  place_ = order_;
  for (RowId i = 0; i < bright_; ++i) swap(list_[static_cast<std::size_t>(i)], i);
  in_arrays_ = true;
  list_ = {};
  position_ = {};
}

void BrightSet::swap(RowId row, RowId place) {
  const std::uint32_t from = place_[static_cast<std::size_t>(row)];
  const std::uint32_t other = order_[static_cast<std::size_t>(place)];
  order_[static_cast<std::size_t>(place)] = static_cast<std::uint32_t>(row);
  order_[from] = other;
  place_[static_cast<std::size_t>(row)] = static_cast<std::uint32_t>(place);
  place_[other] = from;
}

RowId BrightSet::dark(RowId i) const {
  if (in_arrays_) return order_[static_cast<std::size_t>(bright_ + i)];
  std::vector<RowId> sorted = list_;
  std::sort(sorted.begin(), sorted.end());
  RowId row = i;
  for (const RowId bright : sorted) row += bright <= row ? 1 : 0;
  return row;
}

void BrightSet::brighten(RowId row) {
  if (is_bright(row)) return;
  if (!in_arrays_ && bright_ >= rows_ / sparse && fits_arrays(rows_)) move_to_arrays();
  if (in_arrays_) {
    swap(row, bright_);
  } else {
    list_.push_back(row);
    position_[row] = bright_;
  }
  ++bright_;
}

void BrightSet::darken(RowId row) {
  if (!is_bright(row)) return;
  --bright_;
  if (in_arrays_) {
    swap(row, bright_);
    return;
  }
  const RowId place = position_[row];
  list_[static_cast<std::size_t>(place)] = list_.back();
  position_[list_.back()] = place;
  position_.erase(row);
  list_.pop_back();
}

}  // namespace flymc
