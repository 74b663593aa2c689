// Scores of exact draws, and of draws that lack a tail; limits against tables.
#include "scores.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace flymc::truth {
namespace {

// The log odds of a Beta(1, 3): a long tail below.
Marginal skewed() {
  return integrate([](std::span<const double> t) { return t[0] - 4.0 * std::log1p(std::exp(t[0])); }, {{-20.0, 5.0}})
      .marginals[0];
}

// Independent draws: quantiles at uniforms above `least`.
std::vector<std::vector<double>> sample(const Marginal& truth, double least, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::vector<std::vector<double>> out(4);
  for (auto& chain : out)
    for (int i = 0; i < 1000; ++i)
      chain.push_back(truth.quantile(least + (1.0 - least) * (static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53));
  return out;
}

double rms(const std::vector<double>& z) {
  double sum = 0.0;
  for (const double v : z) sum += v * v / static_cast<double>(z.size());
  return std::sqrt(sum);
}

TEST(Scores, ExactDrawsPassAndDrawsThatLackATailDoNot) {
  const Marginal truth = skewed();
  constexpr double rate = 1e-4 / 4.0;
  const Expected e = expect(truth, 4, 1000, 4000.0, 1);
  for (const double least : {0.0, 0.01}) {
    std::vector<double> means, sds;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const Score s = score(sample(truth, least, seed), truth, false);
      EXPECT_TRUE(s.trustworthy());
      means.push_back(s.z_mean);
      sds.push_back(s.z_sd);
    }
    EXPECT_EQ(rms(means) <= rms_limit(e.mean_square, e.mean_variance, 20, rate), least == 0.0);
    EXPECT_EQ(rms(sds) <= rms_limit(e.sd_square, e.sd_variance, 20, rate), least == 0.0);
  }
}

// Quantiles of a normal's draws, at all sizes that are compared.
TEST(Scores, QuantilesOfExactDraws) {
  const Marginal truth =
      integrate([](std::span<const double> t) { return -0.5 * t[0] * t[0]; }, {{-9.0, 9.0}}).marginals[0];
  std::vector<double> z;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Score s = score(sample(truth, 0.0, 100 + seed), truth, true);
    z.push_back(s.z_q5);
    z.push_back(s.z_q95);
  }
  EXPECT_LT(rms(z), rms_limit(1.0, 2.0, 40, 1e-4));
  EXPECT_GT(rms(z), 0.5);
}

// With 10 degrees a chi-square exceeds 35.56 with probability 1e-4.
TEST(Scores, LimitOfTheRootMeanSquare) {
  EXPECT_NEAR(rms_limit(1.0, 2.0, 10, 1e-4), 1.1 * std::sqrt(3.556), 0.02);
  EXPECT_NEAR(rms_limit(1.0, 2.0, 1'000'000, 1e-4), 1.1, 0.01);
}

// Poisson with mean 0.02: more than zero 2e-2, more than one 2e-4, more than two 1.3e-6.
TEST(Scores, LimitOfOutliers) {
  EXPECT_EQ(outlier_limit(0.002, 10, 1e-3), 1);
  EXPECT_EQ(outlier_limit(0.002, 10, 1e-4), 2);
  EXPECT_EQ(outlier_limit(0.0, 10, 1e-4), 0);
}

}  // namespace
}  // namespace flymc::truth
