// Lit rows: rows for which a bound is too loose. They are evaluated in every density and have no z.
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

// Which rows are lit: rows whose spread, the posterior variance of their own linear predictor, exceeds a limit. The
// unit is the family's (sigma^2 for a Student-t), so that a target in dollars lights the same rows as one in cents. The
// likelihood of such a row is far from quadratic over the posterior; examples are rows of rare levels, or of levels
// with one class only. `automatic` chooses the limit at which a draw costs least.
struct Lighting {
  bool automatic = false;
  double above = std::numeric_limits<double>::infinity();
  std::vector<RowId> rows = {};  // if not empty, exactly these rows are lit
  // For a sample: the number of rows of the table that each row stands for by its weight. Costs are those of the table.
  double stands_for = 1.0;
};

// A lit row has a quadratic in the collapsed sum that touches its likelihood at the anchor, l + l'delta - share w
// delta^2 / 2, which need not be a bound: the row's exact difference from it, of either sign, is added to the log
// density. Along the directions of lit rows the posterior has a longer tail than its curvature at the mode suggests,
// and a chain moves best in a frame as wide as the tail; hence a share of the curvature w instead of all of it. The
// share was chosen by the effective draws of the tests in tests/truth and of covtype (docs/mathematics.md, "Lit rows").
struct LitRows {
  static constexpr double share = 0.6;

  LitRows() = default;
  // `rows_in_all` is the number of rows of the table.
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
  RowId of = 0;      // the number of rows of the table
  bool all = false;  // no row has a z: the density is the posterior's own, as in regular MCMC
  // The sum of their quadratics: value, slope and curvature (lower triangle), which is `share` of the likelihood's own.
  double value = 0.0;
  Vector slope;
  Matrix curvature;
};

// The largest v'M v subject to v'A v = 1, by power iteration. A = L L'; M has its lower triangle.
double largest_ratio(const Matrix& m, const Precision& a);

// Thrown if more rows are without a bound than can be lit.
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
  // Keeps as many rows as may be lit; for an automatic limit, as many as the choice considers.
  LooseRows(const Lighting& lighting, Index features);
  void add(RowId row, double spread);
  // Adds a row that has no bound, whatever its spread.
  void add_without_bound(RowId row);
  // The limit that the kept rows exceed. It is higher than requested if there were too many rows.
  double above() const { return above_; }
  // The loose rows of all ranks, by decreasing spread. The result depends on neither threads nor ranks.
  std::vector<Row> gather(const Communicator& communicator);
  // The rows without a bound of all ranks, in order. Throws NoBound if there are too many to be lit.
  std::vector<RowId> gather_without_bound(const Communicator& communicator);

 private:
  // Doubles the limit while there are too many rows. The final limit is the smallest that leaves few enough, regardless
  // of the order in which rows came.
  void thin_out();

  std::mutex mutex_;
  std::atomic<double> above_;
  std::size_t most_;
  std::vector<Row> rows_;
  std::size_t most_without_;
  std::uint64_t count_without_ = 0;
  std::vector<RowId> without_;  // at most as many as may be lit
};

}  // namespace flymc
