// The self-check's estimate of the expected number of bright rows is unbiased.
#include "flymc/kernel/bright_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "bright/support.hpp"
#include "flymc/core/numerics.hpp"

namespace flymc {
namespace {

using problems::World;

// Averages 4000 estimates and estimates the standard error from them: false alarm beyond 5 of these once in about 10^6.
void expect_mean(const JointDensity& density, const BrightCheck& check, const State& state) {
  const RowId rows = density.rows();
  std::vector<RowId> with_z;
  for (RowId row = 0; row < rows; ++row)
    if (density.has_z(row)) with_z.push_back(row);
  BoundRows fixed;
  Gaps gaps;
  density.evaluate_rows(state, with_z, fixed, gaps);
  double exactly = 0.0;
  for (const double gap : gaps.gap) exactly += bright_probability(gap);

  constexpr int trials = 4000;
  double sum = 0.0, squares = 0.0;
  RowId queries = 0;
  for (std::uint64_t t = 0; t < trials; ++t) {
    const double estimate = check.expected(state, PhiloxRandom(5, 0, t), queries);
    sum += estimate;
    squares += estimate * estimate;
  }
  const double mean = sum / trials, error = std::sqrt((squares / trials - mean * mean) / trials);
  EXPECT_GT(exactly, 0.0);
  EXPECT_NEAR(mean, exactly, 5.0 * error);
  EXPECT_GT(queries, 0);
}

TEST(BrightCheck, HasTheRightExpectation) {
  const World world(Logistic{}, Prior::normal(0.0, 2.0), 300, 3, 21,
                    std::make_shared<SharpRule>(SharpRule::usual_zone(3)));
  const auto proposals = std::make_shared<const Proposals>(world.bound.expected_gaps(), 3.0);
  for (const double spread : {0.5, 1.5, 6.0}) {
    const State state = world.state(world.theta(spread), 0);
    expect_mean(world.joint, BrightCheck(world.joint), state);
    expect_mean(world.joint, BrightCheck(world.joint, proposals), state);
  }
}

TEST(BrightCheck, LeavesLitRowsOut) {
  const World world(Logistic{}, Prior::normal(0.0, 2.0), 300, 3, 22);
  const Bound bound(world.store, world.model.shared_family(), std::make_shared<SharpRule>(SharpRule::usual_zone(3)),
                    world.anchor.theta, world.machine.execution(), world.anchor.metric, {.above = 0.06});
  ASSERT_GT(bound.lit().size(), 5u);
  ASSERT_LT(bound.lit().size(), 295u);
  const JointDensity density(world.store, bound, world.model.shared_term());
  const auto proposals = std::make_shared<const Proposals>(bound.expected_gaps(), 3.0);
  State state(world.theta(1.5), world.store.rows());
  density.evaluate(state.theta, state.z, true, state.at);
  expect_mean(density, BrightCheck(density, proposals), state);
}

}  // namespace
}  // namespace flymc
