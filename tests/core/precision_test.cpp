// Bordered precisions against dense ones of the same numbers, and one of a million groups.
#include "flymc/core/precision.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>
#include <cstdint>

namespace flymc {
namespace {

// Numbers between -1 and 1 that are the same on every machine.
class Numbers {
 public:
  double next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state_ >> 11) / 4503599627370496.0 - 1.0;
  }
  Vector vector(Index size) {
    Vector out(size);
    for (Index i = 0; i < size; ++i) out[i] = next();
    return out;
  }

 private:
  std::uint64_t state_ = 20261119;
};

// The sum over rows of each group, and a prior.
BorderedMatrix some_matrix(Index border, Index groups, Index width, Index rows_of_each) {
  Numbers numbers;
  BorderedMatrix out(border, groups, width);
  for (Index g = 0; g < groups; ++g)
    for (Index i = 0; i < rows_of_each; ++i) {
      const double weight = 1.0 + 0.5 * numbers.next();
      const Vector x = numbers.vector(border);
      Vector u = numbers.vector(width);
      if (width > 0) u[0] = 1.0;
      out.add_row(weight, x, g, u);
    }
  out.border.diagonal().array() += 0.5;
  for (Index g = 0; g < groups; ++g) out.blocks.middleRows(g * width, width).diagonal().array() += 0.3;
  return out;
}

struct Shape {
  Index border, groups, width;
};

class BorderedPrecision : public testing::TestWithParam<Shape> {
 protected:
  const BorderedMatrix matrix = some_matrix(GetParam().border, GetParam().groups, GetParam().width, 3);
  const Matrix dense = matrix.dense();
  const Precision precision = Precision::of(matrix).value();
  // The norm of the difference relative to that of b.
  static double far(const Vector& a, const Vector& b) { return (a - b).norm() / b.norm(); }
};

TEST_P(BorderedPrecision, IsTheSumOfItsRows) {
  const auto [border, groups, width] = GetParam();
  Numbers numbers;
  Matrix sum = Matrix::Zero(matrix.dimension(), matrix.dimension());
  for (Index g = 0; g < groups; ++g)
    for (int i = 0; i < 3; ++i) {
      const double weight = 1.0 + 0.5 * numbers.next();
      Vector v = Vector::Zero(matrix.dimension());
      v.head(border) = numbers.vector(border);
      v.segment(border + g * width, width) = numbers.vector(width);
      v[border + g * width] = 1.0;
      sum += weight * v * v.transpose();
    }
  sum.diagonal().head(border).array() += 0.5;
  sum.diagonal().tail(groups * width).array() += 0.3;
  EXPECT_LT((sum - dense).norm(), 1e-14 * sum.norm());
  BorderedMatrix twice = matrix;
  twice += matrix;
  EXPECT_EQ(twice.dense(), 2.0 * dense);
}

TEST_P(BorderedPrecision, DoesWhatTheDenseMatrixDoes) {
  const Eigen::LLT<Matrix> llt(dense);
  const Vector v = Numbers().vector(matrix.dimension());
  EXPECT_EQ(precision.dimension(), dense.rows());
  EXPECT_LT(far(matrix * v, dense * v), 1e-14);
  EXPECT_LT(far(precision.apply(v), dense * v), 1e-13);
  EXPECT_LT(far(precision.solve(v), llt.solve(v)), 1e-12);
  EXPECT_NEAR(precision.length(v), std::sqrt(v.dot(dense * v)), 1e-12 * precision.length(v));
  EXPECT_NEAR(precision.log_determinant(), 2.0 * Matrix(llt.matrixL()).diagonal().array().log().sum(), 1e-10);
  const Matrix covariance = llt.solve(Matrix::Identity(dense.rows(), dense.rows()));
  for (const Index j : {Index{0}, dense.rows() / 2, dense.rows() - 1})
    EXPECT_NEAR(precision.sd(j), std::sqrt(covariance(j, j)), 1e-12) << j;
  for (Index j = 0; j < GetParam().border; ++j)
    EXPECT_NEAR(precision.conditional_sd()[j], 1.0 / std::sqrt(dense(j, j)), 1e-12) << j;
}

