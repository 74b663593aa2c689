// The collapsed bound: identical bits on any number of threads, bookkeeping of rows, and the inputs that it refuses.
#include "flymc/bound/bound.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "flymc/core/error.hpp"
#include "problems/message_of.hpp"
#include "problems/problems.hpp"

namespace flymc {
namespace {

using problems::message_of;

TEST(Bound, SumsAreTheSameOnAnyNumberOfThreads) {
  for (const Model& model : problems::models()) {
    const auto problem = problems::make(model, 70000, 4, 5);  // several blocks
    ASSERT_GT(problem.store.blocks(), 3u);
    const Vector theta = problem.theta + Vector::Constant(problem.theta.size(), 0.1);
    double first = 0.0;
    for (const int threads : {1, 2, 5}) {
      const problems::Machine machine(threads);
      const Bound bound(problem.store, model.shared_family(), std::make_shared<AnchoredRule>(), problem.theta,
                        machine.execution());
      const double sum = bound.log_sum(bound.at(theta, false));
      if (threads == 1) first = sum;
      EXPECT_EQ(sum, first);
      EXPECT_EQ(bound.queries(), problem.store.rows());
    }
  }
}

TEST(Bound, EverySumOfARuleWithReachIsTheSameOnAnyNumberOfThreads) {
  const Model model(Logistic{}, Prior::normal(0.0, 2.0));
  const auto problem = problems::make(model, 40000, 11, 5);
  const Precision metric = *Precision::of(Matrix::Constant(11, 11, 50.0) + 2000.0 * Matrix::Identity(11, 11));
  const auto sums = [&](int threads) {
    const problems::Machine machine(threads);
    return Bound(problem.store, model.shared_family(), std::make_shared<problems::CubicRule>(6.0), problem.theta,
                 machine.execution(), metric)
        .sums();
  };
  const BoundSums one = sums(1), two = sums(2);
  EXPECT_EQ(one.value, two.value);
  EXPECT_TRUE(one.slope == two.slope);
  EXPECT_TRUE(one.curvature == two.curvature);
  EXPECT_TRUE(one.growth == two.growth);
}

// At the anchor the bound is the likelihood: that of Bernoulli trials, written out, with weights and offsets.
TEST(Bound, IsTheLikelihoodAtTheAnchorWithWeightsAndOffsets) {
  const RowMatrix x = problems::features(200, 3, 7);
  StoreBuilder builder(Layout({"a", "b", "c"}), FactKinds{true, true});
  const Vector anchor = Vector::LinSpaced(3, -0.5, 0.8);
  double expected = 0.0;
  for (Index i = 0; i < x.rows(); ++i) {
    const RowFacts facts{i % 3 == 0 ? 1.0 : 0.0, 0.5 + static_cast<double>(i % 4), 0.01 * static_cast<double>(i) - 0.7};
    builder.append({x.row(i).data(), 3}, facts);
    const double eta = x.row(i).dot(anchor) + facts.offset;
    expected -= facts.weight * std::log1p(std::exp(facts.target > 0.5 ? -eta : eta));
  }
  const Store store = builder.finish();
  const Model model(Logistic{}, Prior::flat());
  const problems::Machine machine;
  const Bound bound(store, model.shared_family(), std::make_shared<AnchoredRule>(), anchor, machine.execution());
  EXPECT_NEAR(bound.log_sum(bound.at(anchor, false)), expected, 1e-10);
  // The same for rows that are fetched one by one.
  const std::vector<RowId> some = {3, 77, 199};
  BoundRows rows;
  rows.fetch(store, some);
  std::vector<double> eta(some.size());
  rows.predict(anchor, eta);
  for (std::size_t i = 0; i < some.size(); ++i)
    EXPECT_NEAR(eta[i], x.row(some[i]).dot(anchor) + 0.01 * static_cast<double>(some[i]) - 0.7, 1e-12);
}

TEST(Bound, SinglePrecisionRowsHaveTheirOwnExactBound) {
  // Rows rounded to float32 are another table; the collapsed sum must equal the sum of those rounded rows.
  const Model model(Logistic{}, Prior::flat());
  const RowMatrix x = problems::features(3000, 5, 3);
  const Vector theta = Vector::LinSpaced(5, -1.0, 1.0);
  const Vector y = problems::targets(model, x, theta, 3);
  const problems::Machine machine;
  const Store floats = Store::from_matrix(x, y, {}, NumberType::float32);
  const Store same = Store::from_matrix(x.cast<float>().cast<double>(), y);
  const Vector at = Vector::Constant(5, 0.3);
  const Bound one(floats, model.shared_family(), std::make_shared<AnchoredRule>(), theta, machine.execution());
  const Bound other(same, model.shared_family(), std::make_shared<AnchoredRule>(), theta, machine.execution());
  EXPECT_EQ(one.log_sum(one.at(at, false)), other.log_sum(other.at(at, false)));
}

TEST(BoundRows, AppendAndRemoveKeepRowsWhole) {
  const Model model(Softmax{3}, Prior::normal(0.0, 1.0));
  const auto problem = problems::make(model, 20, 2, 4);
  const problems::Machine machine;
  const Bound bound(problem.store, model.shared_family(), std::make_shared<AnchoredRule>(), problem.theta,
                    machine.execution());
  BoundRows all, kept;
  const std::vector<RowId> ids = {3, 1, 4, 15, 9};
  bound.prepare(problem.store, ids, all);
  for (const std::size_t i : {0u, 2u, 4u, 1u}) kept.append(all, i);  // 3 4 9 1
  kept.remove(1);                                                    // 3 1 9
  kept.remove(2);                                                    // 3 1
  EXPECT_EQ(kept.row, (std::vector<RowId>{3, 1}));
  BoundRows expected;
  bound.prepare(problem.store, kept.row, expected);
  EXPECT_EQ(kept.facts, expected.facts);
  EXPECT_EQ(kept.eta_anchor, expected.eta_anchor);
  EXPECT_EQ(kept.coefficients.curvature, expected.coefficients.curvature);
  kept.clear();
  EXPECT_EQ(kept.size(), 0u);
  EXPECT_TRUE(kept.eta_anchor.empty());
}

TEST(Bound, RefusesWhatItCannotUse) {
  const Model model(Logistic{}, Prior::flat());
  const auto problem = problems::make(model, 20, 2, 4);
  const problems::Machine machine;
  const auto make = [&](std::shared_ptr<const BoundRule> rule, const Model& m, const Vector& anchor) {
    return message_of<std::exception>(
        [&] { Bound(problem.store, m.shared_family(), rule, anchor, machine.execution()); });
  };
  EXPECT_EQ(make(std::make_shared<AnchoredRule>(), model, Vector::Zero(3)), "the anchor must be 2 finite numbers");
  EXPECT_EQ(make(std::make_shared<AnchoredRule>(), model, Vector::Constant(2, HUGE_VAL)),
            "the anchor must be 2 finite numbers");
  EXPECT_EQ(make(std::make_shared<problems::CubicRule>(3.0), model, Vector::Zero(2)),
            "the cubic bound needs a metric of dimension 2");
  EXPECT_EQ(
      make(std::make_shared<FixedJaakkolaJordanRule>(), Model(StudentT{4.0, 1.0}, Prior::flat()), Vector::Zero(2)),
      "a fixed xi belongs to the logistic family; use the anchored bound");
}

// A family with an invalid bound: its curvature is halved.
struct Halved : Logistic {
  void global_curvature(double y, Predictor eta, std::span<double> out) const {
    Logistic::global_curvature(y, eta, out);
    out[0] *= 0.5;
  }
};

TEST(Bound, ABoundAboveItsLikelihoodIsFatalAndNamesTheRow) {
  const Model model(Halved{}, Prior::flat());
  const auto problem = problems::make(model, 20, 2, 4);
  const problems::Machine machine;
  const Bound bound(problem.store, model.shared_family(), std::make_shared<AnchoredRule>(), Vector::Zero(2),
                    machine.execution());
  BoundRows rows;
  const std::vector<RowId> ids = {17};
  bound.prepare(problem.store, ids, rows);
  Gaps gaps;
  EXPECT_THROW(bound.gaps(rows, bound.at(Vector::Constant(2, 0.5), false), false, gaps), BoundViolation);
  const std::string message =
      message_of<std::exception>([&] { bound.gaps(rows, bound.at(Vector::Constant(2, 0.5), false), false, gaps); });
  EXPECT_EQ(message.substr(0, 66), "row 17: the anchored bound lies above the logistic likelihood by 0") << message;
}

TEST(Bound, ChecksTargetsAndPriorItself) {
  const Model model(Softmax{3}, Prior::normal(0.0, 1.0));
  const problems::Machine machine;
  const Store store = Store::from_matrix(RowMatrix::Ones(4, 2), Vector::Constant(4, 7.0));
  EXPECT_EQ(message_of<std::exception>([&] {
              Bound(store, model.shared_family(), std::make_shared<AnchoredRule>(), Vector::Zero(6),
                    machine.execution());
            }),
            "row 0: the target 7 does not fit the softmax family, which needs a whole number from 0 to 2");
  // A further precision with the dimension of another model.
  const Store three = Store::from_matrix(RowMatrix::Ones(4, 3), Vector::Ones(4));
  const Model other(Logistic{}, Prior::flat());
  EXPECT_THROW(Bound(three, other.shared_family(), std::make_shared<AnchoredRule>(), Vector::Zero(3),
                     machine.execution(), std::nullopt, {}, SparseSymmetric{Vector::Ones(2)}),
               InputError);
}

}  // namespace
}  // namespace flymc
