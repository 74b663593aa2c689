// A shape that is drawn with the coefficients, and the part of the log density that it adds to the rows.
#pragma once

#include <functional>
#include <vector>

#include "flymc/model/parameter_block.hpp"
#include "flymc/model/prior.hpp"
#include "flymc/model/shape_part.hpp"

namespace flymc {

// The targets and the weights of their rows, on which the shape depends. A target may occur more than once.
struct ShapedTarget {
  std::vector<WeighedTarget> targets;
};

// The shape parts of a family: that of one target, and the sum over many, up to a constant.
struct ShapeParts {
  std::function<ShapePart(double target, double s)> one;
  std::function<ShapePart(std::span<const WeighedTarget> targets, double s)> all;
  bool may_be_endless = false;  // whether the likelihood does not vanish as the shape grows
};

// theta = (beta, s); the parameters in reports are (beta, kappa), kappa = exp(s). With the prior p(beta) p(kappa),
// kappa > 0, and the part of each target that depends only on the shape (model/shape_part.hpp), the density of theta is
// that of the rows times
//   p(beta) p(kappa) kappa exp(sum over targets of weight part(target, s)).
class SampledShape final : public ParameterBlock {
 public:
  // The prior is of (beta, kappa), restricted to positive kappa.
  SampledShape(Prior prior, ShapedTarget target, ShapeParts parts);
  // Also throws InputError if the likelihood does not vanish as the shape grows, and the shape's prior is not proper.
  void check(Index parameters) const override;
  // At an infinite shape targets would equal their means.
  void check_limits(const Vector& theta) const override;
  std::shared_ptr<const ParameterBlock> with_prior(const Prior& prior) const override {
    return std::make_shared<const SampledShape>(prior, target_, parts_);
  }
  std::shared_ptr<const ParameterBlock> with_targets_of(const Store& store,
                                                        std::span<const double> weights) const override;

  // The last entry, which multiplies a column of ones.
  Range own(Index size) const override { return {size - 1, 1}; }
  double log_likelihood_besides(const Vector& parameters, double target) const override;
  bool positive() const override { return true; }

  Vector parameters(const Vector& theta) const override;
  Vector theta(const Vector& parameters) const override;
  Vector change(const Vector& theta, const Vector& direction) const override;

  double log_density(const Vector& theta, Vector* gradient = nullptr) const override;
  double surrogate(const Vector& theta, Vector& gradient) const override;
  // The curvature of the targets' parts is exact and may be negative: only the sum with the rows' curvature is positive
  // definite near a mode.
  SparseSymmetric curvature(Of what, const Vector& theta) const override;
  bool quadratic() const override { return false; }
  // The prior's centre, with kappa = 1.
  Vector centre(Index parameters) const override;
  // A draw from the prior, with the absolute value of kappa.
  Vector simulate(Index parameters, const Random& random, Purpose purpose) const override;

 private:
  ShapePart parts(double s) const { return parts_.all(target_.targets, s); }
  // Returns the log density. On entry the gradient is the prior's in kappa, in the last entry; on return it is the
  // whole gradient in s.
  double finish(const Vector& theta, double prior, Vector* gradient) const;

  Prior prior_;
  ShapedTarget target_;
  ShapeParts parts_;
};

// For a family of two predictors whose second is the logarithm of the shape. Rows end with a 1, and the last parameter
// is the shape.
template <class F>
std::shared_ptr<const ParameterBlock> make_block(const F& family, const Prior& prior, ShapedTarget target) {
  ShapeParts parts{[family](double y, double s) { return family.shape_part(y, s); },
                   [family](std::span<const WeighedTarget> all, double s) { return family.shape_parts(all, s); }};
  if constexpr (requires { family.shape_may_be_endless(); }) parts.may_be_endless = family.shape_may_be_endless();
  return std::make_shared<const SampledShape>(prior, std::move(target), std::move(parts));
}

}  // namespace flymc
