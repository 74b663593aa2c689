// Sweeps of models with groups.
#include "flymc/groups/group_sweep.hpp"

#include <gtest/gtest.h>

#include "flymc/core/numerics.hpp"
#include "groups/grouped_tables.hpp"

namespace flymc {
namespace {

// With theta held, each row must be bright as often as its gap says, near the anchor and far from it.
using grouped::logistic;

TEST(GroupSweep, MakesRowsBrightAsOftenAsTheirGapsSay) {
  const Threads threads(1);
  for (const double length : {0.5, 3.0, 8.0}) {
    grouped::Shape shape;
    shape.rows = 60;
    shape.groups = 30;
    shape.others = 4;
    const Store store = grouped::table(logistic, shape);
    const GroupModel model{logistic, {{0}, {1}}};
    const GroupedRows rows(store, model, {threads});
    const GroupBound bound(rows, find_group_anchor(rows, {threads}), {threads});
    const GroupSweep sweep(bound, 3.0);
    const GroupLayout& layout = rows.layout();
    Vector theta = Vector::Zero(layout.size());
    theta.head(layout.border()) = bound.anchor().at.border;
    Effects change{Vector::Zero(layout.border()), {}};
    for (std::size_t f = 0; f < 2; ++f) {
      layout.scales(theta, f)[0] = 1.0;
      RowMatrix& own = change.groups.emplace_back(layout.groups(f), 1);
      for (Index g = 0; g < own.rows(); ++g)
        own(g, 0) = length * std::sin(static_cast<double>(g + 1)) / bound.anchor().metric.groups[f](g, 0);
      layout.effects(theta, f) = bound.anchor().at.groups[f] + own;
    }
    State state(theta, shape.rows);
    std::vector<double> bright(60, 0.0);
    constexpr int sweeps = 20000;
    for (int i = 0; i < sweeps; ++i) {
      sweep.step(state, PhiloxRandom(3, 0, static_cast<std::uint64_t>(i)));
      for (const RowId row : state.z.fixed.row) bright[static_cast<std::size_t>(row)] += 1.0 / sweeps;
    }
    BoundRows all;
    std::vector<RowId> ids(60);
    for (std::size_t i = 0; i < 60; ++i) ids[i] = static_cast<RowId>(i);
    bound.fetch(ids, all);
    std::vector<double> delta(60);
    rows.project(all, change, delta);
    for (std::size_t i = 0; i < 60; ++i) {
      const double p = bright_probability(bound.gap_within(all, i, delta[i]));
      // Sweeps are correlated; five standard errors of 4,000 independent ones are exceeded by chance once in 10^6.
      EXPECT_NEAR(bright[i], p, 5.0 * std::sqrt(p * (1.0 - p) / 4000.0) + 1e-4) << "row " << i << " at " << length;
    }
  }
}

}  // namespace
}  // namespace flymc
