// Differences of log Gamma, by Stirling's series where the argument is at least 16 and by its factors before.
#include "flymc/model/shape_part.hpp"

#include <cmath>
#include <numbers>

#include "flymc/core/numerics.hpp"

namespace flymc {
namespace {

constexpr int factors = 16;

// log Gamma(x) = (x - 1/2) log x - x + log(2 pi) / 2 + tail(x). What comes after the fifth term is below 1e-15 for
// x >= 16. With the derivatives in x.
ShapePart tail(double x) {
  const double v = 1.0 / x, w = v * v;
  return {v * (1.0 / 12.0 - w * (1.0 / 360.0 - w * (1.0 / 1260.0 - w * (1.0 / 1680.0 - w / 1188.0)))),
          -w * (1.0 / 12.0 - w * (3.0 / 360.0 - w * (5.0 / 1260.0 - w * (7.0 / 1680.0 - w * 9.0 / 1188.0)))),
          v * w * (2.0 / 12.0 - w * (12.0 / 360.0 - w * (30.0 / 1260.0 - w * (56.0 / 1680.0 - w * 90.0 / 1188.0))))};
}

}  // namespace

ShapePart shape_part_of_count(double y, double s) {
  const double kappa = std::exp(s);
  ShapePart out{-log_gamma(y + 1.0), 0.0, 0.0};
  const int few = static_cast<int>(std::fmin(y, factors));
  for (int j = 1; j < few; ++j) {
    const double share = j / (kappa + j);
    out.value += std::log1p(j / kappa);
    out.slope -= share;
    out.bend += share * (1.0 - share);
  }
  const double n = y - factors;
  if (n <= 0.0) return out;
  // log Gamma(x + n) - log Gamma(x) - n log kappa at x = kappa + 16. With t = n / x,
  //   (x + n - 1/2) log(1 + t) - n + n log(x / kappa) + tail(x + n) - tail(x),
  // where x ((1 + t) log(1 + t) - t) has no more rounding than n has.
  const double x = kappa + factors, t = n / x, log_t = std::log1p(t);
  const ShapePart here = tail(x), there = tail(x + n);
  const double slope = log_t - 0.5 * (1.0 / (x + n) - 1.0 / x) + there.slope - here.slope;
  const double bend = -n / (x * (x + n)) + 0.5 * (1.0 / ((x + n) * (x + n)) - 1.0 / (x * x)) + there.bend - here.bend;
  out.value += (x + n - 0.5) * log_t - n + n * std::log1p(factors / kappa) + there.value - here.value;
  out.slope += kappa * slope - n;
  out.bend += kappa * (slope + kappa * bend);
  return out;
}

ShapePart shape_part_of_amount(double y, double s) {
  const double kappa = std::exp(s);
  const double half_log_two_pi = 0.5 * std::log(2.0 * std::numbers::pi);
  ShapePart out{-std::log(y), 0.0, 0.0};
  if (kappa >= factors) {  // log(kappa / (2 pi)) / 2 - tail(kappa)
    const ShapePart here = tail(kappa);
    out.value += 0.5 * s - half_log_two_pi - here.value;
    out.slope = 0.5 - kappa * here.slope;
    out.bend = -kappa * (here.slope + kappa * here.bend);
    return out;
  }
  // log Gamma(kappa) = log Gamma(kappa + 16) - sum over j < 16 of log(kappa + j), of which j = 0 has s.
  const double x = kappa + factors, log_x = std::log(x);
  const ShapePart here = tail(x);
  double sum = s, slope = 1.0, bend = 0.0;  // of the factors, in s
  for (int j = 1; j < factors; ++j) {
    const double share = kappa / (kappa + j);
    sum += std::log(kappa + j);
    slope += share;
    bend += share * (1.0 - share);
  }
  out.value += kappa * s - kappa - ((x - 0.5) * log_x - x + half_log_two_pi + here.value) + sum;
  // The derivative of log Gamma(x) in x is log x - 1 / (2 x) + tail'(x).
  const double first = log_x - 0.5 / x + here.slope, second = 1.0 / x + 0.5 / (x * x) + here.bend;
  out.slope = kappa * (s - first) + slope;
  out.bend = kappa * (s - first) + kappa * (1.0 - kappa * second) + bend;
  return out;
}

}  // namespace flymc
