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
  Vector sd() const { return factor.rowwise().norm(); }
};

// One Newton step from the anchor, with the rows' own curvature where the bound has summed it and the anchor's metric
// where not. Nothing if there is no anchor.
std::optional<Laplace> laplace_of(const Model& model, const Preparation& preparation);

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
