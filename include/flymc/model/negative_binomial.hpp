// Negative binomial regression with a log link: counts y of mean mu = exp(eta) and variance mu + mu^2 / kappa, where
// the shape kappa is one number for all rows, drawn with the coefficients.
#pragma once

#include <cmath>
#include <string>

#include "flymc/core/numerics.hpp"
#include "flymc/model/family.hpp"
#include "flymc/model/logistic.hpp"
#include "flymc/model/poisson.hpp"
#include "flymc/model/shape_part.hpp"
#include "flymc/model/sharp.hpp"

namespace flymc {

// A row has two predictors, eta and s = log kappa. With psi = eta - s and softplus(psi) = log(1 + exp(psi)),
//   log probability = y eta - (y + kappa) softplus(psi)
//                     + (log Gamma(y + kappa) - log Gamma(kappa) - y log kappa - log y!).
// The first line is the row's likelihood in this family; the rest does not depend on eta (model/sampled_shape.hpp). As
// kappa grows, both tend to those of a Poisson count.
struct NegativeBinomial {
  std::string name() const { return "negative_binomial"; }
  Index predictors() const { return 2; }
  bool shares_last_predictor() const { return true; }
  std::string target_problem(double y) const { return Poisson{}.target_problem(y); }
  ShapePart shape_part(double y, double s) const { return shape_part_of_count(y, s); }
  ShapePart shape_parts(std::span<const WeighedTarget> all, double s) const { return shape_part_of_counts(all, s); }
  // As the shape grows without limit, the likelihood tends to a Poisson's and not to 0: a flat prior has no posterior.
  bool shape_may_be_endless() const { return true; }
  // A family whose mean at the first predictor is that of a target.
  Poisson of_mean() const { return {}; }

  // For positive psi, terms of the size of y eta cancel, so softplus(psi) is written as psi + softplus(-psi).
  double log_likelihood(double y, Predictor eta) const {
    const double kappa = std::exp(eta[1]), psi = eta[0] - eta[1];
    if (psi > 0.0) return y * eta[1] - kappa * psi - (y + kappa) * log1p_exp(-psi);
    return y * eta[0] - (y + kappa) * log1p_exp(psi);
  }

  void slope(double y, Predictor eta, std::span<double> out) const {
    const At at(eta);
    out[0] = y * at.q - at.kappa * at.p;  // y - (y + kappa) p without cancellation for large counts
    out[1] = (y + at.kappa) * at.p - at.kappa * at.softplus;
  }

  void curvature(double y, Predictor eta, std::span<double> out) const {
    const At at(eta);
    const double w = (y + at.kappa) * at.p * at.q, across = at.kappa * at.p;
    out[0] = w;
    out[1] = out[2] = across - w;
    out[3] = at.kappa * at.softplus - 2.0 * across + w;
  }

  // The size of the terms of a remainder.
  void size_of_curvature(double y, Predictor eta, std::span<double> out) const {
    const At at(eta);
    // The remainder of the logistic family is accurate to some ulps of Jaakkola and Jordan's curvature.
    std::ranges::fill(out, (y + at.kappa) * jaakkola_jordan_curvature(at.psi) + at.kappa * (at.p + at.softplus));
  }

  // With changes a of eta, b of s and d = a - b of psi, p = sigmoid(psi), e(t) = exp(t) - 1 - t and
  // R(d) = softplus(psi + d) - softplus(psi) - p d, a remainder of the logistic family:
  //   -remainder = kappa softplus(psi) e(b) + kappa p d (exp(b) - 1) + (y + kappa exp(b)) R(d).
  // If exp(b) is large these terms cancel, and the difference is computed directly.
  double remainder(double y, Predictor eta, Predictor delta) const {
    const At at(eta);
    const double b = delta[1], d = delta[0] - b;
    if (b > 1.0)
      return -(y * at.logistic(d) +
               at.kappa * (std::exp(b) * log1p_exp(at.psi + d) - at.softplus * (1.0 + b) - at.p * d));
    return -(at.kappa * (at.softplus * expm1_minus(b) + at.p * d * std::expm1(b)) +
             (y + at.kappa * std::exp(b)) * at.logistic(d));
  }

