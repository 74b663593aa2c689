// Levinson's recursion over autoregressions of increasing order, with the order chosen by Akaike's criterion.
#include "flymc/diagnose/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "flymc/core/linear.hpp"
#include "flymc/diagnose/autocovariance.hpp"

namespace flymc {

namespace {

// Whether the residuals of the least-squares line through (i, x_i) are only rounding.
bool is_straight_line(const Vector& x) {
  const Index n = x.size();
  const Vector time = Vector::LinSpaced(n, -0.5 * static_cast<double>(n - 1), 0.5 * static_cast<double>(n - 1));
  const Vector centred = x.array() - x.mean();
  const Vector residual = centred - (time.dot(centred) / time.squaredNorm()) * time;
  constexpr double rounding = 32 * std::numeric_limits<double>::epsilon();
  return residual.norm() <= rounding * x.lpNorm<Eigen::Infinity>() * std::sqrt(static_cast<double>(n));
}

// Spectral density at zero: sigma^2 / (1 - sum_j a_j)^2 for x_t = sum_j a_j x_{t - j} + noise of variance sigma^2.
double spectrum_at_zero(const Vector& x) {
  const Index n = x.size();
  const double size = static_cast<double>(n);
  const Index max_order = std::min(n - 1, static_cast<Index>(10.0 * std::log10(size)));
  MeanAutocovariance gamma(x);

  Vector a = Vector::Zero(max_order);  // coefficients of the current order
  double noise = gamma(0);             // their residual variance
  double best = size * std::log(noise), best_noise = noise, best_sum = 0.0;
  Index best_order = 0;
  for (Index order = 1; order <= max_order; ++order) {
    double partial = gamma(order);
    for (Index j = 1; j < order; ++j) partial -= a(j - 1) * gamma(order - j);
    partial /= noise;
    const Vector before = a.head(order - 1);
    a.head(order - 1) -= partial * before.reverse();
    a(order - 1) = partial;
    noise *= 1.0 - partial * partial;
    const double criterion = size * std::log(noise) + 2.0 * static_cast<double>(order);
    if (criterion < best) {
      best = criterion;
      best_order = order;
      best_noise = noise;
      best_sum = a.head(order).sum();
    }
  }
  // The mean and the coefficients use order + 1 degrees of freedom.
  const double sigma_squared = best_noise * size / static_cast<double>(n - best_order - 1);
  return sigma_squared / ((1.0 - best_sum) * (1.0 - best_sum));
}

}  // namespace

double ess_spectral(std::span<const double> chain) {
  const Vector x = Vector::Map(chain.data(), static_cast<Index>(chain.size()));
  if (x.size() < 2 || !x.allFinite()) return NAN;
  if (is_straight_line(x)) return 0.0;
  const double size = static_cast<double>(x.size());
  const double variance = (x.array() - x.mean()).square().sum() / (size - 1.0);
  return size * variance / spectrum_at_zero(x);
}

double ess_spectral(ChainDraws draws) {
  double sum = draws.empty() ? NAN : 0.0;
  for (const std::vector<double>& chain : draws) sum += ess_spectral(std::span<const double>(chain));
  return sum;
}

}  // namespace flymc
