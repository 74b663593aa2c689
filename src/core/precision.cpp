// Cholesky factors of dense matrices, and of bordered ones by eliminating their groups.
#include "flymc/core/precision.hpp"

#include <Eigen/Cholesky>
#include <algorithm>

namespace flymc {
namespace {

// Whether every pivot exceeds the rounding error of the diagonal entry that it comes from.
bool beyond_rounding(const Matrix& lower, const Vector& diagonal) {
  for (Index j = 0; j < lower.rows(); ++j)
    if (lower(j, j) * lower(j, j) < 1e-13 * diagonal[j]) return false;
  return true;
}

std::optional<Matrix> factor(const Matrix& matrix, const Vector& diagonal) {
  if (!matrix.allFinite()) return std::nullopt;
  const Eigen::LLT<Matrix> llt(matrix);
  if (llt.info() != Eigen::Success) return std::nullopt;
  Matrix lower = llt.matrixL();
  if (!beyond_rounding(lower, diagonal)) return std::nullopt;
  return lower;
}

}  // namespace

std::optional<Precision> Precision::of(const Matrix& matrix) {
  auto lower = factor(matrix, matrix.diagonal());
  if (!lower) return std::nullopt;
  return Precision(*std::move(lower));
}

std::optional<Precision> Precision::of(BorderedMatrix matrix) {
  const Vector diagonal = matrix.border.diagonal();
  std::shared_ptr<const Groups> groups;
  if (matrix.groups() > 0) {
    groups = eliminate_groups(matrix);
    if (!groups) return std::nullopt;
  }
  auto lower = factor(matrix.border.selfadjointView<Eigen::Lower>(), diagonal);
  if (!lower) return std::nullopt;
  return Precision(*std::move(lower), std::move(groups));
}

// Leaves the Schur complement B - sum of W'W in the border. Several groups are taken at a time: one product of large
// matrices is faster than many of small ones.
std::shared_ptr<const Precision::Groups> Precision::eliminate_groups(BorderedMatrix& matrix) {
  Groups out{std::move(matrix.blocks), std::move(matrix.couplings)};
  const Index k = out.width(), rows = out.lower.rows(), at_once = std::max<Index>(1, 512 / k) * k;
  for (Index first = 0; first < rows; first += at_once) {
    const Index last = std::min(rows, first + at_once);
    for (Index g = first; g < last; g += k) {
      const Matrix block = out.lower.middleRows(g, k).selfadjointView<Eigen::Lower>();
      const auto lower = factor(block, block.diagonal());
      if (!lower) return nullptr;
      out.lower.middleRows(g, k) = *lower;
      lower->triangularView<Eigen::Lower>().solveInPlace(out.couplings.middleRows(g, k));
    }
    matrix.border.selfadjointView<Eigen::Lower>().rankUpdate(
        Matrix(out.couplings.middleRows(first, last - first).transpose()), -1.0);
  }
  return std::make_shared<const Groups>(std::move(out));
}

double Precision::log_determinant() const {
  double half = lower_.diagonal().array().log().sum();
  const Index k = groups_ ? groups_->width() : 0;
  for (Index first = 0; k > 0 && first < groups_->lower.rows(); first += k)
    half += groups_->lower.middleRows(first, k).diagonal().array().log().sum();
  return 2.0 * half;
}

double Precision::sd(const Vector& x, Index group, const Vector& u) const {
  const Index k = groups_->width();
  const Vector own = groups_->lower.middleRows(group * k, k).triangularView<Eigen::Lower>().solve(u);
  const Vector rest = x - groups_->couplings.middleRows(group * k, k).transpose() * own;
  return std::hypot(own.norm(), lower_.triangularView<Eigen::Lower>().solve(rest).norm());
}

Vector Precision::conditional_sd() const {
  if (!groups_) return lower_.rowwise().norm().cwiseInverse();
  const Vector of_groups = groups_->couplings.colwise().squaredNorm();
  return (lower_.rowwise().squaredNorm() + of_groups).cwiseSqrt().cwiseInverse();
}

Vector Precision::whiten(const Vector& change) const {
  const auto border = lower_.transpose().triangularView<Eigen::Upper>();
  if (!groups_) return border * change;
  const Index d = lower_.rows(), k = groups_->width(), rest = groups_->lower.rows();
  Vector out(dimension());
  out.head(d) = border * change.head(d);
  out.tail(rest) = groups_->couplings * change.head(d);
  for (Index g = 0; g < rest; g += k)
    out.segment(d + g, k) +=
        groups_->lower.middleRows(g, k).transpose().triangularView<Eigen::Upper>() * change.segment(d + g, k);
  return out;
}

Vector Precision::unwhiten(const Vector& z) const {
  const auto border = lower_.transpose().triangularView<Eigen::Upper>();
  if (!groups_) return border.solve(z);
  const Index d = lower_.rows(), k = groups_->width(), rest = groups_->lower.rows();
  Vector out(dimension());
  out.head(d) = border.solve(z.head(d));
  out.tail(rest) = z.tail(rest) - groups_->couplings * out.head(d);
  for (Index g = 0; g < rest; g += k) {
    auto own = out.segment(d + g, k);
    groups_->lower.middleRows(g, k).transpose().triangularView<Eigen::Upper>().solveInPlace(own);
  }
  return out;
}

Vector Precision::whiten_gradient(const Vector& gradient) const {
  const auto border = lower_.triangularView<Eigen::Lower>();
  if (!groups_) return border.solve(gradient);
  const Index d = lower_.rows(), k = groups_->width(), rest = groups_->lower.rows();
  Vector out(dimension());
  out.tail(rest) = gradient.tail(rest);
  for (Index g = 0; g < rest; g += k) {
    auto own = out.segment(d + g, k);
    groups_->lower.middleRows(g, k).triangularView<Eigen::Lower>().solveInPlace(own);
  }
  out.head(d) = border.solve(gradient.head(d) - groups_->couplings.transpose() * out.tail(rest));
  return out;
}

Vector Precision::unwhiten_gradient(const Vector& gradient) const {
  const auto border = lower_.triangularView<Eigen::Lower>();
  if (!groups_) return border * gradient;
  const Index d = lower_.rows(), k = groups_->width(), rest = groups_->lower.rows();
  Vector out(dimension());
  out.head(d) = border * gradient.head(d) + groups_->couplings.transpose() * gradient.tail(rest);
  for (Index g = 0; g < rest; g += k)
    out.segment(d + g, k) = groups_->lower.middleRows(g, k).triangularView<Eigen::Lower>() * gradient.segment(d + g, k);
  return out;
}

Matrix Precision::covariance_factor() const {
  const Index d = lower_.rows();
  return lower_.transpose().triangularView<Eigen::Upper>().solve(Matrix::Identity(d, d));
}

}  // namespace flymc
