// Rows that several runs have in common: those from the same row of the table.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../reading/table_rows.hpp"
#include "flymc/core/parallel.hpp"

namespace flymc {

// A row of the table is identified by the number of its file, in the order in which the table's files are read, and its
// row in that file. Runs that dropped different rows thus agree on which row is which, and the names and locations of
// the files do not matter. A table from memory counts as one file.
class CommonRows {
 public:
  // With one run, these are all its rows, even if it does not record where they came from. With several runs, throws
  // InputError if one of them does not record it, or has a row of the table twice.
  explicit CommonRows(std::span<const TableRows* const> runs);

  RowId rows() const { return rows_; }
  // The rows of run `run` that correspond to the common rows first ... last - 1.
  std::vector<RowId> own(std::size_t run, RowId first, RowId last) const;
  std::vector<RowId> own(std::size_t run, std::span<const RowId> rows) const;

  // A random sample without replacement: the rows with the smallest hash of (seed, file, row). Whether a row is chosen
  // depends only on the row and on how many others have smaller hashes, so two runs choose the same rows among those
  // that both have. Rows of weight 0 are left out.
  struct Choice {
    RowId rows = 0;             // rows with positive weight
    std::vector<RowId> chosen;  // in increasing order; all rows if there are at most `count`
  };
  Choice choose(RowId count, std::uint64_t seed, const Threads& threads) const;

 private:
  // Rows that are consecutive in the table and in every run.
  struct Stretch {
    RowId first = 0;  // the number of its first row among the common rows
    std::int64_t file = 0;
    RowId row = 0;
  };
  RowId end(std::size_t stretch) const {
    return stretch + 1 < stretches_.size() ? stretches_[stretch + 1].first : rows_;
  }
  std::size_t at(RowId row) const;
  void intersect(const Origins& other, RowId other_rows);
  // Calls visit(stretch, first, last) for the stretches, or parts of them, of the common rows first ... last - 1.
  template <class Visit>
  void walk(RowId first, RowId last, Visit&& visit) const;

  const TableRows& counted_;  // the run whose weights are used
  std::vector<Stretch> stretches_;
  std::vector<std::vector<RowId>> own_;  // for each run, its row at the beginning of each stretch
  RowId rows_ = 0;
};

}  // namespace flymc