TEST_P(BorderedPrecision, TurnsStandardNormalsIntoDraws) {
  // unwhiten(z) = A z with A A' = P^-1, and whiten is its inverse.
  Matrix a(dense.rows(), dense.rows());
  for (Index j = 0; j < dense.rows(); ++j) a.col(j) = precision.unwhiten(Vector::Unit(dense.rows(), j));
  EXPECT_LT((a * a.transpose() * dense - Matrix::Identity(dense.rows(), dense.rows())).norm(), 1e-10);
  const Vector z = Numbers().vector(matrix.dimension());
  EXPECT_LT(far(precision.whiten(precision.unwhiten(z)), z), 1e-12);
  EXPECT_LT(far(precision.unwhiten_gradient(precision.whiten_gradient(z)), z), 1e-12);
  // The derivative along a change is the same in both coordinates.
  const Vector change = Numbers().vector(matrix.dimension());
  EXPECT_NEAR(precision.whiten_gradient(z).dot(precision.whiten(change)), z.dot(change), 1e-11);
}

TEST_P(BorderedPrecision, KnowsTheSpreadOfARow) {
  const auto [border, groups, width] = GetParam();
  Numbers numbers;
  const Matrix covariance = dense.inverse();
  for (const Index g : {Index{0}, groups - 1}) {
    const Vector x = numbers.vector(border), u = numbers.vector(width);
    Vector v = Vector::Zero(dense.rows());
    v.head(border) = x;
    v.segment(border + g * width, width) = u;
    EXPECT_NEAR(precision.sd(x, g, u), std::sqrt(v.dot(covariance * v)), 1e-11) << g;
  }
}

// The border's own factor is that of the marginal precision, with the groups integrated out.
TEST_P(BorderedPrecision, HasTheMarginalPrecisionOfItsBorder) {
  const Index d = GetParam().border;
  const Matrix marginal = Matrix(dense.inverse().topLeftCorner(d, d)).inverse();
  EXPECT_LT((precision.matrix() - marginal).norm(), 1e-10 * marginal.norm());
}

INSTANTIATE_TEST_SUITE_P(Shapes, BorderedPrecision,
                         testing::Values(Shape{3, 1, 1}, Shape{5, 40, 1}, Shape{4, 23, 2}, Shape{7, 11, 4},
                                         Shape{1, 200, 3}));

TEST(Precision, WithoutGroupsIsThatOfTheDenseMatrix) {
  const Matrix dense = some_matrix(6, 0, 0, 0).border + Matrix::Constant(6, 6, 0.1);
  const Precision a = Precision::of(dense).value(), b = Precision::of(BorderedMatrix(dense)).value();
  EXPECT_EQ(a.lower(), b.lower());
  EXPECT_EQ(a.log_determinant(), b.log_determinant());
  EXPECT_EQ((BorderedMatrix(dense) * Vector::Ones(6)).size(), 6);
}

TEST(Precision, IsRefusedIfAGroupOrTheBorderIsNotPositiveDefinite) {
  BorderedMatrix matrix = some_matrix(3, 5, 2, 3);
  ASSERT_TRUE(Precision::of(matrix));
  BorderedMatrix bad = matrix;
  bad.blocks.middleRows(4, 2).setZero();
  EXPECT_FALSE(Precision::of(bad));
  bad = matrix;
  bad.couplings *= 20.0;  // too large for the blocks and the border
  EXPECT_FALSE(Precision::of(bad));
  bad = matrix;
  bad.border(1, 1) = std::nan("");
  EXPECT_FALSE(Precision::of(bad));
  bad = matrix;
  bad.blocks(0, 0) = HUGE_VAL;
  EXPECT_FALSE(Precision::of(bad));
  // If a group's own coefficient repeats a column, only rounding errors are left of the border.
  BorderedMatrix twin(1, 1, 1);
  for (int i = 0; i < 10; ++i) twin.add_row(1.3, Vector::Ones(1), 0, Vector::Ones(1));
  EXPECT_FALSE(Precision::of(twin));
}

// Time and memory are linear in the number of groups: a dense matrix of this size would take 32 terabytes.
TEST(Precision, CarriesAMillionGroups) {
  constexpr Index groups = 1'000'000, border = 10, width = 2;
  const BorderedMatrix matrix = some_matrix(border, groups, width, 1);
  const auto precision = Precision::of(matrix);
  ASSERT_TRUE(precision);
  ASSERT_EQ(precision->dimension(), border + groups * width);
  const Vector v = Numbers().vector(precision->dimension());
  const Vector solution = precision->solve(v);
  EXPECT_LT((matrix * solution - v).norm(), 1e-10 * v.norm());
  EXPECT_NEAR(precision->length(solution), std::sqrt(v.dot(solution)), 1e-9 * precision->length(solution));
  EXPECT_LT((precision->whiten(precision->unwhiten(v)) - v).norm(), 1e-12 * v.norm());
  EXPECT_TRUE(std::isfinite(precision->log_determinant()));
}

}  // namespace
}  // namespace flymc
