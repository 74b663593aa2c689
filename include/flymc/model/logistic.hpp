// Logistic regression: y is 0 or 1, P(y = 1) = sigmoid(eta).
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "flymc/core/numerics.hpp"
#include "flymc/model/family.hpp"
#include "flymc/model/sharp.hpp"

namespace flymc {

struct Logistic {
  std::string name() const { return "logistic"; }
  Index predictors() const { return 1; }
  Index target_classes() const { return 2; }
  bool takes_fixed_xi() const { return true; }
  std::string target_problem(double y) const { return y == 0.0 || y == 1.0 ? "" : "0 or 1"; }

  double log_likelihood(double y, Predictor eta) const { return log_sigmoid(side(y) * eta[0]); }

  void slope(double y, Predictor eta, std::span<double> out) const { out[0] = side(y) * sigmoid(-side(y) * eta[0]); }

  void curvature(double y, Predictor eta, std::span<double> out) const {
    const auto [q, p] = sides(side(y) * eta[0]);
    out[0] = q * p;
  }

  double remainder(double y, Predictor eta, Predictor delta) const {
    const double m = side(y) * eta[0];
    return remainder_at(m, sides(m), side(y) * delta[0]);
  }

  // Jaakkola and Jordan's bound, tight at eta: log sigmoid(x) - x/2 is convex in x^2 and lies above its tangent there.
  void global_curvature(double, Predictor eta, std::span<double> out) const {
    out[0] = jaakkola_jordan_curvature(eta[0]);
  }

  // Let a = |eta| and u = -w' on the positive side, u(m) = w(m) tanh(m / 2). The needed curvature is largest for
  // changes towards 0 and beyond it, up to -eta, where it is Jaakkola and Jordan's: c*(r) = -2 remainder / delta^2 at
  // the change min(r, 2 a) towards 0. Its slope (c*(r) - w) / r is the mean of u(a - s r), 0 < s < 1, with weights
  // (1 - s)^2 of total 1/3. Since u is odd, rises up to m* = log(2 + sqrt 3) and falls beyond, the slope is
  //   a <= m*               largest at r = 0, u(a) / 3, because every u(a - s r) falls with r;
  //   a > m*, r <= a - m*   largest at r, because it grows with r;
  //   else                  largest somewhere between a - m* and r, and bounded from above by cells.
  // It is never more than a third of the largest u on the way.
  Needed needed(double, Predictor eta, double r) const {
    constexpr double top = 1.3169578969248166;
    constexpr double at_top = 1.0 / (6.0 * std::numbers::sqrt3);  // u(m*)
    constexpr double tiny = 1e-6;  // below this change a difference of curvatures has too few digits
    const double a = std::abs(eta[0]);
    const Sides here = sides(a);
    const double w = here.plus * here.minus;
    const auto bend = [](const Sides& at) { return at.plus * at.minus * (at.plus - at.minus); };
    const auto largest_third = [&](double x) {
      return (a <= top ? bend(here) : (a - x <= top ? at_top : bend(sides(a - x)))) / 3.0;
    };
    // The same for both classes: their log-likelihoods differ by eta, which does not change a remainder.
    const auto curvature_at = [&](double x) {
      if (x < tiny) return w + x * largest_third(x);
      return x < 2.0 * a ? -2.0 * remainder_at(a, here, -x) / (x * x) : jaakkola_jordan_curvature(a);
    };
    return needed_within(r, {w, a, top, tiny}, largest_third(r), curvature_at);
  }

  void sharp(double y, Predictor eta, std::span<const double> spread, const Zone& zone, std::span<double> c,
             std::span<double> k) const {
    curvature(y, eta, c);
    sharp_line(*this, y, eta, spread[0], zone, c[0], k[0]);
  }

  void mean(Predictor eta, std::span<double> out) const { out[0] = sigmoid(eta[0]); }

  double simulate(Predictor eta, const Random& random, std::uint64_t index) const {
    return random.uniform(Purpose::simulate, 2 * index) < sigmoid(eta[0]) ? 1.0 : 0.0;
  }

 private:
  static double side(double y) { return y > 0.5 ? 1.0 : -1.0; }

  // In the direction of the observed class, m = +-eta, d = +-delta, q = sigmoid(m), p = 1 - q:
  //   -remainder = log(q exp(p d) + p exp(-q d)) = log1p(q (exp(p d) - 1 - p d) + p (exp(-q d) - 1 + q d)).
  // In the second form the terms that cancel are gone, and both that are left are positive.
  static double remainder_at(double m, const Sides& at, double d) {
    const auto [q, p] = at;
    if (std::abs(d) <= 600.0) return -std::log1p(q * expm1_minus(p * d) + p * expm1_minus(-q * d));
    const double a = log_sigmoid(m) + p * d;
    const double b = log_sigmoid(-m) - q * d;
    return -(std::max(a, b) + std::log1p(std::exp(-std::abs(a - b))));
  }
};

static_assert(Family<Logistic>);

}  // namespace flymc
