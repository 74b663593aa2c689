// The Laplace approximation that comes with every preparation, and how far the draws differ from it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "flymc/diagnose/summary.hpp"
#include "flymc/run/sampler.hpp"

namespace flymc {

// A normal distribution at the mode, with the posterior's curvature there: a mean and the covariance factor factor'.
struct Laplace {
  Vector mean;
  Matrix factor;
  RowId queries = 0;  // to lit rows
  Matrix rows = {};   // the rows' curvature at the mean, without the prior's
  Vector sd() const { return factor.rowwise().norm(); }
};

// The mode follows from the rows' slope and curvature at the anchor, if the bound has summed them. If the mode is far
// from the anchor, as under another prior, lit rows are evaluated themselves. Without those sums the mode is the
// anchor, provided that its search converged. The curvature is the bound's sum if it exists, else the anchor's, which
// may come from a subsample and is accurate to a few percent. Empty if there is no such anchor, or no mode near it.
std::optional<Laplace> laplace_of(const Model& model, const Preparation& preparation);

// The same, as an anchor.
std::optional<Anchor> mode_of(const Model& model, const Preparation& preparation);

// The root mean square distance of theta from the anchor under the approximation, in the bound's metric. It is sqrt(D)
// if the bound was made for this posterior.
double distance_from(const Laplace& laplace, const Bound& bound);
// Whether a preparation, perhaps made under another prior, can be used for this model: its anchor is near the mode and
// its zone is wide enough. Uses only the preparation's sums and needs no pass.
bool suits(const Model& model, const Preparation& preparation);

// The error of the Laplace approximation for one coefficient, in its own standard deviations: shift = (mean - Laplace's
// mean) / Laplace's sd, ratio = sd / Laplace's sd, each with its Monte Carlo standard error.
struct LaplaceCheck {
  double shift, shift_mcse, ratio, ratio_mcse;
};
std::vector<LaplaceCheck> check_laplace(std::span<const ParameterSummary> parameters, const Vector& mean,
                                        const Vector& sd);
// A table, one line per coefficient.
std::string format_table(std::span<const ParameterSummary> parameters, std::span<const LaplaceCheck> checks);

}  // namespace flymc
