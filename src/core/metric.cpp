// What factors or solves, compiled once: the templates behind it take longer to read than most files.
#include "flymc/core/metric.hpp"

#include <Eigen/Cholesky>

namespace flymc {

std::optional<Metric> Metric::from_precision(const Matrix& precision) {
  if (!precision.allFinite()) return std::nullopt;
  const Eigen::LLT<Matrix> llt(precision);
  if (llt.info() != Eigen::Success) return std::nullopt;
  const Matrix lower = llt.matrixL();
  for (Index j = 0; j < lower.rows(); ++j)
    if (lower(j, j) * lower(j, j) < 1e-13 * precision(j, j)) return std::nullopt;
  return Metric(lower);
}

Matrix Metric::precision() const { return lower_ * lower_.transpose(); }

Vector Metric::whiten(const Vector& change) const { return lower_.transpose().triangularView<Eigen::Upper>() * change; }

Vector Metric::unwhiten(const Vector& z) const { return lower_.transpose().triangularView<Eigen::Upper>().solve(z); }

Vector Metric::whiten_gradient(const Vector& gradient) const {
  return lower_.triangularView<Eigen::Lower>().solve(gradient);
}

}  // namespace flymc
