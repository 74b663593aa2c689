// If a posterior has several modes, the anchor is the highest, and reports how much lower the next is.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "flymc/anchor/anchor.hpp"
#include "model/support.hpp"
#include "problems/problems.hpp"
#include "problems/thread_ranks.hpp"

namespace flymc {
namespace {

using problems::Counted;
using problems::Machine;

// find_anchor if a start is given, else find_anchor_by_subsample; checks the number of queries that it reports.
template <class F>
Anchor search(const Store& store, const F& family, const Prior& prior, const AnchorOptions& options = {}) {
  const Counted<F> counted{family};
  const Model model(counted, prior);
  const Machine machine;
  const Anchor anchor = options.start ? find_anchor(store, model, machine.execution(), options)
                                      : find_anchor_by_subsample(store, model, machine.execution(), 1);
  EXPECT_EQ(anchor.queries, *counted.queries);
  return anchor;
}

double log_posterior(const Store& store, const Model& model, const Vector& theta) {
  double sum = model.prior().log_density(theta);
  for (RowId row = 0; row < store.rows(); ++row) {
    double eta = 0.0, value = 0.0;
    for (Index j = 0; j < store.features(); ++j) eta += theta[j] * store.value(row, j);
    const double y = store.target(row);
    model.family().likelihood({&y, 1}, {&eta, 1}, {&value, 1}, {}, {});
    sum += value;
  }
  return sum;
}

// Targets follow x theta, except for the last `outliers` of each hundred rows, which follow x (theta + shift).
Store with_outliers(RowId rows, const Vector& theta, const Vector& shift, Index outliers, double nu = 4.0) {
  const Model model(StudentT(nu, 1.0), Prior::flat());
  const RowMatrix x = problems::features(rows, theta.size(), 41);
  Vector y = problems::targets(model, x, theta, 41);
  for (Index i = 0; i < rows; ++i)
    if (i % 100 >= 100 - outliers) y[i] += x.row(i).dot(shift);
  return Store::from_matrix(x, y);
}

Vector of(std::initializer_list<double> numbers) {
  return Eigen::Map<const Vector>(numbers.begin(), static_cast<Index>(numbers.size()));
}

// A Student-t that cannot be eased: the search begins in one place, as for a user's own family.
struct Hard : StudentT {
  using StudentT::StudentT;
  StudentT eased(double) const = delete;
};
static_assert(Family<Hard>);

TEST(Modes, TargetsFarFromZero) {
  for (const RowId rows : {100, 1000, 10000, 60000})
    for (const double far : {300.0, -3000.0, 1e6}) {
      for (const Prior& prior : {Prior::normal(0.0, 2.0 * std::abs(far)), Prior::flat()}) {
        const Anchor anchor = search(with_outliers(rows, of({far}), of({0.0}), 0), StudentT(4.0, 1.0), prior);
        EXPECT_NEAR(anchor.theta[0], far, 6.0 / std::sqrt(static_cast<double>(rows)))
            << rows << " rows, " << prior.describe();
      }
      const Vector theta = of({far, 3.0, -2.0});
      const Anchor anchor = search(with_outliers(rows, theta, of({0.0, 0.0, 0.0}), 0), StudentT(4.0, 1.0),
                                   Prior::normal(0.0, 2.0 * std::abs(far)));
      EXPECT_LT((anchor.theta - theta).norm(), 12.0 / std::sqrt(static_cast<double>(rows))) << rows << " rows";
    }
}

// The prior is too narrow for the rows: the mode near its centre is far lower than the one near the rows.
TEST(Modes, ANarrowPriorDoesNotHoldTheSearch) {
  for (const RowId rows : {3000, 60000}) {
    const Anchor anchor =
        search(with_outliers(rows, of({300.0}), of({0.0}), 0), StudentT(4.0, 1.0), Prior::normal(0.0, 10.0));
    EXPECT_NEAR(anchor.theta[0], 300.0, 1.0) << rows;
  }
}

// A third of the rows are far away on one side, along every column: least squares lies between the two groups.
TEST(Modes, GrossOutliersOnOneSide) {
  for (const RowId rows : {300, 5000, 60000})
    for (const double size : {20.0, 300.0, 1e5})
      for (const double nu : {1.0, 4.0, 20.0}) {
        const Vector theta = of({0.5, -1.0, 2.0});
        const Store store = with_outliers(rows, theta, of({size, 0.3 * size, 0.0}), 30, nu);
        const Anchor anchor = search(store, StudentT(nu, 1.0), Prior::normal(0.0, 1e3));
        const Anchor near = search(store, Hard(nu, 1.0), Prior::normal(0.0, 1e3), {.start = theta});
        EXPECT_LT(near.metric.length(anchor.theta - near.theta), 1.0)
            << rows << " rows, outliers of " << size << ", nu " << nu << ": " << anchor.theta.transpose();
      }
}

// The given start is one of several: from the wrong hill the search still finds the right one.
TEST(Modes, AStartOnTheWrongHill) {
  const Store store = with_outliers(1000, of({0.0}), of({200.0}), 30);
  const Anchor anchor = search(store, StudentT(4.0, 1.0), Prior::normal(0.0, 100.0), {.start = of({200.0})});
  EXPECT_NEAR(anchor.theta[0], 0.0, 0.3);
  ASSERT_TRUE(anchor.other);
  EXPECT_NEAR(anchor.other->theta[0], 200.0, 0.5);
  const Model model(StudentT(4.0, 1.0), Prior::normal(0.0, 100.0));
  EXPECT_NEAR(anchor.other->lower,
              log_posterior(store, model, anchor.theta) - log_posterior(store, model, anchor.other->theta), 1e-3);
}

// Two groups of rows of equal size: the other mode is found and measured, whichever the search finds first.
TEST(Modes, TheOtherModeIsMeasured) {
  for (const RowId rows : {100, 1000, 10000, 60000})
    for (const double sign : {-1.0, 1.0}) {
      const Store store = with_outliers(rows, of({0.0}), of({sign * 50.0}), 50);
      const Prior prior = Prior::normal(0.0, 100.0);
      const Anchor anchor = search(store, StudentT(4.0, 1.0), prior);
      const bool at_zero = std::abs(anchor.theta[0]) < 1.0;
      EXPECT_TRUE(at_zero || std::abs(anchor.theta[0] - sign * 50.0) < 1.0) << anchor.theta[0];
      ASSERT_TRUE(anchor.other) << rows << " rows, " << sign;
      EXPECT_NEAR(anchor.other->theta[0], at_zero ? sign * 50.0 : 0.0, 1.0);
      const Model model(StudentT(4.0, 1.0), prior);
      const double lower = log_posterior(store, model, anchor.theta) - log_posterior(store, model, anchor.other->theta);
      EXPECT_NEAR(anchor.other->lower, lower, 0.5) << rows << " rows, " << sign;
      EXPECT_GE(anchor.other->lower, -1e-9);
    }
}

// If there is one mode, it is the one that the search from 0 finds, and no other is reported.
TEST(Modes, TargetsAroundZeroHaveOne) {
  for (const RowId rows : {50, 700, 10000, 60000}) {
    const Store store = with_outliers(rows, of({0.2, -0.4, 0.3, 0.5}), of({0.0, 0.0, 0.0, 0.0}), 0);
    const Anchor anchor = search(store, StudentT(4.0, 1.0), Prior::normal(0.0, 2.5));
    EXPECT_FALSE(anchor.other) << rows;
    const Machine machine;
    const Anchor mode = find_anchor(store, Model(StudentT(4.0, 1.0), Prior::normal(0.0, 2.5)), machine.execution(),
                                    {.tolerance = 1e-6});
    EXPECT_LT(mode.metric.length(anchor.theta - mode.theta), 2.0 / 3.0) << rows;
  }
}

// The several searches take few queries relative to a large table.
TEST(Modes, ManySearchesCostFewRows) {
  const Store store = with_outliers(60000, of({300.0, 1.0}), of({0.0, 0.0}), 0);
  const Anchor anchor = search(store, StudentT(4.0, 1.0), Prior::normal(0.0, 600.0));
  EXPECT_LT(anchor.queries, 60000 + 15 * 20000);
}

TEST(Modes, AFamilyThatCannotBeEasedIsSearchedFromOnePlace) {
  EXPECT_EQ(Model(Hard(4.0, 1.0), Prior::flat()).family().eased(2.0), nullptr);
  EXPECT_EQ(Model(Logistic{}, Prior::flat()).family().eased(2.0), nullptr);
  EXPECT_EQ(Model(Softmax{3}, Prior::flat()).family().eased(2.0), nullptr);
  const Store store = with_outliers(1000, of({0.2, -0.4}), of({0.0, 0.0}), 0);
  const Anchor hard = search(store, Hard(4.0, 1.0), Prior::normal(0.0, 2.5));
  EXPECT_EQ(hard.queries, (hard.steps + 1) * 1000);
  const Anchor eased = search(store, StudentT(4.0, 1.0), Prior::normal(0.0, 2.5));
  EXPECT_EQ(hard.theta, eased.theta);
  EXPECT_FALSE(hard.other);
}

TEST(Modes, RanksFindTheSame) {
  const Store store = with_outliers(60000, of({0.0, 1.0}), of({50.0, 0.0}), 50);
  const Model model(StudentT(4.0, 1.0), Prior::normal(0.0, 100.0));
  const Machine machine;
  const Anchor alone = find_anchor_by_subsample(store, model, machine.execution(), 1);
  problems::ThreadRanks::run(3, [&](const Communicator& communicator) {
    const Threads threads(1);
    const Anchor anchor = find_anchor_by_subsample(store, model, {threads, communicator}, 1);
    EXPECT_EQ(anchor.theta, alone.theta);
    EXPECT_EQ(anchor.queries, alone.queries);
    ASSERT_TRUE(anchor.other);
    EXPECT_EQ(anchor.other->theta, alone.other->theta);
    EXPECT_EQ(anchor.other->lower, alone.other->lower);
  });
}

}  // namespace
}  // namespace flymc
