// The density of evaluated rows as a function of one group's effects.
#include "flymc/groups/group_place.hpp"

#include <gtest/gtest.h>

#include "groups/grouped_tables.hpp"

namespace flymc {
namespace {

// One group's change must add what the same change adds to the whole place, near and far, whether its factor is carried
// by another one or carries one.
TEST(GroupPlace, KnowsWhatAGroupAdds) {
  const Threads threads(1);
  for (const Group others : {0u, 5u})
    for (const bool slopes : {false, true}) {
      grouped::Shape shape{240, 12, others, false, -0.5, 0.7, 3};
      const Store store = grouped::table(grouped::logistic, shape);
      GroupModel model{grouped::logistic, {{0}, {others > 0 ? 2u : 1u}}};
      if (others > 0) model.effects.push_back({1});
      if (slopes)
        for (std::size_t f = 0; f < 2; ++f) model.effects[f].multiplies = {{}, {1, 2.0, 0.3}};
      const GroupedRows rows(store, model, {threads});
      const GroupBound bound(rows, find_group_anchor(rows, {threads}), {threads});
      ASSERT_TRUE(rows.is_carried(1));
      const PhiloxRandom random(3, 0, 0);
      std::vector<double> z(400);
      random.normals(Purpose::simulate, 0, z);
      std::size_t at = 0;
      int far = 0;
      for (const double border : {0.2, 30.0}) {  // within the radius of the border, and beyond
        Effects start = bound.anchor().at;
        for (double& b : start.border) b += border * z[at++ % 400];
        Vector theta = Vector::Zero(rows.layout().size());
        theta.head(rows.layout().border()) = start.border;
        for (std::size_t f = 0; f < rows.factors(); ++f) {
          auto effects = rows.layout().effects(theta, f);
          for (Index g = 0; g < effects.rows(); ++g)
            for (Index j = 0; j < effects.cols(); ++j) effects(g, j) = start.groups[f](g, j) + 0.3 * z[at++ % 400];
        }
        for (std::size_t f = 0; f < rows.factors(); ++f)
          for (Index g = 0; g < rows.layout().groups(f); ++g)
            for (const double size : {0.3, 8.0}) {
              State state(theta, store.rows());
              std::vector<RowId> bright;
              for (RowId row = 0; row < store.rows(); row += 17)
                if (!bound.is_lit(row)) bright.push_back(row);
              for (const RowId row : bright) state.z.set.brighten(row);
              bound.fetch(bright, state.z.fixed);
              GroupPlace place(bound, state);
              Effects there = place.change();
              Vector now = there.groups[f].row(g).transpose(), change = now;
              for (double& u : change) u += size * z[at++ % 400];
              there.groups[f].row(g) = change.transpose();
              const double expected = place.rest_at(there) - place.rest();
              far += place.is_dark(f, g, change.data()) ? 0 : 1;
              GroupPlace::OneGroup own(place, f, g);
              const double before = own.rest_at(now.data());
              EXPECT_NEAR(own.rest_at(change.data()) - before, expected, 1e-8 * (1.0 + std::abs(expected)));
              EXPECT_NEAR(own.rest_at(now.data()), before, 1e-9 * (1.0 + std::abs(before)));
              own.rest_at(change.data());
              own.move();
              EXPECT_NEAR(place.rest(), place.rest_at(there), 1e-8 * (1.0 + std::abs(expected)));
            }
      }
      EXPECT_GT(far, 20);
    }
}

}  // namespace
}  // namespace flymc
