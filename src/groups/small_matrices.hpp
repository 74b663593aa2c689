// Small dense matrices, such as the covariance of a group's effects.
#pragma once

#include <Eigen/Cholesky>

#include "flymc/core/linear.hpp"

namespace flymc {

inline Matrix inverse_of(const Matrix& positive_definite) {
  return positive_definite.llt().solve(Matrix::Identity(positive_definite.rows(), positive_definite.rows()));
}

}  // namespace flymc
