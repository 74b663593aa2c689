// Inverse distribution functions that the diagnostics need: normal scores for ranks, Beta limits for quantiles.
#pragma once

namespace flymc {

// The z with Phi(z) = p, to full relative accuracy for 0 < p < 1. -inf at 0, +inf at 1, NaN outside.
double normal_quantile(double p);

// P(X <= x) for X ~ Beta(a, b), with a, b > 0 and 0 <= x <= 1.
double beta_probability(double x, double a, double b);

// The x with beta_probability(x, a, b) = p, for a, b > 0 and 0 <= p <= 1; NaN for other arguments.
double beta_quantile(double p, double a, double b);

}  // namespace flymc
