// A subsample of the rows, with weights that make its log likelihood an estimate of the table's.
#pragma once

#include <cstdint>
#include <vector>

#include "flymc/comm/execution.hpp"
#include "flymc/model/model.hpp"

namespace flymc {

struct Subsample {
  Store store;                  // copies of the rows, in the order of the table
  std::vector<RowId> rows;      // their ids: distinct, ascending
  std::vector<double> weights;  // the number of rows of the table that each stands for
};

// The number of rows that suffices for an anchor, n_0 of find_anchor_by_subsample. 20,000 is cheap for any table.
RowId subsample_size(RowId rows, Index features);

// Draws about `size` rows without replacement, so that rare classes and rare columns are represented.
//
// Classes: if the family's targets are classes, each gets an equal share of `size`; if a class has fewer rows, the
// larger classes share the remainder. A rare class is included completely, and every class that has a row is
// represented. If n of a class's N rows were drawn, each stands for N / n rows. Any shares would make sum_n weight_n
// l_n unbiased; equal shares keep its variance small, because the few rows of a rare class are about as informative as
// all others together.
//
// Columns: a row that stands for w rows contributes the share w x_j^2 / sum_n weight_n x_nj^2 of the subsample's
// information about column j. Rows of the table for which this would exceed 1 / 50 for some column, such as all rows of
// a rare level, are all included, in addition to `size`, and have weight 1. At most 50 D N / size such rows are to be
// expected.
//
// Reads targets and features only, so it takes no query. The rows depend only on the seed and the table.
Subsample draw_subsample(const Store& store, const Model& model, const Execution& execution, RowId size,
                         std::uint64_t seed);

}  // namespace flymc
