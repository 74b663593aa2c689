// The rows that an explicit sweep visits, the distribution of their new z, and the queries.
#include "flymc/kernel/explicit_sweep.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "flymc/core/error.hpp"
#include "flymc/core/numerics.hpp"
#include "kernel/support.hpp"

namespace flymc {
namespace {

using problems::AuditingRandom;
using problems::expect_settled;
using problems::message_of;
using problems::some_prior;
using problems::World;
using Choice = ExplicitSweep::Choice;

const std::vector<Choice> every_choice = {Choice::with_replacement, Choice::without_replacement, Choice::consecutive};

// The rows that a step visits: those for which it drew a new z.
std::set<std::uint64_t> visited(const ExplicitSweep& sweep, State& state, std::uint64_t seed) {
  const AuditingRandom random(PhiloxRandom(seed, 0, state.iteration));
  sweep.step(state, random);
  return random.indices(Purpose::gibbs);
}

TEST(ExplicitSweep, RefusesCountsThatAreNone) {
  const World world(Logistic{}, some_prior, 30, 2, 41);
  for (const RowId count : {-1, 0, 31})
    EXPECT_EQ(message_of<InputError>([&] { ExplicitSweep(world.joint, count, Choice::consecutive); }),
              "an explicit sweep visits 1 to 30 rows, not " + std::to_string(count));
  for (const Choice choice : every_choice)
    for (const RowId count : {1, 30}) EXPECT_NO_THROW(ExplicitSweep(world.joint, count, choice));
}

// Every row is included with probability 10/50, and every pair of neighbours with 10 9 / (50 49). 100 comparisons at 5
// standard deviations: false alarm 6e-5.
TEST(ExplicitSweep, WithoutReplacementIsUniformAndDistinct) {
  const World world(Logistic{}, some_prior, 50, 2, 42);
  const ExplicitSweep sweep(world.joint, 10, Choice::without_replacement);
  State state = world.state(world.theta(1.0), 3);
  const int steps = 4000;
  std::vector<int> single(50), pair(50);
  for (state.iteration = 0; state.iteration < steps; ++state.iteration) {
    const auto rows = visited(sweep, state, 1);
    ASSERT_EQ(rows.size(), 10u);
    for (const std::uint64_t row : rows) {
      ++single[row];
      pair[row] += rows.count((row + 1) % 50) ? 1 : 0;
    }
  }
  const double p = 0.2, both = 90.0 / 2450.0;
  for (std::size_t row = 0; row < 50; ++row) {
    EXPECT_LT(std::abs(single[row] - steps * p), 5.0 * std::sqrt(steps * p * (1 - p))) << row;
    EXPECT_LT(std::abs(pair[row] - steps * both), 5.0 * std::sqrt(steps * both * (1 - both))) << row;
  }
}

// A row is among 10 picks of 50 with probability 1 - (49/50)^10; repeated picks are one visit. 50 comparisons: 3e-5.
TEST(ExplicitSweep, WithReplacementVisitsRepeatsOnce) {
  const World world(Logistic{}, some_prior, 50, 2, 43);
  const ExplicitSweep sweep(world.joint, 10, Choice::with_replacement);
  State state = world.state(world.theta(1.0), 3);
  const int steps = 4000;
  std::vector<int> single(50);
  bool repeated = false;
  for (state.iteration = 0; state.iteration < steps; ++state.iteration) {
    const auto rows = visited(sweep, state, 2);
    ASSERT_LE(rows.size(), 10u);
    repeated = repeated || rows.size() < 10;
    for (const std::uint64_t row : rows) ++single[row];
  }
  EXPECT_TRUE(repeated);
  const double p = 1.0 - std::pow(0.98, 10);
  for (const int count : single) EXPECT_LT(std::abs(count - steps * p), 5.0 * std::sqrt(steps * p * (1 - p)));
}

TEST(ExplicitSweep, ConsecutiveCoversAllRowsInItsRound) {
  for (const RowId rows : {47, 50})
    for (const RowId count : {1, 7, 10, 46}) {
      const World world(Logistic{}, some_prior, rows, 2, 44);
      const ExplicitSweep sweep(world.joint, count, Choice::consecutive);
      State state = world.state(world.theta(1.0), 3);
      const auto round = static_cast<std::uint64_t>((rows + count - 1) / count);
      for (const std::uint64_t first : {0ull, 3ull, 1000ull, (1ull << 40) + 1}) {
        std::set<std::uint64_t> seen;
        for (state.iteration = first; state.iteration < first + round; ++state.iteration) {
          const auto step = visited(sweep, state, 3);
          EXPECT_EQ(step.size(), static_cast<std::size_t>(count));
          seen.insert(step.begin(), step.end());
        }
        EXPECT_EQ(seen.size(), static_cast<std::size_t>(rows)) << rows << " by " << count << " from " << first;
      }
    }
}

TEST(ExplicitSweep, AllRowsAtOnceFromAnyStart) {
  for (const Choice choice : {Choice::without_replacement, Choice::consecutive})
    for (const RowId nth : {0, 1, 4}) {  // none, all, some bright
      const World world(Softmax{3}, some_prior, 60, 2, 45);
      const ExplicitSweep sweep(world.joint, 60, choice);
      State state = world.state(world.theta(2.0), nth);
      const RowId dark = state.z.set.dark_count();
      world.count();
      const AuditingRandom random(PhiloxRandom(4, 0, 0));
      const Info info = sweep.step(state, random);
      EXPECT_EQ(random.indices(Purpose::gibbs).size(), 60u);
      EXPECT_EQ(info.queries, dark);  // the gaps of bright rows are known
      EXPECT_EQ(world.count(), dark);
      expect_settled(world, state);
      // The new z does not depend on the old one.
      State other = world.state(world.theta(2.0), 2);
      sweep.step(other, PhiloxRandom(4, 0, 0));
      for (RowId row = 0; row < 60; ++row) EXPECT_EQ(state.z.set.is_bright(row), other.z.set.is_bright(row));
    }
}

// Shares of bright rows against 1 - exp(-gap), row by row; 40 comparisons at 5 standard deviations: false alarm 2e-5.
TEST(ExplicitSweep, DrawsZFromItsConditional) {
  const World world(Logistic{}, some_prior, 40, 2, 46);
  State state = world.state(world.theta(6.0), 1);
  std::vector<double> gap(40);
  for (RowId row = 0; row < 40; ++row)
    gap[static_cast<std::size_t>(row)] = state.at.bright.gap[static_cast<std::size_t>(state.z.set.position(row))];
  const ExplicitSweep sweep(world.joint, 40, Choice::consecutive);
  const int steps = 2000;
  std::vector<int> bright(40);
  for (state.iteration = 0; state.iteration < steps; ++state.iteration) {
    sweep.step(state, PhiloxRandom(5, 0, state.iteration));
    for (RowId row = 0; row < 40; ++row) bright[static_cast<std::size_t>(row)] += state.z.set.is_bright(row);
  }
  for (std::size_t row = 0; row < 40; ++row) {
    const double p = bright_probability(gap[row]);
    EXPECT_LE(std::abs(bright[row] - steps * p), 5.0 * std::sqrt(steps * p * (1 - p)) + 1.0) << row;
  }
}

TEST(ExplicitSweep, LeavesThetaAlone) {
  const World world(Logistic{}, some_prior, 40, 2, 47);
  for (const Choice choice : every_choice) {
    State state = world.state(world.theta(2.0), 4);
    const Vector theta = state.theta;
    const double base = state.at.base;
    const Info info = ExplicitSweep(world.joint, 20, choice).step(state, PhiloxRandom(6, 0, 0));
    EXPECT_EQ(state.theta, theta);
    EXPECT_EQ(state.at.base, base);
    EXPECT_EQ(state.iteration, 0u);  // the chain counts iterations, not the kernel
    EXPECT_EQ(info.evaluations, 0);
  }
}

}  // namespace
}  // namespace flymc
