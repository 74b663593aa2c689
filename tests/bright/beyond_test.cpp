// At the radius and with lit rows the density is continuous, its gradient equals finite differences, and its sum over z
// is the posterior.
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include "bright/support.hpp"

namespace flymc {
namespace {

using problems::World;
using Long = long double;

constexpr double radius = 4.0;

// The variance of each row's own predictor, or for the softmax of a difference of two, in decreasing order.
std::vector<double> spreads(const World& world) {
  const Index d = world.store.features(), k = world.model.predictors();
  std::vector<double> out;
  for (RowId row = 0; row < world.store.rows(); ++row) {
    double most = 0.0;
    for (Index p = 0; p < k; ++p)
      for (Index q = 0; q < std::max<Index>(p, k == 1); ++q) {
        Vector form = Vector::Zero(d * k);
        for (Index j = 0; j < d; ++j) {
          form[p * d + j] += world.store.value(row, j);
          if (k > 1) form[q * d + j] -= world.store.value(row, j);
        }
        most = std::max(most, form.dot(world.anchor.metric.matrix().ldlt().solve(form)));
      }
    out.push_back(most);
  }
  std::sort(out.rbegin(), out.rend());
  return out;
}

// The limit that lights this many rows.
Lighting lights(const World& world, std::size_t count) {
  const std::vector<double> of = spreads(world);
  if (count == 0) return {};
  return {.above = count < of.size() ? 0.5 * (of[count - 1] + of[count]) : 0.0};
}

// The three families with a sharp bound, each with no row, some rows, and all but one row lit.
void each_world(Index rows, const std::vector<std::size_t>& lit, const std::function<void(const World&)>& check) {
  const auto with = [&](auto family, const Prior& prior, Index columns, std::uint64_t seed) {
    const auto rule = std::make_shared<SharpRule>(Zone{1.8, radius});
    const World dark(family, prior, rows, columns, seed, rule);
    for (const std::size_t count : lit) {
      const World world(family, prior, rows, columns, seed, rule, lights(dark, count));
      SCOPED_TRACE(world.model.family().name() + ", lit: " + std::to_string(count));
      ASSERT_EQ(world.bound.lit().size(), count);
      check(world);
    }
  };
  with(Logistic{}, Prior::normal(0.2, 2.0), 3, 51);
  with(Softmax{3}, Prior::student_t(3.0, 0.0, 1.0), 2, 52);
  with(StudentT(4.0, 0.8), Prior::laplace(0.0, 1.0), 3, 53);
}

TEST(BeyondTheRadius, TheDensityIsContinuous) {
  each_world(60, {0, 3, 59}, [](const World& world) {
    for (const bool framed : {false, true}) {
      const auto frame =
          framed ? std::make_shared<const SplitFrame>(*collapsed_frame(world.bound, world.model.prior())) : nullptr;
      const JointDensity joint(world.store, world.bound, world.model.shared_term(), frame);
      for (std::uint64_t number = 0; number < 5; ++number)
        for (const RowId nth : {0, 4, 1}) {
          const State state = world.state(world.at_rho(2.0, number), nth);
          Evaluation inside, outside;
          joint.evaluate(world.at_rho((1.0 - 1e-12) * radius, number), state.z, true, inside);
          joint.evaluate(world.at_rho((1.0 + 1e-12) * radius, number), state.z, true, outside);
          ASSERT_FALSE(inside.point.outside());
          ASSERT_TRUE(outside.point.outside());
          EXPECT_NEAR(inside.log_density, outside.log_density, 1e-6);
          ASSERT_EQ(inside.bright.gap.size(), outside.bright.gap.size());
          for (std::size_t i = 0; i < inside.bright.gap.size(); ++i)
            EXPECT_NEAR(inside.bright.gap[i], outside.bright.gap[i], 1e-9);
        }
    }
  });
}

TEST(BeyondTheRadius, TheGradientIsThatOfDifferences) {
  each_world(60, {0, 3, 59}, [](const World& world) {
    for (const bool framed : {false, true}) {
      const auto frame =
          framed ? std::make_shared<const SplitFrame>(*collapsed_frame(world.bound, world.model.prior())) : nullptr;
      const JointDensity joint(world.store, world.bound, world.model.shared_term(), frame);
      for (const double times : {0.6, 1.003, 1.4, 5.0})
        for (const RowId nth : {0, 4, 1}) {
          if (framed && times < 1.0) continue;  // a frame's kicks are approximate inside the zone
          SCOPED_TRACE(testing::Message() << times << " times the radius, framed " << framed << ", every " << nth);
          const Vector theta = world.at_rho(times * radius, 3);
          const State state = world.state(theta, nth);
          Evaluation at, there;
          joint.evaluate(theta, state.z, true, at);
          EXPECT_EQ(at.point.outside(), times > 1.0);
          EXPECT_NEAR(at.point.beyond, std::max(1.0, times), 1e-12);
          // With a frame the force is in b without the Gaussian part: g = V'gradient + b - centre.
          const Vector gradient =
              framed ? Vector(frame->from_theta.transpose() * (at.force - frame->position(theta) + frame->centre))
                     : at.gradient;
          for (Index j = 0; j < theta.size(); ++j) {
            const double h = 2e-6;
            const auto value = [&](double step) {
              joint.evaluate(theta + step * Vector::Unit(theta.size(), j), state.z, false, there);
              return there.log_density;
            };
            const double slope = (8.0 * (value(h) - value(-h)) - (value(2 * h) - value(-2 * h))) / (12.0 * h);
            EXPECT_NEAR(gradient[j], slope, 1e-6 * (1.0 + std::abs(slope))) << j;
          }
        }
    }
  });
}

// Far out the density is the posterior's plus a term of z at the zone's border, which is constant along a ray.
TEST(BeyondTheRadius, AlongARayItIsThePosterior) {
  each_world(60, {0, 3}, [](const World& world) {
    const State state = world.state(world.at_rho(radius, 2), 4);
    const auto excess = [&](double times) {
      Evaluation joint, full;
      world.joint.evaluate(world.at_rho(times * radius, 2), state.z, false, joint);
      world.full.evaluate(world.at_rho(times * radius, 2), BrightRows(0), false, full);
      return joint.log_density - full.log_density;
    };
    const double border = excess(1.0 + 1e-12);
    for (const double times : {1.1, 2.0, 7.0}) EXPECT_NEAR(excess(times), border, 1e-8);
    EXPECT_GT(std::abs(excess(0.5) - border), 1e-3);
  });
}

// Bright and dark rows together give the posterior, for every theta and every choice of lit rows.
TEST(LitRows, SumOverZIsTheFullDensity) {
  each_world(7, {0, 1, 7}, [](const World& world) {
    for (const bool framed : {false, true}) {
      const auto frame = collapsed_frame(world.bound, world.model.prior());
      if (framed && !frame) continue;
      const JointDensity joint(world.store, world.bound, world.model.shared_term(),
                               framed ? std::make_shared<const SplitFrame>(*frame) : nullptr);
      for (const double times : {0.2, 0.8, 1.5, 4.0}) {
        const Vector theta = world.at_rho(times * radius, 1);
        Evaluation full;
        world.full.evaluate(theta, BrightRows(0), false, full);
        Long total = 0;
        int summed = 0;
        for (unsigned z = 0; z < 128; ++z) {
          State state(theta, 7);
          joint.evaluate(theta, state.z, false, state.at);
          std::vector<RowId> rows;
          bool possible = true;
          for (RowId row = 0; row < 7; ++row)
            if (z >> row & 1u) {
              possible = possible && joint.has_z(row);
              rows.push_back(row);
            }
          if (!possible) continue;
          BoundRows fixed;
          Gaps gaps;
          joint.evaluate_rows(state, rows, fixed, gaps);
          for (std::size_t i = 0; i < rows.size(); ++i) joint.brighten(state, fixed, gaps, i);
          joint.update(state);
          total += expl(state.at.log_density - full.log_density);
          ++summed;
        }
        EXPECT_EQ(summed, 1 << (7 - world.bound.lit().size()));
        EXPECT_NEAR(static_cast<double>(total), 1.0, 1e-12) << times;
      }
    }
  });
}

// A lit row's gap may have either sign, and its term is the gap itself.
TEST(LitRows, GapsOfEitherSignAreAddedAsTheyAre) {
  int above = 0, below = 0;
  each_world(60, {60}, [&](const World& world) {
    for (const double rho : {3.0, 10.0, 30.0}) {
      const Vector theta = world.at_rho(rho, 1);
      const BoundPoint point = world.bound.at(theta, false);
      const Gaps gaps = problems::lit_gaps(world.bound, point);
      double sum = 0.0;
      for (const double gap : gaps.gap) {
        sum += gap;
        ++(gap > 0.0 ? above : below);
      }
      Evaluation at;
      world.joint.evaluate(theta, BrightRows(60), false, at);
      const double expected = world.model.prior().log_density(theta) + world.bound.log_sum(point) + sum;
      EXPECT_NEAR(at.log_density, expected, 1e-10 * (1.0 + std::abs(world.bound.log_sum(point))));
      EXPECT_EQ(at.base, at.log_density);
    }
  });
  EXPECT_GT(above, 20);
  EXPECT_GT(below, 20);
}

}  // namespace
}  // namespace flymc
