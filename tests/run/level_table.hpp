// A table with one level of a category, whose rows all have target 1.
#pragma once

#include "flymc/data/store.hpp"

namespace flymc {

// An intercept and the level's column; three in ten of the other rows have target 1.
template <class InLevel>
Store level_of_ones(RowId rows, const InLevel& in_level) {
  RowMatrix x = RowMatrix::Zero(rows, 2);
  Vector y(rows);
  for (RowId i = 0; i < rows; ++i) {
    x(i, 0) = 1.0;
    x(i, 1) = in_level(i) ? 1.0 : 0.0;
    y[i] = in_level(i) || i % 10 < 3 ? 1.0 : 0.0;
  }
  return Store::from_matrix(x, y);
}

}  // namespace flymc
