// The contract of every kernel: exact counts of queries, no random address used twice, a state that is always up to
// date, and a step that depends only on the state and the addresses.
#include "flymc/kernel/kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernel/support.hpp"

namespace flymc {
namespace {

using problems::AuditingRandom;
using problems::CubicRule;
using problems::expect_same;
using problems::expect_same_state;
using problems::expect_settled;
using problems::NamedKernel;
using problems::some_prior;
using problems::World;

// One world per kind of bound: anchored with one and with several predictors, with drops, growing with a radius.
std::vector<std::unique_ptr<World>> worlds() {
  std::vector<std::unique_ptr<World>> out;
  out.push_back(std::make_unique<World>(Logistic{}, some_prior, 100, 3, 31));
  out.push_back(std::make_unique<World>(Softmax{3}, some_prior, 100, 2, 32));
  out.push_back(std::make_unique<World>(StudentT(4.0, 0.8), some_prior, 100, 3, 33));
  out.push_back(
      std::make_unique<World>(Logistic{}, some_prior, 100, 3, 34, std::make_shared<FixedJaakkolaJordanRule>()));
  out.push_back(std::make_unique<World>(Logistic{}, some_prior, 100, 3, 35, std::make_shared<CubicRule>(2.0)));
  // Sharp bounds with radii that theta crosses, and a prior that is not normal.
  const auto sharp = std::make_shared<SharpRule>(Zone{1.5, 2.5});
  out.push_back(std::make_unique<World>(Logistic{}, some_prior, 100, 3, 41, sharp));
  out.push_back(std::make_unique<World>(Softmax{3}, some_prior, 100, 2, 42, sharp));
  out.push_back(std::make_unique<World>(StudentT(4.0, 0.8), Prior::laplace(0.0, 1.0), 100, 3, 43, sharp));
  return out;
}

std::vector<NamedKernel> kernels(const World& world) {
  auto out = sweeps(world);
  for (NamedKernel& move : moves(world, world.joint)) out.push_back(std::move(move));
  return out;
}

TEST(EveryKernel, CountsItsQueriesAndLeavesTheStateSettled) {
  for (const auto& world : worlds())
    for (const NamedKernel& named : kernels(*world)) {
      SCOPED_TRACE(named.name + " on " + world->model.family().name() + ", " + world->bound.rule().name());
      State state = world->state(world->theta(2.0), 4);
      const ImplicitSweep between(world->joint, 0.2);
      world->count();
      RowId total = 0;
      for (state.iteration = 0; state.iteration < 25; ++state.iteration) {
        const Info info = named.kernel->step(state, PhiloxRandom(1, 0, state.iteration, 0));
        EXPECT_EQ(info.queries, world->count());
        total += info.queries;
        expect_settled(*world, state);
        const Info swept = between.step(state, PhiloxRandom(1, 0, state.iteration, 1));
        EXPECT_EQ(swept.queries, world->count());
        expect_settled(*world, state);
      }
      EXPECT_GT(total, 0);
    }
}

TEST(EveryMove, CountsItsQueriesOnFullData) {
  for (const auto& world : worlds())
    for (const NamedKernel& named : moves(*world, world->full)) {
      SCOPED_TRACE(named.name + " on " + world->model.family().name());
      State state(world->theta(1.0), 0);
      world->full.evaluate(state.theta, state.z, true, state.at);
      world->count();
      Evaluation again;
      for (state.iteration = 0; state.iteration < 15; ++state.iteration) {
        const bool had_gradient = state.at.has_slopes();
        const Info info = named.kernel->step(state, PhiloxRandom(2, 0, state.iteration, 0));
        EXPECT_EQ(info.queries, world->count());
        EXPECT_TRUE(had_gradient || named.name != "mala");
        EXPECT_EQ(info.queries, info.evaluations * world->store.rows());
        EXPECT_EQ(info.not_finite, 0);
        world->full.evaluate(state.theta, state.z, state.at.has_slopes(), again);
        EXPECT_EQ(again.log_density, state.at.log_density);
        EXPECT_EQ(again.gradient, state.at.gradient);
        world->count();
      }
    }
}

// A move that needs gradients may follow one that left none: it evaluates what is missing, and counts the queries.
TEST(EveryMove, MayFollowAnyOther) {
  for (const auto& world : worlds()) {
    const auto all = kernels(*world);
    State state = world->state(world->theta(1.0), 4, false);
    const PhiloxRandom random(3, 0, 0);
    world->count();
    for (state.iteration = 0; state.iteration < 120; ++state.iteration) {
      const NamedKernel& next = all[random.choose(Purpose::pick, state.iteration, all.size())];
      SCOPED_TRACE(next.name + " on " + world->model.family().name() + ", " + world->bound.rule().name());
      const Info info = next.kernel->step(state, PhiloxRandom(4, 0, state.iteration));
      EXPECT_EQ(info.queries, world->count());
      expect_settled(*world, state);
    }
  }
}

TEST(EveryKernel, UsesNoAddressTwice) {
  for (const auto& world : worlds())
    for (const NamedKernel& named : kernels(*world)) {
      SCOPED_TRACE(named.name + " on " + world->model.family().name());
      State state = world->state(world->theta(2.0), 4);
      for (state.iteration = 0; state.iteration < 40; ++state.iteration) {
        const AuditingRandom random(PhiloxRandom(5, 0, state.iteration));
        named.kernel->step(state, random);
        EXPECT_EQ(random.repeats(), 0u);
        EXPECT_FALSE(random.purposes().empty());
      }
    }
}

// Slots separate the kernels of one iteration; even without slots, a sweep and a move share no purpose.
TEST(EveryKernel, SweepsAndMovesDrawForDifferentPurposes) {
  const World world(Logistic{}, some_prior, 100, 3, 36);
  const auto purposes = [&](const std::vector<NamedKernel>& kernels) {
    std::set<Purpose> out;
    for (const NamedKernel& named : kernels) {
      State state = world.state(world.theta(2.0), 4);
      for (state.iteration = 0; state.iteration < 20; ++state.iteration) {
        const AuditingRandom random(PhiloxRandom(6, 0, state.iteration));
        named.kernel->step(state, random);
        for (const Purpose purpose : random.purposes()) out.insert(purpose);
      }
    }
    return out;
  };
  const auto of_sweeps = purposes(sweeps(world)), of_moves = purposes(moves(world, world.joint));
  EXPECT_EQ(of_sweeps, (std::set<Purpose>{Purpose::pick, Purpose::gibbs, Purpose::skip, Purpose::brighten,
                                          Purpose::darken, Purpose::propose}));
  EXPECT_EQ(of_moves, (std::set<Purpose>{Purpose::move, Purpose::accept, Purpose::slice_height, Purpose::slice_place,
                                         Purpose::slice_limit, Purpose::slice_shrink, Purpose::angle}));
}

TEST(EveryKernel, IsAFunctionOfTheStateAndTheAddresses) {
  const World world(Logistic{}, some_prior, 100, 3, 37, std::make_shared<CubicRule>(2.0));
  for (const NamedKernel& named : kernels(world)) {
    SCOPED_TRACE(named.name);
    const State start = world.state(world.theta(2.0), 4);
    State before = start, after = start, other = start;
    const Info info = named.kernel->step(before, PhiloxRandom(7, 0, 0));
    for (other.iteration = 1; other.iteration <= 1000; ++other.iteration)
      named.kernel->step(other, PhiloxRandom(7, 0, other.iteration));
    after.proposed = other.at;  // scratch space has no effect
    const Info info_after = named.kernel->step(after, PhiloxRandom(7, 0, 0));
    expect_same_state(after, before);
    EXPECT_EQ(info_after.queries, info.queries);
    EXPECT_EQ(info_after.acceptance, info.acceptance);
    EXPECT_EQ(info_after.evaluations, info.evaluations);
    EXPECT_EQ(info_after.moved, info.moved);
  }
}

// Frozen kernels are separate objects that no longer learn: the tuner's later steps do not change them.
TEST(EveryTuner, FreezesForGood) {
  const World world(Logistic{}, some_prior, 100, 3, 38);
  std::vector<std::pair<std::string, std::unique_ptr<Tuner>>> tuners;
  tuners.emplace_back("random walk", std::make_unique<StepTuner<RandomWalk>>(world.joint, world.metric, 1.0));
  tuners.emplace_back("mala", std::make_unique<StepTuner<Mala>>(world.joint, world.metric, 1.0));
  tuners.emplace_back("coordinates", std::make_unique<SliceCoordinatesTuner>(world.joint, Vector::Ones(3)));
  tuners.emplace_back("direction", std::make_unique<SliceDirectionTuner>(world.joint, world.metric, 1.0));
  tuners.emplace_back("split HMC", std::make_unique<SplitHmcTuner>(world.joint, problems::collapsed(world)));
  tuners.emplace_back("implicit", std::make_unique<ImplicitSweepTuner>(world.joint));
  tuners.emplace_back("untuned", std::make_unique<Untuned<ImplicitSweep>>(ImplicitSweep(world.joint, 0.3)));
  for (const auto& [name, tuner] : tuners) {
    SCOPED_TRACE(name);
    State state = world.state(world.theta(2.0), 4);
    const auto untrained = tuner->freeze();  // before the first step: the first guess
    EXPECT_NE(untrained, nullptr);
    const auto warm_up = [&](std::uint64_t until) {
      for (; state.iteration < until; ++state.iteration) {
        world.count();
        const Info info = tuner->step(state, PhiloxRandom(8, 0, state.iteration));
        EXPECT_EQ(info.queries, world.count());
        expect_settled(world, state);
      }
    };
    warm_up(100);
    const auto frozen = tuner->freeze();
    const State start = state;
    State one = start, two = start;
    frozen->step(one, PhiloxRandom(9, 0, 0));
    warm_up(200);
    frozen->step(two, PhiloxRandom(9, 0, 0));
    expect_same_state(one, two);
  }
}

// Weights i (i + 1) (i + 2): the last quarter of the time has a share of 1 - 0.75^4 = 68 %.
TEST(LateMean, WeighsByTheCubeOfTime) {
  LateMean mean;
  EXPECT_TRUE(mean.empty());
  double sum = 0.0, weights = 0.0;
  for (int i = 1; i <= 50; ++i) {
    const double x = std::sin(i), weight = 1.0 * i * (i + 1) * (i + 2);
    mean.add(x);
    sum += weight * x;
    weights += weight;
    EXPECT_NEAR(mean.value(), sum / weights, 1e-14);
  }
  EXPECT_FALSE(mean.empty());
}

// More dark rows than one chunk evaluates.
TEST(BrightenWhere, ChunksGiveWhatOneLookGives) {
  const World world(Logistic{}, some_prior, 9000, 2, 39);
  State state = world.state(world.theta(3.0), 0), by_hand = state;
  std::vector<RowId> rows(9000);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<RowId>(i);
  BoundRows fixed;
  Gaps gaps;
  world.joint.evaluate_rows(by_hand, rows, fixed, gaps);
  world.count();
  const ExplicitSweep all(world.joint, 9000, ExplicitSweep::Choice::consecutive);
  const PhiloxRandom random(10, 0, 0);
  EXPECT_EQ(all.step(state, random).queries, 9000);
  EXPECT_EQ(world.count(), 9000);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (random.bernoulli(Purpose::gibbs, i, -std::expm1(-gaps.gap[i]))) world.joint.brighten(by_hand, fixed, gaps, i);
  world.joint.update(by_hand);
  expect_same_state(state, by_hand);
  expect_settled(world, state);
  EXPECT_GT(state.z.set.bright_count(), 0);
}

TEST(Kernel, MovesRefuseSettingsThatAreNone) {
  const problems::NormalDensity density(Vector::Ones(2));
  const auto metric = density.metric();
  EXPECT_THROW(RandomWalk(density, metric, 0.0), InputError);
  EXPECT_THROW(RandomWalk(density, metric, std::nan("")), InputError);
  EXPECT_THROW(Mala(density, metric, -1.0), InputError);
  EXPECT_THROW(SliceCoordinates(density, Vector::Ones(3)), InputError);  // wrong dimension: would read past the end
  EXPECT_THROW(SliceCoordinates(density, Vector::Constant(2, std::nan(""))), InputError);
  EXPECT_THROW(SliceDirection(density, metric, HUGE_VAL), InputError);
  EXPECT_THROW(SliceDirection(density, std::make_shared<const Precision>(Precision::identity(3)), 1.0), InputError);
}

}  // namespace
}  // namespace flymc
