// A bound's rule: which quadratic stands below each row's likelihood.
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
// v and s are kept as what they lack of the likelihood's own value and slope at the anchor, v = l - value_drop and
// s = l' - slope_drop, because a bound that touches the likelihood there has exactly none. An empty vector means zeros.
// One entry per row; K per row for slope_drop, K x K for curvature (c) and growth (k).
struct Coefficients {
  std::vector<double> value_drop;
  std::vector<double> slope_drop;
  std::vector<double> curvature;
  std::vector<double> growth;
  // Of the batch, the rows for which the rule has no bound. They must be lit.
  std::vector<std::size_t> without;
};

class BoundRule {
 public:
  virtual ~BoundRule() = default;
  virtual std::string name() const = 0;
  // Empty if the rule applies to the family, else why not.
  virtual std::string family_problem(const BatchedFamily&) const { return ""; }
  // Whether the bound touches the likelihood at the anchor: no drops.
  virtual bool touches() const { return true; }
  // The rule holds for rho <= radius. Beyond, z is that of the nearest point of the zone (docs/mathematics.md, "Beyond
  // the radius"). A finite radius needs a bound without drops.
  virtual double radius() const { return std::numeric_limits<double>::infinity(); }
  // Whether the rule wants `spread`: the covariance of a row's change, K x K, for theta normal with the metric's
  // precision. For one predictor it is ||L^-1 x||^2, and |delta| <= sqrt(spread) rho for every theta.
  virtual bool uses_spread() const { return false; }
  // Whether the rule gives growth.
  virtual bool grows() const { return false; }
  // The coefficients of a batch, a function of the row and of constants alone. `spread` is empty unless used. An infinite
  // curvature says that the rule has no bound for a row.
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

// Touches every row's likelihood at the anchor, with a curvature that is just enough within the zone and may grow with
// rho.
class SharpRule final : public BoundRule {
 public:
  explicit SharpRule(const Zone& zone) : zone_(zone) {}
  // For D coefficients: rho is about sqrt(D), and for a normal posterior beyond sqrt(D) + 4 with a probability of about
  // 1e-7. A density out there takes all rows, so it should be rare.
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

// Jaakkola and Jordan's bound with one xi for all rows, the paper's "untuned" bound (it uses xi = 1.5): touches at
// eta = +-xi wherever the anchor is. For families that say takes_fixed_xi(): the logistic. The paper's untuned softmax
// and Student-t bounds are AnchoredRule at anchor 0.
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
