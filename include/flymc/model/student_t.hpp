// Robust regression: (y - eta) / sigma is Student-t with nu degrees of freedom; nu and sigma are given.
#pragma once

#include <cmath>
#include <numbers>
#include <string>

#include "flymc/core/error.hpp"
#include "flymc/core/numerics.hpp"
#include "flymc/model/family.hpp"
#include "flymc/model/sharp.hpp"

namespace flymc {

struct StudentT {
  StudentT(double degrees_of_freedom, double scale) : nu(degrees_of_freedom), sigma(scale) {
    if (!(nu > 0.0) || !std::isfinite(nu)) throw InputError("student_t: the degrees of freedom, nu, must be positive");
    if (!(sigma > 0.0) || !std::isfinite(sigma)) throw InputError("student_t: the scale, sigma, must be positive");
    if (!std::isnormal(nu * sigma * sigma))
      throw InputError("student_t: the scale is too small or too large; rescale the target");
    // log Gamma(x + 1/2) - log Gamma(x) at x = nu / 2. For large x uses its series, because both are of size x log(x).
    const double x = nu / 2.0;
    const double ratio = x > 1e4 ? 0.5 * std::log(x) - 1.0 / (8.0 * x) : log_gamma(x + 0.5) - log_gamma(x);
    log_constant_ = ratio - 0.5 * std::log(nu * std::numbers::pi) - std::log(sigma);
  }

  std::string name() const { return "student_t"; }
  Index predictors() const { return 1; }
  double unit() const { return sigma; }
  StudentT eased(double factor) const { return {nu, factor * sigma}; }
  std::string target_problem(double y) const { return std::isfinite(y) ? "" : "a finite number"; }

  double log_likelihood(double y, Predictor eta) const {
    const double r = (y - eta[0]) / sigma;
    return log_constant_ - 0.5 * (nu + 1.0) * std::log1p(r * r / nu);
  }

  void slope(double y, Predictor eta, std::span<double> out) const {
    const double r = y - eta[0];
    out[0] = (nu + 1.0) * r / (nu * sigma * sigma + r * r);
  }

  // Negative for residuals beyond sqrt(nu) sigma: the family is not log-concave.
  void curvature(double y, Predictor eta, std::span<double> out) const {
    const double r = y - eta[0];
    const double a = nu * sigma * sigma + r * r;
    out[0] = (nu + 1.0) * ((nu * sigma * sigma - r * r) / a) / a;
  }

  // With r the residual at eta, a = nu sigma^2 + r^2 and t = (delta^2 - 2 r delta) / a:
  //   remainder = (nu + 1)/2 (t - log1p(t) - delta^2 / a).
  double remainder(double y, Predictor eta, Predictor delta) const {
    const double r = y - eta[0];
    const double d = delta[0];
    const double a = nu * sigma * sigma + r * r;
    const double t = d * (d - 2.0 * r) / a;
    // Near t = -1 the logarithm's argument is computed directly, because 1 + t would lose digits.
    const double far = nu * sigma * sigma + (r - d) * (r - d);
    const double bend = t > -0.5 ? minus_log1p(t) : t - std::log(far / a);
    return 0.5 * (nu + 1.0) * (bend - d * d / a);
  }

  // The tangent in r^2, tight at eta: -log(nu sigma^2 + u) is convex in u.
  void global_curvature(double y, Predictor eta, std::span<double> out) const {
    const double r = y - eta[0];
    out[0] = (nu + 1.0) / (nu * sigma * sigma + r * r);
  }

  // With r the residual, a = nu sigma^2 and A = a + r^2, the curvature that a change d needs is H(d) = -2 remainder /
  // d^2, and H'(d) = (nu + 1) G(d) / d^3 with G(0) = 0 and
  //   G'(d) = -2 r d^2 / (A s^2) (e^2 + 2 (a / r) e - a),   e = d - r, s = a + e^2.
  // The quadratic in e has one root of each sign, so for r > 0 the function G falls, rises between the roots, and falls
  // again. It follows that H, going out from d = 0 to either side, has at most one minimum and then rises: up to d = 2
  // r towards the target, where it is the global curvature, and without end on the other side. Hence
  //   c*(x) = max(w, H(min(x, 2 |r|) towards the target), H(x away from it))
  // for every residual, also beyond sqrt(3 a) where w itself turns. Up to sqrt(3 a) the first side is never the
  // smaller: w(r - x) >= w(r + x) as long as x <= sqrt(2) r, and beyond that H is positive towards the target and
  // negative away from it. There the slope is the mean of u(|r| - s x) with weights (1 - s)^2 of total 1/3, as for the
  // logistic, with u = -w' = 2 (nu + 1) m (3 a - m^2) / (a + m^2)^3, which rises up to m* = (sqrt 2 - 1) sqrt a and
  // falls beyond. The few rows beyond sqrt(3 a) use the constant.
  Needed needed(double y, Predictor eta, double x) const {
    const double a = nu * sigma * sigma;
    const double r = std::abs(y - eta[0]);
    const double top = (std::numbers::sqrt2 - 1.0) * std::sqrt(a);
    const double tiny = 1e-5 * std::sqrt(a);  // below this a difference of curvatures has too few digits
    double w = 0.0, global = 0.0;
    curvature(y, eta, {&w, 1});
    global_curvature(y, eta, {&global, 1});
    const auto along = [&](double d) { return -2.0 * remainder(y, eta, {&d, 1}) / (d * d); };
    const double sign = std::copysign(1.0, y - eta[0]);
    if (r * r >= 3.0 * a) {
      const bool whole = x < tiny || x >= 2.0 * r;
      return {whole ? global : std::max({w, along(sign * x), along(-sign * x)}), HUGE_VAL};
    }
    const auto largest_third = [&](double d) {
      const double m = std::max(r - d, std::min(r, top));
      const double b = a + m * m;
      return 2.0 / 3.0 * (nu + 1.0) * (m / b) * ((3.0 * a - m * m) / b) / b;
    };
    const auto curvature_at = [&](double d) {
      if (d < tiny) return w + d * largest_third(d);
      return d < 2.0 * r ? std::max(w, along(sign * d)) : global;
    };
    return needed_within(x, {w, r, top, tiny}, largest_third(x), curvature_at);
  }

  void sharp(double y, Predictor eta, std::span<const double> spread, const Zone& zone, std::span<double> c,
             std::span<double> k) const {
    curvature(y, eta, c);
    sharp_line(*this, y, eta, spread[0], zone, c[0], k[0]);
  }

  // The location; for nu <= 1, where there is no mean, this is the median.
  void mean(Predictor eta, std::span<double> out) const { out[0] = eta[0]; }

  // Bailey's polar form: sqrt(nu (u^(-2/nu) - 1)) cos(2 pi v).
  double simulate(Predictor eta, const Random& random, std::uint64_t index) const {
    const double u = random.uniform(Purpose::simulate, 2 * index);
    const double v = random.uniform(Purpose::simulate, 2 * index + 1);
    return eta[0] + sigma * std::sqrt(nu * std::expm1(-2.0 / nu * std::log(u))) * std::cos(2.0 * std::numbers::pi * v);
  }

  double nu;
  double sigma;

 private:
  double log_constant_;
};

static_assert(Family<StudentT>);

}  // namespace flymc
