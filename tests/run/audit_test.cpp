// Draws from the posterior pass an audit, even if it is skewed; for other draws the audit says what is wrong.
#include "flymc/run/audit.hpp"

#include <gtest/gtest.h>

#include "flymc/core/error.hpp"
#include "flymc/run/fit.hpp"
#include "model/support.hpp"
#include "problems/message_of.hpp"
#include "problems/problems.hpp"

namespace flymc {
namespace {

using problems::message_of;

struct Audited {
  Store store;
  Model model;
  Fit fit;
  Audit found(const AuditOptions& options = {}) const { return audit(store, model, fit, options, Threads(2)); }
};

FitOptions few(bool bound) {
  FitOptions options{.chains = 2, .warmup = 300, .draws = 600, .seed = 4, .threads = 2};
  if (bound) options.bound = BoundKind::sharp;
  return options;
}

Audited audited(const problems::Problem& of, bool bound) {
  return {of.store, of.model, fit(of.store, of.model, few(bound))};
}

TEST(Audit, draws_of_the_posterior_stay_where_they_are) {
  const Audit found = audited(problems::make(Model(Logistic{}, Prior::normal(0.0, 2.0)), 1500, 3, 5), true).found();
  EXPECT_TRUE(found.passed()) << found.text();
  EXPECT_TRUE(found.findings().empty() && found.advice().empty());
  EXPECT_GT(found.acceptance, 0.9);
  EXPECT_LT(found.sees, 0.6);
  EXPECT_NE(found.text().find("the draws stay where they are"), std::string::npos);
  EXPECT_EQ(found.numbers.size(), 3u);
}

TEST(Audit, a_skewed_posterior_and_a_scale_that_is_drawn_pass) {
  RowMatrix x = RowMatrix::Ones(500, 1);
  Vector y = Vector::Zero(500);
  y[0] = 1.0;
  const Model rare(Logistic{}, Prior::normal(0.0, 5.0));
  const Audit skewed = audited({rare, Store::from_matrix(x, y), {}}, true).found();
  EXPECT_TRUE(skewed.passed()) << skewed.text();
  const Model scaled(Residual(StudentT{4.0, 1.0}), Prior::normal(0.0, 5.0), {.total_weight = 60.0});
  const Vector at = (Vector(3) << 1.0, -0.5, 0.7).finished();
  const Audit scale =
      audited({scaled, problems::rows_with_targets(scaled, problems::features(60, 2, 8), at, 9), at}, false).found();
  EXPECT_TRUE(scale.passed()) << scale.text();
  EXPECT_EQ(scale.numbers.size(), 3u);
}

// Draws under a narrow prior around 0, audited under the model's prior.
TEST(Audit, draws_of_another_prior_are_found_and_named) {
  const RowMatrix x = problems::features(400, 2, 3);
  const Model model(Logistic{}, Prior::normal(0.0, 5.0)), other(Logistic{}, Prior::normal({0.0, 0.0}, {5.0, 0.1}));
  const Store store = Store::from_matrix(x, problems::targets(model, x, Vector::Constant(2, 0.8), 3));
  const Audit found = audit(store, model, fit(store, other, few(false)), {}, Threads(2));
  EXPECT_FALSE(found.passed()) << found.text();
  ASSERT_FALSE(found.findings().empty());
  EXPECT_NE(found.findings().front().find("x1 moves up by"), std::string::npos) << found.text();
  EXPECT_NE(found.findings().front().find("the draws lie too low"), std::string::npos);
  EXPECT_NE(found.advice().find("do not use these draws"), std::string::npos);
}

TEST(Audit, draws_that_are_too_narrow_or_too_wide_are_found) {
  const RowMatrix x = problems::features(400, 2, 3);
  const Model model(Logistic{}, Prior::normal(0.0, 5.0));
  const Store store = Store::from_matrix(x, problems::targets(model, x, Vector::Constant(2, 0.3), 3));
  Audited right{store, model, fit(store, model, few(false))};
  for (const double factor : {0.6, 1.5}) {
    const std::vector<std::vector<double>> of[] = {right.fit.draws.coefficient(0), right.fit.draws.coefficient(1)};
    Fit wrong = right.fit;
    wrong.draws = MemorySink(2, 2);
    const double mean = summarise("x1", of[1]).mean;
    for (std::size_t c = 0; c < 2; ++c)
      for (std::size_t i = 0; i < of[0][c].size(); ++i)
        wrong.draws.write(c, (Vector(2) << of[0][c][i], mean + factor * (of[1][c][i] - mean)).finished(), {});
    const Audit found = audit(store, model, wrong, {.draws = 400}, Threads(2));
    ASSERT_FALSE(found.passed()) << found.text();
    EXPECT_NE(found.text().find(factor < 1.0 ? "x1 becomes wider" : "x1 becomes narrower"), std::string::npos)
        << found.text();
  }
}

TEST(Audit, does_not_depend_on_threads_and_counts_every_query) {
  const problems::Counted<Logistic> counted{Logistic{}};
  const problems::Problem of = problems::make(Model(counted, Prior::normal(0.0, 2.0)), 300, 2, 5);
  const Fit fitted = fit(of.store, of.model, few(false));
  *counted.queries = 0;
  const Audit one = audit(of.store, of.model, fitted, {.draws = 50, .seed = 3}, Threads(1));
  EXPECT_EQ(one.queries, *counted.queries);
  const Audit two = audit(of.store, of.model, fitted, {.draws = 50, .seed = 3}, Threads(2));
  EXPECT_EQ(one.text(), two.text());
  EXPECT_EQ(one.log_posterior.mean, two.log_posterior.mean);
  EXPECT_NE(one.log_posterior.mean, audit(of.store, of.model, fitted, {.draws = 50}, Threads(2)).log_posterior.mean);
}

TEST(Audit, refuses_too_few_draws) {
  const problems::Problem of = problems::make(Model(Logistic{}, Prior::normal(0.0, 2.0)), 300, 2, 5);
  FitOptions options = few(false);
  options.draws = 15;
  const Fit fitted = fit(of.store, of.model, options);
  EXPECT_NE(message_of<InputError>([&] {
              audit(of.store, of.model, fitted);
            }).find("an audit needs 20 nearly independent draws"),
            std::string::npos);
  EXPECT_NE(message_of<InputError>([&] { check(AuditOptions{.draws = 3}); }).find("must be from 20 to 100000, not 3"),
            std::string::npos);
  EXPECT_NE(message_of<InputError>([&] { check(AuditOptions{.steps = 0}); }).find("must be from 1 to 1000, not 0"),
            std::string::npos);
}

}  // namespace
}  // namespace flymc
