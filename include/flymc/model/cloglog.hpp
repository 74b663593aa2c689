// Regression with the complementary log-log link: y is 0 or 1, P(y = 0) = exp(-exp(eta)). That is the probability of a
// Poisson count of 0, so coefficients are logarithms of ratios of rates (of hazards, for survival in discrete time).
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "flymc/model/poisson.hpp"
#include "flymc/model/remainder.hpp"

namespace flymc {

// For y = 0 the likelihood is that of a Poisson count of 0. For y = 1, with r = exp(eta) and h = r / (exp(r) - 1),
//   l = log(1 - exp(-r)),   l' = h,   w = -l'' = h (r + h - 1),   l''' = -w (1 - r - h) - h (r - w).
struct Cloglog {
  std::string name() const { return "cloglog"; }
  Index predictors() const { return 1; }
  Index target_classes() const { return 2; }
  std::string target_problem(double y) const { return y == 0.0 || y == 1.0 ? "" : "0 or 1"; }

  double log_likelihood(double y, Predictor eta) const {
    if (y < 0.5) return none_.log_likelihood(0.0, eta);
    return log_of_one(eta[0]);
  }
  void slope(double y, Predictor eta, std::span<double> out) const {
    if (y < 0.5) return none_.slope(0.0, eta, out);
    out[0] = share(std::exp(eta[0]));
  }
  void curvature(double y, Predictor eta, std::span<double> out) const {
    if (y < 0.5) return none_.curvature(0.0, eta, out);
    out[0] = bend(eta[0]);
  }
  double remainder(double y, Predictor eta, Predictor delta) const {
    if (y < 0.5) return none_.remainder(0.0, eta, delta);
    // From r = 3 on w falls so fast that the rule misses it, but there the terms of the plain difference do not cancel.
    const double d = std::abs(delta[0]), r = std::exp(std::max(eta[0], eta[0] + delta[0]));
    if (d <= longest_remainder && (r < 3.0 || d * r < 0.5)) return remainder_by_curvature(eta[0], delta[0], bend);
    return log_of_one(eta[0] + delta[0]) - log_of_one(eta[0]) - share(std::exp(eta[0])) * delta[0];
  }
  void remainder_slope(double y, Predictor eta, Predictor delta, std::span<double> out) const {
    if (y < 0.5) return none_.remainder_slope(0.0, eta, delta, out);
    out[0] = share(std::exp(eta[0] + delta[0])) - share(std::exp(eta[0]));
  }

  // For y = 1, w is at most 0.412532, near eta = 0.62, and |l'''| at most 0.426055, near 1.43. The bound is the line
  // from w with the second, or the constant of the first, whichever is lower at the typical rho.
  void sharp(double y, Predictor eta, std::span<const double> spread, const Zone& zone, std::span<double> c,
             std::span<double> k) const {
    if (y < 0.5) return none_.sharp(0.0, eta, spread, zone, c, k);
    constexpr double most = 0.41254, third = 0.42606;
    c[0] = bend(eta[0]);
    k[0] = reach_of(spread[0]) * third / 3.0;
    if (c[0] + k[0] * zone.typical < most) return;
    c[0] = most;
    k[0] = 0.0;
  }

  void mean(Predictor eta, std::span<double> out) const { out[0] = -std::expm1(-std::exp(eta[0])); }
  double simulate(Predictor eta, const Random& random, std::uint64_t index) const {
    double p = 0.0;
    mean(eta, {&p, 1});
    return random.uniform(Purpose::simulate, 2 * index) < p ? 1.0 : 0.0;
  }

 private:
  // log(1 - exp(-r)), in a form that keeps all digits for tiny, small and large r.
  static double log_of_one(double eta) {
    const double r = std::exp(eta);
    if (r < 1e-8) return eta - 0.5 * r;
    return r < 0.7 ? std::log(-std::expm1(-r)) : std::log1p(-std::exp(-r));
  }
  // r / (exp(r) - 1), 1 at 0.
  static double share(double r) { return r > 0.0 ? (r < 700.0 ? r / std::expm1(r) : 0.0) : 1.0; }
  // h (r + h - 1). With u = r / (1 - exp(-r)) = r + h it is h (u - 1), and for small r
  //   u - 1 = r / 2 + r^2 / 12 - r^4 / 720 + ...
  static double bend(double eta) {
    const double r = std::exp(eta), h = share(r);
    if (h == 0.0) return 0.0;
    return h * (r < 0.1 ? r * (0.5 + r / 12.0 * (1.0 - r * r / 60.0 * (1.0 - r * r / 42.0))) : r + h - 1.0);
  }
  Poisson none_;
};

static_assert(Family<Cloglog>);

}  // namespace flymc
