// The cost model for draws.
#include "flymc/bound/draw_cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace flymc {
namespace {

// A product with a D x D matrix.
double product_cost(double d) { return 0.06 * d * d; }

// The parts of an iteration that do not depend on rows: some vectors and products.
double fixed_cost(double d) { return 2000.0 + 40.0 * d + 5.0 * product_cost(d); }

// Three proposed rows per bright row, each with a product. For a row with codes the spread is looked up instead; one in
// three becomes bright and needs its product.
double proposals_cost(double bright, const TableShape& shape) {
  const double product = product_cost(static_cast<double>(shape.coefficients));
  if (shape.touched == 0) return 3.0 * bright * (250.0 + product);
  const auto touched = static_cast<double>(shape.touched);
  return bright * (3.0 * (250.0 + 25.0 * touched * touched) + product);
}

// One evaluation of a row. Coefficients looked up by codes take ten times as long as contiguous ones.
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

// Bright rows are evaluated in every step. More bright rows also mean more steps.
double expected_iteration_cost(const TableShape& shape) {
  const auto d = static_cast<double>(shape.coefficients);
  const double bright = expected_bright(shape), steps = 2.0 + 1.5 * std::sqrt(bright);
  return fixed_cost(d) + 2.0 * steps * std::min(1.0, bright) * product_cost(d) + proposals_cost(bright, shape) +
         steps * bright * (150.0 + 2.0 * d);
}

// Bright rows are walls: with many of them per coefficient, draws are correlated. Regular MCMC takes about 1.6
// evaluations of all rows per effective draw of a nearly normal posterior.
DrawCosts expected_costs(const TableShape& shape) {
  const auto d = static_cast<double>(shape.coefficients);
  return {expected_iteration_cost(shape) * (1.0 + 10.0 * expected_bright(shape) / d),
          1.6 * (evaluation_cost(shape) + 5.0 * product_cost(d))};
}

namespace {

// Evaluations per effective draw, of lit and bright rows or of all rows, if the posterior need not be normal.
constexpr double evaluations = 4.0;

}  // namespace

// The excess is the information about theta that z holds, which slows the chain down; looser bright rows slow it
// further, because the posterior is skewed along them. Slowness counts twice, since a run has a number of draws and not
// an effective size. If less than one draw in ten is effective, or the skew is large, the chain hardly reaches the
// tails and even long runs miss them, so such a bound is not worth its cost for any number of rows: with one 1 in a
// million rows 18 of 4,000 draws are effective, and the sweeps of the tail look at all rows. Two 1 have a skew of 0.16
// and hardly reach the tails, three have 0.05 and do; no table of bench/fit has more than 0.03.
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
