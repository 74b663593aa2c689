// How far draws are from the truth, in their own Monte Carlo errors, and how far an exact sampler's would be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "flymc/diagnose/convergence.hpp"
#include "models.hpp"
#include "quadrature.hpp"

namespace flymc::truth {

// One identified coefficient of one run. The z are (estimate - truth) / Monte Carlo error.
struct Score {
  double mean = 0.0, sd = 0.0;
  double r_hat = 0.0, ess_bulk = 0.0, ess_tail = 0.0;
  double z_mean = 0.0, z_sd = 0.0;
  double z_q5 = 0.0, z_q95 = 0.0;  // of long runs

  // What a person is told to look at before using draws (Vehtari and others 2021): R-hat below 1.01, and bulk and tail
  // effective sizes of 400 for four chains.
  bool trustworthy() const { return r_hat < 1.01 && ess_bulk >= 400.0 && ess_tail >= 400.0; }
};

// What the draws of one quantity say of themselves, and of the truth. Quantiles take time, so only if asked for.
Score score(ChainDraws draws, const Marginal& truth, bool quantiles);

// What z scores look like if all is well. They are not standard normal: the Monte Carlo error is estimated from the
// same draws, and of a skewed posterior a run without a far draw has both too small an sd and too small an error of it.
// So the truth itself is sampled: chains of as many draws, each draw the exact quantile of a normal score, the scores
// an autoregression of order one with the effective size that flymc's draws had (the smaller of bulk and tail, a mean
// over runs). Chains that are not trustworthy are left out, as flymc's are.
struct Expected {
  // Of the squares of z: mean and variance; and the share of |z| beyond `outlying`.
  double mean_square = 1.0, mean_variance = 2.0, mean_outlying = 0.0;
  double sd_square = 1.0, sd_variance = 2.0, sd_outlying = 0.0;
  int replicates = 0;
};
Expected expect(const Marginal& truth, int chains, int draws, double effective_size, std::uint64_t seed);

constexpr double outlying = 4.5;

// The largest root mean square of z over `runs` independent runs, with a false-alarm rate of `rate`. An effective size
// that is right within a fifth makes Monte Carlo errors right within a tenth: that much is granted. The mean of the
// squares is nearly a multiple of a chi-square with the same mean and variance (Wilson and Hilferty's quantile).
double rms_limit(double square, double variance, std::size_t runs, double rate);

// The most outlying z among `count`, if each is one with the probability `share`: Poisson.
int outlier_limit(double share, std::size_t count, double rate);

}  // namespace flymc::truth
