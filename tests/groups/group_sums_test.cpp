// Sums by groups against sums row by row.
#include "flymc/groups/group_sums.hpp"

#include <gtest/gtest.h>

#include "flymc/groups/pair_sums.hpp"
#include "groups/grouped_tables.hpp"

namespace flymc {
namespace {

using grouped::logistic;

// Each row has its own slope and curvature.
const TermsOfRows numbered = [](const Block& part, const Vector& eta, RowTerms& out) {
  for (Index i = 0; i < part.rows(); ++i) {
    const auto row = static_cast<double>(part.first_row() + i);
    out.slope[i] = std::sin(row) + 0.1 * eta[i];
    out.curvature[i] = 2.0 + std::cos(row);
  }
  out.value += eta.sum();
};

TEST(SumByGroups, IsTheSumOverTheRows) {
  for (const bool ordered : {true, false}) {
    grouped::Shape shape;
    shape.rows = 40000;  // several blocks
    shape.groups = 700;
    shape.others = 30;
    shape.ordered = ordered;
    const Store store = grouped::table(logistic, shape);
    ASSERT_GT(store.blocks(), 1u);
    const GroupModel model{logistic, {{0, {{}, {2}}}, {1, {{1, 0.5, -0.2}}}}};
    const Threads one(1), many(4);
    const GroupedRows rows(store, model, {one});
    EXPECT_EQ(rows.ordered(0), ordered);
    Effects at{Vector::LinSpaced(3, -1.0, 1.0), {RowMatrix::Random(700, 2), RowMatrix::Random(30, 1)}};
    const GroupPass all{{true, true}, true, nullptr};
    const GroupSums sums = sum_by_groups(rows, at, all, {one}, numbered);
    const GroupSums again = sum_by_groups(rows, at, all, {many}, numbered);

    std::vector<EffectSums> expected;
    for (std::size_t f = 0; f < 2; ++f) {
      const Index k = rows.layout().width(f), groups = rows.layout().groups(f);
      expected.push_back({RowMatrix::Zero(groups, k), RowMatrix::Zero(groups * k, k), RowMatrix::Zero(groups * k, 3)});
    }
    for (RowId row = 0; row < store.rows(); ++row) {
      const Vector x{{store.value(row, 0), store.value(row, 1), store.value(row, 2)}};
      const Index g = store.group(row, 0), h = store.group(row, 1);
      const std::vector<Vector> w = {Vector{{1.0, x[2]}}, Vector{{0.5 * x[1] - 0.2 * x[0]}}};
      const double eta = x.dot(at.border) + w[0].dot(at.groups[0].row(g)) + w[1].dot(at.groups[1].row(h));
      const double s = std::sin(static_cast<double>(row)) + 0.1 * eta, c = 2.0 + std::cos(static_cast<double>(row));
      for (std::size_t f = 0; f < 2; ++f) {
        const Index k = w[f].size(), from = (f == 0 ? g : h) * k;
        expected[f].slope.row(f == 0 ? g : h) += s * w[f].transpose();
        expected[f].blocks.middleRows(from, k) += c * w[f] * w[f].transpose();
        expected[f].couplings.middleRows(from, k) += c * w[f] * x.transpose();
      }
    }
    for (std::size_t f = 0; f < 2; ++f) {
      RowMatrix lower = expected[f].blocks;
      for (Index i = 0; i < lower.rows(); ++i)
        for (Index j = i % lower.cols() + 1; j < lower.cols(); ++j) lower(i, j) = 0.0;
      EXPECT_LT((sums.effects[f].slope - expected[f].slope).cwiseAbs().maxCoeff(), 1e-9);
      EXPECT_LT((sums.effects[f].blocks - lower).cwiseAbs().maxCoeff(), 1e-9);
      EXPECT_LT((sums.effects[f].couplings - expected[f].couplings).cwiseAbs().maxCoeff(), 1e-9);
      EXPECT_TRUE(sums.effects[f].slope == again.effects[f].slope);
      EXPECT_TRUE(sums.effects[f].blocks == again.effects[f].blocks);
      EXPECT_TRUE(sums.effects[f].couplings == again.effects[f].couplings);
    }
    EXPECT_TRUE(sums.slope == again.slope && sums.curvature == again.curvature);
  }
}

TEST(PairSums, AreTheRowsThatTwoGroupsShare) {
  grouped::Shape shape;
  shape.rows = 3000;
  shape.groups = 40;
  shape.others = 9;
  const Store store = grouped::table(logistic, shape);
  const GroupModel model{logistic, {{0, {{}, {1}}}, {1, {{}, {2}}}}};
  const Threads threads(2);
  const GroupedRows rows(store, model, {threads});
  std::vector<double> c(3000);
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = 1.0 + static_cast<double>(i % 7);
  const PairSums pairs(rows, 0, 1, c, {threads}), back = pairs.transposed();
  const RowMatrix u = RowMatrix::Random(40, 2), v = RowMatrix::Random(9, 2);
  RowMatrix to_first = RowMatrix::Zero(40, 2), to_second = RowMatrix::Zero(9, 2);
  for (RowId row = 0; row < 3000; ++row) {
    const Index g = store.group(row, 0), h = store.group(row, 1);
    const Vector w{{1.0, store.value(row, 1)}}, z{{1.0, store.value(row, 2)}};
    to_first.row(g) += c[static_cast<std::size_t>(row)] * z.dot(v.row(h)) * w.transpose();
    to_second.row(h) += c[static_cast<std::size_t>(row)] * w.dot(u.row(g)) * z.transpose();
  }
  for (Index g = 0; g < 40; ++g) {
    double out[2] = {0.0, 0.0};
    pairs.add_product(g, v, out);
    for (Index j = 0; j < 2; ++j) EXPECT_NEAR(out[j], to_first(g, j), 1e-9);
  }
  for (Index h = 0; h < 9; ++h) {
    double out[2] = {0.0, 0.0};
    back.add_product(h, u, out);
    for (Index j = 0; j < 2; ++j) EXPECT_NEAR(out[j], to_second(h, j), 1e-9);
  }
}

}  // namespace
}  // namespace flymc
