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
  RowId queries = 0;          // likelihoods it took, of both sets of rows; no part of any algorithm's bill
};

// The likelihood's scale first, with the prior's in the middle of its grid: the one of the best score. Then the
// prior's: the smallest whose score is less than one standard error (of the paired difference) below the best. With
// many rows the prior hardly matters, the scores differ by nothing, and the strongest prior that does no harm is the
// sparse one that a Laplace prior is for.
Choice choose_scales(const Experiment& experiment, const Table& table, const Execution& execution);

}  // namespace flymc::paper
