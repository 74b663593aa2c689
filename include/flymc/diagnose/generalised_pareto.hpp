// The generalised Pareto distribution, which the upper tail of nearly any distribution looks like, fitted to a sample.
#pragma once

#include <span>

namespace flymc {

// P(X <= x) = 1 - (1 + k x / sigma)^(-1/k) for x >= 0, and 1 - exp(-x / sigma) for k = 0. The larger k, the heavier the
// tail: moments of order 1/k and more do not exist. For k < 0 there is a largest value, -sigma / k.
struct GeneralisedPareto {
  double k = 0.0;
  double sigma = 1.0;

  // The x below which a share `prob` lies, with 0 <= prob < 1.
  double quantile(double prob) const;
};

// The estimate of Zhang and Stephens (2009), which needs no search and exists for any sample: in b = -k / sigma the
// likelihood of n values, maximised over k, is a function of one variable,
//   l(b) = n (log(-b / k(b)) - k(b) - 1),   k(b) = mean_i log(1 - b x_i),
// and b is its mean under a prior that depends on the data, over a grid of quantiles of that prior.
//
// The values rise, are more than 0 and finite, and there are five or more.
GeneralisedPareto fit_generalised_pareto(std::span<const double> rising);

}  // namespace flymc
