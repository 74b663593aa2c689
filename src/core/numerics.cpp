// Stable scalar functions; each switches form where the plain formula would cancel or overflow.
#include "flymc/core/numerics.hpp"

#include <array>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>
#include <numbers>

namespace flymc {

double expm1_minus(double x) {
  if (std::abs(x) > 0.5) return std::expm1(x) - x;
  // x^2 (1/2! + x/3! + x^2/4! + ...): the terms after 16! are below 0.5^15 / 17!, far below rounding. Even and odd
  // powers are summed apart, in two chains of half the length.
  constexpr auto factorials = [] {
    std::array<double, 17> out{1.0};
    for (std::size_t n = 1; n < out.size(); ++n) out[n] = out[n - 1] * static_cast<double>(n);
    for (double& f : out) f = 1.0 / f;
    return out;
  }();
  const double square = x * x;
  double even = factorials[16], odd = factorials[15];
  for (std::size_t n = 14; n >= 4; n -= 2) {
    even = factorials[n] + square * even;
    odd = factorials[n - 1] + square * odd;
  }
  return square * (factorials[2] + (x * odd + square * even));
}

double minus_log1p(double x) {
  if (x <= -1.0) return std::numeric_limits<double>::infinity();
  if (std::abs(x) > 0.25) return x - std::log1p(x);
  // With r = x / (2 + x), log1p(x) = 2 atanh(r) and x - 2r = x r, so the result is x r - 2 (r^3/3 + r^5/5 + ...).
  // |r| <= 1/7: r^23 is below rounding. The subtrahend is at most a seventh of x r: no cancellation.
  const double r = x / (2.0 + x);
  const double r2 = r * r;
  double series = 0.0;
  for (int n = 21; n >= 3; n -= 2) series = 1.0 / n + series * r2;
  return r * (x - 2.0 * r2 * series);
}

double log_expm1(double g) {
  // Beyond 1, g + log(1 - exp(-g)) neither overflows nor cancels.
  return g > 1.0 ? g + std::log1p(-std::exp(-g)) : std::log(std::expm1(g));
}

double log_expm1_slope(double g) { return -1.0 / std::expm1(-g); }

double bright_probability(double g) { return -std::expm1(-g); }

double jaakkola_jordan_curvature(double x) {
  const double a = std::abs(x);
  // tanh(x/2) / (2x) = 1/4 - x^2/48 + x^4/480 - ...; the next term is 17 x^6 / 80640.
  if (a < 1e-2) return 0.25 - a * a * (1.0 / 48.0 - a * a * (1.0 / 480.0 - a * a * (17.0 / 80640.0)));
  return std::tanh(0.5 * a) / (2.0 * a);
}

double student_t_log_constant(double nu) {
  return log_gamma((nu + 1.0) / 2.0) - log_gamma(nu / 2.0) - 0.5 * std::log(nu * std::numbers::pi);
}

double log_gamma(double x) {
  int sign = 1;
  return ::lgamma_r(x, &sign);
}

double gamma_quantile(double shape, double p) {
  using namespace boost::math::policies;
  using Policy = policy<promote_double<false>, overflow_error<ignore_error>, underflow_error<ignore_error>,
                        evaluation_error<ignore_error>>;
  // For a large shape the cube root of the variable is nearly normal (Wilson and Hilferty), and the search is slow.
  if (shape > 1e6) {
    const double z = -std::numbers::sqrt2 * boost::math::erfc_inv(2.0 * p, Policy());
    const double root = 1.0 - 1.0 / (9.0 * shape) + z / (3.0 * std::sqrt(shape));
    return shape * root * root * root;
  }
  return boost::math::gamma_p_inv(shape, p, Policy());
}

}  // namespace flymc
