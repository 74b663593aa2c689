// The gap that a row has on average, in one byte per row: what tells a sweep which rows are worth a look.
#pragma once

#include <cstdint>
#include <vector>

#include "flymc/core/linear.hpp"

namespace flymc {

// Rounded up to quarter powers of two, from 2^-63 to 2. A sweep may use any number per row, as long as it is always the
// same one.
class ExpectedGaps {
 public:
  ExpectedGaps() = default;  // of no rows
  explicit ExpectedGaps(RowId rows) : levels_(static_cast<std::size_t>(rows)) {}
  explicit ExpectedGaps(std::vector<std::uint8_t> levels) : levels_(std::move(levels)) {}

  RowId rows() const { return static_cast<RowId>(levels_.size()); }
  bool empty() const { return levels_.empty(); }
  void set(RowId row, double gap) { levels_[static_cast<std::size_t>(row)] = level_of(gap); }
  std::uint8_t level(RowId row) const { return levels_[static_cast<std::size_t>(row)]; }
  const std::vector<std::uint8_t>& levels() const { return levels_; }

  // The gap that a level stands for.
  static double value(std::uint8_t level);
  static std::uint8_t level_of(double gap);

 private:
  std::vector<std::uint8_t> levels_;
};

}  // namespace flymc
