// Quantiles, and the estimate as a mean over a grid.
#include "flymc/diagnose/generalised_pareto.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace flymc {
namespace {

// k(b). For b below the reciprocal of the largest value the logarithms' arguments are positive.
double shape_at(double b, std::span<const double> x) {
  double sum = 0.0;
  for (const double value : x) sum += std::log1p(-b * value);
  return sum / static_cast<double>(x.size());
}

// -b / k(b), which is 1 / sigma; at b = 0, where the distribution is exponential, one over the mean.
double rate_at(double b, double k, std::span<const double> x) {
  if (k != 0.0) return -b / k;
  double sum = 0.0;
  for (const double value : x) sum += value;
  return static_cast<double>(x.size()) / sum;
}

}  // namespace

double GeneralisedPareto::quantile(double prob) const {
  const double exponential = -std::log1p(-prob);
  return std::abs(k) < std::numeric_limits<double>::epsilon() ? sigma * exponential
                                                              : sigma * std::expm1(k * exponential) / k;
}

GeneralisedPareto fit_generalised_pareto(std::span<const double> rising) {
  const auto n = static_cast<double>(rising.size());
  const double largest = rising.back();
  const double quartile = rising[static_cast<std::size_t>(n / 4.0 + 0.5) - 1];
  // The prior of 1 / largest - b is itself a generalised Pareto, with k = 1/2 and a scale of 1 / (6 quartile); the grid
  // consists of its quantiles (1 - (j - 1/2) / m).
  const auto m = static_cast<std::size_t>(30.0 + std::floor(std::sqrt(n)));
  std::vector<double> b(m), log_likelihood(m);
  for (std::size_t j = 0; j < m; ++j) {
    b[j] =
        1.0 / largest + (1.0 - std::sqrt(static_cast<double>(m) / (static_cast<double>(j) + 0.5))) / (3.0 * quartile);
    const double k = shape_at(b[j], rising);
    log_likelihood[j] = n * (std::log(rate_at(b[j], k, rising)) - k - 1.0);
  }
  const double top = *std::ranges::max_element(log_likelihood);
  double weights = 0.0, sum = 0.0;
  for (std::size_t j = 0; j < m; ++j) {
    const double weight = std::exp(log_likelihood[j] - top);
    weights += weight;
    sum += weight * b[j];
  }
  const double mean = sum / weights, k = shape_at(mean, rising);
  return {k, 1.0 / rate_at(mean, k, rising)};
}

}  // namespace flymc
