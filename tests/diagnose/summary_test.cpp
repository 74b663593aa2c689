// The numbers of a summary, and a table that is readable for any numbers and names.
#include "flymc/diagnose/summary.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "diagnose/reference/cases.hpp"

namespace flymc {
namespace {

using Draws = std::vector<std::vector<double>>;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

TEST(Summary, CollectsTheDiagnostics) {
  const Draws draws = reference::draws_of(1);
  const ParameterSummary s = summarise("beta", draws);
  EXPECT_EQ(s.name, "beta");
  EXPECT_EQ(s.median, quantile(draws, 0.5));
  EXPECT_EQ(s.q5, quantile(draws, 0.05));
  EXPECT_EQ(s.q95, quantile(draws, 0.95));
  EXPECT_EQ(s.mcse_mean, mcse_mean(draws));
  EXPECT_EQ(s.ess_bulk, ess_bulk(draws));
  EXPECT_EQ(s.ess_tail, ess_tail(draws));
  EXPECT_EQ(s.r_hat, r_hat(draws));
  EXPECT_NEAR(s.sd, mcse_mean(draws) * std::sqrt(ess_mean(draws)), 1e-14);
  EXPECT_NEAR(s.lower, s.q5, 1e-12);
  EXPECT_NEAR(s.upper, s.q95, 1e-12);
  const ParameterSummary wide = summarise("beta", draws, 0.5);
  EXPECT_EQ(wide.lower, quantile(draws, 0.25));
  EXPECT_EQ(wide.upper, quantile(draws, 0.75));
  EXPECT_EQ(wide.q5, s.q5);
  const ParameterSummary small = summarise("small", Draws{{1, 2}, {3, 6}});
  EXPECT_EQ(small.mean, 3.0);
  EXPECT_DOUBLE_EQ(small.sd, std::sqrt(14.0 / 3));
  EXPECT_TRUE(std::isnan(small.r_hat));
  EXPECT_TRUE(std::isnan(summarise("none", Draws{}).mean));
  EXPECT_TRUE(std::isnan(summarise("one", Draws{{1}}).sd));
  EXPECT_EQ(summarise("constant", Draws(3, std::vector<double>(1000, 0.1))).sd, 0.0);
}

TEST(Summary, TableAlignsDecimalPointsAndCodePoints) {
  const std::vector<ParameterSummary> parameters = {
      {"intercept", -1.234567, 0.31234, -1.2312, -1.745, -0.7219, 0.0041, 5812.4, 6120.7, 1.0003},
      {"größe", 12.34567, 0.01234, 12.3457, 12.325, 12.366, 0.00022, 3146.2, 2977.0, 1.0017},
      {"x12[class 2]", 0.00004, 2.5, -0.0102, -4.05, 4.21, 0.16, 244.0, 310.9, 1.0246},
      {"stuck", 3.0, 0.0, 3.0, 3.0, 3.0, not_a_number, not_a_number, not_a_number, -not_a_number},
  };
  EXPECT_EQ(format_table(parameters),
            "parameter        mean      sd   median       5%      95%  mcse_mean  ess_bulk  ess_tail  r_hat\n"
            "intercept     -1.235   0.312   -1.231   -1.745   -0.722     0.0041       5812      6121  1.000\n"
            "größe         12.3457  0.0123  12.3457  12.3250  12.3660    0.00022      3146      2977  1.002\n"
            "x12[class 2]   0.00    2.50    -0.01    -4.05     4.21      0.16          244       311  1.025\n"
            "stuck          3.000   0.000    3.000    3.000    3.000         nan       nan       nan    nan\n");
}

TEST(Summary, HeadersNameTheInterval) {
  EXPECT_EQ(format_table({}, 0.95), "parameter  mean  sd  median  2.5%  97.5%  mcse_mean  ess_bulk  ess_tail  r_hat\n");
  EXPECT_EQ(format_table({}, 0.999),
            "parameter  mean  sd  median  0.05%  99.95%  mcse_mean  ess_bulk  ess_tail  r_hat\n");
}

TEST(Summary, RatiosAreExponentialsOfQuantiles) {
  const std::vector<ParameterSummary> parameters = {
      {"intercept", -1.2, 0.3, -1.0, -2.0, 0.0, 0.004, 5812.4, 6120.7, 1.0003},
      {"größe[b - a]", 0.7, 0.001, 0.6931, 0.5, 0.9, 0.0002, 3146.2, 2977.0, 1.0017},
      {"far", 900.0, 1.0, 900.0, -900.0, 901.0, 0.0002, 3146.2, 2977.0, 1.0017},
  };
  EXPECT_EQ(ratio_of(parameters[0]).lower, std::exp(-2.0));
  EXPECT_EQ(format_ratios(parameters, {.name = "odds ratio"}, 0.95),
            "parameter     odds ratio    2.5%   97.5%\n"
            "intercept         0.3679  0.1353   1.000\n"
            "größe[b - a]      1.9999  1.6487  2.4596\n"
            "far                  inf   0.000     inf\n");
  EXPECT_EQ(Ratio{.name = "odds ratio"}.plural(), "odds ratios");
  EXPECT_EQ(Ratio{.name = "ratio of means"}.plural(), "ratios of means");
}

TEST(Summary, VeryLargeAndVerySmallNumbersHaveExponents) {
  const std::vector<ParameterSummary> parameters = {
      {"tiny", 4.19e-12, 2.874e-10, -5.6e-12, -4.534e-10, 4.495e-10, 6.8e-12, 1870, 2153, 1.0},
      {"huge", 3e15, 2.5e11, 3e15, 2.9996e15, 3.0004e15, 4e9, 4000, 4000, 1.0},
      {"year", 20000000.0, 1234.6, 2e7, 2e7 - 2000, 2e7 + 2000, 20.0, 4000, 4000, 1.0},
      {"zero", 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, not_a_number, not_a_number, not_a_number},
  };
  EXPECT_EQ(
      format_table(parameters),
      "parameter                 mean               sd               median                   5%                  95%"
      "  mcse_mean  ess_bulk  ess_tail  r_hat\n"
      "tiny              4.19e-12         2.87e-10            -5.60e-12            -4.53e-10             4.49e-10    "
      "    6.8e-12      1870      2153  1.000\n"
      "huge              3.000000e+15     2.500000e+11         3.000000e+15         2.999600e+15         3.000400e+15"
      "    4.0e+09      4000      4000  1.000\n"
      "year       20000000             1235             20000000             19998000             20002000           "
      "   20            4000      4000  1.000\n"
      "zero              0                0                    0                    0                    0           "
      "    0             nan       nan    nan\n");
}

TEST(Summary, LongNamesKeepBothEnds) {
  ParameterSummary p = summarise("", Draws{{1, 2}});
  p.name = "a column name that somebody typed into a spreadsheet[class 12]";
  std::string table = format_table({&p, 1});
  EXPECT_NE(table.find("\na column name that s…readsheet[class 12]  "), std::string::npos) << table;
  p.name = "two\nlines\tand a {} brace";
  table = format_table({&p, 1});
  EXPECT_NE(table.find("\ntwo lines and a {} brace  "), std::string::npos) << table;
  EXPECT_EQ(format_table({}), "parameter  mean  sd  median  5%  95%  mcse_mean  ess_bulk  ess_tail  r_hat\n");
}

// A number above the limit is never printed as the limit.
TEST(Summary, WarningsShowByHowMuchALimitIsExceeded) {
  ParameterSummary p{};
  p.name = "x";
  p.ess_bulk = p.ess_tail = 4000.0;
  const auto said = [&](double r_hat) {
    p.r_hat = r_hat;
    return convergence_warnings({&p, 1}, 400.0);
  };
  EXPECT_EQ(said(1.01).size(), 0u);
  const std::string wide = said(1.0534).at(0), close = said(1.010004).at(0);
  EXPECT_EQ(wide, "chains disagree: R-hat of 'x' is 1.053, should be below 1.01 (1 of 1 coefficients)");
  EXPECT_EQ(close, "chains disagree: R-hat of 'x' is 1.010004, should be below 1.01 (1 of 1 coefficients)");
  EXPECT_NE(said(1.0103).at(0).find(" is 1.0103, "), std::string::npos);
}

// Effective sizes are proportional to the number of draws, and R-hat - 1 to its inverse.
TEST(Summary, SaysHowManyDrawsShouldDo) {
  ParameterSummary good{};
  good.ess_bulk = good.ess_tail = 4000.0;
  good.r_hat = 1.001;
  ParameterSummary slow = good, apart = good, stuck = good;
  slow.ess_tail = 100.0;
  apart.r_hat = 1.05;
  stuck.ess_bulk = stuck.r_hat = std::numeric_limits<double>::quiet_NaN();
  const auto should_do = [&](const ParameterSummary& p, std::int64_t draws = 1000) {
    return draws_that_should_do(std::vector<ParameterSummary>{good, p}, 400.0, draws);
  };
  EXPECT_EQ(should_do(slow), 5000);      // 4 times, plus a quarter
  EXPECT_EQ(should_do(slow, 123), 620);  // 615
  EXPECT_NEAR(static_cast<double>(should_do(apart)), 6250.0, 60.0);
  EXPECT_EQ(should_do(stuck), 13000);  // 12500
  EXPECT_EQ(should_do(stuck, 1), 13);
}

}  // namespace
}  // namespace flymc
