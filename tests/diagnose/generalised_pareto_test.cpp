// Quantiles against their formula, and estimates from samples with known parameters.
#include "flymc/diagnose/generalised_pareto.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "flymc/core/random.hpp"

namespace flymc {
namespace {

TEST(GeneralisedPareto, QuantilesInvertTheDistribution) {
  for (const double k : {-1.0, -0.3, -1e-9, 1e-9, 0.4, 2.0})
    for (const double sigma : {0.1, 5.0})
      for (const double p : {0.0, 1e-12, 0.3, 0.999}) {
        const double x = GeneralisedPareto{k, sigma}.quantile(p);
        EXPECT_NEAR(-std::expm1(-std::log1p(k * x / sigma) / k), p, 1e-12 + 1e-9 * p);
      }
  EXPECT_NEAR((GeneralisedPareto{0.0, 2.0}.quantile(0.5)), 2.0 * std::log(2.0), 1e-15);
  EXPECT_NEAR((GeneralisedPareto{-1.0, 3.0}.quantile(0.25)), 0.75, 1e-15);  // uniform up to 3
}

// The estimate has the variances of maximum likelihood, k: (1 + k)^2 / n for k > -1/2, and log sigma: 2 (1 + k) / n.
// For six samples of 20,000 and limits of 5 standard deviations the false alarm rate is below 1e-5.
TEST(GeneralisedPareto, FitsFindTheParameters) {
  constexpr double n = 20000.0;
  for (const double k : {-0.4, -0.2, 0.0, 0.3, 0.8, 2.0}) {
    const PhiloxRandom random(1, 0, static_cast<std::uint64_t>(10.0 * (k + 1.0)));
    std::vector<double> x;
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(n); ++i)
      x.push_back(GeneralisedPareto{k, 7.0}.quantile(random.uniform(Purpose::simulate, i)));
    std::ranges::sort(x);
    const GeneralisedPareto found = fit_generalised_pareto(x);
    EXPECT_NEAR(found.k, k, 5.0 * (1.0 + k) / std::sqrt(n));
    EXPECT_NEAR(std::log(found.sigma / 7.0), 0.0, 5.0 * std::sqrt(2.0 * (1.0 + k) / n));
  }
}

TEST(GeneralisedPareto, FitsDoNotKnowTheUnit) {
  std::vector<double> x;
  for (int i = 1; i <= 50; ++i) x.push_back(GeneralisedPareto{0.6, 1.0}.quantile(i / 51.0));
  const GeneralisedPareto one = fit_generalised_pareto(x);
  for (const double unit : {1e-200, 1e-9, 1e200}) {
    std::vector<double> other = x;
    for (double& value : other) value *= unit;
    const GeneralisedPareto found = fit_generalised_pareto(other);
    EXPECT_NEAR(found.k, one.k, 1e-13);
    EXPECT_NEAR(found.sigma / unit, one.sigma, 1e-13);
  }
}

// Equal values all lie at the upper end of a distribution that has one.
TEST(GeneralisedPareto, EqualValuesHaveAnEnd) {
  const GeneralisedPareto found = fit_generalised_pareto(std::vector<double>(40, 2.0));
  EXPECT_LT(found.k, -1.0);
  EXPECT_NEAR(found.quantile(0.999), 2.0, 0.1);
}

}  // namespace
}  // namespace flymc
