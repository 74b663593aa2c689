// The scales of prior and likelihood, chosen on held-out rows.
#pragma once

#include "experiment.hpp"
#include "flymc/comm/execution.hpp"

namespace flymc::paper {

struct Trial {
  Scales scales;
  double score = 0.0;  // mean log likelihood of a held-out row at the mode
};

struct Choice {
  Scales best;
  std::vector<Trial> trials;  // in the order they were made
  RowId queries = 0;          // likelihoods that this took, on both sets of rows; not counted for any algorithm
};

// First chooses the likelihood's scale with the best score, with the prior's scale in the middle of its grid. Then
// chooses the smallest prior scale whose score is less than one standard error (of the paired difference) below the
// best. With many rows the scores hardly differ, and a Laplace prior is meant to be the strongest that does no harm.
Choice choose_scales(const Experiment& experiment, const Table& table, const Execution& execution);

}  // namespace flymc::paper
