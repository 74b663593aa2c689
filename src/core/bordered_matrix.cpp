// Sums and products, group by group.
#include "flymc/core/bordered_matrix.hpp"

namespace flymc {

BorderedMatrix::BorderedMatrix(Index border_size, Index groups, Index width)
    : border(Matrix::Zero(border_size, border_size)),
      blocks(RowMatrix::Zero(groups * width, width)),
      couplings(RowMatrix::Zero(groups * width, border_size)) {}

void BorderedMatrix::add_row(double times, const Vector& x, Index group, const Vector& u) {
  border.selfadjointView<Eigen::Lower>().rankUpdate(x, times);
  const Index first = group * width();
  for (Index i = 0; i < width(); ++i) {
    if (u[i] == 0.0) continue;
    blocks.row(first + i).head(i + 1) += times * u[i] * u.head(i + 1).transpose();
    couplings.row(first + i) += times * u[i] * x.transpose();
  }
}

BorderedMatrix& BorderedMatrix::operator+=(const BorderedMatrix& other) {
  border += other.border;
  blocks += other.blocks;
  couplings += other.couplings;
  return *this;
}

Vector BorderedMatrix::operator*(const Vector& v) const {
  const Index d = border.rows(), k = width();
  Vector out(dimension());
  out.head(d) = border.selfadjointView<Eigen::Lower>() * v.head(d);
  if (k == 0) return out;
  out.head(d) += couplings.transpose() * v.tail(blocks.rows());
  out.tail(blocks.rows()) = couplings * v.head(d);
  for (Index first = 0; first < blocks.rows(); first += k)
    out.segment(d + first, k) += blocks.middleRows(first, k).selfadjointView<Eigen::Lower>() * v.segment(d + first, k);
  return out;
}

Matrix BorderedMatrix::dense() const {
  const Index d = border.rows(), k = width();
  Matrix out = Matrix::Zero(dimension(), dimension());
  out.topLeftCorner(d, d) = border.selfadjointView<Eigen::Lower>();
  if (k == 0) return out;
  out.bottomLeftCorner(blocks.rows(), d) = couplings;
  out.topRightCorner(d, blocks.rows()) = couplings.transpose();
  for (Index first = 0; first < blocks.rows(); first += k)
    out.block(d + first, d + first, k, k) = blocks.middleRows(first, k).selfadjointView<Eigen::Lower>();
  return out;
}

}  // namespace flymc
