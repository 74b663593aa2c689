// Smoothed weights against ArviZ, the k of known tails, and degenerate ratios.
#include "flymc/diagnose/pareto_smoothing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "diagnose/reference/psis_values.hpp"
#include "flymc/core/random.hpp"

namespace flymc {
namespace {

using reference::infinity;
constexpr int ratio_case_count = static_cast<int>(std::size(reference::ratio_cases));
static_assert(std::size(reference::arviz_ratios) == ratio_case_count);

double sum_of(const SmoothedWeights& weights) {
  double sum = 0.0;
  for (const double x : weights.log_weights) sum += std::exp(x);
  return sum;
}

// reference/psis_values.py generates the table of expected values; its first lines contain the command.
TEST(ParetoSmoothing, AgreesWithArviz) {
  for (int i = 0; i < ratio_case_count; ++i) {
    SCOPED_TRACE(reference::ratio_cases[i].name);
    const std::vector<double> ratios = reference::ratios_of(i);
    const SmoothedWeights found = smoothed_weights(ratios, reference::ratio_cases[i].relative_efficiency);
    const reference::RatioValues& expected = reference::arviz_ratios[i];
    if (std::isinf(expected.k)) {
      EXPECT_EQ(found.pareto_k, expected.k);
    } else {
      EXPECT_NEAR(found.pareto_k, expected.k, 1e-10 * std::max(1.0, std::abs(expected.k)));
    }
    double mean = 0.0, squares = 0.0;
    for (std::size_t s = 0; s < ratios.size(); ++s) {
      const double weight = std::exp(found.log_weights[s]);
      if (weight > 0.0) mean += weight * ratios[s];
      squares += weight * weight;
    }
    EXPECT_NEAR(*std::ranges::max_element(found.log_weights), expected.largest, 1e-11);
    EXPECT_NEAR(mean, expected.mean_log_ratio, 1e-11 * std::max(1.0, std::abs(expected.mean_log_ratio)));
    EXPECT_NEAR(squares, expected.sum_of_squares, 1e-11 * expected.sum_of_squares);
    EXPECT_NEAR(sum_of(found), 1.0, 1e-12);
  }
}

// exp of an exponential variable over k has an exact Pareto tail. The tail of S = 100,000 draws has 949; the estimate
// from n of them has a standard deviation of (1 + k) / sqrt(n), and the prior moves it towards 1/2 by 1 %. An estimate
// is beyond 5 standard deviations with probability 6e-7, and there are six.
TEST(ParetoSmoothing, FindsTheTailThatIsThere) {
  for (const double k : {0.1, 0.3, 0.5, 0.7, 1.0, 2.0}) {
    const PhiloxRandom random(3, 0, static_cast<std::uint64_t>(10.0 * k));
    std::vector<double> ratios;
    for (std::uint64_t i = 0; i < 100000; ++i) ratios.push_back(-k * std::log(random.uniform(Purpose::simulate, i)));
    const double expected = (949.0 * k + 10.0 * 0.5) / 959.0;
    EXPECT_NEAR(smoothed_weights(ratios).pareto_k, expected, 5.0 * (1.0 + k) / std::sqrt(949.0)) << k;
  }
}

// Adding a constant to all log ratios changes nothing, and neither does reordering them.
TEST(ParetoSmoothing, KnowsNeitherUnitNorOrder) {
  const std::vector<double> ratios = reference::ratios_of(1);
  const SmoothedWeights found = smoothed_weights(ratios);
  for (const double shift : {-1e4, 300.0}) {
    std::vector<double> moved(ratios.rbegin(), ratios.rend());
    for (double& x : moved) x += shift;
    const SmoothedWeights again = smoothed_weights(moved);
    EXPECT_NEAR(again.pareto_k, found.pareto_k, 1e-7);
    for (std::size_t i = 0; i < ratios.size(); ++i)
      EXPECT_NEAR(again.log_weights[i], found.log_weights[ratios.size() - 1 - i], 1e-9);
  }
}

// Outside the tail weights are proportional to the ratios, in the tail they increase with the ratios, and none is
// larger relative to the others than the largest ratio was.
TEST(ParetoSmoothing, ChangesTheTailAlone) {
  const std::vector<double> ratios = reference::ratios_of(7);
  const SmoothedWeights found = smoothed_weights(ratios);
  std::vector<std::size_t> order(ratios.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](std::size_t i) { return ratios[i]; });
  const std::size_t tail = 95;  // 3 sqrt(1000), rounded up
  const double shift = found.log_weights[order[0]] - ratios[order[0]];
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double expected = ratios[order[i]] + shift;
    if (i < order.size() - tail) {
      EXPECT_NEAR(found.log_weights[order[i]], expected, 1e-10);
    }
    if (i > 0) {
      EXPECT_LE(found.log_weights[order[i - 1]], found.log_weights[order[i]]);
    }
  }
  const double largest = ratios[order.back()] + shift;
  EXPECT_LE(found.log_weights[order.back()], largest + 1e-10);
  const std::size_t second = order[order.size() - 2];
  EXPECT_GT(std::abs(found.log_weights[second] - (ratios[second] + shift)), 1e-3);
}

