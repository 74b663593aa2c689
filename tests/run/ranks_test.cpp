// A fit on several ranks is bit-identical to the fit on one, for any family, sweep and move.
#include <gtest/gtest.h>

#include <cmath>

#include "flymc/run/fit.hpp"
#include "problems/problems.hpp"
#include "problems/thread_ranks.hpp"

namespace flymc {
namespace {

using problems::ThreadRanks;

struct Case {
  std::string name;
  Model model;
  FitOptions options;
  RowId rows = 40000;  // three blocks: on four ranks, one rank has none
  bool level = false;  // a rare level of one class
  bool facts = false;  // weights and offsets
};

class FitOnRanks : public testing::TestWithParam<Case> {};

std::vector<Case> cases() {
  const Prior prior = Prior::normal(0.0, 2.0);
  FitOptions usual;
  usual.chains = 2;
  usual.warmup = 30;
  usual.draws = 20;
  usual.threads = 1;
  const auto with = [&](BoundKind bound, SweepKind sweep, MoveKind move) {
    FitOptions options = usual;
    options.bound = bound;
    options.sweep = sweep;
    options.move = move;
    return options;
  };
  FitOptions regular = usual;
  regular.regular = true;
  regular.warmup = regular.draws = 5;  // every step of every iteration visits all rows
  const auto lit = [&](double above) {
    FitOptions options = with(BoundKind::sharp, SweepKind::rows, MoveKind::split_hmc);
    options.lit = {.above = above};
    return options;
  };
  FitOptions far = with(BoundKind::sharp, SweepKind::rows, MoveKind::random_walk);
  far.start_from_prior = true;
  far.warmup = 5;
  using Tight = BoundKind;
  using Sweep = SweepKind;
  using Move = MoveKind;
  return {{"Logistic", Model(Logistic{}, prior), usual},
          // Large enough for the anchor by a subsample that includes all rows of a rare class.
          {"LogisticBySubsample", Model(Logistic{}, prior), usual, 50000},
          {"Softmax", Model(Softmax{3}, prior), usual},
          {"StudentT", Model(StudentT(4.0, 0.7), prior), usual},
          {"StudentTBySubsample", Model(StudentT(4.0, 0.7), prior), usual, 50000},
          {"ImplicitMala", Model(Logistic{}, prior), with(Tight::anchored, Sweep::implicit, Move::mala)},
          {"ExplicitSlice", Model(Logistic{}, prior),
           with(Tight::anchored, Sweep::without_replacement, Move::slice_direction)},
          {"Untuned", Model(Logistic{}, prior), with(Tight::untuned, Sweep::consecutive, Move::random_walk)},
          {"Regular", Model(Logistic{}, prior), regular},
          // Lit rows on every rank, chosen by a limit and by cost; and chains that begin and stay beyond the radius.
          {"Lit", Model(Logistic{}, prior), lit(0.0016)},
          {"SoftmaxLit", Model(Softmax{3}, prior), lit(0.004)},
          {"AllLit", Model(StudentT(4.0, 0.7), prior), lit(0.0), 300},
          {"LitAutomatically", Model(Logistic{}, prior), usual, 50000, true},
          {"FromFarAway", Model(Logistic{}, prior), far, 20000},
          // Weights and offsets are stored with their rows.
          {"Facts", Model(Logistic{}, prior), usual, 40000, false, true},
          {"FactsBySubsample", Model(Logistic{}, prior), usual, 50000, false, true},
          {"FactsLit", Model(Logistic{}, prior), usual, 50000, true, true},
          {"FactsUntuned", Model(Logistic{}, prior), with(Tight::untuned, Sweep::consecutive, Move::random_walk), 40000,
           false, true}};
}
INSTANTIATE_TEST_SUITE_P(Cases, FitOnRanks, testing::ValuesIn(cases()), [](const auto& c) { return c.param.name; });

TEST_P(FitOnRanks, IsTheFitOnOne) {
  const Case& c = GetParam();
  RowMatrix x = problems::features(c.rows, 5, 3);
  if (c.level)
    for (Index i = 0; i < c.rows; ++i) x(i, 4) = i % 600 == 0 ? 1.0 : 0.0;
  Vector theta = Vector::LinSpaced(5 * c.model.predictors(), -0.8, 0.7);
  theta[0] = c.rows > 40000 ? -4.0 : 0.1;
  Vector y = problems::targets(c.model, x, theta, 4);
  for (Index i = 0; c.level && i < c.rows; i += 600) y[i] = 1.0;
  Vector weights, offsets;
  if (c.facts) {
    weights = Vector::NullaryExpr(c.rows, [](Index i) { return 0.25 * static_cast<double>(i % 9); });
    offsets = Vector::NullaryExpr(c.rows, [](Index i) { return 0.1 * static_cast<double>(i % 7) - 0.3; });
  }
  const Store store = Store::from_matrix(x, y, {}, NumberType::float64, weights, offsets);
  if (c.level || std::isfinite(c.options.lit.above)) {
    const Threads threads(1);
    const std::size_t lit = prepare(store, c.model, c.options, {threads}).bound->lit().size();
    EXPECT_GT(lit, 20u);
    EXPECT_LT(lit, c.name == "AllLit" ? 301u : 2000u);
  }
  const Fit alone = fit(store, c.model, c.options);
  for (const int ranks : {2, 3, 4})
    ThreadRanks::run(ranks, [&](const Communicator& communicator) {
      const Fit shared = fit(store, c.model, c.options, communicator);
      EXPECT_EQ(shared.anchor_queries, alone.anchor_queries);
      EXPECT_EQ(shared.queries(), alone.queries());
      for (std::size_t chain = 0; chain < 2; ++chain)
        for (Index j = 0; j < alone.draws.coefficients(); ++j)
          ASSERT_EQ(shared.draws.coefficient(j)[chain], alone.draws.coefficient(j)[chain])
              << "coefficient " << j << " of chain " << chain << " on rank " << communicator.rank() << " of " << ranks;
    });
}

}  // namespace
}  // namespace flymc
