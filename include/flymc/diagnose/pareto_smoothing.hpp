// Importance weights with a smoothed tail, and a measure of their reliability (PSIS: Vehtari, Simpson, Gelman, Yao and
// Gabry 2024).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace flymc {

struct SmoothedWeights {
  std::vector<double> log_weights;  // their exponentials sum to 1
  // The shape of the tail of the ratios: above good_pareto_k, a mean under these weights is unreliable. Infinite if
  // there are too few draws for an estimate, or if a ratio is infinite or NaN; minus infinity if all ratios are equal,
  // so that there is no tail.
  double pareto_k;
};

// Weights proportional to exp(log_ratios), for draws each worth `relative_efficiency` independent ones. The largest
// min(S / 5, 3 sqrt(S / relative_efficiency)) of S weights are replaced by the expected order statistics of a
// generalised Pareto distribution fitted to them; none becomes larger than the largest ratio was.
SmoothedWeights smoothed_weights(std::span<const double> log_ratios, double relative_efficiency = 1.0);

// The largest reliable k for this number of draws: min(1 - 1 / log10(draws), 0.7).
double good_pareto_k(std::size_t draws);

// log sum_i exp(x_i) without overflow; -inf if x is empty.
double log_sum_exp(std::span<const double> x);

}  // namespace flymc
