// The tuner of split HMC: its choice of the number of steps, its angle, and its memory.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "flymc/core/error.hpp"
#include "flymc/kernel/split_hmc.hpp"
#include "kernel/trajectories.hpp"

namespace flymc {
namespace {

using problems::collapsed;
using problems::expect_same_state;
using problems::GivenRandom;
using problems::reference;
using problems::sharp;
using problems::shifted_prior;
using problems::Trajectory;
using problems::World;

// A tuner that recalls another's memory continues as that one: the same steps, and in the end the same kernel.
TEST(SplitHmcTuner, GoesOnFromItsMemory) {
  const World world(Logistic{}, shifted_prior, 80, 3, 97, sharp(4.7));
  const auto frame = collapsed(world);
  const ImplicitSweep sweep(world.joint, 0.3);
  SplitHmcTuner one(world.joint, frame);
  State state = world.state(world.theta(1.0), 4);
  const auto go_on = [&](Tuner& tuner, State& at, std::uint64_t until) {
    for (; at.iteration < until; ++at.iteration) {
      sweep.step(at, PhiloxRandom(4, 0, at.iteration, 0));
      tuner.step(at, PhiloxRandom(4, 0, at.iteration, 1));
    }
  };
  for (const std::uint64_t until : {1u, 20u, 137u}) {  // before, at and after the first round of all numbers of steps
    go_on(one, state, until);
    SplitHmcTuner two(world.joint, frame);
    const std::vector<double> memory = one.memory();
    two.recall(memory);
    EXPECT_EQ(two.memory(), memory);
    State copy = state;
    go_on(one, state, until + 60);
    go_on(two, copy, until + 60);
    expect_same_state(state, copy);
    EXPECT_EQ(one.memory(), two.memory());
    State a = state, b = state;
    one.freeze()->step(a, PhiloxRandom(5, 0, 0));
    two.freeze()->step(b, PhiloxRandom(5, 0, 0));
    expect_same_state(a, b);
  }
  EXPECT_THROW(one.recall(std::vector<double>(3)), InputError);
}

// With no bright row a single step is an independent draw; more steps cost without a gain.
TEST(SplitHmcTuner, TakesFewStepsWhereNothingIsBright) {
  const World world(Logistic{}, shifted_prior, 60, 4, 98);
  SplitHmcTuner tuner(world.joint, collapsed(world));
  State state = world.state(world.theta(1.0), 0);
  for (; state.iteration < 400; ++state.iteration) tuner.step(state, PhiloxRandom(6, 0, state.iteration));
  EXPECT_EQ(tuner.freeze()->step(state, PhiloxRandom(6, 0, 400)).evaluations, 1);
}

// In a badly fitting frame, with a density far narrower in one direction, a single long kick is rejected; warm-up must
// find a number of steps that is accepted.
TEST(SplitHmcTuner, TakesMoreStepsWhereTheyAreNeeded) {
  const World world(Logistic{}, shifted_prior, 400, 3, 99);
  auto frame = std::make_shared<SplitFrame>(laplace_frame(world.anchor));
  frame->to_theta *= 3.0;  // standard deviations three times too long
  frame->from_theta /= 3.0;
  frame->pack();
  SplitHmcTuner tuner(world.full, frame);
  State state(world.anchor.theta, 0);
  world.full.evaluate(state.theta, state.z, true, state.at);
  for (; state.iteration < 600; ++state.iteration) tuner.step(state, PhiloxRandom(7, 0, state.iteration));
  const auto frozen = tuner.freeze();
  double acceptance = 0.0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const Info info = frozen->step(state, PhiloxRandom(7, 1, i));
    EXPECT_GE(info.evaluations, 3);
    acceptance += info.acceptance / 300.0;
  }
  EXPECT_GT(acceptance, 0.4);
}

// Turns by 1.15 quarter turns, by more if the posterior is skewed: 1.2 if rows are lit, 1.25 for the full density.
TEST(SplitHmcTuner, TurnsFurtherWhereThePosteriorIsSkewed) {
  const auto frozen = [](const World& world, double turn) {
    const auto frame = collapsed(world);
    SplitHmcTuner tuner(world.joint, frame);
    State state = world.state(world.theta(1.0), 0);
    for (; state.iteration < 100; ++state.iteration) tuner.step(state, PhiloxRandom(9, 0, state.iteration));
    const State before = state;
    const Vector p = 0.1 * Vector::Ones(state.theta.size());
    const auto steps = static_cast<int>(tuner.freeze()->step(state, GivenRandom(p, 0.5)).evaluations);
    EXPECT_GE(steps, turn > 1.15 ? 3 : 1);
    const double angle = turn * 0.5 * std::numbers::pi;
    const Trajectory out = reference(world, *frame, false, before, p, angle / steps, steps);
    EXPECT_LT((frame->position(state.theta) - out.b).norm(), 1e-8);
  };
  frozen(World(Logistic{}, shifted_prior, 200, 3, 103, sharp(5.7)), 1.15);
  const World lit(Logistic{}, shifted_prior, 200, 3, 103, sharp(5.7), Lighting{.above = 0.15});
  ASSERT_GT(lit.bound.lit().size(), 0u);
  frozen(lit, 1.2);

  const World world(Logistic{}, shifted_prior, 200, 3, 103);
  const auto frame = std::make_shared<const SplitFrame>(laplace_frame(world.anchor));
  SplitHmcTuner tuner(world.full, frame);
  State state(world.anchor.theta, 0);
  world.full.evaluate(state.theta, state.z, true, state.at);
  State by_tuner = state;
  const Vector p{{0.1, 0.1, 0.1}};
  const auto steps = static_cast<int>(tuner.freeze()->step(by_tuner, GivenRandom(p, 0.5)).evaluations);
  SplitHmc(world.full, frame, 1.25 * 0.5 * std::numbers::pi, steps).step(state, GivenRandom(p, 0.5));
  EXPECT_EQ(by_tuner.theta, state.theta);
}

// It has settled after enough effective draws and after a comparison of its choice with its neighbours. It does not
// settle if many rows are bright, which it cannot judge, if trajectories are rejected, or if iterations are cheap.
TEST(SplitHmcTuner, SettlesWhereRowsAreLitAndFewAreBright) {
  const World none(Logistic{}, shifted_prior, 200, 3, 104, sharp(5.7));
  const World lit(Logistic{}, shifted_prior, 200, 3, 104, sharp(5.7), Lighting{.above = 0.15});
  ASSERT_GT(lit.bound.lit().size(), 0u);
  const auto settles = [&](const World& world, RowId nth, double size) {
    SplitHmcTuner tuner(world.joint, collapsed(world));
    State state = world.state(world.theta(1.0), nth);
    int steps = 0;
    for (; steps < 300 && !tuner.settled(); ++steps) {
      PhiloxRandom random(10, 0, static_cast<std::uint64_t>(steps));
      Vector p(3);
      random.normals(Purpose::move, 0, {p.data(), 3});
      tuner.step(state, GivenRandom(size * p, 0.5));
    }
    return steps;
  };
  EXPECT_GE(settles(lit, 0, 1.0), 40);
  EXPECT_LE(settles(lit, 0, 1.0), 80);
  EXPECT_EQ(settles(lit, 2, 1.0), 300);       // dozens of rows bright
  EXPECT_EQ(settles(lit, 0, HUGE_VAL), 300);  // no trajectory accepted
  EXPECT_EQ(settles(none, 0, 1.0), 300);
}

// If no trajectory was ever accepted there is nothing to compare, and the largest number of steps is chosen.
TEST(SplitHmcTuner, TakesTheMostStepsWhereNothingWasAccepted) {
  const World world(Logistic{}, shifted_prior, 60, 2, 101);
  SplitHmcTuner tuner(world.joint, collapsed(world));
  State state = world.state(world.theta(1.0), 0);
  const GivenRandom nowhere(Vector::Constant(2, HUGE_VAL), 0.5);
  for (int i = 0; i < 40; ++i) tuner.step(state, nowhere);
  EXPECT_EQ(tuner.freeze()->step(state, nowhere).evaluations, 32);
  EXPECT_FALSE(tuner.settled());
}

// One warm-up trajectory that ends at infinity must not spoil the estimate for its number of steps.
TEST(SplitHmcTuner, SurvivesATrajectoryThatEndsNowhere) {
  const World world(Logistic{}, shifted_prior, 60, 2, 100);
  SplitHmcTuner tuner(world.joint, collapsed(world));
  State state = world.state(world.theta(1.0), 0);
  for (int i = 0; i < 20; ++i) tuner.step(state, GivenRandom(Vector::Constant(2, HUGE_VAL), 0.5));
  for (; state.iteration < 400; ++state.iteration) tuner.step(state, PhiloxRandom(8, 0, state.iteration));
  for (const double number : tuner.memory()) EXPECT_TRUE(std::isfinite(number));
  EXPECT_LE(tuner.freeze()->step(state, PhiloxRandom(8, 0, 400)).evaluations, 4);
}

}  // namespace
}  // namespace flymc
