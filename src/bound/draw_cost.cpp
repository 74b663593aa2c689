// The model of what draws cost.
#include "flymc/bound/draw_cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace flymc {
namespace {

// A product with a D x D matrix.
double product_cost(double d) { return 0.06 * d * d; }

// The parts of an iteration that depend on no row: some vectors and products.
double fixed_cost(double d) { return 2000.0 + 40.0 * d + 5.0 * product_cost(d); }

// Three proposed rows per bright one, each with a product; of a row with codes the spread is looked up instead, and one
// in three becomes bright and takes its product.
double proposals_cost(double bright, const TableShape& shape) {
  const double product = product_cost(static_cast<double>(shape.coefficients));
  if (shape.touched == 0) return 3.0 * bright * (250.0 + product);
  const auto touched = static_cast<double>(shape.touched);
  return bright * (3.0 * (250.0 + 25.0 * touched * touched) + product);
}

// A row at one theta. Coefficients that are looked up by codes take ten times as long as those that lie side by side.
double row_cost(const TableShape& shape) {
  return shape.touched == 0 ? 0.9 * static_cast<double>(shape.coefficients) : 10.0 * static_cast<double>(shape.touched);
}

}  // namespace

TableShape shape_of(RowId rows, const Layout& layout, Index predictors) {
  return {rows, layout.features() * predictors, layout.coded() ? layout.cells() * predictors : 0};
}

double evaluation_cost(const TableShape& shape) {
  return 2000.0 + 40.0 * static_cast<double>(shape.coefficients) +
         static_cast<double>(shape.rows) * (50.0 + row_cost(shape));
}

double expected_bright(const TableShape& shape) {
  const auto n = static_cast<double>(shape.rows), d = static_cast<double>(shape.coefficients);
  return std::min(n, 0.17 * d * d / std::sqrt(n));
}

// Bright rows are evaluated in every step, of which there are the more the more of them there are.
double expected_iteration_cost(const TableShape& shape) {
  const auto d = static_cast<double>(shape.coefficients);
  const double bright = expected_bright(shape), steps = 2.0 + 1.5 * std::sqrt(bright);
  return fixed_cost(d) + 2.0 * steps * std::min(1.0, bright) * product_cost(d) + proposals_cost(bright, shape) +
         steps * bright * (150.0 + 2.0 * d);
}

// Bright rows are walls: with many of them for each coefficient, draws depend on each other. Regular MCMC takes about 1.6 evaluations of all
// rows per effective draw of a posterior that is nearly normal.
DrawCosts expected_costs(const TableShape& shape) {
  const auto d = static_cast<double>(shape.coefficients);
  return {expected_iteration_cost(shape) * (1.0 + 10.0 * expected_bright(shape) / d),
          1.6 * (evaluation_cost(shape) + 5.0 * product_cost(d))};
}

namespace {

// Of rows that are always evaluated, or of all of them, per effective draw, where the posterior need not be normal.
constexpr double evaluations = 4.0;

}  // namespace

// z knows as much about theta as the excess says, which slows the chain down, and the more so the looser the bright
// rows are: the posterior is skewed along them. Slowness counts twice, since a run has a number of draws and not an
// effective size. Where less than one draw in ten is effective, or the skew is large, the chain hardly gets to the
// tails, and even long runs miss them, so that no number of rows makes such a bound worth its cost: with one 1 in a
// million rows 18 of 4,000 draws are effective, and the sweeps of the tail look at all rows. Two 1 have a skew of 0.16
// and hardly get there, three have 0.05 and do; of the tables of bench/fit none has more than 0.03.
double cost_with_bound(const Looseness& at, const TableShape& shape) {
  const auto d = static_cast<double>(shape.coefficients);
  const double iteration =
      fixed_cost(d) + proposals_cost(at.bright, shape) + evaluations * (at.lit + at.bright) * (60.0 + 1.5 * d);
  const double skew = at.excess * at.spread_squared, slower = 1.0 + 2.0 * at.excess + 30.0 * skew;
  constexpr double too_slow = 10.0, too_skewed = 0.1;
  if (slower > too_slow || skew > too_skewed) return std::numeric_limits<double>::infinity();
  return iteration * slower * slower;
}

double cost_of_regular(const TableShape& shape) { return evaluations * evaluation_cost(shape); }

}  // namespace flymc
