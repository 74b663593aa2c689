// What the log-likelihood of a row has that depends on its target and the shape alone.
#pragma once

#include <span>

namespace flymc {

// The shape is kappa > 0, and these are in s = log kappa: the value, its derivative, and its second derivative.
struct ShapePart {
  double value = 0.0, slope = 0.0, bend = 0.0;
};

// A target, and how much the rows that have it weigh.
struct WeighedTarget {
  double target, weight;
};

// log Gamma(y + kappa) - log Gamma(kappa) - y log kappa - log y! = sum over j < y of log(1 + j / kappa), - log y!: of a
// negative binomial count y. As kappa grows without end the first goes to 0, and what is left is the Poisson's.
ShapePart shape_part_of_count(double y, double s);
// The sum over many counts, up to a constant.
ShapePart shape_part_of_counts(std::span<const WeighedTarget> counts, double s);

// kappa log kappa - log Gamma(kappa) - kappa - log y: of a gamma amount y.
ShapePart shape_part_of_amount(double y, double s);
ShapePart shape_part_of_amounts(std::span<const WeighedTarget> amounts, double s);

}  // namespace flymc
