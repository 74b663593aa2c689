// Robust regression: (y - eta) / sigma is Student-t with nu degrees of freedom, both given.
#pragma once

#include <cmath>
#include <numbers>
#include <string>

#include "flymc/core/error.hpp"
#include "flymc/core/numerics.hpp"
#include "flymc/model/family.hpp"

namespace flymc {

struct StudentT {
  StudentT(double degrees_of_freedom, double scale) : nu(degrees_of_freedom), sigma(scale) {
    if (!(nu > 0.0) || !std::isfinite(nu)) throw InputError("student_t: the degrees of freedom, nu, must be positive");
    if (!(sigma > 0.0) || !std::isfinite(sigma)) throw InputError("student_t: the scale, sigma, must be positive");
    if (!std::isnormal(nu * sigma * sigma))
      throw InputError("student_t: the scale is too small or too large; rescale the target");
    log_constant_ =
        std::lgamma((nu + 1.0) / 2.0) - std::lgamma(nu / 2.0) - 0.5 * std::log(nu * std::numbers::pi) - std::log(sigma);
  }

  std::string name() const { return "student_t"; }
  Index predictors() const { return 1; }
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
    // Near t = -1 the logarithm's argument is formed anew: 1 + t would have lost it.
    const double far = nu * sigma * sigma + (r - d) * (r - d);
    const double bend = t > -0.5 ? minus_log1p(t) : t - std::log(far / a);
    return 0.5 * (nu + 1.0) * (bend - d * d / a);
  }

  // The tangent in r^2, tight at eta: -log(nu sigma^2 + u) is convex in u.
  void global_curvature(double y, Predictor eta, std::span<double> out) const {
    const double r = y - eta[0];
    out[0] = (nu + 1.0) / (nu * sigma * sigma + r * r);
  }

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
