// The density of a model with groups given z: the parts that do not depend on the chain.
#pragma once

#include <Eigen/Cholesky>
#include <vector>

#include "flymc/groups/group_place.hpp"

namespace flymc {

class GroupDensity {
 public:
  explicit GroupDensity(const GroupBound& bound);
  const GroupBound& bound() const { return *bound_; }
  const GroupModel& model() const { return bound_->rows().model(); }
  const GroupLayout& layout() const { return bound_->rows().layout(); }

  // The quadratic that replaces the prior of the coefficients in the Gaussian part, around the anchor.
  const Vector& prior_slope() const { return prior_slope_; }
  const Matrix& prior_precision() const { return prior_precision_; }
  // The factor of the coefficients' precision in the Gaussian part, given all effects.
  const Eigen::LLT<Matrix>& border_factor() const { return border_factor_; }
  // The log prior of the coefficients, and of the scales as far as it depends on the coefficients; its gradient is added.
  double log_prior(const Vector& coefficients, const Vector& theta, Vector* gradient) const;
  const EffectsPrior& prior(std::size_t f) const { return model().effects[f].prior; }
  // The sums of squares and products of a factor's effects over its groups.
  Matrix squares(const Vector& theta, std::size_t f) const {
    const auto u = layout().effects(theta, f);
    return u.transpose() * u;
  }

  // Whether the scales of a factor also move together with its effects: where rows say so little of the effects that
  // scales given them hardly move.
  bool moves_with_effects(std::size_t f) const {
    return information_[f] < 20.0 * static_cast<double>(layout().groups(f) * layout().width(f));
  }
  // The information of the rows, at the anchor, about the logarithm of t if all effects of factor f are multiplied by t.
  double information(std::size_t f) const { return information_[f]; }

  // The linear term of the collapsed sum in the effects of one group, given all others: its slope at the anchor.
  void slope_of_group(std::size_t f, Index group, const Effects& change, double* out) const;
  // The collapsed sum: a quadratic form in the change.
  double collapsed(const Effects& change) const;
  // The log priors of coefficients, scales and effects at theta.
  double log_priors(const Vector& theta) const;
  // The whole log density at a place: the collapsed sum, the priors, and the evaluated rows.
  double log_density(GroupPlace& place) const;

 private:
  const GroupBound* bound_;
  Vector prior_slope_;
  Matrix prior_precision_;
  Eigen::LLT<Matrix> border_factor_;
  std::vector<double> information_;
};

}  // namespace flymc
