// The automatic choices by the shape of the table, their description, and that explicit choices are kept.
#include "flymc/run/recipe.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "flymc/core/error.hpp"
#include "flymc/run/fit.hpp"
#include "flymc/run/sampler.hpp"
#include "model/support.hpp"
#include "problems/problems.hpp"
#include "run/level_table.hpp"

namespace flymc {
namespace {

// The tables that docs/benchmarks.md measures with and without a bound, and the cheaper choice for each; below 1000
// rows, the one that mixes better.
TEST(Recipes, AreTheCheaperWay) {
  const auto regular = [](RowId rows, Index coefficients) { return recipe_for({}, {rows, coefficients}).regular; };
  EXPECT_TRUE(regular(300, 51));
  EXPECT_FALSE(regular(3000, 51));
  EXPECT_FALSE(regular(10000, 51));
  EXPECT_FALSE(regular(1000000, 51));
  EXPECT_TRUE(regular(999, 2));
  EXPECT_FALSE(regular(1000, 2));
  EXPECT_FALSE(regular(10000, 11));
  EXPECT_TRUE(regular(10000, 201));
  EXPECT_FALSE(regular(40000, 201));
  // No row would stay dark.
  EXPECT_TRUE(regular(200, 301));
  EXPECT_EQ(expected_bright({200, 301}), 200.0);
}

// With codes, evaluating all rows is cheap, and so is evaluating the proposed ones.
TEST(Recipes, CountTheCellsOfRowsWithCodes) {
  const auto regular = [](RowId rows, Index coefficients, Index touched) {
    return recipe_for({}, {rows, coefficients, touched}).regular;
  };
  EXPECT_FALSE(regular(10000000, 2992, 11));
  EXPECT_FALSE(regular(3000000, 492, 7));
  EXPECT_TRUE(regular(10000, 492, 7));
  EXPECT_LT(15.0 * evaluation_cost({100000, 2992, 11}), evaluation_cost({100000, 2992}));
}

// There is exactly one size at which the choice changes: more rows are never a reason for regular MCMC.
TEST(Recipes, ChangeOnceAsTheTableGrows) {
  for (const Index coefficients : {1, 5, 51, 500, 3000}) {
    bool before = true;
    for (RowId rows = 1; rows < RowId{1} << 40; rows *= 2) {
      const bool now = recipe_for({}, {rows, coefficients}).regular;
      EXPECT_TRUE(before || !now) << rows << " rows, " << coefficients << " coefficients";
      before = now;
    }
    EXPECT_FALSE(before);
  }
}

TEST(Recipes, OfOnesOwnAreKept) {
  const TableShape narrow{1000000, 51}, wide{200, 301};
  const Recipe usual = recipe_for({}, narrow);
  EXPECT_EQ(usual.bound, BoundKind::sharp);
  EXPECT_EQ(usual.sweep, SweepKind::rows);
  EXPECT_EQ(usual.move, MoveKind::split_hmc);
  for (const FitOptions& asked : {FitOptions{.bound = BoundKind::sharp}, FitOptions{.sweep = SweepKind::implicit}})
    EXPECT_FALSE(recipe_for(asked, wide).regular);
  EXPECT_EQ(recipe_for({.move = MoveKind::mala}, wide).move, MoveKind::mala);
  EXPECT_EQ(recipe_for({.bound = BoundKind::untuned}, narrow).sweep, SweepKind::implicit);
  EXPECT_EQ(recipe_for({.move = MoveKind::mala, .regular = true}, narrow).move, MoveKind::mala);
  EXPECT_TRUE(recipe_for({.regular = true}, narrow).regular);
}

std::string said_of(const FitOptions& asked, const TableShape& shape) {
  return describe(recipe_for(asked, shape), asked);
}

TEST(Recipes, AreSaidWithTheirReasons) {
  EXPECT_EQ(
      said_of({}, {1000000, 51}),
      "sharp bound (fewest bright rows), sweep by rows (its cost does not grow with the table), split HMC (nearly "
      "independent draws where few rows are bright)");
  EXPECT_EQ(said_of({}, {2000, 3001}),
            "regular MCMC (about 2000 of 2000 rows would be bright, which costs more), split HMC (nearly independent "
            "draws)");
  EXPECT_EQ(
      said_of({}, {999, 2}),
      "regular MCMC (fewer than 1000 rows, so that all of them cost next to nothing), split HMC (nearly independent "
      "draws)");
  EXPECT_EQ(said_of({.move = MoveKind::mala, .regular = true}, {200, 301}), "regular MCMC: MALA");
  EXPECT_EQ(said_of({.bound = BoundKind::anchored, .sweep = SweepKind::rows, .move = MoveKind::mala}, {9, 9}),
            "anchored bound, sweep by rows, MALA");
}

// A choice made when the rows were prepared is kept, even if the program would now choose otherwise. Explicit options
// override it.
TEST(Recipes, OnPreparedRowsStayAsTheyWere) {
  const Recipe by_cost{.regular = true, .why = "it is cheaper"};
  const auto same = recipe_on(by_cost, {.move = MoveKind::mala});
  ASSERT_TRUE(same);
  EXPECT_TRUE(same->regular);
  EXPECT_EQ(same->why, "it is cheaper");
  EXPECT_EQ(same->move, MoveKind::mala);
  EXPECT_FALSE(recipe_on(by_cost, {.sweep = SweepKind::rows}));
  EXPECT_FALSE(recipe_on(by_cost, {.bound = BoundKind::sharp}));

  const Recipe with_bound{.bound = BoundKind::anchored, .sweep = SweepKind::implicit, .move = MoveKind::mala};
  const auto left = recipe_on(with_bound, {});
  ASSERT_TRUE(left);
  EXPECT_EQ(left->bound, BoundKind::anchored);
  EXPECT_EQ(left->sweep, SweepKind::implicit);
  EXPECT_EQ(left->move, MoveKind::mala);
  const auto swept = recipe_on(with_bound, {.sweep = SweepKind::rows});
  ASSERT_TRUE(swept);
  EXPECT_EQ(swept->sweep, SweepKind::rows);
  EXPECT_FALSE(recipe_on(with_bound, {.bound = BoundKind::sharp}));
  EXPECT_TRUE(recipe_on(with_bound, {.regular = true})->regular);
}

// A preparation for regular MCMC has no bound and cannot be used for a sweep.
TEST(Recipes, OfASweepNeedABound) {
  const problems::Problem problem = problems::make(Model(Logistic{}, Prior::normal(0.0, 1.0)), 40, 60, 119);
  const Threads threads(1);
  const Preparation preparation = prepare(problem.store, problem.model, {}, {threads});
  EXPECT_FALSE(preparation.bound);
  EXPECT_NO_THROW(Sampler(problem.store, problem.model, preparation, {.move = MoveKind::mala}));
  EXPECT_EQ(problems::message_of<InputError>(
                [&] { Sampler(problem.store, problem.model, preparation, {.sweep = SweepKind::implicit}); }),
            "‹sweep›: the rows were prepared for regular MCMC, without a bound; leave the sweep at auto, or fit again");
}

// With more columns than rows, chains with default settings move after any warm-up.
TEST(Recipes, MoveChainsWhereColumnsOutnumberRows) {
  const problems::Problem problem = problems::make(Model(Logistic{}, Prior::normal(0.0, 1.0)), 40, 60, 119);
  for (const int warmup : {0, 5, 30}) {
    const Fit out = fit(problem.store, problem.model, {.chains = 2, .warmup = warmup, .draws = 100});
    EXPECT_EQ(out.bound_queries, 0);
    for (const ChainReport& chain : out.chains) EXPECT_GT(chain.acceptance, 0.1) << "after a warm-up of " << warmup;
  }
}

// An intercept alone, with `ones` targets of 1 before the zeros.
Store ones_first(RowId rows, RowId ones) {
  Vector y = Vector::Zero(rows);
  y.head(ones).setOnes();
  return Store::from_matrix(RowMatrix::Ones(rows, 1), y);
}

// One 1 among 30,000 rows: too many rows are loose to be lit, and z would hold the chain in place. The statistics pass
// detects this, and its queries count although no bound came of it.
TEST(Recipes, RegularMcmcWhereThePassTellsThatABoundWouldBeSlower) {
  const RowId rows = 30000;
  const Store store = ones_first(rows, 1);
  const Model model(Logistic{}, Prior::normal(0.0, 10.0));
  const TableShape shape{rows, 1};
  const Threads threads(2);
  EXPECT_FALSE(recipe_for({}, shape).regular);
  const Preparation preparation = prepare(store, model, {}, {threads});
  EXPECT_FALSE(preparation.bound);
  EXPECT_GE(preparation.bound_queries, rows);
  EXPECT_TRUE(preparation.recipe.regular);
  const std::string said = describe(preparation, {});
  EXPECT_EQ(said.find("regular MCMC (with a bound, chains would hardly get to the tails of the posterior)"), 0u)
      << said;
  // An explicit request for the bound is granted.
  for (const FitOptions& asked : {FitOptions{.bound = BoundKind::sharp}, FitOptions{.sweep = SweepKind::rows}}) {
    const Preparation with = prepare(store, model, asked, {threads});
    EXPECT_TRUE(with.bound);
    EXPECT_FALSE(with.recipe.regular);
  }
  // If half of the targets are 1, no row is loose.
  const Store balanced = ones_first(rows, rows / 2);
  const Preparation usual = prepare(balanced, model, {}, {threads});
  EXPECT_TRUE(usual.bound);
  EXPECT_FALSE(usual.recipe.regular);
}

// This also holds for many rows: the chain would not reach the tail, where sweeps evaluate all rows.
TEST(Recipes, NoNumberOfRowsMakesAHopelessBoundWorthItsCost) {
  const Store store = ones_first(1000000, 1);
  const Threads threads(2);
  const Preparation preparation = prepare(store, Model(Logistic{}, Prior::normal(0.0, 10.0)), {}, {threads});
  EXPECT_FALSE(preparation.bound);
  EXPECT_TRUE(preparation.recipe.regular);
}

// With 2,000 rows all rows may be lit, which amounts to regular MCMC, so the bound has no radius.
TEST(Recipes, AllRowsLitHaveNoRadius) {
  const RowId rows = 2000;
  const Store store = ones_first(rows, 1);
  const Model model(Logistic{}, Prior::normal(0.0, 10.0));
  const Threads threads(2);
  const Preparation preparation = prepare(store, model, {}, {threads});
  ASSERT_TRUE(preparation.bound && preparation.bound->lit().all);
  EXPECT_EQ(preparation.bound->radius(), HUGE_VAL);
  const Vector far = preparation.bound->anchor() + preparation.bound->metric()->unwhiten(Vector::Constant(1, -30.0));
  EXPECT_FALSE(preparation.bound->at(far, true).outside());
  EXPECT_NE(describe(preparation, {}).find("all rows are lit"), std::string::npos);
}

// Fifty ones of a level among 20,000 rows hold nearly all information about it. They are lit, and the zone of the other
// rows is as wide along the level as the prior leaves it: the posterior's long tail lies inside.
TEST(Recipes, TheZoneIsWideWhereLitRowsKnowMost) {
  const RowId rows = 20000;
  const Store store = level_of_ones(rows, [](RowId i) { return i % 400 == 0; });
  const Model model(Logistic{}, Prior::normal(0.0, 10.0));
  const Threads threads(2);
  const Preparation preparation = prepare(store, model, {}, {threads});
  ASSERT_TRUE(preparation.bound);
  const Bound& bound = *preparation.bound;
  EXPECT_EQ(bound.lit().size(), 50u);
  EXPECT_GE(preparation.bound_queries, 2 * rows);
  const Matrix precision = bound.metric()->matrix(), anchor = preparation.anchor->metric.matrix();
  EXPECT_NEAR(precision(1, 1), 0.01, 1e-6);  // the prior's
  EXPECT_GT(anchor(1, 1), 5.0 * precision(1, 1));
  EXPECT_NEAR(precision(0, 0), anchor(0, 0) - anchor(1, 1) + 0.01, 0.01 * anchor(0, 0));
  const Vector tail = bound.anchor() + Vector{{0.0, 15.0 / std::sqrt(anchor(1, 1))}};
  EXPECT_FALSE(bound.at(tail, false).outside());
  // Rows with a z have a valid bound there.
  BoundRows others;
  std::vector<RowId> ids = {1, 2, 3, 10, 11};
  bound.prepare(store, ids, others);
  Gaps gaps;
  EXPECT_NO_THROW(bound.gaps(others, bound.at(tail, false), false, gaps));
}

}  // namespace
}  // namespace flymc
