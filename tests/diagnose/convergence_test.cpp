// R-hat, effective sizes and errors against ArviZ and R's posterior, and for degenerate draws.
#include "flymc/diagnose/convergence.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "diagnose/reference/arviz_values.hpp"
#include "diagnose/reference/cases.hpp"
#include "diagnose/reference/r_values.hpp"
#include "flymc/core/error.hpp"

namespace flymc {
namespace {

using Draws = std::vector<std::vector<double>>;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
using reference::infinity;
constexpr int case_count = static_cast<int>(std::size(reference::all_cases));
static_assert(std::size(reference::arviz_values) == case_count && std::size(reference::kR) == case_count);

// reference/arviz_values.py and reference/r_values.R generate the tables of expected values; their first lines contain
// the commands. NaN means that the package gives no value.
void expect_close(double actual, double expected, const char* what) {
  if (std::isnan(expected)) return;
  EXPECT_NEAR(actual, expected, 1e-11 * std::abs(expected)) << what;
}

void expect_agreement(const Draws& draws, const reference::Values& expected) {
  expect_close(r_hat(draws), expected.r_hat, "r_hat");
  expect_close(ess_bulk(draws), expected.ess_bulk, "ess_bulk");
  expect_close(ess_tail(draws), expected.ess_tail, "ess_tail");
  expect_close(ess_mean(draws), expected.ess_mean, "ess_mean");
  expect_close(ess_quantile(draws, 0.1), expected.ess_quantile, "ess_quantile");
  expect_close(mcse_mean(draws), expected.mcse_mean, "mcse_mean");
  expect_close(mcse_sd(draws), expected.mcse_sd, "mcse_sd");
  expect_close(mcse_quantile(draws, 0.1), expected.mcse_quantile, "mcse_quantile");
  expect_close(quantile(draws, 0.1), expected.quantile, "quantile");
}

TEST(Convergence, AgreesWithArviz) {
  for (int i = 0; i < case_count; ++i) {
    SCOPED_TRACE(reference::all_cases[i].name);
    expect_agreement(reference::draws_of(i), reference::arviz_values[i]);
  }
}

TEST(Convergence, AgreesWithPosterior) {
  for (int i = 0; i < case_count; ++i) {
    // posterior omits the last pair of lags of halves of odd length, which matters if they are still correlated.
    if (std::string(reference::all_cases[i].name) == "lags_run_out") continue;
    SCOPED_TRACE(reference::all_cases[i].name);
    expect_agreement(reference::draws_of(i), reference::kR[i]);
  }
}

void expect_nothing(const Draws& draws) {
  EXPECT_TRUE(std::isnan(r_hat(draws)));
  EXPECT_TRUE(std::isnan(ess_bulk(draws)));
  EXPECT_TRUE(std::isnan(ess_tail(draws)));
  EXPECT_TRUE(std::isnan(ess_mean(draws)));
  EXPECT_TRUE(std::isnan(ess_quantile(draws, 0.5)));
  EXPECT_TRUE(std::isnan(mcse_mean(draws)));
  EXPECT_TRUE(std::isnan(mcse_sd(draws)));
  EXPECT_TRUE(std::isnan(mcse_quantile(draws, 0.5)));
}

TEST(Convergence, DrawsThatSayNothingGiveNaN) {
  expect_nothing({});
  expect_nothing({{}, {}});
  expect_nothing({{1, 2, 3}, {2, 3, 1}});
  expect_nothing(Draws(4, std::vector<double>(100, 0.1)));
  for (const double bad : {not_a_number, infinity, -infinity}) {
    Draws draws = reference::draws_of(0);
    draws[2][77] = bad;
    expect_nothing(draws);
  }
}

TEST(Convergence, ShortChainsHaveAnRHatBeforeTheyHaveAnEffectiveSize) {
  const Draws nine = {{1, 4, 2, 5, 3, 9, 6, 5, 7}, {2, 6, 4, 1, 7, 8, 3, 5, 9}};
  EXPECT_GT(r_hat(nine), 1.0);
  EXPECT_TRUE(std::isnan(ess_mean(nine)));
  Draws ten = nine;
  for (std::vector<double>& chain : ten) chain.push_back(4.5);
  EXPECT_GT(ess_mean(ten), 0.0);
}

TEST(Convergence, ChainsThatNeverMovedNeverMet) {
  const Draws stuck = {std::vector<double>(40, 0.0), std::vector<double>(40, 1.0)};
  EXPECT_EQ(r_hat(stuck), infinity);
  EXPECT_NEAR(ess_bulk(stuck), 2.5, 1e-12);  // ArviZ and posterior agree
  EXPECT_NEAR(ess_mean(stuck), 2.5, 1e-12);
  Draws one = reference::draws_of(0);
  one[0].assign(one[0].size(), one[0][0]);
  EXPECT_GT(r_hat(one), 1.1);
}

TEST(Convergence, AlternatingDrawsReachTheCap) {
  Draws draws(1);
  for (int i = 0; i < 400; ++i) draws[0].push_back(i % 2 ? 1.0 : -1.0);
  EXPECT_NEAR(ess_mean(draws), 400 * std::log10(400.0), 1e-9);
  EXPECT_GT(ess_mean(reference::draws_of(12)), 1200);  // "negative": more than n, less than the limit
  EXPECT_LT(ess_mean(reference::draws_of(12)), 1200 * std::log10(1200.0) - 1);
}

// Ranks are invariant to monotone transformations, and all diagnostics to a change of units.
TEST(Convergence, DoesNotDependOnUnits) {
  const Draws draws = reference::draws_of(1);
  Draws cubed = draws, small = draws;
  for (std::vector<double>& chain : cubed)
    for (double& x : chain) x = x * x * x;
  for (std::vector<double>& chain : small)
    for (double& x : chain) x = std::ldexp(x, -80);
  EXPECT_EQ(ess_bulk(cubed), ess_bulk(draws));
  EXPECT_EQ(ess_tail(cubed), ess_tail(draws));
  EXPECT_EQ(ess_mean(small), ess_mean(draws));
  EXPECT_EQ(r_hat(small), r_hat(draws));
  EXPECT_EQ(mcse_mean(small), std::ldexp(mcse_mean(draws), -80));
  EXPECT_EQ(mcse_sd(small), std::ldexp(mcse_sd(draws), -80));
}

TEST(Convergence, QuantileInterpolates) {
  const Draws draws = {{4, 1}, {3, 2}};
  EXPECT_EQ(quantile(draws, 0.0), 1.0);
  EXPECT_EQ(quantile(draws, 0.5), 2.5);
  EXPECT_EQ(quantile(draws, 1.0), 4.0);
  EXPECT_DOUBLE_EQ(quantile(draws, 0.1), 1.3);
  EXPECT_EQ(quantile(Draws{{0.1, 0.1, 0.1}}, 0.3), 0.1);
  EXPECT_EQ(quantile(Draws{{-infinity, 1, infinity}}, 0.5), 1.0);
  EXPECT_EQ(quantile(Draws{{7}}, 0.9), 7.0);
  EXPECT_TRUE(std::isnan(quantile(Draws{{1, not_a_number}}, 0.5)));
  EXPECT_TRUE(std::isnan(quantile(Draws{}, 0.5)));
}

TEST(Convergence, ExtremeQuantilesHaveAnEffectiveSize) {
  const Draws draws = reference::draws_of(0);
  for (const double prob : {0.0, 1.0}) {
    EXPECT_GT(ess_quantile(draws, prob), 100.0);
    EXPECT_GE(mcse_quantile(draws, prob), 0.0);
  }
}

TEST(Convergence, RefusesWhatCannotBeMeant) {
  EXPECT_THROW(r_hat(Draws{{1, 2, 3, 4}, {1, 2, 3}}), InputError);
  EXPECT_THROW(quantile(Draws{{1, 2}}, 1.5), InputError);
  EXPECT_THROW(ess_quantile(Draws{{1, 2}}, -0.1), InputError);
  EXPECT_THROW(mcse_quantile(Draws{{1, 2}}, not_a_number), InputError);
}

}  // namespace
}  // namespace flymc
