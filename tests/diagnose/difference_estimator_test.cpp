// The difference estimator by hand, over all samples of a small table, and against the sums over all rows.
#include "flymc/diagnose/difference_estimator.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace flymc {
namespace {

struct Table {
  std::vector<double> exact = {-1.0, -0.2, -3.5, -0.7, -2.2, -0.1, -1.4};
  std::vector<double> proxies = {-1.1, -0.2, -3.1, -0.7, -2.4, 0.0, -1.5};
  ProxySums sums() const {
    ProxySums out{static_cast<std::int64_t>(proxies.size()), 0.0, 0.0};
    for (const double p : proxies) {
      out.total += p;
      out.squares += p * p;
    }
    return out;
  }
};

double sum(const std::vector<double>& x) {
  double out = 0.0;
  for (const double value : x) out += value;
  return out;
}

TEST(DifferenceEstimator, OfAllRowsIsTheSum) {
  const Table table;
  const SumEstimate found = difference_estimate(table.sums(), table.proxies, table.exact);
  EXPECT_NEAR(found.value, sum(table.exact), 1e-14);
  EXPECT_EQ(found.subsampling_se, 0.0);
  const double mean = sum(table.exact) / 7.0;
  double squares = 0.0;
  for (const double x : table.exact) squares += (x - mean) * (x - mean);
  EXPECT_NEAR(found.se, std::sqrt(squares), 1e-14);  // N var = the sum of squares
}

// Over all 35 samples of three rows: the mean of the estimates is the sum, and their variance is the mean of the
// squared standard errors. Both also hold for uninformative proxies.
TEST(DifferenceEstimator, HasNoBias) {
  for (const bool none : {false, true}) {
    Table table;
    if (none) table.proxies.assign(7, 0.0);
    std::vector<double> values;
    double said = 0.0, spread = 0.0;
    for (std::size_t i = 0; i < 7; ++i)
      for (std::size_t j = 0; j < i; ++j)
        for (std::size_t k = 0; k < j; ++k) {
          const auto of = [&](const std::vector<double>& x) { return std::vector<double>{x[i], x[j], x[k]}; };
          const SumEstimate found = difference_estimate(table.sums(), of(table.proxies), of(table.exact));
          values.push_back(found.value);
          said += found.subsampling_se * found.subsampling_se;
          spread += found.se * found.se;
        }
    ASSERT_EQ(values.size(), 35u);
    const double mean = sum(values) / 35.0;
    EXPECT_NEAR(mean, sum(table.exact), 1e-13);
    double variance = 0.0;
    for (const double value : values) variance += (value - mean) * (value - mean) / 35.0;
    EXPECT_NEAR(said / 35.0, variance, 1e-13);
    const double all = difference_estimate(table.sums(), table.proxies, table.exact).se;
    EXPECT_NEAR(spread / 35.0, all * all, 1e-12);
  }
}

// If the proxies are exact, any two rows determine the sum.
TEST(DifferenceEstimator, WithProxiesThatAreRightNothingIsUnknown) {
  Table table;
  table.proxies = table.exact;
  const SumEstimate found = difference_estimate(table.sums(), std::vector<double>{table.proxies[1], table.proxies[4]},
                                                std::vector<double>{table.exact[1], table.exact[4]});
  EXPECT_NEAR(found.value, sum(table.exact), 1e-14);
  EXPECT_EQ(found.subsampling_se, 0.0);
}

// The proxies' sums alone would give a negative spread, so the sampled terms give the standard error.
TEST(DifferenceEstimator, ASpreadIsNeverNegative) {
  const std::vector<double> proxies = {-2.0, -1.0}, exact = {-1.0, -0.5};
  const SumEstimate found = difference_estimate({100, -150.0, 1.0}, proxies, exact);
  EXPECT_NEAR(found.se, std::sqrt(100.0 * 0.0625), 1e-14);
}

}  // namespace
}  // namespace flymc
