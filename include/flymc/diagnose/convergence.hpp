// Convergence of chains and Monte Carlo error: R-hat, effective sizes, standard errors.
#pragma once

#include <span>
#include <vector>

namespace flymc {

// The draws of one scalar quantity: one vector per chain, all of one length.
using ChainDraws = std::span<const std::vector<double>>;

// Definitions: Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021), "Rank-normalization, folding, and localization:
// an improved R-hat for assessing convergence of MCMC", Bayesian Analysis 16(2). Every chain is split into halves (an
// odd length loses its middle draw), so that a trend within one chain appears as a disagreement of two.
//
// Values agree with ArviZ and with R's posterior. Where these two differ:
//   one chain              R-hat of its two halves, as posterior; ArviZ gives NaN
//   odd length             R-hat folds all draws and then splits, as posterior and az.summary; az.rhat splits first
//   constant draws         NaN, as posterior, because a chain that never moved has no information; ArviZ gives n
//   constant indicator     ess_quantile and ess_tail give NaN, as posterior (few distinct values do this)
//   every chain constant,  R-hat is +inf even if the folded draws do not vary, as ArviZ; posterior gives NA
//     but not the same
//   lags run out           the last pair of lags is used, as ArviZ; posterior stops one draw earlier
//   fewer than 10 draws    effective sizes and errors are NaN: halves of four have no pair of lags, and neither
//                          ArviZ's n log10(n) nor posterior's n / 2 depends on the chain
// Any draw that is not finite gives NaN, and so do fewer than 4 draws. Chains of unequal length and probabilities
// outside [0, 1] throw InputError.

// Rank-normalised split R-hat: the larger of the R-hat of the draws (agreement in location) and the R-hat of their
// distances from the median (agreement in scale). Use draws only if it is below 1.01.
double r_hat(ChainDraws draws);

// Effective size of the rank-normalised draws, which measures the bulk and is defined even without a variance.
double ess_bulk(ChainDraws draws);

// The smaller of the effective sizes for the 5% and the 95% quantile.
double ess_tail(ChainDraws draws);

// Effective size for the mean. For alternating draws it may exceed the number of draws n, up to n log10(n).
double ess_mean(ChainDraws draws);

// Effective size for a quantile, computed from the indicator x <= quantile.
double ess_quantile(ChainDraws draws, double prob);

// Monte Carlo standard error of the mean, of the standard deviation and of a quantile.
double mcse_mean(ChainDraws draws);
double mcse_sd(ChainDraws draws);
double mcse_quantile(ChainDraws draws, double prob);

// Quantile of all draws together, interpolated linearly between order statistics (type 7 of Hyndman and Fan 1996).
// Infinite draws are allowed here. NaN if a draw is NaN or if there are none.
double quantile(ChainDraws draws, double prob);

}  // namespace flymc
