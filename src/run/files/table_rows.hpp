// The rows of the table that a run has kept, and the rows of its store that each of them is.
#pragma once

#include <span>
#include <vector>

#include "flymc/core/parallel.hpp"
#include "run_parts.hpp"

namespace flymc {

// The rows that were kept count from 0. Each is one row of the store, with the same number, unless the target is ordered:
// then a category between others is two rows, one after the other (data/cut_rows.hpp), and numbers differ.
class TableRows {
 public:
  // With cut points, one look at the targets of the store; what is kept of it is a number per 256 rows.
  TableRows(const StoreFile& file, Index cuts, const Threads& threads);
  TableRows(const RunParts& parts, const Threads& threads) : TableRows(parts.rows, parts.encoding.cuts(), threads) {}

  const StoreFile& file() const { return file_; }
  RowId rows() const { return rows_; }
  // The row of the store that is the first, or the only one, of each of these.
  std::vector<RowId> stored(std::span<const RowId> rows) const;
  // The row of the table that a row of the store is part of.
  RowId of(RowId stored) const;
  // Of the row of the table whose first row in the store this is. The target of an ordered one is its category.
  RowFacts facts(RowId first) const;

  // All rows of the store that these are: those of rows[i] are stored[first[i]] ... stored[first[i + 1] - 1].
  struct Pieces {
    std::vector<RowId> stored;
    std::vector<std::size_t> first;
    bool two(std::size_t i) const { return first[i + 1] - first[i] == 2; }
  };
  Pieces pieces(std::span<const RowId> rows) const;

 private:
  bool begins(RowId stored) const;  // whether it is the first of its row
  bool goes_on(RowId first) const;  // whether there is a second
  RowId next(RowId first) const { return first + (goes_on(first) ? 2 : 1); }

  const StoreFile& file_;
  Index cuts_;
  RowId rows_;
  std::vector<RowId>
      begun_;  // of an ordered target: rows of the table that begin before rows 0, 256, 512, ... of the store
};

// What the log likelihood of category k, between cut points k - 1 and k, has besides that of its two rows, by
//   P(k) = sigmoid(cut_k - eta) - sigmoid(cut_(k-1) - eta)
//        = sigmoid(eta - cut_(k-1)) sigmoid(cut_k - eta) (1 - exp(-g)),   g = cut_k - cut_(k-1):
// log(1 - exp(-g)), its slope in g, and minus its curvature. Cut points are the first parameters.
struct BetweenCuts {
  BetweenCuts(const Vector& parameters, Index category);
  double value, slope, curvature;
};

}  // namespace flymc
