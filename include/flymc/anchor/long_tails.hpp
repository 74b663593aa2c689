// Student-t priors that are much narrower than the likelihood, under which a coefficient may have two modes.
//
// The two modes are a spike of the prior's shape at the prior's location, and a mode of the likelihood's shape near the
// likelihood's maximum (docs/mathematics.md, "Narrow priors with long tails"). This file determines which coefficients
// may have both, and about how much of the posterior each mode holds. A coefficient's place is the mode that it is in.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "flymc/anchor/anchor.hpp"
#include "flymc/model/model.hpp"

namespace flymc {

// Second-order expansion of the rows' log likelihood.
struct RowsQuadratic {
  Vector at, slope;
  Matrix curvature;  // minus second derivatives
};

// The expansion at a mode of the posterior, where the rows' slope is minus the prior's.
RowsQuadratic rows_at(const Model& model, const Anchor& mode);

// A Student-t density of one entry of theta, given the other entries. The prior concerns a parameter, which is an
// affine function of its entry for fixed other entries.
struct StudentTOfEntry {
  Index entry;
  double nu, location, scale;
  double log_density(double x) const;
};

// A Student-t prior is narrow if its scale is less than this share of the likelihood's standard deviation; otherwise
// the posterior has one mode. Two modes need less than 0.36 with 3 degrees of freedom, and less than 0.35 with 1.
inline constexpr double narrow_share = 0.6;

// For each of some coefficients, whether it is in the spike at its prior; if not, it is in the likelihood's mode.
using AtPrior = std::vector<bool>;

// Approximates the logarithm of the integral of these priors times a normal density, with coefficients at these places.
double log_mass(std::span<const StudentTOfEntry> priors, Vector mean, Matrix covariance, const AtPrior& places);

// Sets these entries' terms in a prior's curvature to 0.
void leave_out(std::span<const Index> entries, SparseSymmetric& curvature);

class LongTails {
 public:
  // Has no coefficients.
  explicit LongTails(Model model) : model_(std::move(model)) {}
  // The coefficients whose Student-t prior is narrower than their posterior would be without it; if there are more than
  // `most`, those whose two places have the most similar masses. None if the expansion has no maximum.
  LongTails(const Model& model, const RowsQuadratic& rows);
  // Has these coefficients, for any width of their Student-t priors.
  LongTails(const Model& model, const RowsQuadratic& rows, std::vector<Index> entries);

  static constexpr std::size_t most = 32;

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  const std::vector<Index>& entries() const { return entries_; }
  const Model& model() const { return model_; }
  // The priors of these coefficients as densities of their entries, at a theta.
  std::vector<StudentTOfEntry> priors_at(const Vector& theta) const;

  // The normal of the expansion and the other priors, with a wide normal prior for each of these coefficients.
  const Vector& mean() const { return mean_; }
  const Matrix& precision() const { return precision_; }
  // The curvature that the model's term adds to the rows' curvature at a theta, with the wide priors in place of these.
  SparseSymmetric prior_precision(const Vector& theta) const;
  // Standard deviations of these coefficients under that normal.
  Vector sd() const { return covariance_.diagonal().cwiseSqrt(); }
  // The model with those wide priors, whose mode is the likelihood's in these coefficients.
  Model with_wide_priors() const;

  // Approximates the logarithm of the posterior's mass at these places, up to a constant.
  double log_mass(const AtPrior& places) const;
  // The spike's share of the posterior of coefficient i, if the others are at their likeliest places. Empty if that
  // posterior has one mode.
  std::optional<double> share_of_spike(std::size_t i) const;
  // The places with the largest mass, by a search that changes one coefficient at a time.
  AtPrior likeliest() const;
  // Theta at these places: entries in a spike are at its location, and the others at their conditional mean.
  Vector theta(const AtPrior& places) const;

 private:
  bool expand(const RowsQuadratic& rows);
  void keep(const std::vector<std::size_t>& which, const RowsQuadratic& rows);

  Model model_;
  std::vector<Index> entries_;
  std::vector<double> wide_;             // standard deviations of their wide priors, in units of theta
  std::vector<StudentTOfEntry> priors_;  // at the expansion
  Vector mean_;
  Matrix precision_;
  Matrix columns_;     // the columns of the precision's inverse for these entries
  Matrix covariance_;  // of these entries
};

}  // namespace flymc
