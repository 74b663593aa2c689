// The dense types of the project, and the dot product whose rounding never depends on alignment.
#pragma once

#include <Eigen/Core>
#include <cstdint>

namespace flymc {

using Index = Eigen::Index;
using RowId = std::int64_t;
using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// sum_j x_j v_j in four lanes that are combined in a fixed order. Eigen's own reduction starts at an aligned address,
// so the same row could give two sums in two places; a draw must not depend on where a row is stored.
template <class Scalar>
double dot(const Scalar* x, const double* v, Index size) {
  double lane[4] = {0.0, 0.0, 0.0, 0.0};
  Index j = 0;
  for (; j + 4 <= size; j += 4)
    for (Index i = 0; i < 4; ++i) lane[i] += static_cast<double>(x[j + i]) * v[j + i];
  for (Index i = 0; j + i < size; ++i) lane[i] += static_cast<double>(x[j + i]) * v[j + i];
  return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

// out_j += scale x_j.
template <class Scalar>
void add_scaled(double scale, const Scalar* x, double* out, Index size) {
  for (Index j = 0; j < size; ++j) out[j] += scale * static_cast<double>(x[j]);
}

}  // namespace flymc
