// The tails and the limits of the exactness suite: known values, and that a wrong score is an error.
#include "exactness/statistics.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

namespace flymc::exactness {
namespace {

// Values by SciPy: t.isf(p / 2, degrees), norm.isf(p / 2), chi2.sf(x, degrees).
TEST(Statistics, TailsAgreeWithKnownValues) {
  EXPECT_NEAR(student_t_limit(0.05, 10.0), 2.2281388519862753, 1e-10);
  EXPECT_NEAR(student_t_limit(4e-6, 63.0), 5.0522217519699435, 1e-8);
  EXPECT_NEAR(student_t_limit(1e-6, 7.0), 15.767009437482583, 1e-8);
  EXPECT_NEAR(normal_limit(1e-5), 4.417173413469023, 1e-10);
  EXPECT_NEAR(chi_square_tail(3.5, 1), 0.0613688291394023, 1e-12);
  EXPECT_NEAR(chi_square_tail(9.0, 2), 0.011108996538242308, 1e-12);
  EXPECT_NEAR(chi_square_tail(20.0, 6), 0.0027693957155115775, 1e-12);
  EXPECT_NEAR(chi_square_tail(24.995790139728616, 15), 0.05, 1e-12);
  EXPECT_NEAR(chi_square_tail(60.0, 15) / 2.522085078696141e-07, 1.0, 1e-9);
  EXPECT_EQ(chi_square_tail(0.0, 15), 1.0);
}

TEST(Statistics, ReplicatesGiveTheirMeanAndItsError) {
  const Estimate estimate = from_replicates(std::vector<double>{1.0, 2.0, 4.0, 5.0});
  EXPECT_DOUBLE_EQ(estimate.mean, 3.0);
  EXPECT_DOUBLE_EQ(estimate.standard_error, std::sqrt(10.0 / 3.0 / 4.0));
  EXPECT_EQ(estimate.degrees, 3.0);
}

TEST(Statistics, ScoresBeyondTheirLimitsAndScoresThatAreNoNumberFail) {
  const auto judge = [](const Estimate& one, const Estimate& other) {
    Scores scores;
    scores.compare("a mean", one, other);
    scores.expect_all_within_limits();
  };
  // P(|T_63| > 4.80) is about 1e-5.
  judge({4.75, 1.0, 63.0}, known(0.0));
  EXPECT_NONFATAL_FAILURE(judge({5.0, 1.0, 63.0}, known(0.0)), "a mean: 5.0");
  EXPECT_NONFATAL_FAILURE(judge({-5.0, 1.0, 63.0}, known(0.0)), "score -5");
  EXPECT_NONFATAL_FAILURE(judge({0.0, 0.0, 63.0}, known(0.0)), "nan");
  EXPECT_NONFATAL_FAILURE(judge({std::nan(""), 1.0, 63.0}, known(0.0)), "nan");
}

}  // namespace
}  // namespace flymc::exactness
