// The log posterior of weighted rows, with its derivatives; private to the anchor.
#pragma once

#include <optional>
#include <span>

#include "flymc/bound/collapse.hpp"
#include "flymc/comm/execution.hpp"
#include "flymc/core/precision.hpp"
#include "flymc/model/model.hpp"

namespace flymc {

// Log posterior (with the prior's surrogate) and its gradient at one theta.
struct Slope {
  double value;
  Vector gradient;
};

// The same with the precision, minus the second derivative.
struct Expansion {
  double value;
  Vector gradient;
  Matrix precision;
  std::optional<Precision> metric;  // of the precision; empty if that is not positive definite
  bool mended = false;              // whether the precision differs from the likelihood's own
};

// One step of iteratively reweighted least squares for an eased family.
struct EasedStep {
  Vector theta;        // the theta after the step
  double mean_square;  // mean square of the rows' standardised residuals before the step
};

// log prior(theta) + sum_n weight_n l_n(theta) over the rows of a store; without weights every row has weight 1. It
// counts its queries: one per row and evaluation, even if the result is not used.
class WeightedPosterior {
 public:
  WeightedPosterior(const Store& store, const Model& model, const Execution& execution,
                    std::span<const double> weights = {})
      : store_(store), model_(model), execution_(execution), weights_(weights) {}

  const Store& store() const { return store_; }
  const Model& model() const { return model_; }
  RowId queries() const { return queries_; }

  // The precision costs D^2 per row. If it is not positive definite, because the family is not log-concave and theta is
  // far from the mode, rows of negative curvature use the curvature of their bound instead, as in iteratively
  // reweighted least squares. This keeps steps from afar reasonable.
  Expansion expand(const Vector& theta);
  // Without the precision: D per row.
  Slope slope(const Vector& theta);
  // One step for log prior + factor^2 sum_n weight_n l_n, with l_n eased by the factor. As the factor grows, this tends
  // to least squares with the precision of rows near their targets. The step maximises the rows' bounds, so every step
  // climbs. With `beside`, rows that are concave at that theta are left out. Empty if some coefficient is not
  // determined.
  std::optional<EasedStep> ease(const Vector& theta, double factor, const Vector* beside = nullptr);
  // sum_n (weight_n (l_n(a) - l_n(b)))^2: the sampling variance of the sum of these differences, due to the choice of
  // rows.
  double variance_of_difference(const Vector& a, const Vector& b);
  // Adds queries that others made on behalf of this posterior.
  void count(RowId queries) { queries_ += queries; }
  const Execution& execution() const { return execution_; }
  double weight(RowId row) const { return weights_.empty() ? 1.0 : weights_[static_cast<std::size_t>(row)]; }

 private:
  // Sums over the rows: values, slopes, and no curvature or two: the likelihood's, and the excess of the bound's over
  // it where the likelihood's is negative.
  Collapsed sum(const Vector& theta, std::size_t curvatures);
  // The sum of the rows' weights.
  double total_weight() const;

  const Store& store_;
  const Model& model_;
  const Execution execution_;
  std::span<const double> weights_;
  RowId queries_ = 0;
};

}  // namespace flymc
