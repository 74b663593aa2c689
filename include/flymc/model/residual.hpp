// A family of location and scale with a drawn scale, as a family of standardised residuals.
#pragma once

#include <cmath>
#include <string>
#include <utility>

#include "flymc/model/family.hpp"

namespace flymc {

// With location x'beta and scale sigma, the residual (y - x'beta) / sigma is linear in psi = -beta / sigma and tau = 1
// / sigma: it is the linear predictor of the row (x, y), which ends with its own target. The log-likelihood of the row
// is log f(predictor) + log tau, with f the density at scale 1. This family has the first part. The second is the same
// for every row, and is in a term of its own (model/sampled_scale.hpp).
template <class F>
struct Residual {
  explicit Residual(F at_scale_one) : standard(std::move(at_scale_one)) {}

  std::string name() const { return standard.name(); }
  Index predictors() const { return 1; }
  double unit() const { return standard.unit(); }
  std::string target_problem(double y) const { return standard.target_problem(y); }

  // The target is already in the predictor.
  double log_likelihood(double, Predictor u) const { return standard.log_likelihood(0.0, u); }
  void slope(double, Predictor u, std::span<double> out) const { standard.slope(0.0, u, out); }
  void curvature(double, Predictor u, std::span<double> out) const { standard.curvature(0.0, u, out); }
  double remainder(double, Predictor u, Predictor delta) const { return standard.remainder(0.0, u, delta); }
  void global_curvature(double, Predictor u, std::span<double> out) const { standard.global_curvature(0.0, u, out); }
  void sharp(double, Predictor u, std::span<const double> spread, const Zone& zone, std::span<double> c,
             std::span<double> k) const requires HasSharpBound<F> {
    standard.sharp(0.0, u, spread, zone, c, k);
  }

  // For a new row, which has no target yet, the predictor is the location.
  void mean(Predictor eta, std::span<double> out) const { standard.mean(eta, out); }
  // A draw at scale 1; a target at scale sigma is eta + sigma simulate(0).
  double simulate(Predictor eta, const Random& random, std::uint64_t index) const {
    return standard.simulate(eta, random, index);
  }

  F standard;
};

}  // namespace flymc
