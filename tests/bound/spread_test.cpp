// The spread of rows against triangular solves, with identical bits in any batch.
#include "flymc/bound/spread.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <numeric>

#include "problems/problems.hpp"

namespace flymc {
namespace {

// A metric with correlated coefficients on different scales.
Precision some_metric(Index dimension, std::uint64_t seed) {
  RowMatrix a = problems::features(2 * dimension, dimension, seed);
  for (Index j = 0; j < dimension; ++j) a.col(j) *= 1.0 + 0.3 * static_cast<double>(j);
  return *Precision::of(a.transpose() * a + 0.1 * Matrix::Identity(dimension, dimension));
}

RowCopies copies(const Store& store, std::span<const RowId> rows) {
  RowCopies out;
  FactColumns facts;
  out.copy(store, rows, facts);
  return out;
}

struct Shape {
  Index features, predictors;
};
class SpreadOfShape : public testing::TestWithParam<Shape> {};
// Whole strips of eight and incomplete ones, fewer columns than a strip, and strips that two predictors share.
INSTANTIATE_TEST_SUITE_P(Shapes, SpreadOfShape,
                         testing::Values(Shape{1, 1}, Shape{5, 1}, Shape{16, 1}, Shape{51, 1}, Shape{3, 3}, Shape{8, 3},
                                         Shape{21, 3}),
                         [](const auto& shape) {
                           return std::to_string(shape.param.features) + "By" + std::to_string(shape.param.predictors);
                         });

TEST_P(SpreadOfShape, IsWhatTriangularSolvesGive) {
  const auto [d, k] = GetParam();
  const Precision metric = some_metric(d * k, 3);
  const Spread spread(metric, Arrangement(k));
  for (const NumberType precision : {NumberType::float64, NumberType::float32}) {
    const Store store = Store::from_matrix(problems::features(300, d, 4), Vector::Zero(300), {}, precision);
    std::vector<RowId> rows(300);
    std::iota(rows.rbegin(), rows.rend(), 0);
    std::vector<double> out(rows.size() * static_cast<std::size_t>(k * k));
    spread.of(copies(store, rows), out);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Matrix w = Matrix::Zero(d * k, k);
      for (Index p = 0; p < k; ++p)
        for (Index j = 0; j < d; ++j) w(p * d + j, p) = store.value(rows[i], j);
      for (Index p = 0; p < k; ++p) w.col(p) = metric.whiten_gradient(w.col(p));
      const Matrix expected = w.transpose() * w;
      const Eigen::Map<const RowMatrix> g(out.data() + i * static_cast<std::size_t>(k * k), k, k);
      EXPECT_LT((g - expected).cwiseAbs().maxCoeff(), 1e-12 * expected.cwiseAbs().maxCoeff());
    }
  }
}

TEST_P(SpreadOfShape, ARowHasTheSameBitsAloneAsInCompany) {
  const auto [d, k] = GetParam();
  const auto square = static_cast<std::size_t>(k * k);
  const Spread spread(some_metric(d * k, 5), Arrangement(k));
  const Store store = Store::from_matrix(problems::features(600, d, 6), Vector::Zero(600));
  std::vector<RowId> rows(600);
  std::iota(rows.begin(), rows.end(), 0);
  std::vector<double> together(rows.size() * square), part(together.size());
  spread.of(copies(store, rows), together);
  for (const std::size_t company : {1u, 2u, 3u, 4u, 7u, 8u, 13u, 300u})
    for (std::size_t first = 0; first < rows.size(); first += company) {
      const std::size_t count = std::min<std::size_t>(company, rows.size() - first);
      spread.of(copies(store, {rows.data() + first, count}), {part.data() + first * square, count * square});
      ASSERT_TRUE(std::equal(part.data() + first * square, part.data() + (first + count) * square,
                             together.data() + first * square))
          << "rows from " << first << " in company of " << company;
    }
}

// Rows with codes use lookups in the covariance: the result equals that for numbers, is never less, and is
// bit-identical in any batch. One case has a sum that cancels: two features that nearly always occur together, about
// each of which the metric knows almost nothing.
TEST(SpreadOfCodes, IsThatOfNumbersAndNeverLess) {
  for (const Index k : {1, 3}) {
    const Layout layout({"a", "b", "c", "d", "e", "f", "g"}, NumberType::float64, {0, 3, 0, 2});
    StoreBuilder codes(layout), plain(layout.names());
    const RowMatrix x = problems::features(300, 2, 7);
    std::vector<double> features(7);
    for (Index i = 0; i < 300; ++i) {
      const std::vector<double> cells = {x(i, 0), static_cast<double>(i % 4), x(i, 1), static_cast<double>(i / 4 % 3)};
      layout.expand(cells, features);
      codes.append(cells, 0.0);
      plain.append(features, 0.0);
    }
    const Store coded = codes.finish(), written_out = plain.finish();
    std::vector<RowId> rows(300);
    std::iota(rows.begin(), rows.end(), 0);
    const auto square = static_cast<std::size_t>(k * k);
    for (const double together : {0.0, 1e4, 1e8, 1e12}) {
      Matrix precision = Matrix::Identity(7 * k, 7 * k);
      const Precision usual = some_metric(7 * k, 8);
      precision = usual.lower() * usual.lower().transpose();
      for (Index p = 0; p < k; ++p) {
        Vector both = Vector::Zero(7 * k);
        both[7 * p] = both[7 * p + 1] = 1.0;
        precision += together * both * both.transpose();
      }
      const Spread spread(*Precision::of(precision), Arrangement(k));
      std::vector<double> own(300 * square), expected(own.size()), alone(square);
      spread.of(copies(coded, rows), own);
      spread.of(copies(written_out, rows), expected);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const Eigen::Map<const RowMatrix> g(own.data() + i * square, k, k), h(expected.data() + i * square, k, k);
        const double size = h.cwiseAbs().maxCoeff();
        EXPECT_LT((g - h).cwiseAbs().maxCoeff(), 1e-10 * std::max(size, 1.0)) << together;
        // Both have rounding errors; the allowance is much larger.
        EXPECT_GT(Eigen::SelfAdjointEigenSolver<Matrix>(g - h).eigenvalues().minCoeff(), -1e-15 * size) << together;
        spread.of(copies(coded, {&rows[i], 1}), alone);
        EXPECT_TRUE(std::equal(alone.begin(), alone.end(), own.begin() + static_cast<std::ptrdiff_t>(i * square)));
      }
    }
  }
}

