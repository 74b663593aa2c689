// Differences of log Gamma, by Stirling's series if the argument is at least 16, and by its factors below.
#include "flymc/model/shape_part.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include "flymc/core/numerics.hpp"

namespace flymc {
namespace {

constexpr int factors = 16;

// log Gamma(x) = (x - 1/2) log x - x + log(2 pi) / 2 + tail(x), with its derivatives in x. The terms after the fifth
// are below 1e-15 for x >= 16.
ShapePart tail(double x) {
  const double v = 1.0 / x, w = v * v;
  return {v * (1.0 / 12.0 - w * (1.0 / 360.0 - w * (1.0 / 1260.0 - w * (1.0 / 1680.0 - w / 1188.0)))),
          -w * (1.0 / 12.0 - w * (3.0 / 360.0 - w * (5.0 / 1260.0 - w * (7.0 / 1680.0 - w * 9.0 / 1188.0)))),
          v * w * (2.0 / 12.0 - w * (12.0 / 360.0 - w * (30.0 / 1260.0 - w * (56.0 / 1680.0 - w * 90.0 / 1188.0))))};
}

}  // namespace

ShapePart shape_part_of_count(double y, double s) {
  const WeighedTarget one{y, 1.0};
  ShapePart out = shape_part_of_counts({&one, 1}, s);
  out.value -= log_gamma(y + 1.0);
  return out;
}

// sum over y of w_y sum over j < y of log(1 + j / kappa). The first factors of all counts are added together: factor j
// has the total weight of the counts above j.
ShapePart shape_part_of_counts(std::span<const WeighedTarget> counts, double s) {
  const double kappa = std::exp(s), x = kappa + factors, more = std::log1p(factors / kappa);
  const ShapePart here = tail(x);
  ShapePart out;
  std::array<double, factors> weight{};  // by last factor: total weight of the counts j + 1
  double above = 0.0;
  for (const auto& [y, w] : counts) {
    const double n = y - factors;
    if (n <= 0.0) {
      if (y >= 1.0) weight[static_cast<std::size_t>(y) - 1] += w;
      continue;
    }
    // log Gamma(x + n) - log Gamma(x) - n log kappa at x = kappa + 16. With t = n / x it is
    //   (x + n - 1/2) log(1 + t) - n + n log(x / kappa) + tail(x + n) - tail(x),
    // where x ((1 + t) log(1 + t) - t) has no larger rounding error than n.
    above += w;
    const double log_t = std::log1p(n / x);
    const ShapePart there = tail(x + n);
    const double slope = log_t - 0.5 * (1.0 / (x + n) - 1.0 / x) + there.slope - here.slope;
    const double bend = -n / (x * (x + n)) + 0.5 * (1.0 / ((x + n) * (x + n)) - 1.0 / (x * x)) + there.bend - here.bend;
    out.value += w * ((x + n - 0.5) * log_t - n + n * more + there.value - here.value);
    out.slope += w * (kappa * slope - n);
    out.bend += w * kappa * (slope + kappa * bend);
  }
  for (int j = factors - 1; j > 0; --j) {
    above += weight[static_cast<std::size_t>(j)];
    const double share = j / (kappa + j);
    out.value += above * std::log1p(j / kappa);
    out.slope -= above * share;
    out.bend += above * share * (1.0 - share);
  }
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
  // log Gamma(kappa) = log Gamma(kappa + 16) - sum over j < 16 of log(kappa + j), whose term for j = 0 is s.
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

ShapePart shape_part_of_amounts(std::span<const WeighedTarget> amounts, double s) {
  double weight = 0.0;
  for (const WeighedTarget& each : amounts) weight += each.weight;
  const ShapePart one = shape_part_of_amount(1.0, s);
  return {weight * one.value, weight * one.slope, weight * one.bend};
}

}  // namespace flymc
