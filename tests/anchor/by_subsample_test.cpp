// The anchor by a subsample is near the mode, takes about one pass, and is never worse than the full search.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "flymc/anchor/anchor.hpp"
#include "flymc/anchor/subsample.hpp"
#include "flymc/core/error.hpp"
#include "model/support.hpp"
#include "problems/problems.hpp"

namespace flymc {
namespace {

using problems::contains;
using problems::Counted;
using problems::Machine;
using problems::message_of;

// The distance from the mode in posterior standard deviations, divided by the posterior's radius sqrt(D).
double radii_from_mode(const Store& store, const Model& model, const Vector& theta) {
  const Machine machine;
  const Anchor mode = find_anchor(store, model, machine.execution(), {.tolerance = 1e-3, .start = theta});
  return mode.metric.length(theta - mode.theta) / std::sqrt(static_cast<double>(theta.size()));
}

// A table of 60,000 rows: three times the subsample, so that the full search takes at least six times as many queries.
template <class F>
void expect_near_mode_in_one_pass(const F& family, const Prior& prior) {
  SCOPED_TRACE(family.name());
  const RowId rows = 60000;
  const Counted<F> counted{family};
  const Model model(counted, prior);
  const problems::Problem problem = problems::make(model, rows, 4, 31);
  const Machine machine;
  const Anchor anchor = find_anchor_by_subsample(problem.store, model, machine.execution(), 1);
  EXPECT_EQ(anchor.queries, *counted.queries);
  // One pass over the table; all other queries are of the subsample, or of a subsample of it.
  EXPECT_EQ((anchor.queries - rows) % (model.family().eased(1.0) ? 2000 : 20000), 0);
  EXPECT_LE(anchor.queries, rows + 10 * 20000);
  EXPECT_LT(radii_from_mode(problem.store, model, anchor.theta), 1.0 / 3.0);
  EXPECT_GT(anchor.distance, 0.0);
  EXPECT_LE(anchor.distance, std::sqrt(static_cast<double>(anchor.theta.size())) / 3.0);
  // The metric agrees with the whole table's, up to the sampling error of 20,000 rows.
  const Anchor at = anchor_at(problem.store, model, machine.execution(), anchor.theta);
  for (Index j = 0; j < anchor.theta.size(); ++j) {
    const Vector unit = Vector::Unit(anchor.theta.size(), j);
    EXPECT_NEAR(anchor.metric.length(unit) / at.metric.length(unit), 1.0, 0.1) << j;
  }
}

TEST(AnchorBySubsample, IsNearTheModeInOnePass) {
  expect_near_mode_in_one_pass(Logistic{}, Prior::normal(0.0, 2.0));
  expect_near_mode_in_one_pass(Logistic{}, Prior::flat());
  expect_near_mode_in_one_pass(Softmax{3}, Prior::normal(0.0, 2.0));
  expect_near_mode_in_one_pass(StudentT(4.0, 0.7), Prior::laplace(0.0, 1.0));
  expect_near_mode_in_one_pass(problems::Sech{}, Prior::normal(0.0, 2.0));
}

TEST(AnchorBySubsample, DependsOnTheSeedAndNotOnThreads) {
  const Model model(Logistic{}, Prior::normal(0.0, 2.0));
  const problems::Problem problem = problems::make(model, 50000, 3, 32);
  const Machine one(1), two(2);
  const Anchor a = find_anchor_by_subsample(problem.store, model, one.execution(), 5);
  const Anchor b = find_anchor_by_subsample(problem.store, model, two.execution(), 5);
  const Anchor other = find_anchor_by_subsample(problem.store, model, two.execution(), 6);
  EXPECT_EQ(a.theta, b.theta);
  EXPECT_EQ(a.metric.lower(), b.metric.lower());
  EXPECT_EQ(a.queries, b.queries);
  EXPECT_EQ(a.distance, b.distance);
  EXPECT_NE(a.theta, other.theta);
}

TEST(AnchorBySubsample, ASmallTableIsSearchedWhole) {
  const Model model(Logistic{}, Prior::normal(0.0, 2.0));
  const problems::Problem problem = problems::make(model, 40000, 3, 33);
  const Machine machine;
  const Anchor whole = find_anchor(problem.store, model, machine.execution());
  const Anchor anchor = find_anchor_by_subsample(problem.store, model, machine.execution(), 1);
  EXPECT_EQ(anchor.theta, whole.theta);
  EXPECT_EQ(anchor.metric.lower(), whole.metric.lower());
  EXPECT_EQ(anchor.queries, whole.queries);
  EXPECT_EQ(anchor.distance, whole.distance);
}

// About 30 of 100,000 rows are of class 1. A plain subsample would hold about six of them.
TEST(AnchorBySubsample, RareEvents) {
  const RowId rows = 100000;
  const Model model(Logistic{}, Prior::normal(0.0, 2.0));
  const RowMatrix x = problems::features(rows, 5, 34);
  Vector theta(5);
  theta << -8.3, 0.4, -0.4, 0.3, 0.2;
  const Vector y = problems::targets(model, x, theta, 34);
  ASSERT_GT(y.sum(), 10.0);
  ASSERT_LT(y.sum(), 60.0);
  const Store store = Store::from_matrix(x, y);
  const Machine machine;
  for (const std::uint64_t seed : std::initializer_list<std::uint64_t>{1, 2, 3}) {
    const Anchor anchor = find_anchor_by_subsample(store, model, machine.execution(), seed);
    EXPECT_LT(radii_from_mode(store, model, anchor.theta), 1.0 / 3.0) << seed;
    EXPECT_LT(anchor.queries, rows + 20 * 20000);
  }
}

// Ten levels of eight of 100,000 rows each. A plain subsample would have about two rows of each, so all are included. A
// subsample without rows of a level, or with rows of one class alone, would have no information about the level, and no
// mode under a flat prior.
TEST(AnchorBySubsample, RareLevels) {
  const RowId rows = 100000;
  const Index levels = 10, each = 8;
  const RowMatrix x = problems::features(rows, 4, 35);
  RowMatrix wide(rows, 4 + levels);
  wide << x, RowMatrix::Zero(rows, levels);
  Vector y = problems::targets(Model(Logistic{}, Prior::flat()), x, Vector::Constant(4, 0.4), 35);
  for (Index i = 0; i < levels * each; ++i) {
    const Index row = 700 + 1001 * i;
    wide(row, 4 + i % levels) = 1.0;
    y[row] = i / levels < 3 ? 1.0 : 0.0;  // three of every eight
  }
  const Store store = Store::from_matrix(wide, y);
  const Machine machine;
  for (const Prior& prior : {Prior::normal(0.0, 2.0), Prior::flat()}) {
    const Model model(Logistic{}, prior);
    const Anchor anchor = find_anchor_by_subsample(store, model, machine.execution(), 1);
    EXPECT_LT(radii_from_mode(store, model, anchor.theta), 1.0 / 3.0) << prior.describe();
    EXPECT_LT(anchor.queries, rows + 10 * 20080) << prior.describe();
  }
}

// sum_n weight_n p_n (1 - p_n) x_n x_n' at the anchor, and the prior's precision.
TEST(AnchorBySubsample, MetricIsTheSubsamplesAtTheAnchor) {
  const Model model(Logistic{}, Prior::normal(0.0, 0.5));
  const problems::Problem problem = problems::make(model, 50000, 3, 37);
  const Machine machine;
  const Anchor anchor = find_anchor_by_subsample(problem.store, model, machine.execution(), 4);
  const Subsample subsample = draw_subsample(problem.store, model, machine.execution(), 20000, 4);
  Matrix precision = 4.0 * Matrix::Identity(3, 3);
  for (std::size_t i = 0; i < subsample.rows.size(); ++i) {
    Vector x(3);
    for (Index j = 0; j < 3; ++j) x[j] = problem.store.value(subsample.rows[i], j);
    const double p = sigmoid(x.dot(anchor.theta));
    precision += subsample.weights[i] * p * (1.0 - p) * x * x.transpose();
  }
  EXPECT_LT((anchor.metric.matrix() - precision).cwiseAbs().maxCoeff(), 1e-10 * precision.maxCoeff());
}

// The same message as the full search's if there is no mode.
TEST(AnchorBySubsample, SaysWhatTheFullSearchSays) {
  const RowId rows = 50000;
  const RowMatrix x = problems::features(rows, 2, 36);
  const Model model(Logistic{}, Prior::flat());
  Vector y = problems::targets(model, x, Vector::Constant(2, 0.3), 36);
  RowMatrix wide(rows, 3);
  wide << x, x.col(0) - 3.0 * x.col(1);
  const Machine machine;
  const Store collinear = Store::from_matrix(wide, y, {"intercept", "age", "again"});
  const auto message =
      message_of<InputError>([&] { find_anchor_by_subsample(collinear, model, machine.execution(), 1); });
  EXPECT_TRUE(contains(message, "'again'") && contains(message, "flat prior")) << message;
  EXPECT_NO_THROW(
      find_anchor_by_subsample(collinear, Model(Logistic{}, Prior::normal(0.0, 1.0)), machine.execution(), 1));

  for (Index i = 0; i < rows; ++i) y[i] = x(i, 1) > 0.0 ? 1.0 : 0.0;
  const Store separated = Store::from_matrix(x, y, {"intercept", "age"});
  const auto say = [&](auto&& find) { return message_of<InputError>([&] { find(); }); };
  EXPECT_EQ(say([&] { find_anchor_by_subsample(separated, model, machine.execution(), 1); }),
            say([&] { find_anchor(separated, model, machine.execution()); }));
  y[7] = 2.0;
  EXPECT_TRUE(contains(say([&] { find_anchor_by_subsample(Store::from_matrix(x, y), model, machine.execution(), 1); }),
                       "row 7"));
}

// A family in which one row can hold most of the precision although its features do not show it: a normal likelihood
// with precision 1 for y up to 10 and a million beyond.
struct TwoFaced {
  std::string name() const { return "two-faced"; }
  Index predictors() const { return 1; }
  std::string target_problem(double) const { return ""; }
  static double precision(double y) { return y > 10.0 ? 1e6 : 1.0; }
  double log_likelihood(double y, Predictor eta) const { return -0.5 * precision(y) * (y - eta[0]) * (y - eta[0]); }
  void slope(double y, Predictor eta, std::span<double> out) const { out[0] = precision(y) * (y - eta[0]); }
  void curvature(double y, Predictor, std::span<double> out) const { out[0] = precision(y); }
  double remainder(double y, Predictor, Predictor delta) const { return -0.5 * precision(y) * delta[0] * delta[0]; }
  void global_curvature(double y, Predictor, std::span<double> out) const { out[0] = precision(y); }
  void mean(Predictor eta, std::span<double> out) const { out[0] = eta[0]; }
  double simulate(Predictor eta, const Random&, std::uint64_t) const { return eta[0]; }
};

// A subsample of a third of the rows that contains the row counts it three times, and a step leaves two thirds of the
// way; without the row, a step goes 18 times too far. Either is detected at the second pass, and the full search
// continues from there.
TEST(AnchorBySubsample, StepsThatDoNotSettleEndInTheFullSearch) {
  const RowId rows = 60000, special = 20011;
  const Counted<TwoFaced> counted{TwoFaced{}};
  const Model model(counted, Prior::flat());
  Vector y(rows);
  for (Index i = 0; i < rows; ++i) y[i] = static_cast<double>(i % 2);
  y[special] = 100.0;
  const Store store = Store::from_matrix(RowMatrix::Ones(rows, 1), y);
  const double mode = (1e6 * 100.0 + 29999.0) / (1e6 + 59999.0);
  const Machine machine;
  int with = 0, without = 0;
  for (const std::uint64_t seed : std::initializer_list<std::uint64_t>{1, 2, 3, 4, 5, 6, 7, 8}) {
    const Subsample subsample = draw_subsample(store, model, machine.execution(), 20000, seed);
    ++(std::binary_search(subsample.rows.begin(), subsample.rows.end(), special) ? with : without);
    *counted.queries = 0;
    const Anchor anchor = find_anchor_by_subsample(store, model, machine.execution(), seed);
    EXPECT_NEAR(anchor.theta[0], mode, 1e-6) << seed;
    EXPECT_EQ(anchor.queries, *counted.queries);
    EXPECT_EQ(anchor.queries, 2 * 20000 + 2 * rows + 2 * rows) << seed;
    EXPECT_LT(anchor.distance, 0.01);
  }
  EXPECT_TRUE(with > 0 && without > 0) << "choose other seeds";
}

}  // namespace
}  // namespace flymc
