// A subsample of the rows, with weights that make its log likelihood an estimate of the table's.
#pragma once

#include <cstdint>
#include <vector>

#include "flymc/comm/execution.hpp"
#include "flymc/model/model.hpp"

namespace flymc {

struct Subsample {
  Store store;                  // copies of the rows, in the order of the table
  std::vector<RowId> rows;      // which they are: distinct, ascending
  std::vector<double> weights;  // how many rows of the table each stands for
};

// Rows that are enough for an anchor, n_0 of find_anchor_by_subsample. 20,000 is cheap for any table.
RowId subsample_size(RowId rows, Index features);

// Draws about `size` rows without replacement, so that neither a rare class nor a rare column is lost.
//
// Classes: if the family's targets are classes, each gets an equal share of `size`, and what a class is too small to
// use goes to the larger ones. A rare class comes whole, and no class that has a row is left out. A row of a class of
// which n of N rows were drawn stands for N / n rows. Any shares would make sum_n weight_n l_n right in the mean; equal
// ones keep its variance small, because the few rows of a rare class tell about as much as all the others together.
//
// Columns: a row that stands for w rows makes up w x_j^2 / sum_n weight_n x_nj^2 of what the subsample knows about
// column j. Rows of the table for which that would exceed 1 / 50 for some column, such as all the rows of a rare level,
// come whole, beyond `size`, and stand for themselves alone. At most 50 D N / size such rows are to be expected.
//
// It reads targets and features, and no likelihood: no query. The rows depend on the seed and the table alone.
Subsample draw_subsample(const Store& store, const Model& model, const Execution& execution, RowId size,
                         std::uint64_t seed);

}  // namespace flymc