  void remainder_slope(double y, Predictor eta, Predictor delta, std::span<double> out) const {
    const At at(eta);
    const double b = delta[1], d = delta[0] - b, rise = std::expm1(b), grown = at.kappa * std::exp(b);
    // sigmoid(psi + d) - sigmoid(psi), without cancellation where they are close.
    const double turn = std::abs(d) > 1.0 ? sigmoid(at.psi + d) - at.p : -sigmoid(at.psi + d) * at.q * std::expm1(-d);
    if (b > 1.0) {
      const double along = y * turn + grown * sigmoid(at.psi + d) - at.kappa * at.p;
      out[0] = -along;
      out[1] = along + at.kappa * at.softplus - grown * log1p_exp(at.psi + d);
      return;
    }
    const double along = at.kappa * at.p * rise + (y + grown) * turn;
    out[0] = -along;
    out[1] = along - at.kappa * at.softplus * rise - grown * (at.p * d + at.logistic(d));
  }

  // -remainder less its quadratic part is
  //   kappa softplus(psi) (e(b) - b^2 / 2) + kappa p d e(b) + ((y + kappa exp(b)) R(d) - (y + kappa) w d^2 / 2)
  // with w = p (1 - p). Let |b| <= B, |d| <= D, g(t) = 2 e(t) / t^2 as for counts (model/poisson.hpp), and c*(D) the
  // needed curvature of a logistic row: R(d) <= c*(D) d^2 / 2 and c*(x) <= w + growth x. Then that is at most
  // alpha b^2 / 2 + beta d^2 / 2 with
  //   alpha = kappa (softplus(psi) (g(B) - 1) + p D g(B))
  //   beta  = kappa w (exp(B) - 1) + (y + kappa exp(B)) growth D, or
  //           (y + kappa) (c*(D) - w) + kappa c*(D) (exp(B) - 1).
  // B and D are reaches times rho; alpha and (exp(B) - 1), divided by rho, are largest at the radius, because all
  // coefficients of their series are positive.
  void sharp(double y, Predictor eta, std::span<const double> spread, const Zone& zone, std::span<double> c,
             std::span<double> k) const {
    constexpr double farthest = 36.0, farthest_shape = 3.0;
    curvature(y, eta, c);
    const double reach = reach_of(std::max(0.0, spread[0] - 2.0 * spread[1] + spread[3]));
    const double far_b = reach_of(spread[3]) * zone.radius, far_d = reach * zone.radius;
    if (!(far_d <= farthest && far_b <= farthest_shape)) {
      std::ranges::fill(c, HUGE_VAL);
      return;
    }
    const At at(eta);
    const double w = at.p * at.q, rise = std::expm1(far_b) / zone.radius, grown = at.kappa * std::exp(far_b);
    const double more = far_b * Poisson::excess(far_b);  // g - 1
    const double alpha = at.kappa * (at.softplus * more + at.p * far_d * (1.0 + more)) / zone.radius;
    const Needed needed = Logistic{}.needed(0.0, {&at.psi, 1}, far_d);
    double beta = at.kappa * w * rise + (y + grown) * needed.growth * reach;
    const double constant = (y + at.kappa) * std::max(0.0, needed.curvature - w),
                 slower = at.kappa * needed.curvature * rise;
    if (constant + slower * zone.typical < beta * zone.typical) {
      beta = slower;
      c[0] += constant;
      c[1] = c[2] = c[1] - constant;
      c[3] += constant;
    }
    k[0] = beta;
    k[1] = k[2] = -beta;
    k[3] = alpha + beta;
  }

  // The mean and the shape.
  void mean(Predictor eta, std::span<double> out) const {
    out[0] = std::exp(eta[0]);
    out[1] = std::exp(eta[1]);
  }

  // A Poisson count whose mean is a gamma variable; the Poisson draw uses the second half of the addresses.
  double simulate(Predictor eta, const Random& random, std::uint64_t index) const {
    constexpr double largest_logarithm = 30.0;
    constexpr std::uint64_t second_half = std::uint64_t{1} << 62;
    const double s = std::clamp(eta[1], -largest_logarithm, largest_logarithm);
    const double share = gamma_quantile(std::exp(s), random.uniform(Purpose::simulate, 2 * index));
    const double mean = eta[0] - s + std::log(std::max(share, 1e-300));
    return Poisson{}.simulate({&mean, 1}, random, second_half + index);
  }

 private:
  struct At {
    explicit At(Predictor eta)
        : psi(eta[0] - eta[1]), kappa(std::exp(eta[1])), softplus(log1p_exp(psi)), p(sigmoid(psi)), q(sigmoid(-psi)) {}
    double logistic(double d) const { return -Logistic{}.remainder(0.0, {&psi, 1}, {&d, 1}); }  // R(d)
    double psi, kappa, softplus, p, q;
  };
};

static_assert(Family<NegativeBinomial>);

}  // namespace flymc
