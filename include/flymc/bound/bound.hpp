// The collapsed lower bound: the product of all rows' bounds at the price of one quadratic form.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "flymc/bound/expected_gaps.hpp"
#include "flymc/bound/rule.hpp"
#include "flymc/bound/spread.hpp"
#include "flymc/comm/execution.hpp"
#include "flymc/core/metric.hpp"
#include "flymc/data/row_copies.hpp"

namespace flymc {

// Rows with all that is fixed about them: what a chain keeps of its bright rows, and of rows it considers.
struct BoundRows {
  // Copies rows of a store. What the bound knows of them comes later.
  void fetch(const Store& store, std::span<const RowId> rows);

  std::vector<RowId> row;
  std::vector<double> y;
  RowCopies x;
  std::vector<double> eta_anchor;  // K per row
  Coefficients coefficients;
  std::vector<double> outer_curvature;  // K x K per row, where the rule has a radius
  std::vector<double> spread;           // scratch space of Bound::prepare

  std::size_t size() const { return row.size(); }
  void clear();
  // Appends row i of another.
  void append(const BoundRows& other, std::size_t i);
  // Moves the last row into place i and forgets it.
  void remove(std::size_t i);
};

// What one theta means to the bound: its offset from the anchor and how far that is. Of a likelihood that knows
// differences between predictors alone, rows see the offset less its first column: the same likelihood, and a prior
// that lets all columns move far together leaves no large numbers that cancel.
struct BoundPoint {
  Vector from_anchor;    // theta - anchor
  Matrix offset;         // the same as rows see it, one column per predictor
  double rho = 0.0;      // ||L'(theta - anchor)||, if the rule uses it
  bool outside = false;  // rho > radius
  Vector rho_gradient;   // d rho / d theta, if asked for and used
};

// For rows at one theta: gap = log L - log B, its slope in eta (K per row) and in rho.
struct Gaps {
  std::vector<double> gap;
  std::vector<double> slope;
  std::vector<double> rho_slope;
  std::vector<double> delta;  // the rows' offsets, K per row

  // Appends row i of another, but for its offsets.
  void append(const Gaps& other, std::size_t i);
};

// V, s, C, Q of the collapsed sum, and C outside the radius: all that is left of the rows. Symmetric matrices keep
// their lower triangle; those that a rule lacks are empty. A rule that grows starts from the likelihood's own
// curvature, and so the sum of that comes along: with the prior's it is the Laplace approximation's precision.
struct BoundSums {
  double value = 0.0;
  Vector slope;
  Matrix curvature, growth, outer_curvature;
  Matrix hessian;
};

// Immutable and shared by all chains. Exact whatever the anchor and the metric are; they only decide how many rows are
// bright.
class Bound {
 public:
  // The statistics pass: visits every row once (one query each). The metric is needed by rules with spread, growth or a
  // radius, and for expected gaps.
  Bound(const Store& store, const Model& model, std::shared_ptr<const BoundRule> rule, Vector anchor,
        const Execution& execution, std::optional<Metric> metric = std::nullopt);
  // The same bound again from its sums, without a pass; the prior may be another.
  Bound(const Model& model, std::shared_ptr<const BoundRule> rule, Vector anchor, BoundSums sums, RowId queries,
        std::optional<Metric> metric = std::nullopt, ExpectedGaps expected_gaps = {});

  const Model& model() const { return model_; }
  const BoundRule& rule() const { return *rule_; }
  const Vector& anchor() const { return anchor_; }
  const BoundSums& sums() const { return sums_; }
  // For theta normal around the anchor with the metric's precision; not known if there is no metric, or if the bound
  // does not touch at the anchor.
  const ExpectedGaps& expected_gaps() const { return expected_gaps_; }
  const std::optional<Metric>& metric() const { return metric_; }
  // Queries that the statistics pass took.
  RowId queries() const { return queries_; }

  BoundPoint at(const Vector& theta, bool with_gradient) const;
  // The same for an offset whose distance is known, without the gradient.
  BoundPoint at_distance(const Vector& offset, double rho) const;

  // sum over all rows of log B, in O(D^2). If `gradient` is given, adds to it.
  double log_sum(const BoundPoint& point, Vector* gradient = nullptr) const;

  // Looks up what is fixed about rows; no query. It is the last that is asked of the store about them.
  void prepare(const Store& store, std::span<const RowId> rows, BoundRows& out) const;
  // The same for rows that come from elsewhere, with row, y and x.
  void complete(BoundRows& rows) const;

  // Gaps of rows at a theta: one query each. Throws BoundViolation if a bound lies above its likelihood.
  void gaps(const BoundRows& rows, const BoundPoint& point, bool with_slopes, Gaps& out) const;

 private:
  bool uses_rho() const { return rule_->grows() || std::isfinite(rule_->radius()); }
  // Throws InputError unless rule, anchor and metric fit each other; then prepares for spread.
  void check_parts(Index dimension);
  void complete(bool with_spread, BoundRows& rows) const;
  BoundPoint at_offset(Vector offset) const;

  Model model_;
  std::shared_ptr<const BoundRule> rule_;
  Vector anchor_;
  std::optional<Metric> metric_;
  std::optional<Spread> spread_;  // if there is a metric
  RowId queries_ = 0;
  BoundSums sums_;
  ExpectedGaps expected_gaps_;
};

}  // namespace flymc
