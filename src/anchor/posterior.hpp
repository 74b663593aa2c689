// The log posterior of rows that count with weights, by its values and derivatives; private to the anchor.
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
  std::optional<Precision> metric;  // of the precision, if that is positive definite
  bool mended = false;              // whether it is not the likelihood's own
};

// One step of iteratively reweighted least squares for an eased family.
struct EasedStep {
  Vector theta;        // where it leads to
  double mean_square;  // of the rows' standardised residuals where it began
};

// log prior(theta) + sum_n weight_n l_n(theta) over the rows of a store; without weights every row counts once. It
// counts its queries: one per row and evaluation, whatever becomes of the answer.
class WeightedPosterior {
 public:
  WeightedPosterior(const Store& store, const Model& model, const Execution& execution,
                    std::span<const double> weights = {})
      : store_(store), model_(model), execution_(execution), weights_(weights) {}

  const Store& store() const { return store_; }
  const Model& model() const { return model_; }
  RowId queries() const { return queries_; }

  // The precision costs D^2 per row. Where it is not positive definite, because a family is not log-concave and theta
  // far from the mode, rows that curve the wrong way count with the curvature of their bound instead, as in iteratively
  // reweighted least squares: steps from afar stay sane.
  Expansion expand(const Vector& theta);
  // No precision: D per row.
  Slope slope(const Vector& theta);
  // One step for log prior + factor^2 sum_n weight_n l_n, with l_n eased by the factor: it tends to least squares as
  // the factor grows, with the precision that rows near their targets have. Bounds of the rows stand for the rows, so
  // that every step climbs. With `beside`, rows that are concave there are left out. Nothing if some coefficient is not
  // determined.
  std::optional<EasedStep> ease(const Vector& theta, double factor, const Vector* beside = nullptr);
  // sum_n (weight_n (l_n(a) - l_n(b)))^2: the variance that the sum of these differences has for the choice of the
  // rows.
  double variance_of_difference(const Vector& a, const Vector& b);
  // For queries that others made on its behalf.
  void count(RowId queries) { queries_ += queries; }
  const Execution& execution() const { return execution_; }
  double weight(RowId row) const { return weights_.empty() ? 1.0 : weights_[static_cast<std::size_t>(row)]; }

 private:
  // Over the rows alone: values, slopes, and none or two curvatures, the likelihood's and what the bound's has more
  // where that is negative.
  Collapsed sum(const Vector& theta, std::size_t curvatures);
  // How many times rows count in all.
  double total_weight() const;

  const Store& store_;
  const Model& model_;
  const Execution execution_;
  std::span<const double> weights_;
  RowId queries_ = 0;
};

}  // namespace flymc
