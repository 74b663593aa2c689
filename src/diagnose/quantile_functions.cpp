// The distributions that diagnostics need, from Boost.Math.
#include "flymc/diagnose/quantile_functions.hpp"

#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <numbers>

namespace flymc {
namespace {

// Doubles throughout: the default promotes to long double, which is slower and adds no useful digits.
using Policy = boost::math::policies::policy<boost::math::policies::promote_double<false>>;

}  // namespace

double normal_quantile(double p) {
  if (!(p >= 0.0 && p <= 1.0)) return NAN;
  if (p == 0.0 || p == 1.0) return (p - 0.5) * HUGE_VAL;
  return -std::numbers::sqrt2 * boost::math::erfc_inv(2.0 * p, Policy());
}

double beta_probability(double x, double a, double b) {
  if (!(x > 0.0)) return 0.0;
  if (!(x < 1.0)) return 1.0;
  return boost::math::ibeta(a, b, x, Policy());
}

double beta_quantile(double p, double a, double b) {
  if (!(p >= 0.0 && p <= 1.0 && a > 0.0 && b > 0.0 && std::isfinite(a + b))) return NAN;
  return boost::math::ibeta_inv(a, b, p, Policy());
}

}  // namespace flymc
