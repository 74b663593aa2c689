// The part of a row's log-likelihood that depends only on its target and the shape.
#pragma once

#include <span>

namespace flymc {

// The value and its first two derivatives in s = log kappa, where kappa > 0 is the shape.
struct ShapePart {
  double value = 0.0, slope = 0.0, bend = 0.0;
};

// A target, and the weight of the rows that have it.
struct WeighedTarget {
  double target, weight;
};

// For a negative binomial count y:
//   log Gamma(y + kappa) - log Gamma(kappa) - y log kappa - log y! = sum over j < y of log(1 + j / kappa) - log y!.
// As kappa grows without limit the sum tends to 0, and the rest is the Poisson's.
ShapePart shape_part_of_count(double y, double s);
// The sum over many counts, up to a constant.
ShapePart shape_part_of_counts(std::span<const WeighedTarget> counts, double s);

// For a gamma amount y: kappa log kappa - log Gamma(kappa) - kappa - log y.
ShapePart shape_part_of_amount(double y, double s);
ShapePart shape_part_of_amounts(std::span<const WeighedTarget> amounts, double s);

}  // namespace flymc
