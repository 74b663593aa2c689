// Effective size from the spectral density at frequency zero, as R's coda reports it.
#pragma once

#include <span>

#include "flymc/diagnose/convergence.hpp"

namespace flymc {

// n var(x) / S, where S is the spectral density at zero of an autoregression fitted to one chain by the Yule-Walker
// equations, with its order (at most 10 log10 n) chosen by Akaike's criterion. This is coda::effectiveSize, which older
// papers report. It considers one chain at a time and does not detect disagreement between chains, so prefer ess_bulk.
//
// A chain that is a straight line up to rounding has size 0. (coda returns 0 if the residuals' standard deviation is
// below 1.5e-8, which depends on the units of x; here the limit is relative to x.) NaN for fewer than 2 draws or if one
// is not finite.
double ess_spectral(std::span<const double> chain);

// The sum over the chains, which may have different lengths.
double ess_spectral(ChainDraws draws);

}  // namespace flymc
