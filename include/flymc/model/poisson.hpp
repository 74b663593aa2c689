// Poisson regression with a log link: y is a count 0, 1, 2, ... of mean exp(eta). The logarithm of an exposure is an
// offset.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "flymc/core/numerics.hpp"
#include "flymc/model/family.hpp"
#include "flymc/model/sharp.hpp"

namespace flymc {

struct Poisson {
  std::string name() const { return "poisson"; }
  Index predictors() const { return 1; }
  std::string target_problem(double y) const {
    return y >= 0.0 && y <= largest_count && y == std::floor(y) ? "" : "a count: 0, 1, 2, ...";
  }

  // The largest value, which l has at mean y, less a positive term: with t = eta - log y,
  //   l = (y log y - y - log y!) - y (exp(t) - 1 - t).
  // The terms of y eta - exp(eta) - log y! are as large as the count, and would cancel.
  double log_likelihood(double y, Predictor eta) const {
    if (y == 0.0) return -std::exp(eta[0]);
    const Highest at = highest(y);
    const double t = eta[0] - at.eta;
    return at.value - (t < 1.0 ? y * expm1_minus(t) : std::exp(eta[0]) - y * (1.0 + t));
  }

  void slope(double y, Predictor eta, std::span<double> out) const { out[0] = y - std::exp(eta[0]); }

  void curvature(double, Predictor eta, std::span<double> out) const { out[0] = std::exp(eta[0]); }

  double remainder(double, Predictor eta, Predictor delta) const { return -std::exp(eta[0]) * expm1_minus(delta[0]); }

  void remainder_slope(double, Predictor eta, Predictor delta, std::span<double> out) const {
    out[0] = -std::exp(eta[0]) * std::expm1(delta[0]);
  }

  // -remainder = w (exp(delta) - 1 - delta) = w g(delta) delta^2 / 2 with w = exp(eta) and
  //   g(t) = 2 (exp(t) - 1 - t) / t^2 = 2 sum over k of t^k / (k + 2)!,
  // the mean of exp(s t) over 0 < s < 1 with weights 2 (1 - s), which rises with t. So c*(r) = w g(r), for positive
  // delta. For t > 0 all terms of the series are positive, so (g(t) - 1) / t rises too and is largest at r. No
  // quadratic stays below the likelihood everywhere. If the zone is so wide for a row that the curvature would be
  // thousands of times its own, c is infinite.
  Needed needed(double, Predictor eta, double r) const {
    constexpr double farthest = 12.0;  // g(12) = 2260
    if (!(r <= farthest)) return {HUGE_VAL, HUGE_VAL};
    const double w = std::exp(eta[0]), growth = excess(r);
    return {w * (1.0 + r * growth), w * growth};
  }

  void sharp(double y, Predictor eta, std::span<const double> spread, const Zone& zone, std::span<double> c,
             std::span<double> k) const {
    curvature(y, eta, c);
    sharp_line(*this, y, eta, spread[0], zone, c[0], k[0]);
  }

  void mean(Predictor eta, std::span<double> out) const { out[0] = std::exp(eta[0]); }
  double variance(Predictor eta) const { return std::exp(eta[0]); }
  std::string wider() const { return "negative_binomial"; }

  // Draws by inversion, with the counts in the order m, m + 1, m - 1, ... of their distance from the mode m. Any order
  // is valid, and this one takes about sqrt(mean) steps. Above a million the count is a normal quantile with its first
  // correction for skewness, z sqrt(mean) + (z^2 - 1) / 6 from the mean, with an error of about 1 / sqrt(mean) of a
  // count.
  double simulate(Predictor eta, const Random& random, std::uint64_t index) const {
    return simulate_from(0.0, eta, random, index);
  }
  // Draws among the counts from `least` on, which is 0 or 1.
  static double simulate_from(double least, Predictor eta, const Random& random, std::uint64_t index) {
    const double mean = std::min(std::exp(eta[0]), largest_count);
    const double u = random.uniform(Purpose::simulate, 2 * index) * (least > 0.0 ? -std::expm1(-mean) : 1.0);
    if (mean > 1e6) {
      const double v = random.uniform(Purpose::simulate, 2 * index + 1);
      const double z = std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
      return std::clamp(std::round(mean + z * std::sqrt(mean) + (z * z - 1.0) / 6.0), 0.0, largest_count);
    }
    const double mode = std::max(least, std::floor(mean));
    double above = std::exp(Poisson{}.log_likelihood(mode, eta)), below = above;
    double up = mode, down = mode, rest = u - above;
    while (rest > 0.0) {
      above *= mean / (up + 1.0);
      up += 1.0;
      if ((rest -= above) <= 0.0) return up;
      if (down > least) {
        below *= down / mean;
        down -= 1.0;
        if ((rest -= below) <= 0.0) return down;
      }
      // The rest is only rounding of the sum.
      if (above + below < std::numeric_limits<double>::epsilon() * rest) return up;
    }
    return mode;
  }

  // (g(t) - 1) / t.
  static double excess(double t) {
    if (t > 1.0) return 2.0 * (expm1_minus(t) - 0.5 * t * t) / (t * t * t);
    double term = 1.0 / 3.0, sum = 0.0;  // 2 t^(k - 1) / (k + 2)! for k = 1, 2, ...
    for (int k = 2; k < 24; ++k) {
      sum += term;
      term *= t / (k + 2.0);
    }
    return sum;
  }

 private:
  static constexpr double largest_count = 9007199254740992.0;  // 2^53: doubles represent all whole numbers up to it

  // The largest log-likelihood of a count y > 0, and the eta at which it has it.
  struct Highest {
    double value, eta;
  };
  static Highest highest(double y) {
    static const auto few = [] {
      std::array<Highest, 256> out{};
      for (std::size_t i = 1; i < out.size(); ++i) {
        const auto count = static_cast<double>(i);
        out[i] = {count * std::log(count) - count - log_gamma(count + 1.0), std::log(count)};
      }
      return out;
    }();
    if (y < static_cast<double>(few.size())) return few[static_cast<std::size_t>(y)];
    // Stirling's series; the next term is below 1e-15.
    const double log_y = std::log(y);
    return {-0.5 * (std::log(2.0 * std::numbers::pi) + log_y) - 1.0 / (12.0 * y) + 1.0 / (360.0 * y * y * y), log_y};
  }
};

static_assert(Family<Poisson>);

}  // namespace flymc
