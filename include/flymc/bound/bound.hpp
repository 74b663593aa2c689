// The collapsed lower bound: the product of all rows' bounds at the price of one quadratic form.
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

// What one theta means to the bound. The bound is made for the zone rho <= radius; a theta beyond it is represented by
// the point of the zone that is nearest in the metric, anchor + (theta - anchor) radius / rho, and everything but
// `from_anchor` and `beyond` is of that point. Of a likelihood that knows differences between predictors alone, rows
// see the change less its first column: the same likelihood, and a prior that lets all columns move far together leaves
// no large numbers that cancel.
struct BoundPoint {
  Vector from_anchor;   // theta - anchor
  double beyond = 1.0;  // the distance of theta over the radius, where that is more than 1
  Matrix change;        // from the anchor, as rows see it, one column per predictor
  double rho = 0.0;     // ||L'change||, if the bound uses it
  Vector rho_gradient;  // d rho / d theta, if asked for and used

  bool outside() const { return beyond > 1.0; }
  // The gradient in theta of a function of the zone's point, from its gradient there. Beyond the radius the point does
  // not follow theta along the ray: J'g = (g - rho_gradient (change'g) / rho) / beyond.
  void pull_to_theta(Vector& gradient) const;
};

// For rows at one theta: gap = log L - log B, its slope in eta (K per row) and in rho.
struct Gaps {
  std::vector<double> gap;
  std::vector<double> slope;
  std::vector<double> rho_slope;
  std::vector<double> delta;  // the rows' changes, K per row

  // Appends row i of another, but for its changes.
  void append(const Gaps& other, std::size_t i);
};

// V, s, C, Q of the collapsed sum: all that is left of the rows. Symmetric matrices keep their lower triangle; those
// that a rule lacks are empty. A rule that grows starts from the likelihood's own curvature, and so the sum of that
// comes along: with the prior's it is the Laplace approximation's precision.
struct BoundSums {
  double value = 0.0;
  Vector slope;
  Matrix curvature, growth;
  Matrix hessian;
};

// Immutable and shared by all chains. Exact whatever the anchor and the metric are; they only decide how many rows are
// bright.
class Bound {
 public:
  // The statistics pass: visits every row once (one query each). The metric is needed by rules with spread, growth or a
  // radius, for expected gaps and for lit rows. A bound is of the rows alone; `further_precision` is what the posterior
  // has besides them at the anchor, the prior's, by which lit rows are chosen. Empty: nothing.
  Bound(const Store& store, std::shared_ptr<const BatchedFamily> family, std::shared_ptr<const BoundRule> rule,
        Vector anchor, const Execution& execution, std::optional<Precision> metric = std::nullopt,
        const Lighting& lighting = {}, SparseSymmetric further_precision = {});
  // The same bound again from its sums, without a pass. Lit rows come with row, facts and x.
  Bound(std::shared_ptr<const BatchedFamily> family, std::shared_ptr<const BoundRule> rule, Vector anchor,
        BoundSums sums, RowId queries, std::optional<Precision> metric = std::nullopt, ExpectedGaps expected_gaps = {},
        LitRows lit = {}, SparseSymmetric further_precision = {});

  const BatchedFamily& family() const { return *family_; }
  const BoundRule& rule() const { return *rule_; }
  const Vector& anchor() const { return anchor_; }
  const BoundSums& sums() const { return sums_; }
  // For theta normal around the anchor with the metric's precision; not known if there is no metric, or if the bound
  // does not touch at the anchor.
  const ExpectedGaps& expected_gaps() const { return expected_gaps_; }
  const std::optional<Precision>& metric() const { return metric_; }
  // The rows that have no z.
  const LitRows& lit() const { return lit_; }
  // How far from the anchor rows have a bound: the rule's radius, or any distance where no row has a z.
  double radius() const { return lit_.all ? HUGE_VAL : rule_->radius(); }
  // What an effective draw costs with the best choice of lit rows, and by regular MCMC; both 0 where they are not
  // known.
  const DrawCosts& costs() const { return costs_; }
  // The precision of the Laplace approximation at the anchor; nothing where the rows' own curvature was not summed.
  std::optional<Precision> posterior_metric() const;
  // Queries that the statistics pass took.
  RowId queries() const { return queries_; }

