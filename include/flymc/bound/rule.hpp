// A bound's rule: the quadratic below each row's likelihood.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "flymc/model/model.hpp"

namespace flymc {

// Every lower bound is a quadratic in the row's change delta = x'(theta - anchor), whose curvature may grow with the
// distance rho of theta from the anchor (docs/mathematics.md, "One form for every bound"):
//
//   log B(theta) = v + s'delta - delta'(c + k rho) delta / 2.
//
// v and s are stored as drops from the likelihood's own value and slope at the anchor, v = l - value_drop and s = l' -
// slope_drop, because a bound that touches the likelihood there has drops of exactly zero. An empty vector means zeros.
// One entry per row; K per row for slope_drop, K x K for curvature (c) and growth (k).
struct Coefficients {
  std::vector<double> value_drop;
  std::vector<double> slope_drop;
  std::vector<double> curvature;
  std::vector<double> growth;
  // The rows of the batch for which the rule has no bound. They must be lit.
  std::vector<std::size_t> without;
};

class BoundRule {
 public:
  virtual ~BoundRule() = default;
  virtual std::string name() const = 0;
  // Empty if the rule applies to the family, else the reason why it does not.
  virtual std::string family_problem(const BatchedFamily&) const { return ""; }
  // Whether the bound touches the likelihood at the anchor: no drops.
  virtual bool touches() const { return true; }
  // The rule holds for rho <= radius. For a theta beyond, z has the distribution at the nearest point of the zone
  // (docs/mathematics.md, "Beyond the radius"). A finite radius needs a bound without drops.
  virtual double radius() const { return std::numeric_limits<double>::infinity(); }
  // Whether the rule needs `spread`: the K x K covariance of a row's change, for theta normal with the metric's
  // precision. For one predictor it is ||L^-1 x||^2, and |delta| <= sqrt(spread) rho for every theta.
  virtual bool uses_spread() const { return false; }
  // Whether the rule gives growth.
  virtual bool grows() const { return false; }
  // Computes the coefficients of a batch, which depend on each row and on constants alone. `spread` is empty unless
  // uses_spread(). An infinite curvature means that the rule has no bound for a row.
  virtual void coefficients(const BatchedFamily& family, const FactSpans& rows, std::span<const double> eta_anchor,
                            std::span<const double> spread, Coefficients& out) const = 0;
};

// Touches every row's likelihood at the anchor, with the family's global curvature: Jaakkola and Jordan's bound for the
// logistic, Bohning's for the softmax, the tangent in r^2 for the Student-t. The paper's "MAP-tuned" bound.
class AnchoredRule final : public BoundRule {
 public:
  std::string name() const override { return "anchored"; }
  std::string family_problem(const BatchedFamily& family) const override;
  void coefficients(const BatchedFamily& family, const FactSpans& rows, std::span<const double> eta_anchor,
                    std::span<const double> spread, Coefficients& out) const override;
};

// Touches every row's likelihood at the anchor, with a curvature that is just large enough within the zone and may grow
// with rho.
class SharpRule final : public BoundRule {
 public:
  explicit SharpRule(const Zone& zone) : zone_(zone) {}
  // The zone for D coefficients. For a normal posterior rho is about sqrt(D), and exceeds sqrt(D) + 4 with a
  // probability of about 1e-7. A density beyond that evaluates all rows, so it should be rare.
  static Zone usual_zone(Index coefficients);
  std::string name() const override { return "sharp"; }
  double radius() const override { return zone_.radius; }
  bool uses_spread() const override { return true; }
  bool grows() const override { return true; }
  void coefficients(const BatchedFamily& family, const FactSpans& rows, std::span<const double> eta_anchor,
                    std::span<const double> spread, Coefficients& out) const override;

 private:
  Zone zone_;
};

// Jaakkola and Jordan's bound with one xi for all rows, the paper's "untuned" bound (with xi = 1.5): it touches at eta
// = +-xi wherever the anchor is. It applies to families with takes_fixed_xi(), which is the logistic. The paper's
// untuned softmax and Student-t bounds are AnchoredRule at anchor 0.
class FixedJaakkolaJordanRule final : public BoundRule {
 public:
  explicit FixedJaakkolaJordanRule(double xi = 1.5);
  std::string name() const override { return "fixed"; }
  bool touches() const override { return false; }
  std::string family_problem(const BatchedFamily& family) const override;
  void coefficients(const BatchedFamily& family, const FactSpans& rows, std::span<const double> eta_anchor,
                    std::span<const double> spread, Coefficients& out) const override;

 private:
  double xi_;
};

}  // namespace flymc
