// The Laplace approximation that comes with every preparation, and how wrong it was.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "flymc/diagnose/summary.hpp"
#include "flymc/run/sampler.hpp"

namespace flymc {

// A normal at the mode with the posterior's curvature there: mean and covariance factor factor'.
struct Laplace {
  Vector mean;
  Matrix factor;
  RowId queries = 0;  // of lit rows
  Matrix rows = {};   // their curvature at the mean, without the prior's
  Vector sd() const { return factor.rowwise().norm(); }
};

// The mode by the rows' slopes and curvatures at the anchor, where the bound has summed them, and by the lit rows
// themselves where it is far from the anchor, as under another prior; or else the anchor itself if its search went on
// to the mode. The curvature is the rows' own where the bound has summed it; where not it is the anchor's, which may be
// that of a subsample, and good to a few percent. Nothing if there is no such anchor, or no mode where it is.
std::optional<Laplace> laplace_of(const Model& model, const Preparation& preparation);

// The same as an anchor.
std::optional<Anchor> mode_of(const Model& model, const Preparation& preparation);

// How far from the anchor theta is on average under the approximation, a root of mean squares in the bound's metric:
// sqrt(D) where the bound was made for this posterior.
double distance_from(const Laplace& laplace, const Bound& bound);
// Whether a preparation, perhaps made under another prior, is good for this model: its anchor near the mode, its zone
// wide enough. Known from its sums, without a pass.
bool suits(const Model& model, const Preparation& preparation);

// What a person who had stopped at the Laplace approximation would have got wrong about one coefficient, in its own
// standard deviations: shift = (mean - Laplace's mean) / Laplace's sd, ratio = sd / Laplace's sd, each with its Monte
// Carlo standard error.
struct LaplaceCheck {
  double shift, shift_mcse, ratio, ratio_mcse;
};
std::vector<LaplaceCheck> check_laplace(std::span<const ParameterSummary> parameters, const Vector& mean,
                                        const Vector& sd);
// A table, one line per coefficient.
std::string format_table(std::span<const ParameterSummary> parameters, std::span<const LaplaceCheck> checks);

}  // namespace flymc
