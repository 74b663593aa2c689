// Newton-type steps on erfc for the normal, bisection of a continued fraction for the Beta.
#include "flymc/diagnose/quantile_functions.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "flymc/core/numerics.hpp"

namespace flymc {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// delta(a) = log Gamma(a) - [(a - 1/2) log a - a + log(2 pi) / 2], the remainder of Stirling's formula.
// The recurrence delta(a) = delta(a + 1) + (a + 1/2) log(1 + 1/a) - 1 lifts a to where the asymptotic series is exact.
double stirling_remainder(double a) {
  double lift = 0.0;
  for (; a < 16.0; a += 1.0) lift += (a + 0.5) * std::log1p(1.0 / a) - 1.0;
  const double r = 1.0 / (a * a);
  return lift + (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r * (1.0 / 1680 - r / 1188)))) / a;
}

// x^a y^b / B(a, b) with y = 1 - x. The logarithms are taken relative to the mean a / (a + b), where they cancel:
// with u = (a + b) x / a - 1 and v = (a + b) y / b - 1 we have a u + b v = 0, hence
//   a log(1 + u) + b log(1 + v) = -a (u - log(1 + u)) - b (v - log(1 + v)),
// a sum of terms of one sign, accurate for a + b of many millions.
double beta_kernel(double x, double y, double a, double b) {
  const double difference = b * x - a * y;  // = (a + b) x - a
  const double exponent = -a * minus_log1p(difference / a) - b * minus_log1p(-difference / b) +
                          stirling_remainder(a + b) - stirling_remainder(a) - stirling_remainder(b);
  return std::sqrt(a / (a + b) * b / (2.0 * std::numbers::pi)) * std::exp(exponent);
}

// The continued fraction of the incomplete Beta function (DLMF 8.17.22), by the modified Lentz recurrence.
// It converges in about sqrt(max(a, b)) terms for x below (a + 1) / (a + b + 2).
double beta_fraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300;
  constexpr double kPrecision = 1e-16;
  constexpr int kMaxTerms = 1'000'000;
  double value = 1.0, numerator = 1.0, denominator = 0.0;
  for (int i = 1; i <= kMaxTerms; ++i) {
    const double m = i / 2;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    const double term = i % 2 ? odd : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    denominator = 1.0 + term * denominator;
    if (denominator == 0.0) denominator = kTiny;
    denominator = 1.0 / denominator;
    numerator = 1.0 + term / numerator;
    if (numerator == 0.0) numerator = kTiny;
    const double factor = numerator * denominator;
    value *= factor;
    if (std::abs(factor - 1.0) <= kPrecision) break;
  }
  return 1.0 / value;
}

}  // namespace

double normal_quantile(double p) {
  if (!(p >= 0.0 && p <= 1.0)) return kNaN;
  if (p == 0.0) return -kInfinity;
  if (p == 1.0) return kInfinity;
  if (p == 0.5) return 0.0;
  const double tail = p < 0.5 ? p : 1.0 - p;  // exact: a double in [1/2, 1] has an exact complement

  // Abramowitz and Stegun 26.2.23: |error| < 4.5e-4.
  const double t = std::sqrt(-2.0 * std::log(tail));
  double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)));

  // Halley's steps on F(z) = Phi(-z) - tail, F' = -phi, F'' = z phi; two cubic steps from 4.5e-4 reach rounding. Near
  // the median F is written with erf, so that z keeps its relative accuracy as it goes to 0.
  for (int step = 0; step < 2; ++step) {
    const double scaled = z / std::numbers::sqrt2;
    const double f = tail > 0.25 ? (0.5 - tail) - 0.5 * std::erf(scaled) : 0.5 * std::erfc(scaled) - tail;
    const double newton = f / (std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi));
    z += newton / (1.0 - 0.5 * z * newton);
  }
  return p < 0.5 ? -z : z;
}

double beta_probability(double x, double a, double b) {
  if (!(x > 0.0)) return 0.0;
  if (!(x < 1.0)) return 1.0;
  const double kernel = beta_kernel(x, 1.0 - x, a, b);
  if (x < (a + 1.0) / (a + b + 2.0)) return kernel * beta_fraction(x, a, b) / a;
  return 1.0 - kernel * beta_fraction(1.0 - x, b, a) / b;
}

double beta_quantile(double p, double a, double b) {
  if (!(p >= 0.0 && p <= 1.0 && a > 0.0 && b > 0.0 && std::isfinite(a + b))) return kNaN;
  if (p == 0.0 || p == 1.0) return p;
  double below = 0.0, above = 1.0;
  while (true) {
    const double middle = 0.5 * (below + above);
    if (middle <= below || middle >= above) return above;
    (beta_probability(middle, a, b) < p ? below : above) = middle;
  }
}

}  // namespace flymc