// Differences far below the rounding of 1 keep their digits: 1 + d x has the same tail as x.
TEST(ParetoSmoothing, SmallDifferencesHaveTheTailOfLargerOnes) {
  std::vector<double> small = reference::ratios_of(8), smaller = small;
  for (double& x : smaller) x *= 1e-16;
  EXPECT_NEAR(smoothed_weights(smaller).pareto_k, smoothed_weights(small).pareto_k, 1e-3);
}

TEST(ParetoSmoothing, RatiosThatAreAllTheSameHaveNoTail) {
  for (const double value : {0.0, -3.7, 1e5}) {
    const SmoothedWeights found = smoothed_weights(std::vector<double>(1000, value));
    EXPECT_EQ(found.pareto_k, -infinity);
    for (const double x : found.log_weights) EXPECT_EQ(x, -std::log(1000.0));
  }
  EXPECT_EQ(smoothed_weights(std::vector<double>(20, 1.0)).pareto_k, infinity);  // too few for an estimate
}

TEST(ParetoSmoothing, OfFewDrawsNothingIsKnown) {
  EXPECT_TRUE(smoothed_weights({}).log_weights.empty());
  EXPECT_EQ(smoothed_weights({}).pareto_k, infinity);
  for (const std::size_t draws : {1u, 2u, 5u, 19u}) {
    std::vector<double> ratios(draws);
    for (std::size_t i = 0; i < draws; ++i) ratios[i] = 0.1 * static_cast<double>(i);
    const SmoothedWeights found = smoothed_weights(ratios);
    EXPECT_EQ(found.pareto_k, infinity);
    EXPECT_NEAR(sum_of(found), 1.0, 1e-14);
    for (std::size_t i = 1; i < draws; ++i)
      EXPECT_NEAR(found.log_weights[i] - found.log_weights[0], ratios[i] - ratios[0], 1e-14);
  }
  // The largest ratio occurs in a third of the draws, as in a chain that is stuck: the tail above it is empty.
  std::vector<double> stuck(300, 0.0);
  for (std::size_t i = 0; i < stuck.size(); i += 3) stuck[i] = 1.0;
  EXPECT_EQ(smoothed_weights(stuck).pareto_k, infinity);
}

TEST(ParetoSmoothing, RatiosThatAreNotFinite) {
  std::vector<double> ratios = reference::ratios_of(1);
  ratios[7] = ratios[11] = infinity;  // these get all of the weight
  const SmoothedWeights found = smoothed_weights(ratios);
  EXPECT_EQ(found.pareto_k, infinity);
  EXPECT_NEAR(found.log_weights[7], -std::log(2.0), 1e-15);
  EXPECT_EQ(found.log_weights[0], -infinity);
  ratios[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(smoothed_weights(ratios).pareto_k, infinity);
  EXPECT_TRUE(std::isnan(smoothed_weights(ratios).log_weights[0]));
  for (const double all : {infinity, -infinity})
    EXPECT_EQ(smoothed_weights(std::vector<double>(100, all)).pareto_k, infinity);
  // A tail whose values span the whole range of doubles.
  std::vector<double> extreme(1000, -1e300);
  for (std::size_t i = 0; i < 40; ++i) extreme[i] = -700.0 + 1e-13 * static_cast<double>(i);
  extreme[0] = 0.0;
  const SmoothedWeights of_extreme = smoothed_weights(extreme);
  EXPECT_FALSE(std::isnan(of_extreme.pareto_k));
  EXPECT_GT(of_extreme.pareto_k, 1.0);
  EXPECT_NEAR(sum_of(of_extreme), 1.0, 1e-12);
}

TEST(ParetoSmoothing, MoreDrawsCanBearAHeavierTail) {
  EXPECT_NEAR(good_pareto_k(100), 0.5, 1e-15);
  EXPECT_NEAR(good_pareto_k(1000), 2.0 / 3.0, 1e-15);
  EXPECT_EQ(good_pareto_k(4000), 0.7);
  EXPECT_LT(good_pareto_k(0), 0.0);
}

TEST(LogSumExp, DoesNotOverflow) {
  EXPECT_EQ(log_sum_exp({}), -infinity);
  EXPECT_NEAR(log_sum_exp(std::vector<double>{1000.0, 1000.0}), 1000.0 + std::log(2.0), 1e-12);
  EXPECT_NEAR(log_sum_exp(std::vector<double>{-1000.0, -infinity}), -1000.0, 1e-12);
  EXPECT_EQ(log_sum_exp(std::vector<double>{0.0, infinity}), infinity);
  EXPECT_EQ(log_sum_exp(std::vector<double>{-infinity, -infinity}), -infinity);
}

}  // namespace
}  // namespace flymc
