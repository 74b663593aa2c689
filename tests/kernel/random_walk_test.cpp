// Random-walk Metropolis: the proposal, the decision, densities that cannot be computed, and the tuned step.
#include "flymc/kernel/random_walk.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernel/support.hpp"

namespace flymc {
namespace {

using problems::expect_settled;
using problems::NormalDensity;
using problems::World;

// The proposal is theta + step L^-T z and the decision u < exp(difference of the log densities); the test computes both
// from the random addresses, on the joint density.
TEST(RandomWalk, ProposesAndDecidesAsItSays) {
  const World world(Softmax{3}, Prior::normal(0.0, 2.0), 80, 2, 61);
  const double step = 0.6;
  const RandomWalk move(world.joint, world.metric, step);
  EXPECT_EQ(move.step_size(), step);
  State state = world.state(world.theta(1.0), 4);
  int accepted = 0;
  for (state.iteration = 0; state.iteration < 100; ++state.iteration) {
    const State before = state;
    const PhiloxRandom random(1, 0, state.iteration);
    const Info info = move.step(state, random);
    EXPECT_EQ(info.evaluations, 1);
    EXPECT_EQ(info.queries, state.z.set.bright_count());
    Vector z(before.theta.size());
    random.normals(Purpose::move, 0, {z.data(), static_cast<std::size_t>(z.size())});
    const Vector proposal =
        before.theta + step * world.metric->lower().transpose().triangularView<Eigen::Upper>().solve(z);
    Evaluation there;
    world.joint.evaluate(proposal, before.z, false, there);
    const double acceptance = std::min(1.0, std::exp(there.log_density - before.at.log_density));
    EXPECT_NEAR(info.acceptance, acceptance, 1e-9);
    const bool accept = random.uniform(Purpose::accept, 0) < info.acceptance;
    EXPECT_LT((state.theta - (accept ? proposal : before.theta)).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_EQ(state.theta == before.theta, !accept);
    expect_settled(world, state);
    accepted += accept;
  }
  EXPECT_GT(accepted, 10);
  EXPECT_LT(accepted, 90);
}

TEST(RandomWalk, ARejectedMoveLeavesEverythingAsItWas) {
  const World world(Logistic{}, Prior::normal(0.0, 2.0), 80, 3, 62);
  State state = world.state(world.theta(1.0), 4);
  const State before = state;
  const RandomWalk far(world.joint, world.metric, 1e4);
  const Info info = far.step(state, PhiloxRandom(2, 0, 0));
  EXPECT_EQ(info.acceptance, 0.0);
  problems::expect_same_state(state, before);
  expect_settled(world, state);
}

// A half line: below 0 the log density is `value`, which is NaN or infinite.
class HalfLine final : public Density {
 public:
  explicit HalfLine(double value) : value_(value) {}
  Index dimension() const override { return 1; }
  RowId evaluate(const Vector& theta, const BrightRows&, bool with_gradient, Evaluation& out) const override {
    out.log_density = theta[0] > 0.0 ? -theta[0] : value_;
    out.gradient = with_gradient ? Vector::Constant(1, -1.0) : Vector();
    return 5;
  }

 private:
  double value_;
};

TEST(RandomWalk, ADensityThatIsNotFiniteRejectsAndIsCounted) {
  const auto metric = std::make_shared<const Precision>(Precision::identity(1));
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    const HalfLine density(bad);
    const RandomWalk move(density, metric, 1.0);
    State state(Vector::Constant(1, 0.5), 0);
    density.evaluate(state.theta, state.z, false, state.at);
    int not_finite = 0;
    for (std::uint64_t i = 0; i < 300; ++i) {
      const Info info = move.step(state, PhiloxRandom(3, 0, i));
      ASSERT_GT(state.theta[0], 0.0);
      ASSERT_TRUE(std::isfinite(state.at.log_density));
      EXPECT_EQ(info.queries, 5);
      EXPECT_EQ(info.evaluations, 1);
      if (info.not_finite) {
        EXPECT_EQ(info.acceptance, 0.0);
      }
      not_finite += info.not_finite;
    }
    EXPECT_GT(not_finite, 20);
  }
}

// Mean acceptance over 3000 steps after 2000 of warm-up. Over 200 seeds it has a standard deviation of at most 0.0145
// around the target, so 0.07 is nearly 5 of them: false alarm 2e-6 for each comparison.
TEST(StepTuner, RandomWalkReachesItsAcceptanceFromAnyFirstStep) {
  const NormalDensity density(Vector::LinSpaced(10, 0.5, 3.0));
  for (const double first : {1e-3, 1.0, 1e3}) {
    StepTuner<RandomWalk> tuner(density, density.metric(), first);
    State state = density.state(Vector::Zero(10));
    for (; state.iteration < 2000; ++state.iteration) tuner.step(state, PhiloxRandom(4, 0, state.iteration));
    const auto frozen = tuner.freeze();
    double acceptance = 0.0;
    for (; state.iteration < 5000; ++state.iteration)
      acceptance += frozen->step(state, PhiloxRandom(4, 0, state.iteration)).acceptance / 3000.0;
    EXPECT_NEAR(acceptance, RandomWalk::target_acceptance, 0.07) << "from " << first;
    // For a normal target 2.38 / sqrt(D) is best.
    EXPECT_NEAR(dynamic_cast<const RandomWalk&>(*frozen).step_size() * std::sqrt(10.0) / 2.38, 1.0, 0.35);
  }
}

TEST(StepTuner, FrozenBeforeTheFirstStepKeepsTheFirstGuess) {
  const NormalDensity density(Vector::Ones(2));
  const auto frozen = StepTuner<RandomWalk>(density, density.metric(), 0.3).freeze();
  EXPECT_DOUBLE_EQ(dynamic_cast<const RandomWalk&>(*frozen).step_size(), 0.3);
}

}  // namespace
}  // namespace flymc
