// Probit regression: y is 0 or 1, P(y = 1) = Phi(eta), the distribution function of the standard normal.
#pragma once

#include <cmath>
#include <numbers>
#include <string>

#include "flymc/model/family.hpp"
#include "flymc/model/remainder.hpp"

namespace flymc {

// With m = +-eta in the direction of the observed class and h = phi(m) / Phi(m),
//   l = log Phi(m),   l' = h,   w = -l'' = h (m + h),   l''' = h ((m + h)^2 - 1 + h (m + h)).
// w is 1 less the variance of a standard normal variable given that it is below m, so it lies between 0 and 1.
struct Probit {
  std::string name() const { return "probit"; }
  Index predictors() const { return 1; }
  Index target_classes() const { return 2; }
  std::string target_problem(double y) const { return y == 0.0 || y == 1.0 ? "" : "0 or 1"; }

  double log_likelihood(double y, Predictor eta) const { return log_phi(side(y) * eta[0]); }
  void slope(double y, Predictor eta, std::span<double> out) const {
    const double m = side(y) * eta[0];
    out[0] = side(y) * (excess(m) - std::min(m, 0.0));
  }
  void curvature(double y, Predictor eta, std::span<double> out) const { out[0] = bend(side(y) * eta[0]); }
  double remainder(double y, Predictor eta, Predictor delta) const {
    const double m = side(y) * eta[0], d = side(y) * delta[0];
    if (std::abs(d) <= longest_remainder) return remainder_by_curvature(m, d, bend);
    return log_phi(m + d) - log_phi(m) - (excess(m) - std::min(m, 0.0)) * d;
  }
  void global_curvature(double, Predictor, std::span<double> out) const { out[0] = 1.0; }
  // l''' is positive, and at most 0.29572, near m = 1.
  double largest_third_derivative() const { return 0.2958; }

  void mean(Predictor eta, std::span<double> out) const { out[0] = 0.5 * std::erfc(-eta[0] / std::numbers::sqrt2); }
  double simulate(Predictor eta, const Random& random, std::uint64_t index) const {
    double p = 0.0;
    mean(eta, {&p, 1});
    return random.uniform(Purpose::simulate, 2 * index) < p ? 1.0 : 0.0;
  }

 private:
  static constexpr double far = 5.0;
  static double side(double y) { return y > 0.5 ? 1.0 : -1.0; }

  // h + min(m, 0). If m is far below 0, both are large, and h = x + 1 / (x + 2 / (x + 3 / ...)) with x = -m (Laplace).
  static double excess(double m) {
    if (m < -far) {
      double tail = 0.0;
      for (double k = 60.0; k > 0.0; --k) tail = k / (tail - m);
      return tail;
    }
    const double root = std::numbers::sqrt2, density = std::exp(-0.5 * m * m) * std::numbers::inv_sqrtpi / root;
    return density / (0.5 * std::erfc(-m / root)) + std::min(m, 0.0);
  }
  static double bend(double m) {
    const double more = excess(m);
    return m < 0.0 ? (more - m) * more : more * (m + more);
  }
  static double log_phi(double m) {
    if (m < -far)
      return -0.5 * m * m - std::log(excess(m) - m) + std::log(std::numbers::inv_sqrtpi / std::numbers::sqrt2);
    if (m < 0.0) return std::log(0.5 * std::erfc(-m / std::numbers::sqrt2));
    return std::log1p(-0.5 * std::erfc(m / std::numbers::sqrt2));
  }
};

static_assert(Family<Probit>);

}  // namespace flymc
