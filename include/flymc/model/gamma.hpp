// Gamma regression with a log link: y > 0 of mean exp(eta) and variance exp(2 eta) / kappa, where the shape kappa is
// one number for all rows, drawn with the coefficients.
#pragma once

#include <cmath>
#include <string>

#include "flymc/core/numerics.hpp"
#include "flymc/model/family.hpp"
#include "flymc/model/poisson.hpp"
#include "flymc/model/shape_part.hpp"
#include "flymc/model/sharp.hpp"

namespace flymc {

// A row has two predictors, eta and s = log kappa. With u = log y - eta and m(u) = exp(u) - 1 - u,
//   log density = -kappa m(u) + (kappa log kappa - log Gamma(kappa) - kappa - log y).
// The first term is the row's likelihood in this family; the rest does not depend on eta (model/sampled_shape.hpp).
struct Gamma {
  std::string name() const { return "gamma"; }
  Index predictors() const { return 2; }
  bool shares_last_predictor() const { return true; }
  std::string target_problem(double y) const {
    if (y == 0.0) return "a number above 0; fit whether there is any amount by another model, and this one to the rest";
    return y > 0.0 && std::isfinite(y) ? "" : "a number above 0";
  }
  ShapePart shape_part(double y, double s) const { return shape_part_of_amount(y, s); }
  ShapePart shape_parts(std::span<const WeighedTarget> all, double s) const { return shape_part_of_amounts(all, s); }
  // A family whose mean at the first predictor is that of a target.
  Poisson of_mean() const { return {}; }

  double log_likelihood(double y, Predictor eta) const {
    const At at(y, eta);
    return -at.kappa * at.m;
  }

  void slope(double y, Predictor eta, std::span<double> out) const {
    const At at(y, eta);
    out[0] = at.kappa * at.turn;
    out[1] = -at.kappa * at.m;
  }

  void curvature(double y, Predictor eta, std::span<double> out) const {
    const At at(y, eta);
    out[0] = at.kappa * at.ratio;
    out[1] = out[2] = -at.kappa * at.turn;
    out[3] = at.kappa * at.m;
  }

  // The size of the terms of a remainder.
  void size_of_curvature(double y, Predictor eta, std::span<double> out) const {
    const At at(y, eta);
    std::ranges::fill(out, at.kappa * (at.ratio + at.m + std::abs(at.turn)));
  }

  // With changes a of eta and b of s, and e(t) = exp(t) - 1 - t, from which m(u - a) = m(u) + exp(u) e(-a) - a m'(u):
  //   -remainder = kappa (m(u) e(b) + exp(u + b) e(-a) - m'(u) a (exp(b) - 1)).
  double remainder(double y, Predictor eta, Predictor delta) const {
    const At at(y, eta);
    const double a = delta[0], b = delta[1];
    return -at.kappa * (at.m * expm1_minus(b) + at.ratio * std::exp(b) * expm1_minus(-a) - at.turn * a * std::expm1(b));
  }

  void remainder_slope(double y, Predictor eta, Predictor delta, std::span<double> out) const {
    const At at(y, eta);
    const double a = delta[0], b = delta[1], rise = std::expm1(b), grown = at.ratio * std::exp(b);
    out[0] = at.kappa * (grown * std::expm1(-a) + rise * at.turn);
    out[1] = -at.kappa * (rise * at.m + grown * expm1_minus(-a) - std::exp(b) * at.turn * a);
  }

  // -remainder less its quadratic part is kappa times
  //   m(u) (e(b) - b^2 / 2) + exp(u) (exp(b) e(-a) - a^2 / 2) - m'(u) a e(b).
  // Let e(t) <= g(|t|) t^2 / 2, g(t) = 2 e(t) / t^2 as for counts (model/poisson.hpp), and |a| <= A, |b| <= B. Then
  // that is at most
  //   (m(u) (g(B) - 1) + |m'(u)| A g(B)) b^2 / 2 + exp(u) (exp(B) g(A) - 1) a^2 / 2.
  // With A and B reaches times rho, both factors are power series in rho without a constant and with positive
  // coefficients; so, divided by rho, they are largest at the radius.
  void sharp(double y, Predictor eta, std::span<const double> spread, const Zone& zone, std::span<double> c,
             std::span<double> k) const {
    constexpr double farthest = 12.0, farthest_shape = 3.0;  // beyond: a curvature thousands of times its own
    curvature(y, eta, c);
    const double far_a = reach_of(spread[0]) * zone.radius, far_b = reach_of(spread[3]) * zone.radius;
    if (!(far_a <= farthest && far_b <= farthest_shape)) {
      std::ranges::fill(c, HUGE_VAL);
      return;
    }
    const At at(y, eta);
    const double more_a = far_a * Poisson::excess(far_a), more_b = far_b * Poisson::excess(far_b);  // g - 1
    k[0] = at.kappa * at.ratio * (std::expm1(far_b) * (1.0 + more_a) + more_a) / zone.radius;
    k[1] = k[2] = 0.0;
    k[3] = at.kappa * (at.m * more_b + std::abs(at.turn) * far_a * (1.0 + more_b)) / zone.radius;
  }

  // The mean and the shape.
  void mean(Predictor eta, std::span<double> out) const {
    out[0] = std::exp(eta[0]);
    out[1] = std::exp(eta[1]);
  }

  double simulate(Predictor eta, const Random& random, std::uint64_t index) const {
    const double kappa = std::exp(std::clamp(eta[1], -largest_logarithm, largest_logarithm));
    const double y = gamma_quantile(kappa, random.uniform(Purpose::simulate, 2 * index)) / kappa;
    return std::clamp(std::exp(std::clamp(eta[0], -300.0, 300.0)) * y, 1e-150, 1e150);
  }

 private:
  static constexpr double largest_logarithm = 30.0;

  // exp(u) is computed as y exp(-eta): a difference of large logarithms would lose digits.
  struct At {
    At(double y, Predictor eta) : kappa(std::exp(eta[1])), ratio(y * std::exp(-eta[0])) {
      const double u = std::log(y) - eta[0];
      const bool far = std::abs(u) > 0.5;
      turn = far ? ratio - 1.0 : std::expm1(u);
      m = far ? turn - u : expm1_minus(u);
    }
    double kappa, ratio;
    double turn, m;  // m'(u) and m(u)
  };
};

static_assert(Family<Gamma>);

}  // namespace flymc
