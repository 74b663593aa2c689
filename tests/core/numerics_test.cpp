// Stable functions against long double and against their limits.
#include "flymc/core/numerics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "flymc/core/linear.hpp"

namespace flymc {
namespace {

void expect_close(double actual, long double expected, double at) {
  EXPECT_NEAR(actual, static_cast<double>(expected), 8e-16 * std::abs(static_cast<double>(expected))) << "at " << at;
}

TEST(Numerics, SecondOrderFormsKeepRelativeAccuracy) {
  for (double magnitude = 1e-8; magnitude < 50.0; magnitude *= 1.37)
    for (const double x : {magnitude, -magnitude}) {
      // Below 1e-3 the difference would lose the extra digits of long double, so a series is used.
      const long double l = x;
      const long double e = std::abs(x) < 1e-3
                                ? l * l / 2 * (1 + l / 3 * (1 + l / 4 * (1 + l / 5 * (1 + l / 6 * (1 + l / 7)))))
                                : expm1l(l) - l;
      expect_close(expm1_minus(x), e, x);
      EXPECT_GE(expm1_minus(x), 0.0);
      if (x <= -1.0) continue;
      const long double m = std::abs(x) < 1e-3
                                ? l * l * (0.5L - l * (1 / 3.0L - l * (0.25L - l * (0.2L - l * (1 / 6.0L - l / 7)))))
                                : l - log1pl(l);
      expect_close(minus_log1p(x), m, x);
      EXPECT_GE(minus_log1p(x), 0.0);
    }
  EXPECT_EQ(expm1_minus(0.0), 0.0);
  EXPECT_EQ(minus_log1p(0.0), 0.0);
  EXPECT_TRUE(std::isinf(minus_log1p(-1.0)));
}

TEST(Numerics, LogisticFunctionsInBothTails) {
  for (double x = -745.0; x <= 745.0; x += 0.37) {
    const long double l = x;
    expect_close(sigmoid(x), x < 0 ? expl(l) / (1 + expl(l)) : 1 / (1 + expl(-l)), x);
    expect_close(log1p_exp(x), x > 0 ? l + log1pl(expl(-l)) : log1pl(expl(l)), x);
  }
  EXPECT_DOUBLE_EQ(log_sigmoid(-1e6), -1e6);
  EXPECT_EQ(log_sigmoid(1e6), 0.0);
}

TEST(Numerics, BrightTermsFromTinyToHugeGaps) {
  for (double g = 1e-300; g < 1e300; g *= 7.3) {
    EXPECT_TRUE(std::isfinite(log_expm1(g))) << g;
    if (g > 1e-15 && g < 1e3) {
      EXPECT_NEAR(log_expm1(g), static_cast<double>(logl(expm1l(g))), 1e-15 * (1 + std::abs(log_expm1(g)))) << g;
      expect_close(bright_probability(g), -expm1l(-static_cast<long double>(g)), g);
      expect_close(log_expm1_slope(g), -1 / expm1l(-static_cast<long double>(g)), g);
    }
  }
  EXPECT_EQ(log_expm1(0.0), -std::numeric_limits<double>::infinity());
}

TEST(Numerics, JaakkolaJordanCurvatureIsSmoothThroughZero) {
  EXPECT_EQ(jaakkola_jordan_curvature(0.0), 0.25);
  for (double x = 1e-12; x < 1e3; x *= 1.7)
    expect_close(jaakkola_jordan_curvature(-x), tanhl(x / 2.0L) / (2.0L * x), x);
}

TEST(Linear, DotDoesNotDependOnAlignment) {
  double x[40], v[40];
  for (int i = 0; i < 40; ++i) x[i] = std::sin(i + 1.0), v[i] = std::cos(3.0 * i);
  for (Index size = 0; size <= 30; ++size) {
    const double here = dot(x, v, size);
    for (int shift = 1; shift < 8; ++shift) {
      double moved[40];
      std::copy(x, x + size, moved + shift);
      EXPECT_EQ(dot(moved + shift, v, size), here);
    }
    long double sum = 0;
    for (Index i = 0; i < size; ++i) sum += static_cast<long double>(x[i]) * v[i];
    EXPECT_NEAR(here, static_cast<double>(sum), 1e-14);
  }
}

}  // namespace
}  // namespace flymc
