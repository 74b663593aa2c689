// Logistic regression: y is 0 or 1, P(y = 1) = sigmoid(eta).
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "flymc/core/numerics.hpp"
#include "flymc/model/family.hpp"

namespace flymc {

struct Logistic {
  std::string name() const { return "logistic"; }
  Index predictors() const { return 1; }
  std::string target_problem(double y) const { return y == 0.0 || y == 1.0 ? "" : "0 or 1"; }

  double log_likelihood(double y, Predictor eta) const { return log_sigmoid(side(y) * eta[0]); }

  void slope(double y, Predictor eta, std::span<double> out) const { out[0] = side(y) * sigmoid(-side(y) * eta[0]); }

  void curvature(double, Predictor eta, std::span<double> out) const { out[0] = sigmoid(eta[0]) * sigmoid(-eta[0]); }

  // Counted in the direction of the observed class: m = +-eta, d = +-delta, q = sigmoid(m), p = 1 - q. Then
  //   -remainder = log(q exp(p d) + p exp(-q d)) = log1p(q (exp(p d) - 1 - p d) + p (exp(-q d) - 1 + q d)),
  // where the terms that cancel have been taken out and both that are left are positive.
  double remainder(double y, Predictor eta, Predictor delta) const {
    const double m = side(y) * eta[0];
    const double d = side(y) * delta[0];
    const double q = sigmoid(m);
    const double p = sigmoid(-m);
    if (std::abs(d) <= 30.0) return -std::log1p(q * expm1_minus(p * d) + p * expm1_minus(-q * d));
    const double a = log_sigmoid(m) + p * d;
    const double b = log_sigmoid(-m) - q * d;
    return -(std::max(a, b) + std::log1p(std::exp(-std::abs(a - b))));
  }

  // Jaakkola and Jordan's bound, tight at eta: log sigmoid(x) - x/2 is convex in x^2 and lies above its tangent there.
  void global_curvature(double, Predictor eta, std::span<double> out) const {
    out[0] = jaakkola_jordan_curvature(eta[0]);
  }

  double simulate(Predictor eta, const Random& random, std::uint64_t index) const {
    return random.uniform(Purpose::simulate, 2 * index) < sigmoid(eta[0]) ? 1.0 : 0.0;
  }

 private:
  static double side(double y) { return y > 0.5 ? 1.0 : -1.0; }
};

static_assert(Family<Logistic>);

}  // namespace flymc
