// The Laplace approximation compared with modes and curvatures computed independently.
#include "flymc/run/laplace.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "flymc/run/fit.hpp"
#include "problems/problems.hpp"
#include "run/level_table.hpp"

namespace flymc {
namespace {

// Log posterior of one coefficient with x = 1, if `ones` of n targets are 1.
double log_posterior(const Prior& prior, double theta, double ones, double n) {
  return ones * theta - n * std::log1p(std::exp(theta)) + prior.log_density(Vector::Constant(1, theta));
}

TEST(Laplace, HasTheCurvatureOfThePriorItself) {
  // Under a Student-t prior the mode lies where the prior has the opposite curvature.
  const Prior prior = Prior::student_t(2.0, 0.0, 0.3);
  const double n = 12.0, ones = 9.0;
  double mode = 0.0;
  for (double theta = 0.0; theta < 2.0; theta += 1e-5)
    if (log_posterior(prior, theta, ones, n) > log_posterior(prior, mode, ones, n)) mode = theta;
  const double h = 1e-3;
  const double bend = (2.0 * log_posterior(prior, mode, ones, n) - log_posterior(prior, mode + h, ones, n) -
                       log_posterior(prior, mode - h, ones, n)) /
                      (h * h);
  Vector y = Vector::Zero(12);
  y.head(9).setOnes();
  const Store store = Store::from_matrix(RowMatrix::Ones(12, 1), y);
  const problems::Machine machine(1);
  for (const bool regular : {false, true}) {
    FitOptions options;
    options.regular = regular;
    options.bound = BoundKind::sharp;
    const Model model(Logistic{}, prior);
    const auto laplace = laplace_of(model, prepare(store, model, options, machine.execution()));
    ASSERT_TRUE(laplace);
    EXPECT_NEAR(laplace->sd()[0], 1.0 / std::sqrt(bend), 2e-2 / std::sqrt(bend)) << regular;
    EXPECT_NEAR(laplace->mean[0], mode, 2e-2 / std::sqrt(bend)) << regular;
  }
}

TEST(Laplace, IsAtTheModeOrThereIsNone) {
  // Large enough that the anchor is found by a subsample and is only near the mode.
  const problems::Problem problem = problems::make(Model(Logistic{}, Prior::normal(0.0, 2.0)), 50000, 4, 118);
  const problems::Machine machine(1);
  const Anchor exact = find_anchor(problem.store, problem.model, machine.execution(), {.tolerance = 1e-9});
  const auto laplace = [&](BoundKind bound, bool regular) {
    FitOptions options;
    options.bound = bound;
    options.regular = regular;
    return laplace_of(problem.model, prepare(problem.store, problem.model, options, machine.execution()));
  };
  for (const BoundKind bound : {BoundKind::sharp, BoundKind::anchored}) {
    const auto found = laplace(bound, false);
    ASSERT_TRUE(found);
    EXPECT_LT(exact.metric.length(found->mean - exact.theta), 0.03);
  }
  // Regular MCMC has no sums of a bound, but its anchor is the mode.
  const auto regular = laplace(BoundKind::sharp, true);
  ASSERT_TRUE(regular);
  EXPECT_LT(exact.metric.length(regular->mean - exact.theta), 0.01);
  EXPECT_FALSE(laplace(BoundKind::untuned, false));
}

// The bound of a fit suits its own prior, and other priors as long as the posterior stays about the same. It does not
// suit if the mode moves away, or if the posterior becomes wider than the bound's zone.
TEST(Suits, IsWhetherTheBoundWasMadeForThisPosterior) {
  const problems::Machine machine;
  for (const int family : {0, 1, 2}) {
    const auto with = [&](double scale) {
      const Prior prior = Prior::normal(0.0, scale);
      return family == 0   ? Model(Logistic{}, prior)
             : family == 1 ? Model(Softmax{3}, prior)
                           : Model(StudentT{4.0, 0.8}, prior);
    };
    const auto problem = problems::make(with(2.0), 3000, 3, 41);
    const auto prepared = [&](double scale) {
      return prepare(problem.store, with(scale), {.bound = BoundKind::sharp, .sweep = SweepKind::rows},
                     machine.execution());
    };
    const Preparation wide = prepared(2.0), narrow = prepared(0.01);
    EXPECT_TRUE(suits(with(2.0), wide));
    EXPECT_TRUE(suits(with(1.7), wide));
    EXPECT_TRUE(suits(with(0.01), narrow));
    EXPECT_FALSE(suits(with(0.01), wide));
    EXPECT_FALSE(suits(with(2.0), narrow));
  }
  // A narrow prior at the mode itself, and then a wider prior: the mean stays, but the posterior becomes twenty times
  // as wide as the zone.
  const auto problem = problems::make(Model(Logistic{}, Prior::normal(0.0, 2.0)), 3000, 2, 42);
  const Anchor mode = find_anchor(problem.store, problem.model, machine.execution());
  const std::vector<double> at(mode.theta.begin(), mode.theta.end()), scale(at.size(), 0.002);
  const Preparation tight = prepare(problem.store, Model(Logistic{}, Prior::normal(at, scale)),
                                    {.bound = BoundKind::sharp, .sweep = SweepKind::rows}, machine.execution());
  EXPECT_FALSE(suits(problem.model, tight));
}

// Without the sums of the rows' curvature the answer is unknown, and a new bound is made.
TEST(Suits, IsNotKnownOfOtherBounds) {
  const problems::Machine machine;
  const auto problem = problems::make(Model(Logistic{}, Prior::normal(0.0, 2.0)), 3000, 2, 43);
  EXPECT_FALSE(
      suits(problem.model, prepare(problem.store, problem.model,
                                   {.bound = BoundKind::anchored, .sweep = SweepKind::rows}, machine.execution())));
  EXPECT_FALSE(suits(problem.model, prepare(problem.store, problem.model, {.regular = true}, machine.execution())));
}

// A level has seven ones among 5,000 rows. Under another prior the mode is where the quadratic of the lit rows at the
// anchor is inaccurate.
TEST(LaplaceOfAnotherPrior, KnowsLitRows) {
  const RowId rows = 5000;
  const Store store = level_of_ones(rows, [](RowId i) { return i < 7; });
  const Threads threads(1);
  const auto with = [](double sd) { return Model(Logistic{}, Prior::normal(0.0, sd)); };
  const Preparation usual = prepare(store, with(2.5), {}, {threads});
  ASSERT_TRUE(usual.bound && usual.bound->lit().size() >= 7);
  EXPECT_EQ(laplace_of(with(2.5), usual)->queries, 0);
  // A Laplace prior has a corner, where the mode of its surrogate differs: a few steps suffice, not thousands.
  const auto corner = laplace_of(Model(Logistic{}, Prior::laplace(0.0, 0.5)), usual);
  ASSERT_TRUE(corner);
  EXPECT_LT(corner->queries, 7 * 200);
  for (const double sd : {0.3, 0.5, 1.0, 5.0, 10.0}) {
    const auto found = laplace_of(with(sd), usual),
               expected = laplace_of(with(sd), prepare(store, with(sd), {}, {threads}));
    ASSERT_TRUE(found && expected);
    EXPECT_GT(found->queries, 0);
    for (const Index j : {0, 1}) {
      EXPECT_NEAR(found->mean[j], expected->mean[j], 0.02 * expected->sd()[j]) << "prior of sd " << sd;
      EXPECT_NEAR(found->sd()[j], expected->sd()[j], 0.02 * expected->sd()[j]) << "prior of sd " << sd;
    }
  }
}

}  // namespace
}  // namespace flymc
