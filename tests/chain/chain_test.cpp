// One chain: its start, the random numbers of each kernel, and the transition from warm-up to sampling.
#include "flymc/chain/chain.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "bright/support.hpp"
#include "flymc/core/error.hpp"
#include "flymc/kernel/explicit_sweep.hpp"
#include "flymc/kernel/implicit_sweep.hpp"
#include "flymc/kernel/mala.hpp"
#include "flymc/kernel/random_walk.hpp"

namespace flymc {
namespace {

using problems::expect_same;
using problems::expect_settled;
using problems::message_of;
using problems::some_prior;
using problems::World;

Tuners tuners(const World& world) {
  Tuners out;
  out.push_back(std::make_unique<ImplicitSweepTuner>(world.joint));
  out.push_back(std::make_unique<StepTuner<Mala>>(world.joint, world.metric, 1.0));
  return out;
}

TEST(StartJoint, DrawsZInOnePass) {
  const World world(Logistic{}, some_prior, 300, 3, 91, std::make_shared<FixedJaakkolaJordanRule>());
  const Vector theta = world.theta(1.0);
  RowId queries = 5;  // to check that it is added to
  const State state = start_joint(world.joint, theta, {1, 2}, queries);
  EXPECT_EQ(world.count(), 300);
  EXPECT_EQ(queries, 305);
  EXPECT_EQ(state.theta, theta);
  EXPECT_EQ(state.iteration, 0u);
  EXPECT_TRUE(state.at.has_slopes());  // the first move may need them
  EXPECT_GT(state.z.set.bright_count(), 0);
  expect_settled(world, state);

  const State again = start_joint(world.joint, theta, {1, 2}, queries);
  EXPECT_EQ(again.z.fixed.row, state.z.fixed.row);
  const State other_chain = start_joint(world.joint, theta, {1, 3}, queries);
  const State other_seed = start_joint(world.joint, theta, {2, 2}, queries);
  EXPECT_NE(other_chain.z.fixed.row, state.z.fixed.row);
  EXPECT_NE(other_seed.z.fixed.row, state.z.fixed.row);
}

TEST(StartFull, EvaluatesOnce) {
  const World world(StudentT(4.0, 0.8), some_prior, 120, 2, 92);
  RowId queries = 0;
  const State state = start_full(world.full, world.theta(1.0), queries);
  EXPECT_EQ(queries, 120);
  EXPECT_EQ(world.count(), 120);
  EXPECT_EQ(state.z.set.rows(), 0);
  Evaluation again;
  world.full.evaluate(state.theta, state.z, true, again);
  EXPECT_EQ(again.log_density, state.at.log_density);
  EXPECT_EQ(again.gradient, state.at.gradient);
}

TEST(Start, RefusesAThetaWithoutADensity) {
  const World world(Logistic{}, some_prior, 50, 2, 93);
  for (const double bad : {std::nan(""), HUGE_VAL, 1e200, 1e9}) {
    RowId queries = 0;
    const Vector theta = Vector::Constant(2, bad);
    const std::string expected =
        std::isfinite(bad)
            ? "the posterior density cannot be computed where a chain starts: it is not finite, or so large that "
              "double precision has no digits left for its differences; divide weights that are "
              "large by their mean, and rescale columns and targets that are far from 1 in size"
            : "a chain must start at 2 finite numbers";
    EXPECT_EQ(message_of<InputError>([&] { start_joint(world.joint, theta, {}, queries); }), expected) << bad;
    if (bad == 1e9) continue;  // regular MCMC has no cancellation: the posterior itself can be computed
    EXPECT_EQ(message_of<InputError>([&] { start_full(world.full, theta, queries); }), expected) << bad;
  }
}

// Draws one number for a purpose that all its copies share, and records it.
class Recorder final : public Kernel {
 public:
  explicit Recorder(std::vector<double>& out) : out_(&out) {}
  Info step(State& state, const Random& random) const override {
    iterations.push_back(state.iteration);
    out_->push_back(random.uniform(Purpose::accept, 0));
    return {.queries = 2, .acceptance = out_->back(), .evaluations = 1, .not_finite = 1, .moved = 3.0};
  }
  static inline std::vector<std::uint64_t> iterations;

