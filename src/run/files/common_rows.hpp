// Rows that several runs have in common: those that came from one row of the table.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "flymc/core/parallel.hpp"
#include "table_rows.hpp"

namespace flymc {

// A row of the table is known by the number of its file, in the order in which the table's files are read, and its row
// there. So it is the same row in runs that dropped different rows, and whatever its files are called and wherever they
// lie: a table that was given from memory is one file.
class CommonRows {
 public:
  // Of one run these are all its rows, also if it does not know where they came from. Throws InputError if one of several
  // does not, or has a row of the table twice.
  explicit CommonRows(std::span<const TableRows* const> runs);

  RowId rows() const { return rows_; }
  // The rows of run `run` that are the common rows first ... last - 1.
  std::vector<RowId> own(std::size_t run, RowId first, RowId last) const;
  std::vector<RowId> own(std::size_t run, std::span<const RowId> rows) const;

  // A random sample without replacement, by a hash of (seed, file, row): the rows with the smallest. Whether a row is in
  // it depends on the row and on how many others there are with smaller hashes, never on where it stands among them, so
  // two runs choose the same rows as far as both have them. Rows of weight 0 do not count.
  struct Choice {
    RowId rows = 0;             // that count
    std::vector<RowId> chosen;  // of the common rows, rising; all if there are no more than `count`
  };
  Choice choose(RowId count, std::uint64_t seed, const Threads& threads) const;

 private:
  // Rows that follow each other in the table and in every run.
  struct Stretch {
    RowId first = 0;  // of the common rows
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

  const TableRows& counted_;  // whose weights are looked at
  std::vector<Stretch> stretches_;
  std::vector<std::vector<RowId>> own_;  // of each run, its row at the beginning of each stretch
  RowId rows_ = 0;
};

}  // namespace flymc
