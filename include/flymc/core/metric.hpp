// A precision matrix P = L L' as a way to measure changes: ||change|| = sqrt(change' P change).
#pragma once

#include <Eigen/Cholesky>
#include <optional>

#include "flymc/core/linear.hpp"

namespace flymc {

class Metric {
 public:
  static Metric identity(Index dimension) { return Metric(Matrix::Identity(dimension, dimension)); }
  // Nothing if the matrix is not positive definite beyond rounding.
  static std::optional<Metric> from_precision(const Matrix& precision) {
    if (!precision.allFinite()) return std::nullopt;
    const Eigen::LLT<Matrix> llt(precision);
    if (llt.info() != Eigen::Success) return std::nullopt;
    const Matrix lower = llt.matrixL();
    for (Index j = 0; j < lower.rows(); ++j)
      if (lower(j, j) * lower(j, j) < 1e-13 * precision(j, j)) return std::nullopt;
    return Metric(lower);
  }
  // From the L of an earlier metric.
  static Metric from_lower(Matrix lower) { return Metric(std::move(lower)); }

  Index dimension() const { return lower_.rows(); }
  const Matrix& lower() const { return lower_; }
  Matrix precision() const { return lower_ * lower_.transpose(); }
  // L' change: standard normal if the change is normal with precision P.
  Vector whiten(const Vector& change) const { return lower_.transpose().triangularView<Eigen::Upper>() * change; }
  // L^-T z: normal with precision P if z is standard normal.
  Vector unwhiten(const Vector& z) const { return lower_.transpose().triangularView<Eigen::Upper>().solve(z); }
  // L^-1 gradient: a gradient in theta as a gradient in L' theta.
  Vector whiten_gradient(const Vector& gradient) const { return lower_.triangularView<Eigen::Lower>().solve(gradient); }

 private:
  explicit Metric(Matrix lower) : lower_(std::move(lower)) {}
  Matrix lower_;
};

}  // namespace flymc
