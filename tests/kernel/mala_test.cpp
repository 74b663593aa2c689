// MALA: the proposal and its correction against the corresponding normal densities, and the tuned step.
#include "flymc/kernel/mala.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "kernel/support.hpp"

namespace flymc {
namespace {

using problems::CubicRule;
using problems::expect_settled;
using problems::NormalDensity;
using problems::World;

// log q(to | from) of a normal with mean from + step^2/2 P^-1 gradient and covariance step^2 P^-1, up to a constant.
double log_proposal(const Matrix& precision, double step, const Vector& from, const Vector& gradient,
                    const Vector& to) {
  const Vector residual = to - from - 0.5 * step * step * precision.ldlt().solve(gradient);
  return -0.5 * residual.dot(precision * residual) / (step * step);
}

TEST(Mala, ProposesAndDecidesAsItSays) {
  const World world(Logistic{}, Prior::normal(0.0, 2.0), 20, 3, 71, std::make_shared<CubicRule>(3.0));
  const Matrix precision = world.metric->matrix();
  const ExplicitSweep sweep(world.joint, 20, ExplicitSweep::Choice::consecutive);
  RowId bright = 0;
  int beyond = 0;
  for (const double step : {0.5, 1.3}) {
    const Mala move(world.joint, world.metric, step);
    EXPECT_EQ(move.step_size(), step);
    State state = world.state(world.theta(1.5), 0);
    int accepted = 0;
    for (state.iteration = 0; state.iteration < 80; ++state.iteration) {
      sweep.step(state, PhiloxRandom(1, 0, state.iteration));
      bright += state.z.set.bright_count();
      const State before = state;
      const PhiloxRandom random(1, 0, state.iteration);
      const Info info = move.step(state, random);
      EXPECT_EQ(info.evaluations, 1);
      Vector z(3);
      random.normals(Purpose::move, 0, {z.data(), 3});
      const Vector proposal = before.theta + 0.5 * step * step * precision.ldlt().solve(before.at.gradient) +
                              step * world.metric->lower().transpose().triangularView<Eigen::Upper>().solve(z);
      // Two additional passes beyond the radius.
      const Vector offset = proposal - world.anchor.theta;
      const bool far = offset.dot(precision * offset) > 9.0;
      EXPECT_EQ(info.queries, state.z.set.bright_count() + (far ? 40 : 0));
      beyond += far;
      Evaluation there;
      world.joint.evaluate(proposal, before.z, true, there);
      const double log_ratio = there.log_density - before.at.log_density +
                               log_proposal(precision, step, proposal, there.gradient, before.theta) -
                               log_proposal(precision, step, before.theta, before.at.gradient, proposal);
      EXPECT_NEAR(info.acceptance, std::min(1.0, std::exp(log_ratio)), 1e-7);
      const bool accept = random.uniform(Purpose::accept, 0) < info.acceptance;
      EXPECT_LT((state.theta - (accept ? proposal : before.theta)).cwiseAbs().maxCoeff(), 1e-9);
      EXPECT_EQ(state.theta == before.theta, !accept);
      expect_settled(world, state);
      accepted += accept;
    }
    EXPECT_GT(accepted, 20);
    EXPECT_LT(accepted, 80);
  }
  EXPECT_GT(beyond, 5);
  EXPECT_GT(bright, 40);  // otherwise the bright rows hardly contribute to the gradient
}

TEST(Mala, EvaluatesAGradientThatIsMissing) {
  const World world(Logistic{}, Prior::normal(0.0, 2.0), 80, 3, 72);
  State with = world.state(world.theta(1.0), 4), without = world.state(world.theta(1.0), 4, false);
  const Mala move(world.joint, world.metric, 0.5);
  world.count();
  EXPECT_EQ(move.step(with, PhiloxRandom(2, 0, 0)).queries, 20);
  EXPECT_EQ(world.count(), 20);
  EXPECT_EQ(move.step(without, PhiloxRandom(2, 0, 0)).queries, 40);
  EXPECT_EQ(world.count(), 40);
  problems::expect_same_state(with, without);
}

// The step is far too long: every move is rejected, many proposals cannot be evaluated, and none throws.
TEST(Mala, SurvivesAbsurdSteps) {
  for (const double step : {1e3, 1e60, 1e160}) {
    const World world(StudentT(4.0, 0.8), Prior::normal(0.0, 2.0), 60, 2, 73);
    State state = world.state(world.theta(1.0), 3);
    const State before = state;
    const Mala move(world.joint, world.metric, step);
    for (std::uint64_t i = 0; i < 20; ++i) {
      const Info info = move.step(state, PhiloxRandom(3, 0, i));
      EXPECT_LT(info.acceptance, 1e-3);
      EXPECT_LE(info.not_finite, info.evaluations);
    }
    problems::expect_same_state(state, before);
  }
}

// As for the random walk: 0.07 is nearly 5 standard deviations over seeds, false alarm 2e-6 for each comparison.
TEST(StepTuner, MalaReachesItsAcceptanceFromAnyFirstStep) {
  const NormalDensity density(Vector::LinSpaced(10, 0.5, 3.0));
  for (const double first : {1e-3, 1.0, 1e3}) {
    StepTuner<Mala> tuner(density, density.metric(), first);
    State state = density.state(Vector::Zero(10));
    for (; state.iteration < 2000; ++state.iteration) tuner.step(state, PhiloxRandom(4, 0, state.iteration));
    const auto frozen = tuner.freeze();
    double acceptance = 0.0;
    for (; state.iteration < 5000; ++state.iteration)
      acceptance += frozen->step(state, PhiloxRandom(4, 0, state.iteration)).acceptance / 3000.0;
    EXPECT_NEAR(acceptance, Mala::target_acceptance, 0.07) << "from " << first;
  }
}

// A finite density with a NaN gradient, as a faulty family might give.
struct BadGradient final : Density {
  Index dimension() const override { return 1; }
  RowId evaluate(const Vector& theta, const BrightRows&, bool, Evaluation& out) const override {
    out.log_density = -0.5 * theta[0] * theta[0];
    out.gradient = Vector::Constant(1, std::abs(theta[0]) > 1.0 ? std::nan("") : -theta[0]);
    return 0;
  }
};
TEST(Mala, AGradientThatIsNotANumberRejects) {
  const BadGradient density;
  const Mala move(density, std::make_shared<const Precision>(Precision::identity(1)), 1.0);
  State state(Vector::Zero(1), 0);
  density.evaluate(state.theta, state.z, true, state.at);
  for (std::uint64_t i = 0; i < 200; ++i) {
    move.step(state, PhiloxRandom(2, 0, i));
    ASSERT_TRUE(state.at.gradient.allFinite()) << "after step " << i;
  }
}

}  // namespace
}  // namespace flymc
