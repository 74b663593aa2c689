// The model of what draws cost.
#include "flymc/bound/draw_cost.hpp"

#include <algorithm>
#include <cmath>

namespace flymc {
namespace {

// A product with a D x D matrix.
double product_cost(double d) { return 0.06 * d * d; }

// The parts of an iteration that depend on no row: some vectors and products.
double fixed_cost(double d) { return 2000.0 + 40.0 * d + 5.0 * product_cost(d); }

// Three proposed rows per bright one, each with a product.
double proposals_cost(double bright, double d) { return 3.0 * bright * (250.0 + product_cost(d)); }

}  // namespace

double evaluation_cost(const TableShape& shape) {
  const auto n = static_cast<double>(shape.rows), d = static_cast<double>(shape.coefficients);
  return 2000.0 + 40.0 * d + n * (50.0 + 0.9 * d);
}

double expected_bright(const TableShape& shape) {
  const auto n = static_cast<double>(shape.rows), d = static_cast<double>(shape.coefficients);
  return std::min(n, 0.17 * d * d / std::sqrt(n));
}

// Bright rows are evaluated in every step, of which there are the more the more of them there are.
double expected_iteration_cost(const TableShape& shape) {
  const auto d = static_cast<double>(shape.coefficients);
  const double bright = expected_bright(shape), steps = 2.0 + 1.5 * std::sqrt(bright);
  return fixed_cost(d) + 2.0 * steps * std::min(1.0, bright) * product_cost(d) + proposals_cost(bright, d) +
         steps * bright * (150.0 + 2.0 * d);
}

// Bright rows are walls: with many of them, draws depend on each other. Regular MCMC takes about 1.6 evaluations of all
// rows per effective draw of a posterior that is nearly normal.
DrawCosts expected_costs(const TableShape& shape) {
  return {expected_iteration_cost(shape) * (1.0 + 0.2 * expected_bright(shape)),
          1.6 * (evaluation_cost(shape) + 5.0 * product_cost(static_cast<double>(shape.coefficients)))};
}

namespace {

// Of rows that are always evaluated, or of all of them, per effective draw, where the posterior need not be normal.
constexpr double evaluations = 4.0;

}  // namespace

// z knows as much about theta as the excess says, which slows the chain down, and the more so the looser the bright
// rows are: the posterior is skewed along them. Slowness counts twice, since a run has a number of draws and not an
// effective size; and where less than one draw in ten is effective, the chain hardly gets to the tails, and even long
// runs miss them.
double cost_with_bound(const Looseness& at, Index coefficients) {
  const auto d = static_cast<double>(coefficients);
  const double iteration =
      fixed_cost(d) + proposals_cost(at.bright, d) + evaluations * (at.lit + at.bright) * (60.0 + 1.5 * d);
  const double slower = 1.0 + at.excess * (2.0 + 30.0 * at.spread_squared);
  constexpr double too_slow = 10.0;
  const double trust = std::max(1.0, slower / too_slow);
  return iteration * slower * slower * trust * trust;
}

double cost_of_regular(const TableShape& shape) { return evaluations * evaluation_cost(shape); }

}  // namespace flymc
