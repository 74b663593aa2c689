// Counts without zeros: a Poisson distribution of mean mu = exp(eta), given that y is not 0, y = 1, 2, 3, ... Together
// with a regression of whether a count is more than 0 it is a hurdle model.
#pragma once

#include <cmath>
#include <string>

#include "flymc/model/poisson.hpp"
#include "flymc/model/remainder.hpp"

namespace flymc {

// l = y eta - A(eta) - log y! with A(eta) = log(exp(mu) - 1). With b = mu / (exp(mu) - 1), which falls from 1 to 0, the
// mean is A' = M = mu + b and the variance is A'' = w = M (1 - b).
struct TruncatedPoisson {
  std::string name() const { return "truncated_poisson"; }
  Index predictors() const { return 1; }
  std::string target_problem(double y) const {
    if (y == 0.0) return "a count without zeros: 1, 2, 3, ...; a hurdle takes zeros, too";
    return y >= 1.0 && Poisson{}.target_problem(y).empty() ? "" : "a count without zeros: 1, 2, 3, ...";
  }

  // The log-likelihood of a Poisson row, less the logarithm of the probability that it is not 0. If mu is small both
  // are as large as eta, and cancel for y = 1.
  double log_likelihood(double y, Predictor eta) const {
    const double mu = std::exp(eta[0]);
    if (mu < 1.0) return (y - 1.0) * eta[0] - above_line(eta[0]) - log_gamma(y + 1.0);
    return Poisson{}.log_likelihood(y, eta) - std::log1p(-std::exp(-mu));
  }

  void slope(double y, Predictor eta, std::span<double> out) const { out[0] = (y - 1.0) - at(eta[0]).excess; }

  void curvature(double, Predictor eta, std::span<double> out) const { out[0] = at(eta[0]).variance; }

  // For long changes uses A - eta, which tends to 0 with mu, as the remainder does.
  double remainder(double, Predictor eta, Predictor delta) const {
    if (std::abs(delta[0]) > longest_remainder)
      return -(above_line(eta[0] + delta[0]) - above_line(eta[0]) - at(eta[0]).excess * delta[0]);
    return remainder_by_curvature(eta[0], delta[0], [](double e) { return at(e).variance; });
  }

  // Uses M = mu + b.
  void remainder_slope(double, Predictor eta, Predictor delta, std::span<double> out) const {
    const double change_of_b = at(eta[0]).less - at(eta[0] + delta[0]).less;
    out[0] = -(std::exp(eta[0]) * std::expm1(delta[0]) + change_of_b);
  }

  // A''' = w (1 - b + b (M - 1) / (1 - b)) lies between 0 and 4 w / 3 (docs/mathematics.md, "c* in closed form"). So w
  // rises with eta, at most by the factor exp(4 t / 3) over a change t. Hence c*(r) is the curvature needed at the
  // change r itself, and (c*(x) - w) / x is at most that for the curvature w exp(4 t / 3), which is a Poisson row's
  // with t in other units.
  Needed needed(double y, Predictor eta, double r) const {
    constexpr double most = 4.0 / 3.0;
    const double one = 0.0;  // eta of a Poisson row with w = 1
    const Needed exponential = Poisson{}.needed(0.0, {&one, 1}, most * r);
    if (!(exponential.curvature < HUGE_VAL)) return exponential;
    const double w = at(eta[0]).variance;
    const double itself = r > 1e-3 ? -2.0 * remainder(y, eta, {&r, 1}) / (r * r) * (1.0 + 1e-12) : HUGE_VAL;
    return {std::min(itself, w * exponential.curvature), w * most * exponential.growth};
  }

  void sharp(double y, Predictor eta, std::span<const double> spread, const Zone& zone, std::span<double> c,
             std::span<double> k) const {
    curvature(y, eta, c);
    sharp_line(*this, y, eta, spread[0], zone, c[0], k[0]);
  }

  void mean(Predictor eta, std::span<double> out) const { out[0] = at(eta[0]).mean; }
  double variance(Predictor eta) const { return at(eta[0]).variance; }
  double simulate(Predictor eta, const Random& random, std::uint64_t index) const {
    return Poisson::simulate_from(1.0, eta, random, index);
  }

 private:
  static constexpr double tiny = 1e-140, large = 40.0;  // below: b is 1 to all digits; above: b is negligible
  struct Moments {
    double mean, variance, excess, less;  // the last two are M - 1 and 1 - b
  };
  static Moments at(double eta) {
    const double mu = std::exp(eta);
    if (mu < tiny) return {1.0, 0.5 * mu, 0.5 * mu, 0.5 * mu};
    if (mu > large) return {mu, mu, mu - 1.0, 1.0};
    const double less = expm1_minus(mu) / std::expm1(mu);
    const double mean = mu / -std::expm1(-mu);
    return {mean, mean * less, mu - less, less};
  }
  // A - eta = log((exp(mu) - 1) / mu).
  static double above_line(double eta) {
    const double mu = std::exp(eta);
    if (mu < tiny) return 0.5 * mu;
    return mu > large ? mu - eta : std::log1p(expm1_minus(mu) / mu);
  }
};

static_assert(Family<TruncatedPoisson>);

}  // namespace flymc
