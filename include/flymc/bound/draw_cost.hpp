// What a draw costs, in nanoseconds per effective draw, about: one model for the choice between a bound and regular
// MCMC, for the choice of the rows that are lit, and for `flymc plan`. Its numbers were fitted to measurements
// (docs/benchmarks.md, "Lit rows" and "The choice of auto"). A wrong choice costs time and not correctness.
#pragma once

#include <cmath>

#include "flymc/core/linear.hpp"
#include "flymc/data/layout.hpp"

namespace flymc {

// All that is known of a table before its rows are looked at.
struct TableShape {
  RowId rows = 0;
  Index coefficients = 0;
  Index touched = 0;  // by a row with codes, which has to do with few of them; 0: a row of numbers touches all
};
// Of so many rows that look like this, with so many linear predictors each.
TableShape shape_of(RowId rows, const Layout& layout, Index predictors);
// The rows of a table of which each row of a sample stands for this many.
inline RowId scaled(RowId rows, double stands_for) {
  return static_cast<RowId>(std::llround(static_cast<double>(rows) * stands_for));
}

// What decides the cost of a draw with a bound: how many rows are lit, how many others are bright on average, the mean
// square of the spread of those, and by how much more curvature than the posterior the bounds of the rows with a z
// have, along the direction where that is most.
struct Looseness {
  double lit = 0.0, bright = 0.0, spread_squared = 0.0, excess = 0.0;
};

// Of the two ways that rows can be treated.
struct DrawCosts {
  double with_bound = 0.0, regular = 0.0;
};

// All rows as they lie in the store, once.
double evaluation_cost(const TableShape& shape);

// Before the statistics pass: by the shape of the table. The sharp bound leaves about 0.17 D^2 / sqrt(N) rows bright.
double expected_bright(const TableShape& shape);
// An iteration with the sharp bound and sweeps by rows.
double expected_iteration_cost(const TableShape& shape);
DrawCosts expected_costs(const TableShape& shape);

// After it.
double cost_with_bound(const Looseness& at, const TableShape& shape);
double cost_of_regular(const TableShape& shape);

}  // namespace flymc