  BoundPoint at(const Vector& theta, bool with_gradient) const;
  // The same for a change whose distance is known, without the gradient.
  BoundPoint at_distance(Vector change, double rho) const;

  // sum over all rows of log B, in O(D^2). If `gradient` is given, adds to it.
  double log_sum(const BoundPoint& point, Vector* gradient = nullptr) const;

  // Looks up what is fixed about rows; no query. It is the last that is asked of the store about them.
  void prepare(const Store& store, std::span<const RowId> rows, BoundRows& out) const;
  // The same for rows that come from elsewhere, with row, y and x.
  void complete(BoundRows& rows) const;

  // Gaps of rows at a point: one query each. Throws BoundViolation if a bound lies above its likelihood.
  void gaps(const BoundRows& rows, const BoundPoint& point, bool with_slopes, Gaps& out) const;
  // The same where out.delta has their changes already, at distance rho in the zone. If rho is that of theta only
  // about, as a force may have it, the bound may lie above a likelihood, and such a gap is next to nothing.
  enum class Distance { exact, about };
  void gaps_of_changes(const BoundRows& rows, double rho, Distance distance, bool with_slopes, Gaps& out) const;
  // What the lit rows have more than their quadratics, of either sign: one query each. If `gradient` is given, adds
  // that in the zone's point.
  double lit_sum(const BoundPoint& point, Vector* gradient = nullptr) const;
  // About the same by stand-ins, where there are any: a query for each of them. Adds the gradient.
  double stand_in_sum(const BoundPoint& point, Vector& gradient) const;
  const StandIns& stand_ins() const { return stand_ins_; }
  // The rows that a trajectory sees of the lit ones: their stand-ins, if there are any. Slopes of what they add, for
  // changes of their predictors.
  const BoundRows& on_the_way() const { return stand_ins_.size() > 0 ? stand_ins_.rows : lit_.fixed; }
  double on_the_way(std::span<const double> delta, std::span<double> slope) const;
  // How many times their expected size gaps are at a point, about; at least 1. A gap is (c + k rho - w) delta^2 / 2,
  // and delta is proportional to rho.
  double gap_growth(const BoundPoint& point) const;

 private:
  bool uses_rho() const { return metric_ && rule_->touches(); }
  // Throws InputError unless rule, anchor and metric fit each other; then prepares for spread.
  void check_parts(Index dimension);
  void complete(bool with_spread, BoundRows& rows) const;
  // Rows without a bound stand in the sums with the likelihood's own curvature, until they are lit.
  void find_rows_without_bound(BoundRows& rows) const;
  // With a share of the likelihood's own curvature at the anchor.
  void complete_as_lit(double share, BoundRows& rows) const;
  void collapse_lit();
  // Whether the stand-ins' sum is as good as the lit rows' over the posterior.
  bool stand_ins_are_good(const Precision& posterior) const;
  // Lights the rows without a bound, and those of the loose ones that should be: they leave the sums of the rule's
  // curvatures, with a share of their own in its place, and are never proposed. `bright_spread` is the sum over all rows
  // of (expected gap) (spread)^2.
  void light(const Store& store, LooseRows& loose, double bright_spread, const Lighting& lighting,
             const Communicator& communicator);
  // The limit of spread at which a draw costs least. So many rows have no bound and are lit at any limit.
  double cheapest_limit(const Store& store, const std::vector<LooseRows::Row>& loose, std::size_t without_bound,
                        double bright_spread, const Lighting& lighting, const Communicator& communicator);
  // Takes what rows have more than they have when lit out of sums.
  void take_out(const BoundRows& rows, const BoundRows& as_lit, BoundSums& sums) const;
  // How many rows of this rank are bright on average, about, where each is so many rows in one.
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
