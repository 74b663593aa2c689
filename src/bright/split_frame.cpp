// Simultaneous diagonalisation of the collapsed bound's two matrices.
#include "flymc/bright/split_frame.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>

#include "flymc/anchor/long_tails.hpp"

namespace flymc {

std::optional<SplitFrame> collapsed_frame(const Bound& bound, const Term& term, std::span<const Index> tails) {
  SplitFrame frame;
  frame.origin = bound.anchor();
  const Index d = frame.origin.size();
  const BoundSums& sums = bound.sums();
  const auto whole = [](const Matrix& lower) { return Matrix(lower.selfadjointView<Eigen::Lower>()); };
  frame.prior_slope = Vector::Zero(d);
  term.surrogate(frame.origin, frame.prior_slope);
  // At the corner of a Laplace prior the surrogate is ten times as narrow as the prior. A frame that narrow would need
  // forces that grow with the distance, and chains stick where these are too large for a step.
  frame.prior_curvature = term.curvature(Term::Of::surrogate, frame.origin);
  frame.prior_curvature -= term.curvature(Term::Of::corner, frame.origin);
  leave_out(tails, frame.prior_curvature);
  for (const Index entry : tails) frame.prior_slope[entry] = 0.0;
  Matrix precision = whole(sums.curvature);
  frame.prior_curvature.add_to(precision);
  const auto metric = Precision::of(precision);
  if (!metric) return std::nullopt;
  // With A = L L' and L^-1 Q L^-T = U diag(growth) U': V = L^-T U, V^-1 = U'L'.
  Matrix rotation = Matrix::Identity(d, d);
  if (sums.growth.size() > 0) {
    const auto lower = metric->lower().triangularView<Eigen::Lower>();
    const Matrix half = lower.solve(whole(sums.growth));
    const Eigen::SelfAdjointEigenSolver<Matrix> solver(lower.solve(Matrix(half.transpose())));
    rotation = solver.eigenvectors();
    frame.growth = solver.eigenvalues();
  }
  const Matrix v = metric->lower().transpose().triangularView<Eigen::Upper>().solve(rotation);
  frame.to_theta = v;
  frame.from_theta = rotation.transpose() * metric->lower().transpose();
  frame.value = sums.value;
  frame.slope = sums.slope;
  frame.centre = v.transpose() * (sums.slope + frame.prior_slope);
  if (bound.metric()) {
    frame.to_white = bound.metric()->lower().transpose() * v;
    frame.stretch = frame.to_white.norm() / std::sqrt(static_cast<double>(d));
  }
  frame.pack();
  return frame;
}

SplitFrame laplace_frame(const Anchor& anchor, const std::optional<Vector>& centre) {
  SplitFrame frame;
  const Index d = anchor.theta.size();
  frame.origin = anchor.theta;
  frame.from_theta = anchor.metric.lower().transpose();
  frame.to_theta = frame.from_theta.triangularView<Eigen::Upper>().solve(Matrix::Identity(d, d));
  frame.centre = centre ? Vector(frame.from_theta * (*centre - anchor.theta)) : Vector(Vector::Zero(d));
  frame.pack();
  return frame;
}

void SplitFrame::pack() {
  packed_to_theta_ = PackedMatrix(to_theta);
  packed_transposed_ = PackedMatrix(to_theta.transpose());
  packed_from_theta_ = PackedMatrix(from_theta);
  packed_to_white_ = PackedMatrix(to_white);
}

// V + s'Delta - Delta'C Delta / 2 - rho Delta'Q Delta / 2 with Delta'C Delta = |b|^2 minus the prior's form.
double SplitFrame::log_sum(const Vector& b, const Vector& change, double rho) const {
  double form = b.squaredNorm() - prior_curvature.form(change);
  if (growth.size() > 0) form += rho * growth.dot(b.cwiseAbs2());
  return value + slope.dot(change) - 0.5 * form;
}

Vector SplitFrame::rest(const Vector& b, double rho, double rho_weight) const {
  if (growth.size() == 0) return Vector::Zero(b.size());
  const double length = b.norm();
  if (length > 0.0) rho_weight = (rho_weight - 0.5 * growth.dot(b.cwiseAbs2())) * stretch / length;
  return rho_weight * b - rho * growth.cwiseProduct(b);
}

Vector SplitFrame::prior_rest(const Term& term, const Vector& change) const {
  Vector gradient = prior_curvature * change - prior_slope;
  term.log_density(origin + change, &gradient);
  return gradient;
}

}  // namespace flymc
