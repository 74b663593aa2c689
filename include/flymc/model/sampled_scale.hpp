// A residual scale that is drawn with the coefficients, and the part of the log density that it adds to the rows.
#pragma once

#include "flymc/model/parameter_block.hpp"
#include "flymc/model/prior.hpp"

namespace flymc {

// How the column of targets at the end of each row was made, and the weight of the rows.
struct ScaledTarget {
  double total_weight = 0.0;  // of all rows whose likelihood is a density: it adds total_weight log tau
  double shift = 0.0;         // the last number of a row is (target - shift) / unit; a shift needs an intercept,
  double unit = 1.0;          // which is the first coefficient; the unit is about the target's standard deviation
  bool censored = false;      // whether only rows with the target 1 have a density (model/survival.hpp)
};

// Chains move in theta = (psi, tau), in which rows are linear (model/residual.hpp). The parameters in reports are
//   beta = shift e_0 - unit psi / tau,   sigma = unit / tau.
// With D coefficients, total weight W, and the prior p(beta) p(sigma), sigma > 0, the density of theta is that of the
// rows' f times
//   p(beta) p(sigma) tau^W |d(beta, sigma) / d(psi, tau)|  ~  p(beta) p(sigma) tau^(W - D - 2).
class SampledScale final : public ParameterBlock {
 public:
  // The prior is of (beta, sigma), restricted to positive sigma. Throws InputError if shift or unit cannot be used.
  // check() throws if the total weight is not more than D + 2: theta would have no mode.
  SampledScale(Prior prior, const ScaledTarget& target);
  void check(Index parameters) const override;
  // The scale tends to 0 if the columns explain the target exactly.
  void check_limits(const Vector& theta) const override;
  std::shared_ptr<const ParameterBlock> with_prior(const Prior& prior) const override {
    return std::make_shared<const SampledScale>(prior, target_);
  }

  // The last entry, which multiplies the column of targets.
  Range own(Index size) const override { return {size - 1, 1}; }
  // -log sigma if the row has a density, which has a factor 1 / sigma; else 0.
  double log_likelihood_besides(const Vector& parameters, double target) const override;
  bool positive() const override { return true; }
  bool scales_coefficients() const override { return true; }
  bool censored() const override { return target_.censored; }

  // (beta, sigma) from theta, and the inverse.
  Vector parameters(const Vector& theta) const override;
  Vector theta(const Vector& parameters) const override;
  // The change of the parameters along a direction, to first order.
  Vector change(const Vector& theta, const Vector& direction) const override;

  double log_density(const Vector& theta, Vector* gradient = nullptr) const override;
  double surrogate(const Vector& theta, Vector& gradient) const override;
  // With w_j the curvature of the prior in beta_j, the curvature in theta is sum_j w_j b_j b_j', where b_j is the
  // derivative of beta_j. It has two entries, so psi_j and tau are coupled.
  SparseSymmetric curvature(Of what, const Vector& theta) const override;
  bool quadratic() const override { return false; }
  // The prior's centre, with sigma one unit.
  Vector centre(Index parameters) const override;
  // Steps in beta and log sigma. A tau near 0, where the density vanishes like tau^W, must not be a starting point.
  Vector away(const Vector& theta, const Vector& step) const override;
  // A draw from the prior, with the absolute value of sigma. This is exact if the prior of sigma is symmetric around 0.
  Vector simulate(Index parameters, const Random& random, Purpose purpose) const override;

 private:
  double powers(Index parameters) const;
  // The gradient in theta from the gradient in (beta, sigma), without the powers of tau.
  Vector pulled(const Vector& theta, const Vector& gradient) const;

  Prior prior_;
  ScaledTarget target_;
};

// For a family of standardised residuals (model/residual.hpp), whose rows end with their target. The last parameter is
// sigma.
template <class F>
std::shared_ptr<const ParameterBlock> make_block(const F&, const Prior& prior, const ScaledTarget& target) {
  return std::make_shared<const SampledScale>(prior, target);
}

}  // namespace flymc
