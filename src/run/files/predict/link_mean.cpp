// Chebyshev interpolation, with a check of the decay of its coefficients.
#include "link_mean.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <utility>

namespace flymc {
namespace {

// Relative to the largest value. Summing thousands of values loses more than this.
constexpr double tolerance = 64.0 * std::numeric_limits<double>::epsilon();

// From sum c_k T_k(u) to powers of u, by T_(k+1) = 2 u T_k - T_(k-1).
void to_powers(std::span<const double> c, double* out) {
  double rows[3][LinkMean::most_points + 1] = {};
  double *before = rows[0], *now = rows[1], *next = rows[2];
  std::fill_n(out, c.size(), 0.0);
  now[0] = 1.0;
  for (std::size_t k = 0; k < c.size(); ++k) {
    for (std::size_t i = 0; i <= k; ++i) out[i] += c[k] * now[i];
    for (std::size_t i = 0; i <= k + 1; ++i) next[i] = (i > 0 ? (k == 0 ? 1.0 : 2.0) * now[i - 1] : 0.0) - before[i];
    std::swap(before, now);
    std::swap(now, next);
  }
}

}  // namespace

// With values g_j at the nodes cos((j + 1/2) pi / m), j < m, the interpolant is sum_k c_k T_k(u) for k < m, where
// c_k = (2 - [k = 0]) / m sum_j g_j cos(k (j + 1/2) pi / m).
LinkMean::Rule::Rule(std::size_t count) : points(count) {
  const auto m = static_cast<double>(points);
  for (std::size_t j = 0; j < points; ++j)
    nodes.push_back(std::cos((static_cast<double>(j) + 0.5) * std::numbers::pi / m));
  for (std::size_t k = 0; k < points; ++k)
    for (std::size_t j = 0; j < points; ++j)
      weights.push_back((k == 0 ? 1.0 : 2.0) / m *
                        std::cos(static_cast<double>(k) * (static_cast<double>(j) + 0.5) * std::numbers::pi / m));
}

// Twelve values suffice for nearly all rows of a large table. With 24 the polynomial takes as long as the exponentials.
LinkMean::LinkMean(const BatchedFamily& family) : family_(family), rules_{Rule(12), Rule(most_points)} {}

std::size_t LinkMean::interpolate(const Rule& rule, double centre, double half, double* powers) const {
  const std::size_t m = rule.points;
  double eta[most_points], value[most_points], c[most_points] = {};
  for (std::size_t j = 0; j < m; ++j) eta[j] = centre + half * rule.nodes[j];
  family_.mean({eta, m}, {value, m});
  double largest = 0.0;
  for (std::size_t j = 0; j < m; ++j) largest = std::max(largest, std::abs(value[j]));
  if (!std::isfinite(largest)) return 0;
  for (std::size_t k = 0; k < m; ++k)
    for (std::size_t j = 0; j < m; ++j) c[k] += rule.weights[k * m + j] * value[j];
  // Two coefficients are tested, because every other one is 0 for even and odd functions. Later ones would be smaller.
  if (!(std::abs(c[m - 1]) + std::abs(c[m - 2]) <= tolerance * largest)) return 0;
  std::size_t terms = m;
  double rest = 0.0;
  while (terms > 1 && (rest += std::abs(c[terms - 1])) <= tolerance * largest) --terms;
  to_powers({c, terms}, powers);
  // Powers that cancel each other would lose digits.
  double sum = 0.0;
  for (std::size_t k = 0; k < terms; ++k) sum += std::abs(powers[k]);
  return sum <= 4.0 * largest ? terms : 0;
}

std::optional<double> LinkMean::operator()(VectorWidth width, std::span<const double> eta,
                                           const Location& location) const {
  const double centre = location.smallest + 0.5 * (location.largest - location.smallest);
  const double half = std::max(location.largest - centre, centre - location.smallest);
  // The outermost nodes are 0.4 % of the interval away from its ends. On a long interval the link may be flat at all
  // nodes and yet not flat where the draws are.
  constexpr double longest = 16.0, least = 1e-300;
  if (!(half <= longest)) return std::nullopt;
  if (half < least) {
    double mean = 0.0;
    family_.mean({&centre, 1}, {&mean, 1});
    return mean;
  }
  double powers[most_points];
  for (const Rule& rule : rules_)
    if (const std::size_t terms = interpolate(rule, centre, half, powers); terms > 0) {
      // A link is increasing, so its mean lies between its values at the ends. Rounding must not move it outside.
      const double ends[] = {location.smallest, location.largest};
      double value[2];
      family_.mean(ends, value);
      return std::max(value[0],
                      std::min(value[1], mean_of_polynomial(width, eta, centre, 1.0 / half, {powers, terms})));
    }
  return std::nullopt;
}

}  // namespace flymc
