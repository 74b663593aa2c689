// A shape that is drawn with the coefficients: what the log density has for it besides the rows.
#pragma once

#include <functional>
#include <vector>

#include "flymc/model/prior.hpp"
#include "flymc/model/shape_part.hpp"

namespace flymc {

// The targets as a shape sees them: which there are, and how much their rows weigh. Targets
// may occur more than once.
struct ShapedTarget {
  std::vector<WeighedTarget> targets;
};

// Of a family: the part of one target, and the sum of those of many, up to a constant.
struct ShapeParts {
  std::function<ShapePart(double target, double s)> one;
  std::function<ShapePart(std::span<const WeighedTarget> targets, double s)> all;
  bool may_be_endless = false;  // whether the likelihood does not vanish as the shape grows
};

// theta = (beta, s), and people speak of (beta, kappa), kappa = exp(s). With the prior p(beta) p(kappa), kappa > 0, and
// the part of each target that depends on the shape alone (model/shape_part.hpp), the density of theta has besides the
// rows
//   p(beta) p(kappa) kappa exp(sum over targets of weight part(target, s)).
class SampledShape final : public ParameterTerm {
 public:
  // The prior is of (beta, kappa); what it says of negative kappa does not count.
  SampledShape(Prior prior, ShapedTarget target, ShapeParts parts);
  // Throws InputError also if the prior of a shape that may be endless is not proper.
  void check(Index parameters) const override;
  // Throws InputError if theta moves towards an infinite shape, at which targets would equal their means.
  void check_shape(const Vector& theta) const;
  SampledShape with_prior(Prior prior) const { return {std::move(prior), target_, parts_}; }
  SampledShape with_targets(ShapedTarget target) const { return {prior_, std::move(target), parts_}; }
  // Of one target.
  double part(double target, double kappa) const;

  Vector parameters(const Vector& theta) const override;
  Vector theta(const Vector& parameters) const override;
  Vector change(const Vector& theta, const Vector& direction) const override;

  double log_density(const Vector& theta, Vector* gradient = nullptr) const override;
  double surrogate(const Vector& theta, Vector& gradient) const override;
  // That of the targets' parts is their own and may be negative: what is positive definite near a mode is the sum with
  // the rows'.
  SparseSymmetric curvature(Of what, const Vector& theta) const override;
  bool quadratic() const override { return false; }
  // The prior's, with kappa = 1.
  Vector centre(Index parameters) const override;
  // The size of what the prior draws for kappa.
  Vector simulate(Index parameters, const Random& random, Purpose purpose) const override;

 private:
  ShapePart parts(double s) const { return parts_.all(target_.targets, s); }
  // From the prior's gradient in kappa, which stands in the last entry, to that in s of everything.
  double finish(const Vector& theta, double prior, Vector* gradient) const;

  Prior prior_;
  ShapedTarget target_;
  ShapeParts parts_;
};

}  // namespace flymc
