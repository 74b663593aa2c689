// The spread of rows against triangular solves, and the same bits in any company.
#include "flymc/bound/spread.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "problems/problems.hpp"

namespace flymc {
namespace {

// A metric with correlations and scales of its own.
Metric some_metric(Index dimension, std::uint64_t seed) {
  RowMatrix a = problems::features(2 * dimension, dimension, seed);
  for (Index j = 0; j < dimension; ++j) a.col(j) *= 1.0 + 0.3 * static_cast<double>(j);
  return *Metric::from_precision(a.transpose() * a + 0.1 * Matrix::Identity(dimension, dimension));
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
// Whole strips of eight and others, fewer columns than a strip, and strips that two predictors share.
INSTANTIATE_TEST_SUITE_P(Shapes, SpreadOfShape,
                         testing::Values(Shape{1, 1}, Shape{5, 1}, Shape{16, 1}, Shape{51, 1}, Shape{3, 3}, Shape{8, 3},
                                         Shape{21, 3}),
                         [](const auto& shape) {
                           return std::to_string(shape.param.features) + "By" + std::to_string(shape.param.predictors);
                         });

TEST_P(SpreadOfShape, IsWhatTriangularSolvesGive) {
  const auto [d, k] = GetParam();
  const Metric metric = some_metric(d * k, 3);
  const Spread spread(metric, k);
  for (const Precision precision : {Precision::float64, Precision::float32}) {
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
  const Spread spread(some_metric(d * k, 5), k);
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

}  // namespace
}  // namespace flymc
