// Changes that rows cannot tell apart.
#include "flymc/groups/exchanges.hpp"

#include <gtest/gtest.h>

#include "groups/grouped_tables.hpp"

namespace flymc {
namespace {

const Threads one_thread(1);

// The linear predictors of all rows at theta.
Vector predictors(const GroupedRows& rows, const Vector& theta) {
  std::vector<RowId> ids(static_cast<std::size_t>(rows.store().rows()));
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<RowId>(i);
  BoundRows all;
  rows.fetch(ids, all);
  Vector out(rows.store().rows());
  rows.project(all, effects_of(rows.layout(), theta), {out.data(), ids.size()});
  return out;
}

TEST(Exchanges, LeavePredictorsAsTheyAre) {
  for (const bool ordered : {true, false}) {
    grouped::Shape shape{200, 12, 5, ordered, 0.0, 0.7, 3, true};
    const Store store = grouped::table(grouped::logistic, shape);
    const GroupModel model{grouped::logistic, {{0, {{}, {1, 2.0, 0.3}}}, {1}, {2}}};
    const GroupedRows rows(store, model, {one_thread});
    // The size of a group of the second factor is constant within it, and within none of the first.
    EXPECT_EQ(rows.exchanges(0).size(), 2);
    EXPECT_EQ(rows.exchanges(1).size(), 2);
    EXPECT_EQ(rows.exchanges(1).coefficients()(3, 1), 1.0);
    EXPECT_EQ(rows.exchanges(2).size(), 1);
    const GroupLayout& layout = rows.layout();
    Vector theta = Vector::LinSpaced(layout.size(), -1.0, 1.0);
    const Vector before = predictors(rows, theta);
    for (std::size_t f = 0; f < 3; ++f) {
      const Exchanges& exchanges = rows.exchanges(f);
      const Vector amounts = Vector::LinSpaced(exchanges.size(), 0.7, 1.1);
      const RowMatrix effects = layout.effects(theta, f);
      exchanges.give(amounts, layout.effects(theta, f));
      theta.head(layout.border()) += exchanges.coefficients() * amounts;
      EXPECT_GT((effects - layout.effects(theta, f)).norm(), 1.0);
      EXPECT_LT((predictors(rows, theta) - before).cwiseAbs().maxCoeff(), 1e-12);
      // The sums are those of the shares that were given.
      const Vector given = exchanges.products() * amounts;
      const Vector lost = exchanges.sums(effects - RowMatrix(layout.effects(theta, f)));
      for (Index e = 0; e < exchanges.size(); ++e) {
        double expected = 0.0;
        for (Index other = 0; other < exchanges.size(); ++other)
          if (exchanges.effect(other) == exchanges.effect(e))
            expected += exchanges.products()(e, other) * amounts[other];
        EXPECT_NEAR(lost[e], expected, 1e-9);
      }
    }
    ASSERT_EQ(rows.nestings().size(), 1u);
    const Nesting& nesting = rows.nestings()[0];
    EXPECT_EQ(nesting.outer, 2u);
    EXPECT_EQ(nesting.inner, 0u);
    std::size_t children = 0;
    for (Index g = 0; g < 3; ++g)
      for (const Group child : nesting.of(g)) {
        EXPECT_EQ(nesting.parent[child], static_cast<Group>(g));
        ++children;
      }
    EXPECT_EQ(children, 12u);
    nesting.shift(RowMatrix::Random(3, 1), layout.effects(theta, 2), layout.effects(theta, 0));
    EXPECT_LT((predictors(rows, theta) - before).cwiseAbs().maxCoeff(), 1e-12);
  }
}

TEST(Exchanges, LeaveOutWhatOthersMake) {
  // A column twice, one that is 0, and one for each group: with the intercept they are too many.
  StoreBuilder builder(Layout({"intercept", "size", "again", "zero", "x"}), {}, {{"group", 5}});
  for (Group row = 0; row < 20; ++row) {
    const Group g = row % 5;
    const double size = 1.0 * g * g;
    builder.append(std::array{1.0, size, 2.0 * size + 3.0, 0.0, std::sin(1.0 * row)}, RowFacts(0.0), std::array{g});
  }
  const Store store = builder.finish();
  const GroupModel model{grouped::logistic, {{0}}};
  const GroupedRows rows(store, model, {one_thread});
  EXPECT_EQ(rows.exchanges(0).size(), 2);
  // A slope cannot be exchanged for a column, and without an intercept there is nothing else for the groups' intercepts.
  const GroupModel slopes{grouped::logistic, {{0, {{4}}}}, -1};
  EXPECT_EQ(GroupedRows(store, slopes, {one_thread}).exchanges(0).size(), 1);
  const GroupModel without{grouped::logistic, {{0}}, -1};
  const GroupedRows intercepts(store, without, {one_thread});
  EXPECT_EQ(intercepts.exchanges(0).size(), 2);  // the column of ones, which is not called an intercept, and the size
}

TEST(Nestings, NeedTheSameEffectsAndWholeGroups) {
  StoreBuilder builder(Layout({"intercept", "x"}), {}, {{"inner", 6}, {"outer", 3}, {"nearly", 3}, {"same", 6}});
  for (Group row = 0; row < 24; ++row) {
    const Group inner = row % 6;
    builder.append(std::array{1.0, std::sin(1.0 * row)}, RowFacts(0.0),
                   std::array{inner, inner / 2, row == 7 ? Group{2} : inner / 2, 5 - inner});
  }
  const Store store = builder.finish();
  const auto nestings = [&](std::vector<GroupEffects> effects) {
    const GroupModel model{grouped::logistic, std::move(effects)};
    return find_nestings(model, GroupLayout(model, store), store);
  };
  EXPECT_EQ(nestings({{0}, {1}}).size(), 1u);
  EXPECT_EQ(nestings({{0}, {2}}).size(), 0u);             // row 7 is elsewhere
  EXPECT_EQ(nestings({{0}, {1, {{}, {1}}}}).size(), 0u);  // no inner slope
  EXPECT_EQ(nestings({{0, {{1}, {}}}, {1}})[0].effect, std::vector<Index>{1});
  const auto same = nestings({{0}, {3}});
  ASSERT_EQ(same.size(), 1u);
  EXPECT_EQ(same[0].outer, 0u);
  EXPECT_EQ(same[0].parent, (std::vector<Group>{5, 4, 3, 2, 1, 0}));
}

}  // namespace
}  // namespace flymc
