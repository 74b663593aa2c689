// The paper's bounds.
#include "flymc/bound/rule.hpp"

#include <algorithm>
#include <cmath>

#include "flymc/core/error.hpp"
#include "flymc/core/numerics.hpp"

namespace flymc {

void AnchoredRule::coefficients(const BatchedFamily& family, std::span<const double> y,
                                std::span<const double> eta_anchor, std::span<const double>, Coefficients& out) const {
  const auto k = static_cast<std::size_t>(family.predictors());
  out = {};
  out.curvature.resize(y.size() * k * k);
  family.global_curvature(y, eta_anchor, out.curvature);
}

FixedJaakkolaJordanRule::FixedJaakkolaJordanRule(double xi) : xi_(std::abs(xi)) {
  if (!std::isfinite(xi)) throw InputError("the fixed Jaakkola-Jordan bound needs a finite xi");
}

std::string FixedJaakkolaJordanRule::family_problem(const BatchedFamily& family) const {
  return family.name() == "logistic" ? "" : "a fixed xi belongs to the logistic family; use the anchored bound";
}

// With h(eta) = log sigmoid(eta) - eta/2, an even function, the bound replaces h by h(xi) - c/2 (eta^2 - xi^2). What it
// lacks at eta is therefore the same for both classes: h(eta) - h(xi) + c/2 (eta^2 - xi^2), and in slope
// h'(eta) + c eta. Neither the target nor the likelihood enters.
void FixedJaakkolaJordanRule::coefficients(const BatchedFamily&, std::span<const double> y,
                                           std::span<const double> eta_anchor, std::span<const double>,
                                           Coefficients& out) const {
  const auto h = [](double eta) { return log_sigmoid(eta) - 0.5 * eta; };
  const double c = jaakkola_jordan_curvature(xi_);
  out = {};
  out.curvature.assign(y.size(), c);
  out.value_drop.resize(y.size());
  out.slope_drop.resize(y.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double eta = eta_anchor[i];
    // Never negative but for rounding; a larger drop only lowers the bound.
    out.value_drop[i] = std::max(0.0, h(eta) - h(xi_) + 0.5 * c * (eta - xi_) * (eta + xi_));
    out.slope_drop[i] = c * eta - 0.5 * std::tanh(0.5 * eta);
  }
}

}  // namespace flymc
