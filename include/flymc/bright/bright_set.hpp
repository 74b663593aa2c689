// z: the set of bright rows, with every query of a chain in O(1).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "flymc/core/linear.hpp"

namespace flymc {

// Two representations of one set, which differ only in memory. While few rows are bright, a list of them and a hash map
// of their positions: O(bright rows). When more than one in 64 is bright, the paper's two arrays of N numbers, 8 bytes
// per row: `order_` holds every row once, bright rows first; `place_` holds each row's index in it. Small tables begin
// with the arrays; tables of 2^32 rows and more never use them.
class BrightSet {
 public:
  // All rows dark.
  explicit BrightSet(RowId rows);

  RowId rows() const { return rows_; }
  RowId bright_count() const { return bright_; }
  RowId dark_count() const { return rows_ - bright_; }
  bool is_bright(RowId row) const {
    return in_arrays_ ? place_[static_cast<std::size_t>(row)] < bright_ : position_.count(row) > 0;
  }
  // The i-th bright row, in an order that changes only when a row changes.
  RowId bright(RowId i) const {
    return in_arrays_ ? order_[static_cast<std::size_t>(i)] : list_[static_cast<std::size_t>(i)];
  }
  // The i-th dark row, in such an order. O(1) in the arrays; a search among the bright rows in the list.
  RowId dark(RowId i) const;
  // The index of a bright row among the bright rows: bright(position(row)) == row.
  RowId position(RowId row) const {
    return in_arrays_ ? RowId{place_[static_cast<std::size_t>(row)]} : position_.find(row)->second;
  }

  // A dark row becomes the last bright one. No change if it is bright.
  void brighten(RowId row);
  // A bright row becomes dark, and the last bright row takes its position. No change if it is dark.
  void darken(RowId row);

 private:
  void move_to_arrays();
  void swap(RowId row, RowId place);

  RowId rows_;
  RowId bright_ = 0;
  bool in_arrays_ = false;
  std::vector<RowId> list_;
  std::unordered_map<RowId, RowId> position_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> place_;
};

}  // namespace flymc
