// The anchor is the mode if there is one, its queries are counted exactly, and an error explains a missing mode.
#include "flymc/anchor/anchor.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "flymc/core/error.hpp"
#include "model/support.hpp"
#include "problems/problems.hpp"

namespace flymc {
namespace {

using problems::contains;
using problems::Counted;
using problems::Machine;
using problems::message_of;

// Gradient and precision of the log posterior with the prior's surrogate, row by row.
struct Slopes {
  Vector gradient;
  Matrix precision;
};
Slopes slopes(const Store& store, const Model& model, const Vector& theta) {
  const Index k = model.predictors(), d = store.features();
  Slopes out{Vector::Zero(theta.size()), Matrix::Zero(theta.size(), theta.size())};
  for (RowId row = 0; row < store.rows(); ++row) {
    Vector x(d), eta(k), slope(k);
    RowMatrix curvature(k, k);
    for (Index j = 0; j < d; ++j) x[j] = store.value(row, j);
    eta = Arrangement(k).columns(theta).transpose() * x;
    const double y = store.target(row);
    model.family().likelihood({&y, 1}, {eta.data(), static_cast<std::size_t>(k)}, {},
                              {slope.data(), static_cast<std::size_t>(k)},
                              {curvature.data(), static_cast<std::size_t>(k * k)});
    for (Index p = 0; p < k; ++p) {
      out.gradient.segment(p * d, d) += slope[p] * x;
      for (Index q = 0; q < k; ++q) out.precision.block(p * d, q * d, d, d) += curvature(p, q) * x * x.transpose();
    }
  }
  model.prior().surrogate(theta, out.gradient);
  model.prior().curvature(Term::Of::surrogate, theta).add_to(out.precision);
  return out;
}

// Finds the anchor, and checks that it is the mode, that its metric is the precision there, and that it reports the
// number of queries that the family saw: a whole number of passes.
template <class F>
Anchor expect_mode(const F& family, const Prior& prior, Index rows, Index columns) {
  SCOPED_TRACE(family.name() + ", " + prior.describe());
  const Counted<F> counted{family};
  const Model model(counted, prior);
  const problems::Problem problem = problems::make(model, rows, columns, 21);
  const Machine machine;
  const Anchor anchor = find_anchor(problem.store, model, machine.execution(), {.tolerance = 1e-6});
  EXPECT_EQ(anchor.queries, *counted.queries);
  EXPECT_EQ(anchor.queries % rows, 0);
  EXPECT_GE(anchor.queries, (anchor.steps + 1) * rows);

  const Slopes at = slopes(problem.store, model, anchor.theta);
  EXPECT_LT(anchor.metric.whiten_gradient(at.gradient).norm(), 2e-6);
  EXPECT_LT(anchor.distance, 1e-6);
  const double size = at.precision.cwiseAbs().maxCoeff();
  EXPECT_LT((anchor.metric.matrix() - at.precision).cwiseAbs().maxCoeff(), 1e-11 * size);

  // At a given theta: one pass, the same metric, and the length of the Newton step from it.
  *counted.queries = 0;
  const Anchor there = anchor_at(problem.store, model, machine.execution(), problem.theta);
  EXPECT_EQ(there.queries, rows);
  EXPECT_EQ(*counted.queries, rows);
  EXPECT_EQ(there.theta, problem.theta);
  const Slopes beside = slopes(problem.store, model, problem.theta);
  EXPECT_LT((there.metric.matrix() - beside.precision).cwiseAbs().maxCoeff(),
            1e-11 * beside.precision.cwiseAbs().maxCoeff());
  const double step = std::sqrt(beside.gradient.dot(beside.precision.ldlt().solve(beside.gradient)));
  EXPECT_NEAR(there.distance, step, 1e-9 * step);
  return anchor;
}

const std::vector<Prior> proper_prior = {Prior::normal(0.5, 0.7), Prior::laplace(0.0, 0.3),
                                         Prior::student_t(1.0, 0.0, 0.2), Prior::student_t(5.0, -1.0, 2.0)};

TEST(Anchor, IsTheModeOfLogisticRegressions) {
  for (const Prior& prior : proper_prior) expect_mode(Logistic{}, prior, 700, 4);
  expect_mode(Logistic{}, Prior::flat(), 700, 4);
}

TEST(Anchor, IsTheModeOfSoftmaxRegressions) {
  for (const Prior& prior : proper_prior) expect_mode(Softmax{3}, prior, 500, 3);
}

TEST(Anchor, IsTheModeOfRobustRegressions) {
  for (const Prior& prior : proper_prior) expect_mode(StudentT(4.0, 0.6), prior, 600, 4);
  expect_mode(StudentT(4.0, 0.6), Prior::flat(), 600, 4);
}

TEST(Anchor, IsTheModeOfAUsersFamily) { expect_mode(problems::Sech{}, Prior::normal(0.0, 3.0), 500, 3); }

TEST(Anchor, OneRowUnderAProperPriorIsEnough) { expect_mode(Logistic{}, Prior::normal(0.0, 1.0), 1, 5); }

// A step beyond the mode is halved, and every halving is a pass that is counted. Narrow, heavy-tailed errors about
// targets at four levels give a posterior with many hills.
TEST(Anchor, CountsTheStepsThatWentTooFar) {
  const RowMatrix x = problems::features(60, 2, 1);
  Vector y(60);
  for (Index i = 0; i < 60; ++i)
    y[i] = std::floor(4.0 * PhiloxRandom(1, 7, 0).uniform(Purpose::simulate, static_cast<std::uint64_t>(i)));
  const Counted<StudentT> robust{StudentT(1.0, 0.3)};
  const Model model(robust, Prior::normal(0.0, 10.0));
  const Store store = Store::from_matrix(x, y);
  const Machine machine;
  const Anchor anchor = find_anchor(store, model, machine.execution(), {.tolerance = 1e-6});
  EXPECT_EQ(anchor.queries, *robust.queries);
  EXPECT_GT(anchor.queries, (anchor.steps + 1) * 60) << "the case no longer needs a halving: choose another";
  EXPECT_LT(anchor.metric.whiten_gradient(slopes(store, model, anchor.theta).gradient).norm(), 2e-6);
}

TEST(Anchor, ARoughAnchorIsCheaper) {
  const Model model(Logistic{}, Prior::normal(0.0, 2.0));
  const problems::Problem problem = problems::make(model, 2000, 5, 3);
  const Machine machine;
  const Anchor rough = find_anchor(problem.store, model, machine.execution());
  const Anchor fine = find_anchor(problem.store, model, machine.execution(), {.tolerance = 1e-9});
  EXPECT_LT(rough.distance, 0.01);
  EXPECT_LT(rough.queries, fine.queries);
  EXPECT_LT(fine.metric.length(rough.theta - fine.theta), 0.011);
}

TEST(Anchor, SameBitsWithAnyThreads) {
  for (const Model& model : problems::models()) {
    const problems::Problem problem = problems::make(model, 40000, 3, 8);
    ASSERT_GT(problem.store.blocks(), 2u);
    const Machine one(1), two(2);
    const Anchor a = find_anchor(problem.store, model, one.execution());
    const Anchor b = find_anchor(problem.store, model, two.execution());
    EXPECT_EQ(a.theta, b.theta) << model.family().name();
    EXPECT_EQ(a.metric.lower(), b.metric.lower());
    EXPECT_EQ(a.queries, b.queries);
    EXPECT_EQ(a.distance, b.distance);
  }
}

// y = 1 exactly where x > 0: the likelihood increases without limit along x.
Store separated(bool every_row) {
  RowMatrix x(100, 2);
  Vector y(100);
  for (Index i = 0; i < 100; ++i) {
    x(i, 0) = 1.0;
    x(i, 1) = -1.0 + 0.02 * static_cast<double>(i) + 0.01;
    y[i] = x(i, 1) > 0.0 ? 1.0 : 0.0;
  }
  if (!every_row) y[10] = 1.0;
  return Store::from_matrix(x, y, {"intercept", "age"});
}

TEST(Anchor, SeparatedClassesHaveNoModeUnderAFlatPrior) {
  const Machine machine;
  const auto message = message_of<InputError>(
      [&] { find_anchor(separated(true), Model(Logistic{}, Prior::flat()), machine.execution()); });
  EXPECT_TRUE(contains(message, "proper prior")) << message;
  EXPECT_TRUE(contains(message, "flat prior")) << message;
  EXPECT_TRUE(contains(message, "separate") || contains(message, "of one class")) << message;
  // One row on the wrong side is enough for a mode, and so is a proper prior.
  EXPECT_NO_THROW(find_anchor(separated(false), Model(Logistic{}, Prior::flat()), machine.execution()));
}

TEST(Anchor, SeparatedClassesHaveAModeUnderAProperPrior) {
  const Machine machine;
  const Store store = separated(true);
  for (const Prior& prior : proper_prior) {
    const Model model(Logistic{}, prior);
    const Anchor anchor = find_anchor(store, model, machine.execution(), {.tolerance = 1e-6});
    EXPECT_LT(anchor.metric.whiten_gradient(slopes(store, model, anchor.theta).gradient).norm(), 2e-6)
        << prior.describe();
    EXPECT_GT(anchor.theta[1], 0.0);
  }
}

// All rows of a dummy column are of one class: only its coefficient diverges, while the others settle.
TEST(Anchor, QuasiSeparationByOneDummyColumnIsFound) {
  const Index rows = 2000;
  const RowMatrix x = problems::features(rows, 3, 5);
  RowMatrix wide(rows, 4);
  wide << x, Vector::Zero(rows);
  const Model model(Logistic{}, Prior::flat());
  Vector y = problems::targets(model, x, Vector::Constant(3, 0.5), 5);
  for (const Index row : {3, 500, 501, 1999}) {
    wide(row, 3) = 1.0;
    y[row] = 1.0;
  }
  const Store store = Store::from_matrix(wide, y, {"intercept", "age", "income", "region_north"});
  const Machine machine;
  const auto message = message_of<InputError>([&] { find_anchor(store, model, machine.execution()); });
  EXPECT_TRUE(contains(message, "flat prior")) << message;
  EXPECT_TRUE(contains(message, "proper prior")) << message;
  EXPECT_NO_THROW(find_anchor(store, Model(Logistic{}, Prior::normal(0.0, 10.0)), machine.execution()));
}

// Collinear columns, each case with the first coefficient that is left undetermined.
TEST(Anchor, UndeterminedCoefficientsAreNamed) {
  const Index rows = 300;
  const RowMatrix x = problems::features(rows, 3, 6);
  const Machine machine;
  const auto message_with = [&](const Vector& extra, const Prior& prior) {
    RowMatrix wide(rows, 4);
    wide << x.leftCols(2), extra, x.col(2);
    const Model model(Logistic{}, prior);
    const Vector y = problems::targets(model, x, Vector::Constant(3, 0.3), 6);
    const Store store = Store::from_matrix(wide, y, {"intercept", "age", "again", "income"});
    return message_of<InputError>([&] { find_anchor(store, model, machine.execution()); });
  };
  for (const Vector& extra : {Vector(2.0 * x.col(1)), Vector(x.col(0) - 3.0 * x.col(1)),
                              Vector(Vector::Constant(rows, 7.0)), Vector(Vector::Zero(rows))}) {
    const std::string message = message_with(extra, Prior::flat());
    EXPECT_TRUE(contains(message, "'again'")) << message;
    EXPECT_TRUE(contains(message, "flat prior")) << message;
    EXPECT_EQ(message_with(extra, Prior::normal(0.0, 1.0)), "no error");
  }
}

// Only differences of softmax coefficients matter to the likelihood, so a flat prior has no posterior.
TEST(Anchor, SoftmaxNeedsAProperPrior) {
  const Model model(Softmax{3}, Prior::flat());
  const problems::Problem problem = problems::make(model, 400, 2, 9);
  const Machine machine;
  const auto message = message_of<InputError>([&] { find_anchor(problem.store, model, machine.execution()); });
  EXPECT_TRUE(contains(message, "softmax") && contains(message, "use a proper prior")) << message;
}

TEST(Anchor, ChecksTheTargetsFirst) {
  const Machine machine;
  const Store store = Store::from_matrix(RowMatrix::Ones(3, 1), Vector::Constant(3, 2.0));
  const Model model(Logistic{}, Prior::flat());
  EXPECT_TRUE(contains(message_of<InputError>([&] { find_anchor(store, model, machine.execution()); }), "row 0"));
  EXPECT_TRUE(contains(message_of<InputError>([&] { anchor_at(store, model, machine.execution(), Vector::Zero(1)); }),
                       "row 0"));
}

// With targets far from 0 every residual at the search's start is larger than sqrt(nu) sigma, where the t has negative
// curvature: the start is nearly flat, and only the prior keeps the precision positive.
TEST(Anchor, FindsARobustModeFarFromZero) {
  const Model model(StudentT(4.0, 1.0), Prior::normal(0.0, 100.0));
  const RowMatrix x = problems::features(500, 2, 4);
  Vector theta(2);
  theta << 50.0, 3.0;
  const Store store = Store::from_matrix(x, problems::targets(model, x, theta, 4));
  const Machine machine;
  const Anchor anchor = find_anchor(store, model, machine.execution());
  EXPECT_LT((anchor.theta - theta).cwiseAbs().maxCoeff(), 0.3);  // the posterior's standard deviation is about 0.05
}

// With targets far from 0, every residual at theta = 0 lies where the t likelihood has negative curvature.
TEST(Anchor, RobustRegressionFarFromZero) {
  for (const Prior& prior : {Prior::flat(), Prior::normal(0.0, 100.0), Prior::normal(0.0, 1e6)}) {
    const Model model(StudentT(4.0, 1.0), prior);
    const RowMatrix x = problems::features(500, 2, 4);
    Vector theta(2);
    theta << 50.0, 3.0;
    const Store store = Store::from_matrix(x, problems::targets(model, x, theta, 4));
    const problems::Machine machine;
    const Anchor anchor = find_anchor(store, model, machine.execution());
    EXPECT_LT((anchor.theta - theta).norm(), 0.5);
    EXPECT_LT(anchor.queries / store.rows(), 35);  // queries of three searches
  }
}

// At the prior's centre exp(eta) overflows for some rows, and each Newton step from there is tiny.
TEST(Anchor, IsFoundUnderAPriorWhoseCentreIsFarFromTheData) {
  const Machine machine;
  const problems::Problem problem = problems::make(Model(Poisson{}, Prior::normal(0.0, 1.0)), 2000, 1, 5);
  for (const Prior& prior :
       {Prior::normal(-61.0, 30.0), Prior::student_t(3.0, -61.0, 30.0), Prior::normal(900.0, 400.0)}) {
    const Model model(Poisson{}, prior);
    const Anchor anchor = find_anchor(problem.store, model, machine.execution(), {.tolerance = 1e-6});
    EXPECT_LT(anchor.metric.whiten_gradient(slopes(problem.store, model, anchor.theta).gradient).norm(), 2e-6)
        << prior.describe();
    EXPECT_LT(std::abs(anchor.theta[0]), 3.0) << prior.describe();
  }
}

// A proper prior determines every coefficient, even if rounding hides it beside a column a million times larger.
TEST(Anchor, LargeColumnsUnderAProperPriorAreFine) {
  const Model model(Softmax{3}, Prior::normal(0.0, 10.0));
  RowMatrix x = problems::features(2000, 2, 8);
  const Vector y = problems::targets(model, x, Vector::Constant(6, 0.3), 8);
  x.col(1) *= 1e5;
  const Machine machine;
  EXPECT_NO_THROW(find_anchor(Store::from_matrix(x, y), model, machine.execution()));
}

}  // namespace
}  // namespace flymc
