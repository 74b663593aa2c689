// How much groups differ, and which share of all variance that is.
#pragma once

#include <string>
#include <vector>

#include "flymc/diagnose/summary.hpp"
#include "flymc/run/files/folder/run_directory.hpp"

namespace flymc {

// A number of the covariance of a factor's effects, or of the residuals.
struct VarianceComponent {
  std::string kind;                  // sd, var (its square), cor, cov (covariance) or icc
  std::string factor;                // empty for the residuals
  std::vector<std::string> effects;  // one, or the two of a correlation or covariance; none for a share
  ParameterSummary summary;          // sd(town, age), icc(town)
};

struct VarianceComponents {
  double interval = usual_interval;
  std::vector<VarianceComponent> components;
  // Says of what the shares are, or why there are none.
  std::string remark;
  std::string text() const;
};

// All are computed draw by draw. The intraclass correlation of a factor, icc, is
//
//   variance of its intercepts / (sum of these variances over all factors + residual variance):
//
// the share of the variance of a row whose slopes' columns are 0, and the correlation of two such rows that share a group
// of this factor alone. The residual variance is that of the target, or of the latent number behind it (FamilyCard).
// Throws InputError if the run is not finished, has no groups or no rows.
VarianceComponents variance_components(const RunDirectory& run, double interval = usual_interval);
std::string to_json(const VarianceComponents& of);

}  // namespace flymc
