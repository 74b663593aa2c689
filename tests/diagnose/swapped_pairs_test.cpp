// The test of pairs keeps its level for skewed and dependent numbers, and detects a drift.
#include "flymc/diagnose/swapped_pairs.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "flymc/core/random.hpp"

namespace flymc {
namespace {

// Pairs of lognormal numbers, b = a with probability 3/4, and their squares: skewed, with long tails, and dependent.
RowMatrix lognormal_pairs(Index pairs, std::uint64_t seed, double factor = 1.0) {
  RowMatrix out(pairs, 3);
  for (Index s = 0; s < pairs; ++s) {
    const PhiloxRandom random(seed, 1, static_cast<std::uint64_t>(s));
    double z[2];
    random.normals(Purpose::simulate, 0, z);
    const double a = std::exp(z[0]);
    const double b = random.bernoulli(Purpose::simulate, 7, 0.75) ? a : factor * std::exp(z[1]);
    out.row(s) << b - a, b * b - a * a, std::log(b) - std::log(a);
  }
  return out;
}

TEST(SwappedPairs, keeps_its_level) {
  constexpr int tables = 2000;
  int alarms = 0;
  double mean = 0.0;
  for (int t = 0; t < tables; ++t) {
    const double p = swapped_pairs(lognormal_pairs(30, 100 + static_cast<std::uint64_t>(t)), 0.1, 1).p_value;
    alarms += p <= 0.1 ? 1 : 0;
    mean += p / tables;
  }
  // Binomial with mean 200 and standard deviation 13.4: beyond 4.2 standard deviations with probability 1e-5.
  EXPECT_LT(alarms, 257);
  EXPECT_GT(alarms, 120);
  EXPECT_NEAR(mean, 0.5, 0.05);
}

TEST(SwappedPairs, names_what_drifts) {
  RowMatrix differences(200, 2);
  for (Index s = 0; s < 200; ++s) {
    double z[2];
    PhiloxRandom(3, 1, static_cast<std::uint64_t>(s)).normals(Purpose::simulate, 0, z);
    differences.row(s) << z[0], z[1] - 0.5;
  }
  const SwappedPairs found = swapped_pairs(differences, 0.001, 4);
  EXPECT_LE(found.p_value, 0.0002);
  EXPECT_LT(found.strength[0], found.limit);
  EXPECT_GT(found.strength[1], found.limit);
  EXPECT_GT(found.limit, 3.0);
  EXPECT_LT(found.limit, 4.2);
  EXPECT_EQ(swapped_pairs(differences, 0.001, 4).limit, found.limit);
}

TEST(SwappedPairs, pairs_that_do_not_differ_say_nothing) {
  const SwappedPairs found = swapped_pairs(RowMatrix::Zero(50, 3), 0.01, 1);
  EXPECT_EQ(found.p_value, 1.0);
  EXPECT_EQ(found.strength.maxCoeff(), 0.0);
  EXPECT_FALSE(std::isfinite(found.limit));
}

}  // namespace
}  // namespace flymc
