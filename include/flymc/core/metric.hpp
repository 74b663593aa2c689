// A precision matrix P = L L' as a way to measure changes: ||change|| = sqrt(change' P change).
#pragma once

#include <optional>

#include "flymc/core/linear.hpp"

namespace flymc {

class Metric {
 public:
  static Metric identity(Index dimension) { return Metric(Matrix::Identity(dimension, dimension)); }
  // Nothing if the matrix is not positive definite beyond rounding.
  static std::optional<Metric> from_precision(const Matrix& precision);
  // From the L of an earlier metric.
  static Metric from_lower(Matrix lower) { return Metric(std::move(lower)); }

  Index dimension() const { return lower_.rows(); }
  const Matrix& lower() const { return lower_; }
  Matrix precision() const;
  // L' change: standard normal if the change is normal with precision P.
  Vector whiten(const Vector& change) const;
  // L^-T z: normal with precision P if z is standard normal.
  Vector unwhiten(const Vector& z) const;
  // L^-1 gradient: a gradient in theta as a gradient in L' theta.
  Vector whiten_gradient(const Vector& gradient) const;

 private:
  explicit Metric(Matrix lower) : lower_(std::move(lower)) {}
  Matrix lower_;
};

}  // namespace flymc
