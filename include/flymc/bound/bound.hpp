// The collapsed lower bound: the product of all rows' bounds, evaluated as one quadratic form.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "flymc/bound/bound_rows.hpp"
#include "flymc/bound/draw_cost.hpp"
#include "flymc/bound/expected_gaps.hpp"
#include "flymc/bound/lit_rows.hpp"
#include "flymc/bound/rule.hpp"
#include "flymc/bound/spread.hpp"
#include "flymc/bound/stand_ins.hpp"
#include "flymc/comm/execution.hpp"
#include "flymc/core/precision.hpp"
#include "flymc/core/sparse_symmetric.hpp"

namespace flymc {

// A theta as the bound sees it. The bound holds in the zone rho <= radius. A theta beyond it is represented by the
// nearest point of the zone in the metric, anchor + (theta - anchor) radius / rho; all members except `from_anchor` and
// `beyond` describe that point. If the likelihood depends only on differences between predictors, the first column of
// the change is subtracted from all columns: this leaves the likelihood unchanged, and avoids cancellation of large
// numbers when the prior lets all columns move far together.
struct BoundPoint {
  Vector from_anchor;   // theta - anchor
  double beyond = 1.0;  // rho(theta) / radius if theta lies outside the zone, else 1
  Matrix change;        // from the anchor, as the rows' predictors see it: one column per predictor
  double rho = 0.0;     // ||L'change||; 0 if the bound does not use it
  Vector rho_gradient;  // d rho / d theta; empty unless requested and used

  bool outside() const { return beyond > 1.0; }
  // Turns a function's gradient at the zone's point into its gradient in theta. Beyond the radius the zone's point does
  // not move when theta moves along the ray: J'g = (g - rho_gradient (change'g) / rho) / beyond.
  void pull_to_theta(Vector& gradient) const;
};

// For rows at one theta: gap = log L - log B, its slope in eta (K per row) and in rho.
struct Gaps {
  std::vector<double> gap;
  std::vector<double> slope;
  std::vector<double> rho_slope;
  std::vector<double> delta;  // the changes of the rows' predictors, K per row

  // Appends row i of another, without its delta.
  void append(const Gaps& other, std::size_t i);
};

// V, s, C, Q of the collapsed sum, which replace the rows. Symmetric matrices keep their lower triangle; matrices that
// the rule does not have are empty. For a rule that grows, `hessian` is the sum of the likelihood's own curvatures;
// with the prior's curvature it is the precision of the Laplace approximation.
struct BoundSums {
  double value = 0.0;
  Vector slope;
  Matrix curvature, growth;
  Matrix hessian;
};

// Immutable and shared by all chains. Draws are exact for any anchor and metric; these only determine how many rows are
// bright.
class Bound {
 public:
  // The statistics pass: visits every row once (one query each). The metric is needed by rules with spread, growth or a
  // radius, for expected gaps and for lit rows. `further_precision` is the precision that the posterior has at the
  // anchor in addition to the rows', which is the prior's; it is used to choose the lit rows. Empty means none.
  Bound(const Store& store, std::shared_ptr<const BatchedFamily> family, std::shared_ptr<const BoundRule> rule,
        Vector anchor, const Execution& execution, std::optional<Precision> metric = std::nullopt,
        const Lighting& lighting = {}, SparseSymmetric further_precision = {});
  // Recreates a bound from its sums, without a pass. Lit rows need row, facts and x.
  Bound(std::shared_ptr<const BatchedFamily> family, std::shared_ptr<const BoundRule> rule, Vector anchor,
        BoundSums sums, RowId queries, std::optional<Precision> metric = std::nullopt, ExpectedGaps expected_gaps = {},
        LitRows lit = {}, SparseSymmetric further_precision = {});

  const BatchedFamily& family() const { return *family_; }
  const BoundRule& rule() const { return *rule_; }
  const Vector& anchor() const { return anchor_; }
  const BoundSums& sums() const { return sums_; }
  // The expected gaps for theta normal around the anchor with the metric's precision. Unknown if there is no metric, or
  // if the bound does not touch at the anchor.
  const ExpectedGaps& expected_gaps() const { return expected_gaps_; }
  const std::optional<Precision>& metric() const { return metric_; }
  // The rows that have no z.
  const LitRows& lit() const { return lit_; }
  // The distance from the anchor up to which the bound holds: the rule's radius, or infinity if no row has a z.
  double radius() const { return lit_.all ? HUGE_VAL : rule_->radius(); }
  // The cost of an effective draw with the cheapest choice of lit rows, and by regular MCMC. Both are 0 if unknown.
  const DrawCosts& costs() const { return costs_; }
  // The precision of the Laplace approximation at the anchor; empty if the rows' own curvature was not summed.
  std::optional<Precision> posterior_metric() const;
  // The number of queries that the statistics pass took.
  RowId queries() const { return queries_; }

