// The paper's bounds, and the sharp bound.
#include "flymc/bound/rule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "flymc/core/error.hpp"
#include "flymc/core/numerics.hpp"
#include "flymc/model/logistic.hpp"

namespace flymc {

void AnchoredRule::coefficients(const BatchedFamily& family, const FactSpans& rows, std::span<const double> eta_anchor,
                                std::span<const double>, Coefficients& out) const {
  const auto k = static_cast<std::size_t>(family.predictors());
  out = {};
  out.curvature.resize(rows.size() * k * k);
  family.global_curvature(rows, eta_anchor, out.curvature);
}

std::string AnchoredRule::family_problem(const BatchedFamily& family) const {
  return family.has_global_curvature() ? "" : "no quadratic stays below its likelihood everywhere; use the sharp bound";
}

Zone SharpRule::usual_zone(Index coefficients) {
  const double typical = std::sqrt(static_cast<double>(coefficients));
  return {typical, typical + 4.0};
}

void SharpRule::coefficients(const BatchedFamily& family, const FactSpans& rows, std::span<const double> eta_anchor,
                             std::span<const double> spread, Coefficients& out) const {
  const auto k = static_cast<std::size_t>(family.predictors());
  out.value_drop.clear();
  out.slope_drop.clear();
  out.curvature.resize(rows.size() * k * k);
  out.growth.resize(rows.size() * k * k);
  family.sharp(rows, eta_anchor, spread, zone_, out.curvature, out.growth);
}

FixedJaakkolaJordanRule::FixedJaakkolaJordanRule(double xi) : xi_(std::abs(xi)) {
  if (!std::isfinite(xi)) throw InputError("the fixed Jaakkola-Jordan bound needs a finite xi");
}

std::string FixedJaakkolaJordanRule::family_problem(const BatchedFamily& family) const {
  return family.takes_fixed_xi() ? "" : "a fixed xi belongs to the logistic family; use the anchored bound";
}

// log sigmoid(eta) - eta/2 is even, so the drops at eta are the same for both classes: they are the gap and its slope
// of the anchored bound at xi, for a change of eta - xi. In value remainder + c (eta - xi)^2 / 2, in slope l'(eta) -
// l'(xi) + c (eta - xi). Neither the target nor the row's likelihood enters.
void FixedJaakkolaJordanRule::coefficients(const BatchedFamily&, const FactSpans& rows,
                                           std::span<const double> eta_anchor, std::span<const double>,
                                           Coefficients& out) const {
  const double c = jaakkola_jordan_curvature(xi_);
  out = {};
  out.curvature.resize(rows.size());
  out.value_drop.resize(rows.size());
  out.slope_drop.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double eta = eta_anchor[i], weight = rows[i].weight;
    const double delta = eta - xi_;
    const double remainder = Logistic{}.remainder(1.0, {&xi_, 1}, {&delta, 1});
    // Rounded up by more than the error of its terms and of the slope's terms: a larger drop only lowers the bound.
    const double bend = 0.5 * c * delta * delta;
    out.value_drop[i] =
        weight * (std::max(0.0, remainder + bend) + 16.0 * std::numeric_limits<double>::epsilon() * bend);
    out.curvature[i] = weight * c;
    // sigmoid(-eta) - sigmoid(-xi), computed without cancellation if they are close.
    const double turn =
        std::abs(delta) > 1.0 ? sigmoid(-eta) - sigmoid(-xi_) : -sigmoid(-eta) * sigmoid(xi_) * std::expm1(delta);
    out.slope_drop[i] = weight * (turn + c * delta);
  }
}

}  // namespace flymc
