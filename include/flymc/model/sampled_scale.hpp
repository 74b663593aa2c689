// A residual scale that is drawn with the coefficients: what the log density has for it besides the rows.
#pragma once

#include "flymc/model/parameter_block.hpp"
#include "flymc/model/prior.hpp"

namespace flymc {

// How the column of targets that ends each row was made, and how many rows there are.
struct ScaledTarget {
  double total_weight = 0.0;  // of all rows whose likelihood is a density: it has total_weight log tau
  double shift = 0.0;         // the last number of a row is (target - shift) / unit; a shift needs an intercept,
  double unit = 1.0;          // which is the first coefficient; the unit is about the target's standard deviation
  bool censored = false;      // whether rows have a density only where their fact is 1 (model/survival.hpp)
};

// Chains move in theta = (psi, tau), in which rows are linear (model/residual.hpp). People speak of (beta, sigma):
//   beta = shift e_0 - unit psi / tau,   sigma = unit / tau.
// With D coefficients, total weight W, and the prior p(beta) p(sigma), sigma > 0, the density of theta has besides the
// rows' f the factor
//   p(beta) p(sigma) tau^W |d(beta, sigma) / d(psi, tau)|  ~  p(beta) p(sigma) tau^(W - D - 2).
class SampledScale final : public ParameterBlock {
 public:
  // The prior is of (beta, sigma); what it says of negative sigma does not count. Throws InputError if there is no more
  // weight than D + 2: theta would have no mode.
  SampledScale(Prior prior, const ScaledTarget& target);
  void check(Index parameters) const override;
  // A scale of 0 is that of a target which the columns explain exactly.
  void check_limits(const Vector& theta) const override;
  std::shared_ptr<const ParameterBlock> with_prior(const Prior& prior) const override {
    return std::make_shared<const SampledScale>(prior, target_);
  }

  // The last entry, of the column of targets.
  Range own(Index size) const override { return {size - 1, 1}; }
  // The likelihood of a row has a factor tau if it is a density.
  double log_likelihood_besides(const Vector& parameters, double target) const override;
  bool positive() const override { return true; }
  bool scales_coefficients() const override { return true; }
  bool censored() const override { return target_.censored; }

  // (beta, sigma) of theta, and back.
  Vector parameters(const Vector& theta) const override;
  Vector theta(const Vector& parameters) const override;
  // How they change along a direction, to first order.
  Vector change(const Vector& theta, const Vector& direction) const override;

  double log_density(const Vector& theta, Vector* gradient = nullptr) const override;
  double surrogate(const Vector& theta, Vector& gradient) const override;
  // With w_j the curvature of the prior in beta_j, that of theta is sum_j w_j b_j b_j' for the derivative b_j of beta_j,
  // which has two entries: psi_j and tau are coupled.
  SparseSymmetric curvature(Of what, const Vector& theta) const override;
  bool quadratic() const override { return false; }
  // The prior's, with sigma one unit.
  Vector centre(Index parameters) const override;
  // A step of beta and log sigma: a tau near 0, where the density vanishes like tau^W, is no place to begin.
  Vector away(const Vector& theta, const Vector& step) const override;
  // The size of what the prior draws for sigma: from the prior itself if that is symmetric around 0.
  Vector simulate(Index parameters, const Random& random, Purpose purpose) const override;

 private:
  double powers(Index parameters) const;
  // From the gradient in (beta, sigma) to that in theta, without the powers of tau.
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