  BoundPoint at(const Vector& theta, bool with_gradient) const;
  // The same for a change at a known distance rho, without the gradient.
  BoundPoint at_distance(Vector change, double rho) const;

  // sum over all rows of log B, in O(D^2). Adds its gradient to `gradient` if that is given.
  double log_sum(const BoundPoint& point, Vector* gradient = nullptr) const;

  // Looks up the constants of rows; takes no query. The store is not read again for these rows.
  void prepare(const Store& store, std::span<const RowId> rows, BoundRows& out) const;
  // The same for rows that already have row, facts and x.
  void complete(BoundRows& rows) const;

  // Gaps of rows at a point: one query each. Throws BoundViolation if a bound lies above its likelihood.
  void gaps(const BoundRows& rows, const BoundPoint& point, bool with_slopes, Gaps& out) const;
  // The same for changes that are already in out.delta, at distance rho in the zone. With Distance::about, rho is only
  // approximately the distance of theta, as in forces; the bound may then lie above a likelihood, and a gap below 1e-12
  // is replaced by 1e-12.
  enum class Distance { exact, about };
  void gaps_of_changes(const BoundRows& rows, double rho, Distance distance, bool with_slopes, Gaps& out) const;
  // Sum over the lit rows of log likelihood minus quadratic, of either sign: one query each. Adds its gradient at the
  // zone's point to `gradient` if that is given.
  double lit_sum(const BoundPoint& point, Vector* gradient = nullptr) const;
  // Approximates lit_sum by the stand-ins, with a query for each of them; 0 if there are none. Adds the gradient.
  double stand_in_sum(const BoundPoint& point, Vector& gradient) const;
  const StandIns& stand_ins() const { return stand_ins_; }
  // The rows that replace the lit rows along a trajectory: their stand-ins if there are any, else the lit rows.
  const BoundRows& on_the_way() const { return stand_ins_.size() > 0 ? stand_ins_.rows : lit_.fixed; }
  double on_the_way(std::span<const double> delta, std::span<double> slope) const;
  // About how many times larger than expected gaps are at a point; at least 1. A gap is (c + k rho - w) delta^2 / 2,
  // and delta is proportional to rho.
  double gap_growth(const BoundPoint& point) const;

 private:
  bool uses_rho() const { return metric_ && rule_->touches(); }
  // Throws InputError unless rule, anchor and metric fit each other; then prepares the spread.
  void check_parts(Index dimension);
  void complete(bool with_spread, BoundRows& rows) const;
  // Gives rows without a bound the likelihood's own curvature, which the sums contain until these rows are lit.
  void find_rows_without_bound(BoundRows& rows) const;
  // Completes rows as lit ones: their curvature is `share` of the likelihood's own at the anchor.
  void complete_as_lit(double share, BoundRows& rows) const;
  void collapse_lit();
  // Whether the stand-ins' sum approximates the lit rows' sum well enough over the posterior.
  bool stand_ins_are_good(const Precision& posterior) const;
  // Lights the rows without a bound and the loose rows above the limit: the rule's curvature of these rows is replaced
  // in the sums by a share of the likelihood's own, and they are never proposed. `bright_spread` is the sum over all
  // rows of (expected gap) (spread)^2.
  void light(const Store& store, LooseRows& loose, double bright_spread, const Lighting& lighting,
             const Communicator& communicator);
  // The limit of spread at which a draw costs least. `without_bound` rows have no bound and are lit at any limit.
  double cheapest_limit(const Store& store, const std::vector<LooseRows::Row>& loose, std::size_t without_bound,
                        double bright_spread, const Lighting& lighting, const Communicator& communicator);
  // Subtracts from sums the difference between rows' coefficients and those that they have as lit rows.
  void take_out(const BoundRows& rows, const BoundRows& as_lit, BoundSums& sums) const;
  // About how many rows of this rank are bright on average, if each row stands for `copies` rows.
  double expected_bright(double copies) const;
  // Throws BoundViolation if a negative gap is more than rounding.
  void check_rounding(const BoundRows& rows, std::size_t i, const double* delta, double gap, double size) const;

  std::shared_ptr<const BatchedFamily> family_;
  std::shared_ptr<const BoundRule> rule_;
  Vector anchor_;
  std::optional<Precision> metric_;
  std::optional<Spread> spread_;  // if there is a metric
  RowId queries_ = 0;
  BoundSums sums_;
  ExpectedGaps expected_gaps_;
  DrawCosts costs_;
  LitRows lit_;
  StandIns stand_ins_;  // of the lit rows
  SparseSymmetric further_precision_;
};

}  // namespace flymc