// Two predictors, the second of which has the last feature, a 1, to itself: for numbers, singly and in batches, and for
// codes.
TEST(SpreadOfASharedPredictor, IsWhatTriangularSolvesGive) {
  const Arrangement shared(2, true);
  for (const bool coded : {false, true}) {
    const Layout layout = coded ? Layout({"a", "b", "c", "d", "e", "f", "g"}, NumberType::float64, {0, 5, 0})
                                : Layout(std::vector<std::string>{"a", "b", "c", "d", "e", "f", "g"});
    StoreBuilder builder(layout);
    const RowMatrix x = problems::features(60, 6, 9);
    for (Index i = 0; i < 60; ++i) {
      std::vector<double> cells = {x(i, 1), static_cast<double>(i % 6), 1.0};
      if (!coded) cells = {x(i, 0), x(i, 1), x(i, 2), x(i, 3), x(i, 4), x(i, 5), 1.0};
      builder.append(cells, 0.0);
    }
    const Store store = builder.finish();
    const Precision metric = some_metric(7, 10);
    const Spread spread(metric, shared);
    std::vector<RowId> rows(60);
    std::iota(rows.begin(), rows.end(), 0);
    std::vector<double> out(240), alone(4);
    spread.of(copies(store, rows), out);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Matrix w = Matrix::Zero(7, 2);
      for (Index j = 0; j < 6; ++j) w(j, 0) = store.value(rows[i], j);
      w(6, 1) = 1.0;
      for (Index p = 0; p < 2; ++p) w.col(p) = metric.whiten_gradient(Vector(w.col(p)));
      const Matrix expected = w.transpose() * w;
      const Eigen::Map<const RowMatrix> g(out.data() + 4 * i, 2, 2);
      EXPECT_LT((g - expected).cwiseAbs().maxCoeff(), 1e-12 * expected.cwiseAbs().maxCoeff());
      if (coded) {
        EXPECT_GT(Eigen::SelfAdjointEigenSolver<Matrix>(g - expected).eigenvalues().minCoeff(), -1e-15);
      }
      spread.of(copies(store, {&rows[i], 1}), alone);
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(), out.begin() + static_cast<std::ptrdiff_t>(4 * i)));
    }
  }
}

}  // namespace
}  // namespace flymc
