// The generalised Pareto distribution, which approximates the upper tail of nearly any distribution, and its fit.
#pragma once

#include <span>

namespace flymc {

// P(X <= x) = 1 - (1 + k x / sigma)^(-1/k) for x >= 0, and 1 - exp(-x / sigma) for k = 0. A larger k means a heavier
// tail: moments of order 1/k and more do not exist. For k < 0 the largest value is -sigma / k.
struct GeneralisedPareto {
  double k = 0.0;
  double sigma = 1.0;

  // The quantile at `prob`, with 0 <= prob < 1.
  double quantile(double prob) const;
};

// The estimate of Zhang and Stephens (2009), which needs no search and exists for any sample: in b = -k / sigma the
// likelihood of n values, maximised over k, is a function of one variable,
//   l(b) = n (log(-b / k(b)) - k(b) - 1),   k(b) = mean_i log(1 - b x_i),
// and the estimate of b is its mean under a prior that depends on the data, over a grid of quantiles of that prior.
//
// Needs at least five values that are positive, finite and in increasing order.
GeneralisedPareto fit_generalised_pareto(std::span<const double> rising);

}  // namespace flymc
