// Student-t priors that are narrow beside what the rows know: two places for a coefficient, the prior's and the data's.
//
// Such a coefficient may have a spike of the prior's shape at the prior's location and a mode of the likelihood's shape
// near the likelihood's maximum (docs/mathematics.md, "Narrow priors with long tails"). Here is which coefficients may,
// and about how much of the posterior each place holds.
#pragma once

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

// The rows' at a mode of the posterior, where their slope is minus the prior's.
RowsQuadratic rows_at(const Model& model, const Anchor& mode);

// A Student-t density of one entry of theta, the other entries given. The prior is one of a parameter; what people call
// a coefficient is an affine function of its entry where the rest of theta is fixed.
struct StudentTOfEntry {
  Index entry;
  double nu, location, scale;
  double log_density(double x) const;
};

// For each of some coefficients, whether it is at its prior's location; else it is where the rows have it.
using AtPrior = std::vector<bool>;

// The logarithm of about how much of these priors times a normal is at these places.
double log_mass(std::span<const StudentTOfEntry> priors, Vector mean, Matrix covariance, const AtPrior& places);

// Takes what the priors of these entries add out of a curvature.
void leave_out(std::span<const Index> entries, SparseSymmetric& curvature);

class LongTails {
 public:
  // None.
  explicit LongTails(Model model) : model_(std::move(model)) {}
  // The coefficients whose Student-t prior is narrower than their posterior would be without it; at most `most`, those
  // whose place is most in doubt. None where the expansion has no maximum.
  LongTails(const Model& model, const RowsQuadratic& rows);
  // These coefficients, whatever the width of their Student-t priors.
  LongTails(const Model& model, const RowsQuadratic& rows, std::vector<Index> entries);

  static constexpr std::size_t most = 32;

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  const std::vector<Index>& entries() const { return entries_; }
  const Model& model() const { return model_; }
  // The priors of these coefficients as densities of their entries, at a theta.
  std::vector<StudentTOfEntry> priors_at(const Vector& theta) const;

  // The normal that the rows and the other priors make together, with a wide normal prior for each of these.
  const Vector& mean() const { return mean_; }
  const Matrix& precision() const { return precision_; }
  // What the model's term adds to the curvature of the rows at a theta, with the wide priors in place of these.
  SparseSymmetric prior_precision(const Vector& theta) const;
  // Standard deviations under that normal.
  Vector sd() const { return covariance_.diagonal().cwiseSqrt(); }
  // The model with those wide priors: its mode is where the rows have these coefficients.
  Model with_wide_priors() const;

  // The logarithm of about how much of the posterior is at these places, up to a constant.
  double log_mass(const AtPrior& places) const;
  // Whether coefficient i has two modes, a spike at its prior and one of the rows, the others being at their likeliest
  // places.
  bool has_two_modes(std::size_t i) const;
  // Which places hold most of it.
  AtPrior likeliest() const;
  // For each coefficient about how much of the posterior is at its prior's location, the others being at their
  // likeliest places.
  std::vector<double> share_at_prior() const;
  // Theta with these places: the other entries are at their mean given those.
  Vector theta(const AtPrior& places) const;

 private:
  bool expand(const RowsQuadratic& rows);
  void keep(const std::vector<std::size_t>& which, const RowsQuadratic& rows);

  Model model_;
  std::vector<Index> entries_;
  std::vector<double> wide_;             // standard deviations of their wide priors, of entries of theta
  std::vector<StudentTOfEntry> priors_;  // at the expansion
  Vector mean_;
  Matrix precision_;
  Matrix columns_;     // of the inverse of the precision, for these entries
  Matrix covariance_;  // of these entries
};

}  // namespace flymc
