// The deviation of draws from the truth in their own Monte Carlo errors, and the same for an exact sampler's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "flymc/diagnose/convergence.hpp"
#include "models.hpp"
#include "quadrature.hpp"

namespace flymc::truth {

// One identified coefficient of one run. Each z is (estimate - truth) / Monte Carlo error.
struct Score {
  double mean = 0.0, sd = 0.0;
  double r_hat = 0.0, ess_bulk = 0.0, ess_tail = 0.0;
  double z_mean = 0.0, z_sd = 0.0;
  double z_q5 = 0.0, z_q95 = 0.0;  // only of long runs

  // The usual conditions for using draws (Vehtari and others 2021): R-hat below 1.01, and bulk and tail effective sizes
  // of at least 400 for four chains.
  bool trustworthy() const { return r_hat < 1.01 && ess_bulk >= 400.0 && ess_tail >= 400.0; }
};

// Diagnostics and z scores of the draws of one quantity. Quantiles take time, so they are computed only if requested.
Score score(ChainDraws draws, const Marginal& truth, bool quantiles);

// The distribution of z scores if the draws are right. They are not standard normal: the Monte Carlo error is estimated
// from the same draws, and for a skewed posterior a run without a far draw underestimates both the sd and its error. So
// the truth itself is sampled: chains with as many draws, each draw the exact quantile of a normal score, the scores an
// autoregression of order one with the effective size of flymc's draws (the smaller of bulk and tail, averaged over
// runs). Chains that are not trustworthy are left out, as flymc's are.
struct Expected {
  // Mean and variance of the squares of z, and the share of |z| beyond `outlying`.
  double mean_square = 1.0, mean_variance = 2.0, mean_outlying = 0.0;
  double sd_square = 1.0, sd_variance = 2.0, sd_outlying = 0.0;
  int replicates = 0;
};
Expected expect(const Marginal& truth, int chains, int draws, double effective_size, std::uint64_t seed);

constexpr double outlying = 4.5;

// The largest root mean square of z over `runs` independent runs, with a false-alarm rate of `rate`. Effective sizes
// accurate within a fifth make Monte Carlo errors accurate within a tenth, and the limit allows for that. The mean of
// the squares is nearly a multiple of a chi-square with the same mean and variance (Wilson and Hilferty's quantile).
double rms_limit(double square, double variance, std::size_t runs, double rate);

// The largest number of outlying z among `count`, if each is one with the probability `share`: Poisson.
int outlier_limit(double share, std::size_t count, double rate);

}  // namespace flymc::truth
