// The paper's structure for z: which rows are bright, with every question answered in O(1).
#pragma once

#include <cstdint>
#include <vector>

#include "flymc/core/linear.hpp"

namespace flymc {

// Two arrays of N numbers, 8 bytes per row: `order_` holds every row once, bright rows first; `place_` says where in it
// a row stands. Rows must number fewer than 2^32.
class BrightSet {
 public:
  // All rows dark.
  explicit BrightSet(RowId rows);

  RowId rows() const { return static_cast<RowId>(order_.size()); }
  RowId bright_count() const { return bright_; }
  RowId dark_count() const { return rows() - bright_; }
  bool is_bright(RowId row) const { return place_[static_cast<std::size_t>(row)] < bright_; }
  // The i-th bright or dark row, in an order that changes only when a row changes.
  RowId bright(RowId i) const { return order_[static_cast<std::size_t>(i)]; }
  RowId dark(RowId i) const { return order_[static_cast<std::size_t>(bright_ + i)]; }
  // Where among the bright rows a bright row stands: bright(position(row)) == row.
  RowId position(RowId row) const { return place_[static_cast<std::size_t>(row)]; }

  // A dark row becomes the last bright one. No change if it is bright.
  void brighten(RowId row);
  // A bright row becomes dark, and the last bright row takes its position. No change if it is dark.
  void darken(RowId row);

 private:
  void swap(RowId row, std::uint32_t place);

  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> place_;
  std::uint32_t bright_ = 0;
};

}  // namespace flymc
