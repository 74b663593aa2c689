// Split HMC: the trajectory against its definition, and the inputs that it refuses.
#include "flymc/kernel/split_hmc.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "flymc/core/error.hpp"
#include "kernel/trajectories.hpp"

namespace flymc {
namespace {

using problems::AuditingRandom;
using problems::collapsed;
using problems::describe;
using problems::exact_rest;
using problems::expect_same_state;
using problems::expect_settled;
using problems::GivenRandom;
using problems::reference;
using problems::sensitivity;
using problems::sharp;
using problems::shifted_prior;
using problems::Trajectory;
using problems::World;
using problems::worlds;

// With no bright row, no growth and a normal prior there are no kicks. The move is a rotation about the centre by the
// drawn angle, and conserves the joint density of position and momentum.
TEST(SplitHmc, IsARotationWhereNothingIsLeft) {
  for (const Prior& prior : {shifted_prior, Prior::flat()}) {
    const World world(Logistic{}, prior, 60, 3, 90);
    const auto frame = collapsed(world);
    for (const int steps : {1, 2, 7})
      for (const double u : {0.0, 0.37, 1.0}) {
        State state = world.state(world.theta(2.0), 0);
        const Vector b = frame->position(state.theta), p{{0.3, -1.2, 0.8}};
        world.count();
        const Info info = SplitHmc(world.joint, frame, 1.4, steps).step(state, GivenRandom(p, u));
        EXPECT_EQ(world.count(), 0);
        EXPECT_EQ(info.queries, 0);
        EXPECT_NEAR(info.acceptance, 1.0, 1e-9);
        const double angle = 1.4 * (0.8 + 0.4 * u);
        const Vector turned = frame->centre + std::cos(angle) * (b - frame->centre) + std::sin(angle) * p;
        EXPECT_LT((frame->position(state.theta) - turned).norm(), 1e-9);
        expect_settled(world, state);
      }
  }
}

// Compares positions, acceptance probabilities (with the exact densities at both ends) and queries with the definition.
void expect_trajectories(bool own) {
  int below_one = 0, outside = 0, inside = 0, sharply = 0, shortened = 0;
  for (const auto& world : worlds()) {
    SCOPED_TRACE(describe(*world));
    const auto frame = collapsed(*world);
    const JointDensity density(world->store, world->bound, world->model.shared_term(), own ? frame : nullptr);
    const Index d = frame->origin.size();
    for (const int steps : {1, 2, 5})
      for (const RowId nth : {0, 9, 3})
        for (const double spread : {0.5, 1.5, 4.0}) {
          State state = world->state(world->theta(spread, static_cast<std::uint64_t>(steps)), nth);
          density.evaluate(state.theta, state.z, true, state.at);
          const State before = state;
          Vector p(d);
          PhiloxRandom(91, static_cast<std::uint64_t>(steps), static_cast<std::uint64_t>(nth))
              .normals(Purpose::move, 0, {p.data(), static_cast<std::size_t>(d)});
          const double u = 0.3, angle = 0.9;
          const double turn = angle * (0.8 + 0.4 * u) / steps;
          const Trajectory expected = reference(*world, *frame, own, before, p, turn, steps);
          const double slack = 1e-9 + 100.0 * sensitivity(*world, *frame, own, before, p, turn, steps);
          world->count();
          const Info info = SplitHmc(density, frame, angle, steps).step(state, GivenRandom(p, u));
          EXPECT_EQ(world->count(), info.queries);
          EXPECT_EQ(info.evaluations, steps);
          if (!std::isfinite(expected.log_ratio)) {  // a bright row pushed it to where the density is not finite
            EXPECT_EQ(info.acceptance, 0.0);
            continue;
          }
          // One query per bright row, lit row and kick, except for the first, whose gradient is known; two additional
          // passes beyond the radius.
          if (slack < 1e-7) {
            EXPECT_EQ(info.queries, expected.queries);
          }
          EXPECT_NEAR(info.acceptance, std::min(1.0, std::exp(expected.log_ratio)), slack);
          EXPECT_LT((frame->position(state.theta) - expected.b).norm(), slack);
          sharply += slack < 1e-7;
          shortened += slack < 1e-7 && expected.shortened > 0;
          below_one += expected.log_ratio < -1e-3 && expected.log_ratio > -5.0;
          ++(before.at.point.outside() ? outside : inside);
          expect_settled(*world, state, &density);
        }
  }
  EXPECT_GT(below_one, 20);
  EXPECT_GT(outside, 5);
  EXPECT_GT(inside, 20);
  EXPECT_GT(sharply, 200);  // of 243; bright rows made the others too sensitive to compare
  EXPECT_GT(shortened, 5);
}
TEST(SplitHmc, IsTheTrajectoryThatItSays) { expect_trajectories(false); }
TEST(SplitHmc, IsTheTrajectoryThatItSaysWhereTheDensityHasTheFrame) { expect_trajectories(true); }

// Reversibility: from the end of a trajectory, with reversed momentum, the same kernel returns to the start, with the
// inverse ratio.
TEST(SplitHmc, LeadsBackWithTheInverseRatio) {
  for (const bool own : {false, true}) {
    int there_and_back = 0, across_the_radius = 0;
    for (const auto& world : worlds()) {
      SCOPED_TRACE(describe(*world));
      const auto frame = collapsed(*world);
      const JointDensity density(world->store, world->bound, world->model.shared_term(), own ? frame : nullptr);
      const Index d = frame->origin.size();
      for (const int steps : {1, 3, 6})
        for (std::uint64_t number = 0; number < 12; ++number) {
          const double u = 0.6, angle = 0.8;
          const SplitHmc move(density, frame, angle, steps);
          State start = world->state(world->theta(1.5, number), 7);
          density.evaluate(start.theta, start.z, true, start.at);
          Vector p(d);
          PhiloxRandom(92, number, 0).normals(Purpose::move, 0, {p.data(), static_cast<std::size_t>(d)});
          const double turn = angle * (0.8 + 0.4 * u) / steps;
          const Trajectory out = reference(*world, *frame, own, start, p, turn, steps);
          State there = start;
          move.step(there, GivenRandom(p, u));
          // A bright row can make a trajectory so sensitive that rounding determines its end. The cases that remain
          // magnify an error by at most a thousand each way.
          if (!(sensitivity(*world, *frame, own, start, p, turn, steps) < 1e-9) ||
              !(sensitivity(*world, *frame, own, there, -out.p, turn, steps) < 1e-9))
            continue;
          State back = there;
          const Info info = move.step(back, GivenRandom(-out.p, u));
          EXPECT_LT((frame->position(back.theta) - frame->position(start.theta)).norm(), 1e-8);
          EXPECT_NEAR(info.acceptance, std::min(1.0, std::exp(-out.log_ratio)), 1e-8);
          there_and_back += std::abs(out.log_ratio) > 1e-3;
          across_the_radius += there.at.point.outside() != start.at.point.outside();
        }
    }
    EXPECT_GT(there_and_back, 100);
    EXPECT_GT(across_the_radius, 5);
  }
}

// A bright row near its wall has an unbounded force, which gives a kick of length 3 in its direction at both ends of a
// trajectory, so that it is reversible.
TEST(SplitHmc, AKickIsAtMostThreeLong) {
  const World world(Logistic{}, shifted_prior, 80, 3, 102, sharp(4.7));
  const auto frame = collapsed(world);
  for (const bool own : {false, true}) {
    const JointDensity density(world.store, world.bound, world.model.shared_term(), own ? frame : nullptr);
    for (const RowId row : {0, 17, 44}) {
      // The row's own predictor is changed by 1e-5.
      Vector x(3);
      for (Index j = 0; j < 3; ++j) x[j] = world.store.value(row, j);
      Vector offset = world.at_rho(1.5, static_cast<std::uint64_t>(row)) - world.anchor.theta;
      offset += (1e-5 - x.dot(offset)) / x.squaredNorm() * x;
      State state(world.anchor.theta + offset, 80);
      density.evaluate(state.theta, state.z, true, state.at);
      BoundRows fixed;
      Gaps gaps;
      density.evaluate_rows(state, std::vector<RowId>{row}, fixed, gaps);
      density.brighten(state, fixed, gaps, 0);
      density.update(state);
      const State start = state;
      const double angle = 0.7;  // the drawn angle for the uniform number 0.5
      const Vector b = frame->position(start.theta), force = exact_rest(world, *frame, start.z, b);
      ASSERT_GT(angle / 2.0 * force.norm(), 1e4);
      // Without initial momentum the end position reveals the kick.
      SplitHmc(density, frame, angle, 1).step(state, GivenRandom(Vector::Zero(3), 0.5));
      const Vector kick =
          (frame->position(state.theta) - frame->centre - std::cos(angle) * (b - frame->centre)) / std::sin(angle);
      EXPECT_NEAR(kick.norm(), 3.0, 1e-9);
      EXPECT_GT(kick.dot(force), 0.999 * kick.norm() * force.norm());
      for (const int steps : {1, 2}) {
        const Vector p{{0.4, -0.9, 1.1}};
        const Trajectory out = reference(world, *frame, own, start, p, angle / steps, steps);
        EXPECT_GT(out.shortened, 0);
        State there = start;
        const SplitHmc move(density, frame, angle, steps);
        EXPECT_NEAR(move.step(there, GivenRandom(p, 0.5)).acceptance, std::min(1.0, std::exp(out.log_ratio)), 1e-8);
        State back = there;
        EXPECT_NEAR(move.step(back, GivenRandom(-out.p, 0.5)).acceptance, std::min(1.0, std::exp(-out.log_ratio)),
                    1e-4);
        EXPECT_LT((frame->position(back.theta) - b).norm(), 1e-8);
      }
    }
  }
  // The full density has no walls, and its kicks are not shortened.
  auto wide = std::make_shared<SplitFrame>(laplace_frame(world.anchor));
  wide->to_theta *= 20.0;
  wide->from_theta /= 20.0;
  wide->pack();
  State state(world.theta(3.0), 0);
  world.full.evaluate(state.theta, state.z, true, state.at);
  const Vector b = wide->position(state.theta), force = wide->pull(state.at.gradient) + b;
  ASSERT_GT(0.35 * force.norm(), 3.5);
  SplitHmc(world.full, wide, 0.7, 1).step(state, GivenRandom(Vector::Zero(3), 0.5));
  EXPECT_LT((wide->position(state.theta) - std::cos(0.7) * b - std::sin(0.7) * 0.35 * force).norm(),
            1e-9 * force.norm());
}

TEST(SplitHmc, EvaluatesAGradientThatIsMissing) {
  const World world(Logistic{}, shifted_prior, 80, 3, 93, sharp(9.0));
  State with = world.state(world.theta(1.0), 4), without = world.state(world.theta(1.0), 4, false);
  const SplitHmc move(world.joint, collapsed(world), 1.0, 3);
  world.count();
  EXPECT_EQ(move.step(with, PhiloxRandom(2, 0, 0)).queries, 60);
  EXPECT_EQ(world.count(), 60);
  EXPECT_EQ(move.step(without, PhiloxRandom(2, 0, 0)).queries, 80);
  EXPECT_EQ(world.count(), 80);
  expect_same_state(with, without);
}

TEST(SplitHmc, DrawsMomentumAngleAndAcceptanceOnceEach) {
  const World world(Logistic{}, shifted_prior, 80, 3, 94, sharp(4.7));
  const auto frame = collapsed(world);
  State state = world.state(world.theta(1.0), 4);
  for (std::uint64_t i = 0; i < 20; ++i) {
    const AuditingRandom random(PhiloxRandom(3, 0, i));
    SplitHmc(world.joint, frame, 1.5, 4).step(state, random);
    EXPECT_EQ(random.repeats(), 0u);
    EXPECT_EQ(random.purposes(), (std::set<Purpose>{Purpose::move, Purpose::angle, Purpose::accept}));
    for (const Purpose purpose : random.purposes()) EXPECT_EQ(random.indices(purpose), std::set<std::uint64_t>{0});
  }
}

// The angle is uniform on 0.8 to 1.2 times the given one.
TEST(SplitHmc, JittersItsAngle) {
  const World world(Logistic{}, shifted_prior, 60, 1, 95);
  const auto frame = collapsed(world);
  const SplitHmc move(world.joint, frame, 1.0, 1);
  for (const double u : {0.0, 0.5, 1.0}) {
    State state = world.state(frame->theta(frame->centre), 0);
    move.step(state, GivenRandom(Vector::Ones(1), u));
    EXPECT_NEAR(frame->position(state.theta)[0] - frame->centre[0], std::sin(0.8 + 0.4 * u), 1e-9);
  }
}

// Momenta so large that the end is infinite or NaN: rejected and counted, and the reported acceptance stays a number.
TEST(SplitHmc, RejectsWhatCannotBeComputed) {
  const auto check = [](const World& world, const Kernel& move, State state) {
    const State before = state;
    for (const double size : {1e160, 1e300, HUGE_VAL, std::nan("")}) {
      SCOPED_TRACE(size);
      world.count();
      const Info info = move.step(state, GivenRandom(Vector::Constant(before.theta.size(), size), 0.5));
      EXPECT_EQ(info.queries, world.count());
      EXPECT_EQ(info.acceptance, 0.0);
      EXPECT_EQ(info.not_finite, 1);
      EXPECT_EQ(info.moved, 0.0);
      expect_same_state(state, before);
    }
  };
  for (const auto& world : worlds()) {
    SCOPED_TRACE(describe(*world));
    for (const int steps : {1, 3}) {
      check(*world, SplitHmc(world->joint, collapsed(*world), 1.0, steps), world->state(world->theta(1.0), 4));
      State full(world->theta(1.0), 0);
      world->full.evaluate(full.theta, full.z, true, full.at);
      check(*world, SplitHmc(world->full, std::make_shared<SplitFrame>(laplace_frame(world->anchor)), 1.0, steps),
            full);
    }
  }
}

TEST(SplitHmc, RefusesSettingsThatAreNone) {
  const World world(Logistic{}, shifted_prior, 60, 3, 96), other(Logistic{}, shifted_prior, 60, 2, 96);
  const auto frame = collapsed(world);
  for (const double angle : {0.0, -1.0, HUGE_VAL, std::nan("")})
    EXPECT_THROW(SplitHmc(world.joint, frame, angle, 1), InputError);
  EXPECT_THROW(SplitHmc(world.joint, frame, 1.0, 0), InputError);
  EXPECT_THROW(SplitHmc(other.joint, frame, 1.0, 1), InputError);
  EXPECT_THROW(SplitHmc(other.full, frame, 1.0, 1), InputError);
}

}  // namespace
}  // namespace flymc
