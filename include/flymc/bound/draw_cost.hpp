// Approximate cost of a draw, in nanoseconds per effective draw. The same model chooses between a bound and regular
// MCMC, chooses the rows that are lit, and serves `flymc plan`. Its numbers were fitted to measurements
// (docs/benchmarks.md, "Lit rows" and "The choice of auto"). A wrong choice costs time, not correctness.
#pragma once

#include <cmath>

#include "flymc/core/linear.hpp"
#include "flymc/data/layout.hpp"

namespace flymc {

// The facts about a table that are known before its rows are read.
struct TableShape {
  RowId rows = 0;
  Index coefficients = 0;
  Index touched = 0;  // by a row with codes, which has few nonzero entries; 0 for a row of numbers, which touches all
};
// The shape of a table with this many rows of this layout, with this many linear predictors each.
TableShape shape_of(RowId rows, const Layout& layout, Index predictors);
// The number of rows of a table if each row of its sample stands for `stands_for` rows.
inline RowId scaled(RowId rows, double stands_for) {
  return static_cast<RowId>(std::llround(static_cast<double>(rows) * stands_for));
}

// The quantities that determine the cost of a draw with a bound: the number of lit rows, the average number of bright
// rows among the others, the mean square of the bright rows' spread, and the largest excess, over all directions, of
// the bounds' curvature over the likelihood's, relative to the posterior's curvature.
struct Looseness {
  double lit = 0.0, bright = 0.0, spread_squared = 0.0, excess = 0.0;
};

// Costs per effective draw, with a bound and by regular MCMC.
struct DrawCosts {
  double with_bound = 0.0, regular = 0.0;
};

// One evaluation of all rows in the order of the store.
double evaluation_cost(const TableShape& shape);

// Costs before the statistics pass, from the table's shape. The sharp bound leaves about 0.17 D^2 / sqrt(N) rows
// bright.
double expected_bright(const TableShape& shape);
// An iteration with the sharp bound and sweeps by rows.
double expected_iteration_cost(const TableShape& shape);
DrawCosts expected_costs(const TableShape& shape);

// Costs after the statistics pass.
double cost_with_bound(const Looseness& at, const TableShape& shape);
double cost_of_regular(const TableShape& shape);

}  // namespace flymc
