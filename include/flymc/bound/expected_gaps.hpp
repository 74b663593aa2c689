// The gap that a row has on average, in one byte per row: what tells a sweep which rows are worth a look.
#pragma once

#include <cstdint>
#include <vector>

#include "flymc/core/linear.hpp"

namespace flymc {

// Rounded up to quarter powers of two, from 2^-62 to 2; level 0 is of rows without a z. A sweep may use any number per
// row, as long as it is always the same one. A rank knows those of its own rows, from the first on.
class ExpectedGaps {
 public:
  ExpectedGaps() = default;  // there are none
  explicit ExpectedGaps(RowId rows, RowId first = 0)
      : ExpectedGaps(std::vector<std::uint8_t>(static_cast<std::size_t>(rows)), first) {}
  explicit ExpectedGaps(std::vector<std::uint8_t> levels, RowId first = 0)
      : known_(true), first_(first), levels_(std::move(levels)) {}

  bool known() const { return known_; }
  RowId first() const { return first_; }
  RowId rows() const { return static_cast<RowId>(levels_.size()); }
  bool has(RowId row) const { return first_ <= row && row < first_ + rows(); }
  void set(RowId row, double gap) { levels_[static_cast<std::size_t>(row - first_)] = level_of(gap); }
  // The row has no z, and so no gap.
  void forget(RowId row) { levels_[static_cast<std::size_t>(row - first_)] = 0; }
  std::uint8_t level(RowId row) const { return levels_[static_cast<std::size_t>(row - first_)]; }
  const std::vector<std::uint8_t>& levels() const { return levels_; }

  // The gap that a level stands for.
  static double value(std::uint8_t level);
  static std::uint8_t level_of(double gap);

 private:
  bool known_ = false;
  RowId first_ = 0;
  std::vector<std::uint8_t> levels_;
};

}  // namespace flymc
