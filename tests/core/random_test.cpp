// Addressed random numbers: known Philox words, distributions, and independence of the address.
#include "flymc/core/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace flymc {
namespace {

constexpr double sigmas = 4.5;  // two-sided false alarm 7e-6 for each comparison below

TEST(Random, EveryPartOfTheAddressMatters) {
  std::set<double> seen;
  std::size_t count = 0;
  for (std::uint64_t seed : {1u, 2u})
    for (std::uint64_t chain : {0u, 1u})
      for (std::uint64_t iteration : {0u, 1u})
        for (std::uint32_t slot : {0u, 1u})
          for (Purpose purpose : {Purpose::pick, Purpose::gibbs})
            for (std::uint64_t index : {0ull, 1ull, 1ull << 40}) {
              const PhiloxRandom random(seed, chain, iteration, slot);
              const double u = random.uniform(purpose, index);
              EXPECT_EQ(u, PhiloxRandom(seed, chain, iteration, slot).uniform(purpose, index));
              seen.insert(u);
              ++count;
            }
  EXPECT_EQ(seen.size(), count);
}

TEST(Random, PurposesHaveDistinctNumbers) {
  // The numbers in the header have no holes, so two purposes with the same number would make the set smaller.
  std::set<std::uint32_t> numbers;
  for (Purpose p : {Purpose::start, Purpose::pick, Purpose::gibbs, Purpose::skip, Purpose::brighten, Purpose::darken,
                    Purpose::move, Purpose::accept, Purpose::slice_height, Purpose::slice_place, Purpose::slice_limit,
                    Purpose::slice_shrink, Purpose::simulate, Purpose::subsample, Purpose::propose, Purpose::angle})
    numbers.insert(static_cast<std::uint32_t>(p));
  EXPECT_EQ(numbers.size(), 16u);
}

// Both values agree with NumPy's Philox for key (1, 2) and counters (0, 5, 3, 4 << 32 | 3) and (0, 6, 3, 4 << 32 | 2).
TEST(Random, NumbersOfASeedNeverChange) {
  const PhiloxRandom random(1, 2, 3, 4);
  EXPECT_EQ(random.uniform(static_cast<Purpose>(3), 5), 0x1.5ac3aa6a004fap-2);
  EXPECT_EQ(random.choose(static_cast<Purpose>(2), 6, 1000000007), 59959398u);
}

TEST(Random, UniformMomentsAndRange) {
  const PhiloxRandom random(7, 0, 0);
  const int n = 200000;
  double sum = 0, square = 0;
  for (int i = 0; i < n; ++i) {
    const double u = random.uniform(Purpose::simulate, static_cast<std::uint64_t>(i));
    ASSERT_GT(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u - 0.5;
    square += (u - 0.5) * (u - 0.5) - 1.0 / 12;
  }
  EXPECT_LT(std::abs(sum), sigmas * std::sqrt(n / 12.0));
  EXPECT_LT(std::abs(square), sigmas * std::sqrt(n / 180.0));
}

TEST(Random, NormalMomentsAndShortSpans) {
  const PhiloxRandom random(8, 0, 0);
  const int n = 200000;
  std::vector<double> z(n);
  random.normals(Purpose::simulate, 0, z);
  double m1 = 0, m2 = 0, m4 = 0;
  for (const double x : z) m1 += x, m2 += x * x - 1, m4 += x * x * x * x - 3;
  EXPECT_LT(std::abs(m1), sigmas * std::sqrt(1.0 * n));
  EXPECT_LT(std::abs(m2), sigmas * std::sqrt(2.0 * n));
  EXPECT_LT(std::abs(m4), sigmas * std::sqrt(96.0 * n));
  for (std::size_t size : {0u, 1u, 2u, 3u, 5u}) {
    std::vector<double> part(size);
    random.normals(Purpose::simulate, 0, part);
    for (std::size_t i = 0; i < size; ++i) EXPECT_EQ(part[i], z[i]);
  }
}

TEST(Random, ChooseIsUniformOverItsRange) {
  const PhiloxRandom random(9, 0, 0);
  const int n = 70000;
  std::vector<int> count(7);
  for (int i = 0; i < n; ++i) ++count[random.choose(Purpose::pick, static_cast<std::uint64_t>(i), 7)];
  for (int c : count) EXPECT_LT(std::abs(c - n / 7.0), sigmas * std::sqrt(n * 6.0 / 49));
  EXPECT_EQ(random.choose(Purpose::pick, 0, 1), 0u);
  EXPECT_LT(random.choose(Purpose::pick, 0, (1ull << 63) + 1), (1ull << 63) + 1);
}

TEST(Random, SkipIsGeometricUpToItsLimit) {
  const PhiloxRandom random(10, 0, 0);
  const int n = 100000;
  const double q = 0.3;
  std::vector<int> count(5);
  for (int i = 0; i < n; ++i) ++count[random.skip(Purpose::skip, static_cast<std::uint64_t>(i), q, 4)];
  for (int m = 0; m <= 4; ++m) {
    const double p = m < 4 ? q * std::pow(1 - q, m) : std::pow(1 - q, 4);
    EXPECT_LT(std::abs(count[static_cast<std::size_t>(m)] - n * p), sigmas * std::sqrt(n * p * (1 - p))) << m;
  }
  EXPECT_EQ(random.skip(Purpose::skip, 0, 1.0, 4), 0u);
  EXPECT_EQ(random.skip(Purpose::skip, 0, 0.0, 4), 4u);
  EXPECT_EQ(random.skip(Purpose::skip, 0, 1e-18, 1000), 1000u);
}

}  // namespace
}  // namespace flymc