 private:
  std::vector<double>* out_;
};

// The kernels of one iteration have slots 0, 1, ...: kernels and iterations share no random numbers.
TEST(Chain, GivesEachKernelNumbersOfItsOwn) {
  Recorder::iterations.clear();
  std::vector<double> drawn;
  Kernels kernels;
  for (int i = 0; i < 3; ++i) kernels.push_back(std::make_unique<Recorder>(drawn));
  State state(Vector::Zero(1), 0);
  state.iteration = 10;
  Chain chain({7, 4}, state, std::move(kernels));
  for (int i = 0; i < 5; ++i) {
    const Info info = chain.step();
    EXPECT_EQ(info.queries, 6);
    EXPECT_EQ(info.evaluations, 3);
    EXPECT_EQ(info.not_finite, 3);
    EXPECT_EQ(info.acceptance, drawn.back());  // the last kernel's
    EXPECT_EQ(info.moved, 3.0);
  }
  ASSERT_EQ(drawn.size(), 15u);
  for (std::size_t i = 0; i < 15; ++i) {
    EXPECT_EQ(drawn[i], PhiloxRandom(7, 4, 10 + i / 3, static_cast<std::uint32_t>(i % 3)).uniform(Purpose::accept, 0));
    EXPECT_EQ(Recorder::iterations[i], 10 + i / 3);
  }
  EXPECT_EQ(chain.state().iteration, 15u);
}

// No kernel uses the start's random numbers: a consecutive sweep over all rows in iteration 0 draws another z.
TEST(Chain, StartsWithNumbersThatNoKernelUses) {
  const World world(Logistic{}, some_prior, 300, 3, 94, std::make_shared<FixedJaakkolaJordanRule>());
  RowId queries = 0;
  const State start = start_joint(world.joint, world.theta(1.0), {1, 0}, queries);
  ASSERT_GT(start.z.set.bright_count(), 3);
  const ExplicitSweep all(world.joint, 300, ExplicitSweep::Choice::consecutive);
  for (std::uint32_t slot : {0u, 1u, 2u}) {
    State state = world.state(world.theta(1.0), 0);
    all.step(state, PhiloxRandom(1, 0, 0, slot));
    EXPECT_NE(state.z.fixed.row, start.z.fixed.row);
  }
}

TEST(Warmup, HandsOverItsStateAndIteration) {
  const World world(Logistic{}, some_prior, 300, 3, 95);
  RowId queries = 0;
  Warmup warmup({3, 1}, start_joint(world.joint, world.theta(1.0), {3, 1}, queries), tuners(world));
  world.count();
  for (int i = 0; i < 50; ++i) {
    const Info info = warmup.step();
    EXPECT_EQ(info.queries, world.count());
  }
  EXPECT_EQ(warmup.state().iteration, 50u);
  const State last = warmup.state();
  Chain chain = std::move(warmup).freeze();
  EXPECT_EQ(world.count(), 0);
  EXPECT_EQ(chain.state().iteration, 50u);
  EXPECT_EQ(chain.state().theta, last.theta);
  EXPECT_EQ(chain.state().z.fixed.row, last.z.fixed.row);
  expect_same(chain.state().at, last.at);
  for (int i = 0; i < 50; ++i) {
    const Info info = chain.step();
    EXPECT_EQ(info.queries, world.count());
    expect_settled(world, chain.state());
  }
  EXPECT_EQ(chain.state().iteration, 100u);
}

// A chain applies its kernels in order and has no memory except its state: another chain from a copy makes the same
// steps.
TEST(Chain, GoesOnFromAnyOfItsStates) {
  const World world(Softmax{3}, some_prior, 200, 2, 96);
  const auto kernels = [&] {
    Kernels out;
    out.push_back(std::make_unique<ImplicitSweep>(world.joint, 0.1));
    out.push_back(std::make_unique<RandomWalk>(world.joint, world.metric, 0.7));
    return out;
  };
  RowId queries = 0;
  Chain chain({4, 0}, start_joint(world.joint, world.theta(1.0), {4, 0}, queries), kernels());
  for (int i = 0; i < 20; ++i) chain.step();
  Chain resumed({4, 0}, chain.state(), kernels());
  State by_hand = chain.state();
  const auto loose = kernels();
  for (int i = 0; i < 20; ++i) {
    chain.step();
    resumed.step();
    for (std::uint32_t slot = 0; slot < 2; ++slot)
      loose[slot]->step(by_hand, PhiloxRandom(4, 0, by_hand.iteration, slot));
    ++by_hand.iteration;
  }
  EXPECT_EQ(resumed.state().theta, chain.state().theta);
  expect_same(resumed.state().at, chain.state().at);
  EXPECT_EQ(by_hand.theta, chain.state().theta);
  EXPECT_EQ(by_hand.z.fixed.row, chain.state().z.fixed.row);
  expect_same(by_hand.at, chain.state().at);
}

}  // namespace
}  // namespace flymc
