// Means over the sample, and the resulting estimate of the sum.
#include "flymc/diagnose/difference_estimator.hpp"

#include <cmath>

#include "flymc/core/linear.hpp"

namespace flymc {

SumEstimate difference_estimate(const ProxySums& all, std::span<const double> proxies, std::span<const double> exact) {
  const auto as_array = [](std::span<const double> x) {
    return Eigen::Map<const Eigen::ArrayXd>(x.data(), static_cast<Index>(x.size()));
  };
  const auto terms = as_array(exact), guesses = as_array(proxies);
  const auto rows = static_cast<double>(all.rows), sampled = static_cast<double>(exact.size());
  const Eigen::ArrayXd errors = terms - guesses;
  const double error = errors.mean(), value = all.total + rows * error;
  const double variance = sampled < rows ? rows * rows * (1.0 - sampled / rows) * (errors - error).square().sum() /
                                               (sampled - 1.0) / sampled
                                         : 0.0;
  // value^2 overestimates the square of the sum, on average by its variance.
  double spread = all.squares + rows * (terms.square() - guesses.square()).mean() - (value * value - variance) / rows;
  // With few rows the difference may be negative; then the spread is estimated from the sample alone.
  if (!(spread > 0.0)) spread = rows * (terms - terms.mean()).square().mean();
  return {value, std::sqrt(spread), std::sqrt(variance)};
}

}  // namespace flymc
