// The frame of split HMC against the densities that it represents.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "flymc/core/error.hpp"
#include "flymc/kernel/split_hmc.hpp"
#include "kernel/trajectories.hpp"

namespace flymc {
namespace {

using problems::collapsed;
using problems::describe;
using problems::rho_of;
using problems::shifted_prior;
using problems::World;
using problems::worlds;

Matrix whole(const Matrix& lower) { return Matrix(lower.selfadjointView<Eigen::Lower>()); }

TEST(SplitFrame, DiagonalisesBothMatrices) {
  for (const auto& world : worlds()) {
    SCOPED_TRACE(describe(*world));
    const SplitFrame frame = *collapsed_frame(world->bound, world->model.prior());
    const BoundSums& sums = world->bound.sums();
    const Index d = frame.origin.size();
    Matrix a = whole(sums.curvature);
    frame.prior_curvature.add_to(a);
    const Matrix& v = frame.to_theta;
    EXPECT_EQ(frame.origin, world->bound.anchor());
    EXPECT_LT((v.transpose() * a * v - Matrix::Identity(d, d)).norm(), 1e-10);
    EXPECT_LT((frame.from_theta * v - Matrix::Identity(d, d)).norm(), 1e-10);
    EXPECT_LT((frame.centre - v.transpose() * (sums.slope + frame.prior_slope)).norm(), 1e-10);
    EXPECT_EQ(frame.growth.size(), world->bound.rule().grows() ? d : 0);
    if (frame.growth.size() > 0) {
      const Matrix q = v.transpose() * whole(sums.growth) * v;
      EXPECT_GT(q.norm(), 1e-4);
      EXPECT_LT((q - Matrix(frame.growth.asDiagonal())).norm(), 1e-10 * std::max(1.0, q.norm()));
    }
    const Vector theta = world->theta(1.3);
    EXPECT_LT((frame.theta(frame.position(theta)) - theta).norm(), 1e-11);
  }
}

// In the frame's coordinates the log density of a state with only dark rows is, up to a constant,
//   -|b - centre|^2 / 2 - rho sum growth b^2 / 2
// inside the bound's zone; a normal prior is part of the first term.
TEST(SplitFrame, IsTheDensityOfDarkRows) {
  int inside = 0;
  for (const auto& world : worlds()) {
    if (!world->model.prior().quadratic() || world->bound.lit().size() > 0) continue;
    SCOPED_TRACE(describe(*world));
    const SplitFrame frame = *collapsed_frame(world->bound, world->model.prior());
    const auto by_frame = [&](const Vector& b) {
      const BoundPoint point = world->bound.at(frame.theta(b), false);
      double value = -0.5 * (b - frame.centre).squaredNorm();
      if (frame.growth.size() > 0) value -= 0.5 * point.rho * frame.growth.dot(b.cwiseAbs2());
      return value;
    };
    const double constant = world->state(frame.theta(Vector::Zero(frame.origin.size())), 0).at.log_density -
                            by_frame(Vector::Zero(frame.origin.size()));
    for (const double spread : {0.1, 1.0, 2.0, 4.0})
      for (const std::uint64_t number : std::initializer_list<std::uint64_t>{0, 1}) {
        const Vector theta = world->theta(spread, number);
        if (world->bound.at(theta, false).outside()) continue;
        ++inside;
        EXPECT_NEAR(world->state(theta, 0).at.log_density, constant + by_frame(frame.position(theta)), 1e-9);
      }
  }
  EXPECT_GT(inside, 20);
}

TEST(SplitFrame, OfTheFullDensityIsLaplace) {
  const World world(Logistic{}, shifted_prior, 60, 3, 88);
  const SplitFrame frame = laplace_frame(world.anchor);
  EXPECT_LT((frame.to_theta.transpose() * world.metric->matrix() * frame.to_theta - Matrix::Identity(3, 3)).norm(),
            1e-10);
  EXPECT_LT((frame.from_theta * frame.to_theta - Matrix::Identity(3, 3)).norm(), 1e-10);
  EXPECT_EQ(frame.centre, Vector::Zero(3));
  EXPECT_EQ(frame.origin, world.anchor.theta);
}

TEST(SplitFrame, IsNothingForABoundThatIsNotGaussian) {
  const World world(Logistic{}, Prior::flat(), 60, 2, 89);
  BoundSums sums = world.bound.sums();
  sums.curvature(1, 1) = -1.0;
  const Bound bent(world.model.shared_family(), std::make_shared<AnchoredRule>(), world.bound.anchor(), sums, 0);
  EXPECT_FALSE(collapsed_frame(bent, world.model.prior()));
}

// A density with the frame computes the same log density from other coordinates, and the force as its gradient. The
// frame uses the gradient of stretch |b| for rho's. Without growth this does not matter, and beyond the radius it is
// not used: the gradient is exact there.
TEST(SplitFrame, GivesADensityTheSameValuesAndItsKicks) {
  int compared = 0, beyond = 0;
  for (const auto& world : worlds()) {
    SCOPED_TRACE(describe(*world));
    const auto frame = collapsed(*world);
    const JointDensity quick(world->store, world->bound, world->model.shared_term(), frame);
    for (const RowId nth : {0, 9, 3})
      for (const double spread : {0.0, 0.5, 1.5, 4.0}) {
        const State state = world->state(world->theta(spread, 5), nth);
        if (!std::isfinite(state.at.log_density)) continue;
        Evaluation at;
        const bool outside = rho_of(*world, state.theta) > world->bound.rule().radius();
        const RowId rows = state.z.set.bright_count() + static_cast<RowId>(world->bound.lit().size());
        EXPECT_EQ(quick.evaluate(state.theta, state.z, true, at), rows + (outside ? 120 : 0));
        EXPECT_NEAR(at.log_density, state.at.log_density, 1e-9 * (1.0 + std::abs(state.at.log_density)));
        EXPECT_LT((at.b - frame->position(state.theta)).norm(), 1e-10);
        EXPECT_EQ(at.point.outside(), outside);
        beyond += outside;
        if (frame->growth.size() == 0 || outside) {
          const Vector exact = frame->pull(state.at.gradient) + at.b - frame->centre;
          EXPECT_LT((at.force - exact).norm(), 1e-7 * (1.0 + exact.norm()));
        }
        Vector kick;
        quick.kick(*frame, at.b, state.z, kick);
        if (rows > 0 || !world->model.prior().quadratic()) {
          EXPECT_LT((at.force - kick).norm(), 1e-7 * (1.0 + kick.norm()));
        }
        ++compared;
      }
    EXPECT_THROW(SplitHmc(quick, collapsed(*world), 1.0, 1), InputError);  // a frame other than its density's
  }
  EXPECT_GT(compared, 80);
  EXPECT_GT(beyond, 8);
}

}  // namespace
}  // namespace flymc
