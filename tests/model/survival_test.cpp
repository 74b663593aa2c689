// Families of times: their density, survival function, median and draws agree with each other.
#include "flymc/model/survival.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "flymc/core/random.hpp"

namespace flymc {
namespace {

template <class F>
void expect_one_distribution(const F& family) {
  const auto likelihood = [&](double y, double u) { return std::exp(family.log_likelihood(y, {&u, 1})); };
  EXPECT_NEAR(likelihood(0.0, -40.0), 1.0, 1e-12) << family.name();
  EXPECT_NEAR(likelihood(0.0, 40.0), 0.0, 1e-12) << family.name();
  // The density is minus the slope of the survival function, up to a constant.
  const auto constant = [&](double u) {
    constexpr double h = 1e-5;
    return likelihood(1.0, u) / ((likelihood(0.0, u - h) - likelihood(0.0, u + h)) / (2.0 * h));
  };
  for (const double u : {-2.0, -0.5, 0.3, 1.0, 1.5})
    EXPECT_NEAR(constant(u) / constant(0.0), 1.0, 1e-6) << family.name() << " at " << u;
  const double zero = 0.0;
  double median = 0.0;
  family.mean({&zero, 1}, {&median, 1});
  EXPECT_NEAR(likelihood(0.0, median), 0.5, 1e-12) << family.name();
  // The survival function at a draw is uniform, by Kolmogorov and Smirnov's distance, which exceeds this limit in one
  // of 10^5 samples.
  constexpr int draws = 20000;
  std::vector<double> more;
  const PhiloxRandom random(5, 0, 0);
  for (std::uint64_t i = 0; i < draws; ++i) more.push_back(likelihood(0.0, family.simulate({&zero, 1}, random, i)));
  std::ranges::sort(more);
  double distance = 0.0;
  for (int i = 0; i < draws; ++i)
    distance = std::max(distance, std::abs(more[static_cast<std::size_t>(i)] - (i + 0.5) / draws));
  EXPECT_LT(distance, 2.47 / std::sqrt(draws)) << family.name();
}

TEST(SurvivalFamilies, AreOneDistributionEach) {
  expect_one_distribution(weibull());
  expect_one_distribution(lognormal());
  expect_one_distribution(loglogistic());
}

}  // namespace
}  // namespace flymc
