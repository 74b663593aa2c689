// The rows that a run kept from the table, and the rows of the store that represent them.
#pragma once

#include <span>
#include <vector>

#include "flymc/core/parallel.hpp"
#include "run_parts.hpp"

namespace flymc {

// Kept rows count from 0. Each is one row of the store, with the same number, unless the target is ordered. Then a
// category between two others takes two consecutive rows of the store (data/cut_rows.hpp), and the numbers differ.
class TableRows {
 public:
  // With cut points, reads all targets in the store once and keeps a number per 256 rows.
  TableRows(const StoreFile& file, Index cuts, const Threads& threads);
  TableRows(const RunParts& parts, const Threads& threads)
      : TableRows(parts.rows, parts.encoding.target().cuts(), threads) {}

  const StoreFile& file() const { return file_; }
  RowId rows() const { return rows_; }
  // The first or only row of the store for each of these rows.
  std::vector<RowId> stored(std::span<const RowId> rows) const;
  // The row of the table that this row of the store belongs to.
  RowId of(RowId stored) const;
  // The facts of the row of the table whose first row in the store is `first`. An ordered target is given as its
  // category.
  RowFacts facts(RowId first) const;

  // All rows of the store for these rows: rows[i] has stored[first[i]] ... stored[first[i + 1] - 1].
  struct Pieces {
    std::vector<RowId> stored;
    std::vector<std::size_t> first;
    bool two(std::size_t i) const { return first[i + 1] - first[i] == 2; }
  };
  Pieces pieces(std::span<const RowId> rows) const;

 private:
  bool begins(RowId stored) const;  // whether it is the first of its row of the table
  bool goes_on(RowId first) const;  // whether there is a second row
  RowId next(RowId first) const { return first + (goes_on(first) ? 2 : 1); }

  const StoreFile& file_;
  Index cuts_;
  RowId rows_;
  std::vector<RowId>
      begun_;  // for an ordered target: rows of the table that begin before rows 0, 256, 512, ... of the store
};

// The term of the log likelihood of category k, between cut points k - 1 and k, that its two rows lack. From
//   P(k) = sigmoid(cut_k - eta) - sigmoid(cut_(k-1) - eta)
//        = sigmoid(eta - cut_(k-1)) sigmoid(cut_k - eta) (1 - exp(-g)),   g = cut_k - cut_(k-1):
// the term is log(1 - exp(-g)). `value` is this, `slope` its slope in g, and `curvature` minus its curvature. Cut
// points are the first parameters.
struct BetweenCuts {
  BetweenCuts(const Vector& parameters, Index category);
  double value, slope, curvature;
};

}  // namespace flymc
