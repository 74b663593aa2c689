// A symmetric matrix of a dense border and a small block for each of many groups.
#pragma once

#include <span>

#include "flymc/core/linear.hpp"

namespace flymc {

// The second derivative of rows that share D coefficients and belong to one of G groups, each with k coefficients of
// its own: D x D numbers for the shared ones (the border), k x k for each group, k x D between a group and the border,
// and zeros between two groups. Vectors have the D entries of the border first, then the k of each group. Without
// groups it is a dense matrix.
class BorderedMatrix {
 public:
  explicit BorderedMatrix(Matrix dense) : border(std::move(dense)) {}
  // All zeros.
  BorderedMatrix(Index border_size, Index groups, Index width);

  // `border` and each block of `blocks` have their lower triangle only.
  Matrix border;
  RowMatrix blocks;     // rows g k ... g k + k - 1 belong to group g
  RowMatrix couplings;  // the same rows, a column for each entry of the border

  Index width() const { return blocks.cols(); }
  Index groups() const { return width() > 0 ? blocks.rows() / width() : 0; }
  Index dimension() const { return border.rows() + blocks.rows(); }

  // Adds times v v', where v has x in the border and u in the row's group.
  void add_row(double times, const Vector& x, Index group, const Vector& u);
  BorderedMatrix& operator+=(const BorderedMatrix& other);
  Vector operator*(const Vector& v) const;
  // The whole matrix, with both triangles; for small ones.
  Matrix dense() const;
};

}  // namespace flymc
