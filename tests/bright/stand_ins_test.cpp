// Stand-ins: the groups that they replace, their accuracy, and that densities do not use them.
#include "flymc/bound/stand_ins.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "flymc/anchor/anchor.hpp"
#include "flymc/bright/density.hpp"
#include "problems/problems.hpp"

namespace flymc {
namespace {

using problems::models;

// A table with a few kinds of rows, all lit: an intercept, a level and a number; rows of a kind differ by `apart`.
struct Kinds {
  Kinds(const Model& of, RowId rows, double apart) : model(of) {
    RowMatrix x(rows, 3);
    Vector y(rows);
    const PhiloxRandom random(61, 0, 0);
    for (RowId i = 0; i < rows; ++i) {
      const auto at = static_cast<std::uint64_t>(i);
      const double noise = random.uniform(Purpose::simulate, at) - 0.5;
      x.row(i) << 1.0, i % 7 == 0 ? 1.0 : 0.0, (i % 5 == 0 ? 1.0 : -1.0) + apart * noise;
      y[i] = model.family().target_classes() > 0 ? static_cast<double>(i % 3 == 0) : 0.4 * static_cast<double>(i % 3);
    }
    store = std::make_unique<Store>(Store::from_matrix(x, y));
    anchor = find_anchor(*store, model, machine.execution());
    bound.emplace(*store, model.shared_family(), std::make_shared<SharpRule>(Zone{1.8, 5.0}), anchor->theta,
                  machine.execution(), anchor->metric, Lighting{.above = 0.0}, model.prior_precision(anchor->theta));
  }
  Vector offset(double size, std::uint64_t number) const {
    Vector z(anchor->theta.size());
    PhiloxRandom(62, number, 0).normals(Purpose::start, 0, {z.data(), static_cast<std::size_t>(z.size())});
    return size * anchor->metric.unwhiten(z);
  }
  problems::Machine machine;
  Model model;
  std::unique_ptr<Store> store;
  std::optional<Anchor> anchor;
  std::optional<Bound> bound;
};

TEST(StandIns, StandForEqualRowsExactly) {
  for (const Model& model : models()) {
    SCOPED_TRACE(model.family().name());
    const Kinds kinds(model, 600, 0.0);
    ASSERT_TRUE(kinds.bound->lit().all);
    const StandIns& few = kinds.bound->stand_ins();
    const bool classes = model.family().target_classes() > 0;
    EXPECT_EQ(few.size(), classes ? 8u : 12u);  // levels x numbers x targets
    EXPECT_EQ(std::accumulate(few.weight.begin(), few.weight.end(), 0.0), 600.0);
    for (std::uint64_t number = 0; number < 10; ++number) {
      const Vector theta = kinds.anchor->theta + kinds.offset(1.5, number);
      const BoundPoint point = kinds.bound->at(theta, false);
      Vector exact = Vector::Zero(theta.size()), about = exact;
      const double sum = kinds.bound->lit_sum(point, &exact);
      EXPECT_NEAR(kinds.bound->stand_in_sum(point, about), sum, 1e-9 * (1.0 + std::abs(sum)));
      EXPECT_LT((about - exact).norm(), 1e-9 * (1.0 + exact.norm()));
    }
  }
}

// Rows that differ slightly share one stand-in at their mean, which is not exact. The density is exact for any
// stand-ins: with all rows lit it is the posterior's own. Only the kicks along a trajectory use them.
TEST(StandIns, GiveForcesAndNoDensity) {
  for (const Model& model : models()) {
    SCOPED_TRACE(model.family().name());
    const Kinds kinds(model, 600, 0.02);
    const StandIns& few = kinds.bound->stand_ins();
    ASSERT_GT(few.size(), 0u);
    EXPECT_LE(few.size(), 600u / 8);
    const auto frame = std::make_shared<const SplitFrame>(*collapsed_frame(*kinds.bound, kinds.model.prior()));
    const FullDensity full(*kinds.store, model);
    const BrightRows none(600);
    double furthest = 0.0;
    std::optional<double> constant;
    for (const bool framed : {false, true})
      for (std::uint64_t number = 0; number < 10; ++number) {
        const JointDensity joint(*kinds.store, *kinds.bound, kinds.model.shared_term(), framed ? frame : nullptr);
        const Vector theta = kinds.anchor->theta + kinds.offset(2.0, number);
        Evaluation at, posterior;
        EXPECT_EQ(joint.evaluate(theta, none, true, at), 600);
        full.evaluate(theta, none, true, posterior);
        EXPECT_NEAR(at.log_density, posterior.log_density, 1e-8);
        const Vector b = frame->position(theta);
        Vector kick;
        EXPECT_EQ(joint.kick(*frame, b, none, kick), static_cast<RowId>(framed ? few.size() : 600));
        const Vector exact = frame->pull(posterior.gradient) + b - frame->centre;
        if (framed) furthest = std::max(furthest, (kick - exact).norm());
        EXPECT_LT((kick - exact).norm(), framed ? 0.1 : 1e-7);
      }
    EXPECT_GT(furthest, 1e-7);
  }
}

// There are no stand-ins if hardly two rows are similar, or if there are few rows.
TEST(StandIns, NoneWhereTheyWouldBeMany) {
  EXPECT_EQ(Kinds(models()[0], 60, 0.0).bound->stand_ins().size(), 0u);
  const problems::Machine machine;
  const auto different = problems::make(models()[0], 600, 8, 63);
  const Anchor anchor = find_anchor(different.store, different.model, machine.execution());
  const Bound bound(different.store, different.model.shared_family(), std::make_shared<SharpRule>(Zone{1.8, 5.0}),
                    anchor.theta, machine.execution(), anchor.metric, Lighting{.above = 0.0});
  EXPECT_TRUE(bound.lit().all);
  EXPECT_EQ(bound.stand_ins().size(), 0u);
}

// The same stand-ins from the sums and the lit rows that a run keeps.
TEST(StandIns, AreMadeAgainFromTheLitRows) {
  const Kinds kinds(models()[0], 600, 0.02);
  BoundRows rows;
  rows.fetch(*kinds.store, kinds.bound->lit().fixed.row);
  const Bound again(kinds.model.shared_family(), std::make_shared<SharpRule>(Zone{1.8, 5.0}), kinds.anchor->theta,
                    kinds.bound->sums(), kinds.bound->queries(), kinds.anchor->metric, kinds.bound->expected_gaps(),
                    LitRows(rows, 0.0, 600), kinds.model.prior_precision(kinds.anchor->theta));
  EXPECT_TRUE(again.lit().all);
  EXPECT_EQ(again.stand_ins().weight, kinds.bound->stand_ins().weight);
  EXPECT_EQ(again.stand_ins().rows.facts, kinds.bound->stand_ins().rows.facts);
  EXPECT_EQ(again.stand_ins().rows.eta_anchor, kinds.bound->stand_ins().rows.eta_anchor);
}

}  // namespace
}  // namespace flymc
