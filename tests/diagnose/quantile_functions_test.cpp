// Inverse distribution functions against values with 50 digits, against SciPy, and against their own inverses.
#include "flymc/diagnose/quantile_functions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace flymc {
namespace {

TEST(NormalQuantile, KnownValues) {
  // mpmath with 50 digits, at the doubles nearest to these probabilities.
  const struct {
    double p, z;
  } known[] = {{1e-300, -37.047096299361199237}, {1e-20, -9.2623400897984075796},       {1e-05, -4.2648907939228246102},
               {0.01, -2.3263478740408410931},   {0.1, -1.2815515655446004353},         {0.25, -0.6744897501960817432},
               {0.3, -0.52440051270804081597},   {0.499999, -2.5066282745665593779e-6}, {0.6, 0.25334710313579974132},
               {0.9, 1.2815515655446005935},     {0.999, 3.0902323061678132778}};
  for (const auto& [p, z] : known) EXPECT_NEAR(normal_quantile(p), z, 4e-16 * std::abs(z)) << p;
  EXPECT_EQ(normal_quantile(0.5), 0.0);
  EXPECT_EQ(normal_quantile(0.0), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(normal_quantile(1.0), std::numeric_limits<double>::infinity());
  for (const double bad : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_TRUE(std::isnan(normal_quantile(bad)));
}

TEST(NormalQuantile, InvertsTheDistributionFunction) {
  double before = -std::numeric_limits<double>::infinity();
  for (double p = 1e-12; p < 1.0; p += p < 0.01 ? p : 0.0013) {
    const double z = normal_quantile(p);
    EXPECT_GT(z, before);
    before = z;
    // An error of 1e-15 in z changes log Phi by up to (1 + |z|) 1e-15.
    EXPECT_NEAR(0.5 * std::erfc(-z / std::numbers::sqrt2), p, 1e-15 * p * (2 + z * z)) << p;
    EXPECT_NEAR(normal_quantile(1.0 - p), -normal_quantile(1.0 - (1.0 - p)), 1e-15);
  }
}

TEST(BetaQuantile, KnownValues) {
  // scipy.stats.beta.ppf(p, a, b)
  const struct {
    double p, a, b, x;
  } known[] = {{0.1586553, 11, 91, 0.0774732345749476},       {0.8413447, 11, 91, 0.13825071242871861},
               {0.1586553, 1.5, 20.25, 0.020136253397827215}, {0.8413447, 5e5 + 1, 5e5 + 1, 0.5004999994048064},
               {0.1586553, 1, 4, 0.04226911941401848},        {0.5, 2000.5, 38001.25, 0.050002812663280743},
               {0.8413447, 1e6, 20, 0.9999844347162733}};
  for (const auto& [p, a, b, x] : known) EXPECT_NEAR(beta_quantile(p, a, b), x, 1e-12 * x) << p << ' ' << a << ' ' << b;
  EXPECT_EQ(beta_quantile(0.0, 2, 3), 0.0);
  EXPECT_EQ(beta_quantile(1.0, 2, 3), 1.0);
  EXPECT_TRUE(std::isnan(beta_quantile(0.5, 0.0, 3)));
  EXPECT_TRUE(std::isnan(beta_quantile(std::numeric_limits<double>::quiet_NaN(), 2, 3)));
}

TEST(BetaProbability, ClosedForms) {
  for (double x = 0.0; x <= 1.0; x += 0.0625) {
    EXPECT_NEAR(beta_probability(x, 1, 1), x, 1e-14);
    EXPECT_NEAR(beta_probability(x, 1, 4), 1 - std::pow(1 - x, 4), 1e-14);
    EXPECT_NEAR(beta_probability(x, 2, 3), x * x * (6 - 8 * x + 3 * x * x), 1e-14);
    EXPECT_NEAR(beta_probability(x, 0.5, 0.5), 2 / std::numbers::pi * std::asin(std::sqrt(x)), 1e-14);
  }
}

}  // namespace
}  // namespace flymc
