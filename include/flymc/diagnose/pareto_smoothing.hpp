// Importance weights whose largest are smoothed, and how far they can be trusted (PSIS: Vehtari, Simpson, Gelman, Yao and
// Gabry 2024).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace flymc {

struct SmoothedWeights {
  std::vector<double> log_weights;  // their exponentials sum to 1
  // Of the tail of the ratios: above good_pareto_k, a mean under these weights cannot be trusted. Infinite if there are
  // too few draws to tell, or if a ratio is infinite or not a number; minus infinity if all ratios are the same, which
  // have no tail.
  double pareto_k;
};

// Weights in proportion to exp(log_ratios), of draws that are worth `relative_efficiency` independent ones each. The
// largest of them, min(S / 5, 3 sqrt(S / relative_efficiency)) of S draws, are replaced by the expected order statistics
// of a generalised Pareto distribution that is fitted to them; none becomes larger than the largest ratio was.
SmoothedWeights smoothed_weights(std::span<const double> log_ratios, double relative_efficiency = 1.0);

// The k up to which so many draws do: min(1 - 1 / log10(draws), 0.7).
double good_pareto_k(std::size_t draws);

// log sum_i exp(x_i) without overflow; -inf of nothing.
double log_sum_exp(std::span<const double> x);

}  // namespace flymc
