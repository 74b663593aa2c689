// A regression with its anchor, bound and both densities, whose queries are counted; and bitwise comparison of
// evaluations.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "flymc/anchor/anchor.hpp"
#include "flymc/bright/density.hpp"
#include "model/support.hpp"
#include "problems/problems.hpp"

namespace flymc::problems {

// The prior of most worlds.
inline const Prior some_prior = Prior::normal(0.0, 2.0);

struct World {
  template <Family F>
  World(F family, const Prior& prior, Index rows, Index columns, std::uint64_t seed,
        std::shared_ptr<const BoundRule> rule = std::make_shared<AnchoredRule>(), const Lighting& lighting = {})
      : World(Counted<F>(std::move(family)), prior, rows, columns, seed, std::move(rule), lighting, 0) {}
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // theta at `spread` posterior standard deviations from the anchor, in a direction determined by `number`.
  Vector theta(double spread, std::uint64_t number = 0) const {
    Vector z(anchor.theta.size());
    PhiloxRandom(77, number, 0).normals(Purpose::start, 0, {z.data(), static_cast<std::size_t>(z.size())});
    return anchor.theta + spread * anchor.metric.unwhiten(z);
  }

  // theta at a distance from the anchor in the metric.
  Vector at_rho(double rho, std::uint64_t number = 0) const {
    const Vector offset = theta(1.0, number) - anchor.theta;
    return anchor.theta + rho / anchor.metric.length(offset) * offset;
  }

  // The zone's point of a theta: theta itself or, beyond the radius, the nearest point of the zone.
  Vector zone_point(const Vector& where) const {
    const Vector offset = where - anchor.theta;
    const double rho = std::sqrt(offset.dot(anchor.metric.matrix() * offset)), radius = bound.rule().radius();
    return rho > radius ? Vector(anchor.theta + radius / rho * offset) : where;
  }

  // An evaluated state at `where`: every `nth` row that has a z is bright (0: none), the others are dark.
  State state(const Vector& where, RowId nth, bool with_gradient = true) const {
    State state(where, store.rows());
    joint.evaluate(where, state.z, with_gradient, state.at);
    std::vector<RowId> rows;
    for (RowId row = 0; nth > 0 && row < store.rows(); row += nth)
      if (joint.has_z(row)) rows.push_back(row);
    BoundRows fixed;
    Gaps gaps;
    joint.evaluate_rows(state, rows, fixed, gaps);
    for (std::size_t i = 0; i < rows.size(); ++i) joint.brighten(state, fixed, gaps, i);
    joint.update(state);
    return state;
  }

  // Queries since the last call.
  RowId count() const { return queries->exchange(0); }

  std::shared_ptr<std::atomic<RowId>> queries;
  Machine machine;
  Model model;
  Store store;
  Anchor anchor;
  std::shared_ptr<const Precision> metric;
  Bound bound;
  JointDensity joint;
  FullDensity full;

 private:
  template <Family F>
  World(Counted<F> family, const Prior& prior, Index rows, Index columns, std::uint64_t seed,
        std::shared_ptr<const BoundRule> rule, const Lighting& lighting, int)
      : queries(family.queries),
        model(family, prior),
        store(make(model, rows, columns, seed).store),
        anchor(find_anchor(store, model, machine.execution())),
        metric(std::make_shared<const Precision>(anchor.metric)),
        bound(store, model.shared_family(), std::move(rule), anchor.theta, machine.execution(), anchor.metric, lighting,
              model.prior_precision(anchor.theta)),
        joint(store, bound, model.shared_term()),
        full(store, model) {
    count();
  }
};

inline void expect_same_gaps(const Gaps& a, const Gaps& b) {
  EXPECT_EQ(a.gap, b.gap);
  EXPECT_EQ(a.slope, b.slope);
  EXPECT_EQ(a.rho_slope, b.rho_slope);
}

inline void expect_same(const Evaluation& a, const Evaluation& b) {
  EXPECT_EQ(a.log_density, b.log_density);
  EXPECT_EQ(a.base, b.base);
  EXPECT_EQ(a.gradient, b.gradient);
  EXPECT_EQ(a.force, b.force);
  EXPECT_EQ(a.base_gradient, b.base_gradient);
  EXPECT_EQ(a.lit_gradient, b.lit_gradient);
  EXPECT_EQ(a.point.change, b.point.change);
  EXPECT_EQ(a.point.rho, b.point.rho);
  EXPECT_EQ(a.point.beyond, b.point.beyond);
  EXPECT_EQ(a.point.rho_gradient, b.point.rho_gradient);
  expect_same_gaps(a.bright, b.bright);
}

// Checks that the state equals one newly read from a file with this (theta, z): the same rows' constants, and a
// bit-identical evaluation, by the world's density unless another is given. Restores the count of queries.
inline void expect_settled(const World& world, const State& state, const JointDensity* density = nullptr) {
  const RowId before = *world.queries;
  ASSERT_EQ(static_cast<std::size_t>(state.z.set.bright_count()), state.z.fixed.size());
  for (std::size_t i = 0; i < state.z.fixed.size(); ++i)
    ASSERT_EQ(state.z.fixed.row[i], state.z.set.bright(static_cast<RowId>(i)));
  BrightRows fresh(world.store.rows());
  for (const RowId row : state.z.fixed.row) fresh.set.brighten(row);
  world.bound.prepare(world.store, state.z.fixed.row, fresh.fixed);
  EXPECT_EQ(fresh.fixed.facts, state.z.fixed.facts);
  EXPECT_EQ(fresh.fixed.eta_anchor, state.z.fixed.eta_anchor);
  EXPECT_EQ(fresh.fixed.coefficients.value_drop, state.z.fixed.coefficients.value_drop);
  EXPECT_EQ(fresh.fixed.coefficients.slope_drop, state.z.fixed.coefficients.slope_drop);
  EXPECT_EQ(fresh.fixed.coefficients.curvature, state.z.fixed.coefficients.curvature);
  EXPECT_EQ(fresh.fixed.coefficients.growth, state.z.fixed.coefficients.growth);
  Evaluation again;
  (density ? *density : world.joint).evaluate(state.theta, fresh, state.at.has_slopes(), again);
  expect_same(again, state.at);
  *world.queries = before;
}

}  // namespace flymc::problems
