// Lit rows: rows that no bound suits. They are evaluated in every density and have no z.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "flymc/bound/bound_rows.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/precision.hpp"

namespace flymc {

// Which rows are lit: those whose spread, the posterior variance of their own linear predictor, is above a limit (in
// units of the family: of a Student-t's sigma^2, so that dollars and cents of a target light the same rows). The
// likelihood of such a row is far from a quadratic over the posterior; they are the rows of levels that have few, or
// rows of one class only. `automatic` lets the program choose the limit by what a draw costs.
struct Lighting {
  bool automatic = false;
  double above = std::numeric_limits<double>::infinity();
  std::vector<RowId> rows = {};  // if any are named, these and no others
  // Rows are a sample, and each is this many rows of the table in one, by its weight: costs are counted for the table.
  double stands_for = 1.0;
};

// A lit row stands in the collapsed sum with a quadratic that touches its likelihood at the anchor, l + l'delta - share
// w delta^2 / 2, which need not be a bound: what the row has more or less than that is added to the log density as it
// is. Along the directions of lit rows the posterior has a longer tail than its curvature at the mode says, and a chain
// moves best in a frame that is as wide as the tail: hence a share of the curvature w, and not all of it. The number
// was chosen by the effective draws of the tests in tests/truth and of covtype (docs/mathematics.md, "Lit rows").
struct LitRows {
  static constexpr double share = 0.6;

  LitRows() = default;
  // Of a table of so many rows.
  LitRows(BoundRows rows, double limit, RowId rows_in_all)
      : fixed(std::move(rows)),
        above(limit),
        set(fixed.row.begin(), fixed.row.end()),
        of(rows_in_all),
        all(static_cast<RowId>(fixed.size()) == of) {}

  std::size_t size() const { return fixed.size(); }
  bool contains(RowId row) const { return !set.empty() && set.count(row) > 0; }

  BoundRows fixed;                                         // in the order of the rows
  double above = std::numeric_limits<double>::infinity();  // the limit that they exceed
  std::unordered_set<RowId> set;
  RowId of = 0;      // how many rows the table has
  bool all = false;  // no row has a z: the density is the posterior's own, as in regular MCMC
  // The sum of their quadratics: value, slope and, with its lower triangle, curvature, which is the share of their own.
  double value = 0.0;
  Vector slope;
  Matrix curvature;
};

// The largest v'M v over v'A v = 1, for A = L L' and M with its lower triangle, by power iteration.
double largest_ratio(const Matrix& m, const Precision& a);

// There are more rows without a bound than can be lit.
class NoBound : public InputError {
 public:
  using InputError::InputError;
};

// Rows with the largest spreads, collected from several threads while a pass goes on.
class LooseRows {
 public:
  struct Row {
    double spread;
    RowId row;
  };
  // As many as may be lit; where the limit is to be chosen, all that it may be chosen from.
  LooseRows(const Lighting& lighting, Index features);
  void add(RowId row, double spread);
  // A row for which there is no bound, whatever its spread is.
  void add_without_bound(RowId row);
  // The limit that the rows exceed, which is higher than asked for where there were too many.
  double above() const { return above_; }
  // Those of all ranks, the loosest first; which ones depends on neither threads nor ranks.
  std::vector<Row> gather(const Communicator& communicator);
  // Those without a bound, of all ranks and in order. Throws NoBound if they are too many to be lit.
  std::vector<RowId> gather_without_bound(const Communicator& communicator);

 private:
  // The limit is doubled while there are too many: in the end it is the smallest that leaves few enough, in whatever
  // order the rows came.
  void thin_out();

  std::mutex mutex_;
  std::atomic<double> above_;
  std::size_t most_;
  std::vector<Row> rows_;
  std::size_t most_without_;
  std::uint64_t count_without_ = 0;
  std::vector<RowId> without_;  // as many as may be lit
};

}  // namespace flymc
