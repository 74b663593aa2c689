// The precision matrix of a normal distribution, factored: distances, solutions and draws.
#pragma once

#include <memory>
#include <optional>

#include "flymc/core/bordered_matrix.hpp"
#include "flymc/core/linear.hpp"

namespace flymc {

// P = L L'. The factor takes the groups of a bordered matrix first and its border last, so that two groups share no
// entry of it: memory and time are linear in the number of groups.
class Precision {
 public:
  static Precision identity(Index dimension) { return Precision(Matrix::Identity(dimension, dimension)); }
  // Empty if the matrix is not positive definite beyond rounding.
  static std::optional<Precision> of(const Matrix& matrix);
  static std::optional<Precision> of(BorderedMatrix matrix);
  // From lower() of an earlier precision without groups.
  static Precision from_lower(Matrix lower) { return Precision(std::move(lower)); }

  Index dimension() const { return lower_.rows() + (groups_ ? groups_->lower.rows() : 0); }
  // The L of the border: L L' is the marginal precision of the border's entries, with the groups integrated out.
  // Without groups that is all of P.
  const Matrix& lower() const { return lower_; }

  // With groups of k entries: for a group with block H and coupling C to the border, the k x k factor L_g of H, and the
  // k lines of L_g^-1 C, below those of the groups before it.
  const RowMatrix& group_lower() const { return groups_->lower; }
  const RowMatrix& group_couplings() const { return groups_->couplings; }

  // P v.
  Vector apply(const Vector& v) const { return unwhiten_gradient(whiten(v)); }
  // P^-1 v.
  Vector solve(const Vector& v) const { return unwhiten(whiten_gradient(v)); }
  double log_determinant() const;
  // The length of a change in standard deviations: sqrt(change' P change).
  double length(const Vector& change) const { return whiten(change).norm(); }
  // The standard deviation of one entry, and of a row's linear predictor: x in the border, u in its group.
  double sd(Index entry) const { return whiten_gradient(Vector::Unit(dimension(), entry)).norm(); }
  double sd(const Vector& x, Index group, const Vector& u) const;
  // The standard deviation of every entry of the border, conditional on all others.
  Vector conditional_sd() const;
  // The precision of every entry of the border, conditional on those after it.
  Vector pivots() const { return lower_.diagonal().cwiseAbs2(); }

  // L' change: standard normal if the change is normal with precision P.
  Vector whiten(const Vector& change) const;
  // L^-T z: a draw with precision P if z is standard normal.
  Vector unwhiten(const Vector& z) const;
  // L^-1 gradient: a gradient in theta as a gradient in L' theta.
  Vector whiten_gradient(const Vector& gradient) const;
  // The inverse: L gradient.
  Vector unwhiten_gradient(const Vector& gradient) const;

  // Without groups: P itself, and L^-T.
  Matrix matrix() const { return lower_ * lower_.transpose(); }
  Matrix covariance_factor() const;

 private:
  // For a group with block H and coupling C to the border: L_g with H = L_g L_g', and W = L_g^-1 C.
  struct Groups {
    RowMatrix lower;
    RowMatrix couplings;
    Index width() const { return lower.cols(); }
  };
  explicit Precision(Matrix lower, std::shared_ptr<const Groups> groups = nullptr)
      : lower_(std::move(lower)), groups_(std::move(groups)) {}
  static std::shared_ptr<const Groups> eliminate_groups(BorderedMatrix& matrix);

  Matrix lower_;
  std::shared_ptr<const Groups> groups_;  // shared by copies; empty without groups
};

}  // namespace flymc
