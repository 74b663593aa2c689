// The average gap of each row, in one byte: sweeps by rows propose rows in proportion to it.
#pragma once

#include <cstdint>
#include <vector>

#include "flymc/core/linear.hpp"

namespace flymc {

// Rounded up to quarter powers of two, from 2^-62 to 2. Level 0 marks rows without a z. A sweep is exact with any
// number per row that stays the same. A rank has the gaps of its own rows, from `first` on.
class ExpectedGaps {
 public:
  ExpectedGaps() = default;  // not known
  explicit ExpectedGaps(RowId rows, RowId first = 0)
      : ExpectedGaps(std::vector<std::uint8_t>(static_cast<std::size_t>(rows)), first) {}
  explicit ExpectedGaps(std::vector<std::uint8_t> levels, RowId first = 0)
      : known_(true), first_(first), levels_(std::move(levels)) {}

  bool known() const { return known_; }
  RowId first() const { return first_; }
  RowId rows() const { return static_cast<RowId>(levels_.size()); }
  bool has(RowId row) const { return first_ <= row && row < first_ + rows(); }
  void set(RowId row, double gap) { levels_[static_cast<std::size_t>(row - first_)] = level_of(gap); }
  // Marks a row that has no z, and so no gap.
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
