// Effective sizes against R's coda.
#include "flymc/diagnose/spectrum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "diagnose/reference/cases.hpp"
#include "diagnose/reference/r_values.hpp"

namespace flymc {
namespace {

using Draws = std::vector<std::vector<double>>;

// reference/r_values.R generates the expected values; its first lines contain the command.
TEST(Spectrum, AgreesWithCoda) {
  for (int i = 0; i < static_cast<int>(std::size(reference::kR)); ++i) {
    const double expected = reference::kR[i].ess_spectral;
    EXPECT_NEAR(ess_spectral(reference::draws_of(i)), expected, 1e-10 * expected) << reference::all_cases[i].name;
  }
}

TEST(Spectrum, ChainsAreSummed) {
  const Draws draws = reference::draws_of(7);
  double sum = 0.0;
  for (const std::vector<double>& chain : draws) sum += ess_spectral(chain);
  EXPECT_DOUBLE_EQ(ess_spectral(draws), sum);
}

TEST(Spectrum, VeryShortChains) {
  EXPECT_NEAR(ess_spectral(std::vector<double>{1, 3, 2}), 3.0, 1e-14);          // coda::effectiveSize(c(1, 3, 2))
  EXPECT_NEAR(ess_spectral(std::vector<double>{1, 2, 4, 3, 3.5}), 5.0, 1e-14);  // c(1, 2, 4, 3, 3.5)
}

TEST(Spectrum, StraightLinesAreWorthNothing) {
  EXPECT_EQ(ess_spectral(std::vector<double>(1000, 0.1)), 0.0);
  EXPECT_EQ(ess_spectral(std::vector<double>(1000, 0.0)), 0.0);
  EXPECT_EQ(ess_spectral(std::vector<double>{1, 2}), 0.0);
  std::vector<double> line;
  for (int i = 0; i < 10000; ++i) line.push_back(1e6 + 0.1 * i);
  EXPECT_EQ(ess_spectral(line), 0.0);
}

TEST(Spectrum, DoesNotDependOnUnits) {
  std::vector<double> chain = reference::draws_of(1)[0];
  const double before = ess_spectral(chain);
  for (double& x : chain) x = std::ldexp(x, -80);
  EXPECT_NEAR(ess_spectral(chain), before, 1e-12 * before);
}

TEST(Spectrum, NothingToSay) {
  EXPECT_TRUE(std::isnan(ess_spectral(std::vector<double>{})));
  EXPECT_TRUE(std::isnan(ess_spectral(std::vector<double>{1})));
  EXPECT_TRUE(std::isnan(ess_spectral(Draws{})));
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    EXPECT_TRUE(std::isnan(ess_spectral(std::vector<double>{1, 2, bad, 5, 3, 4})));
}

}  // namespace
}  // namespace flymc
