// Rows of the paper's table from the runs, as text and as JSON; and whether the algorithms agree.
#pragma once

#include "runs.hpp"
#include "scales.hpp"

namespace flymc::paper {

// A mean over runs and its standard error, from their spread.
struct Estimate {
  double mean = 0.0, error = 0.0;
};

// One row of the table.
struct Row {
  Algorithm algorithm = Algorithm::regular;
  Estimate queries;              // per iteration
  Estimate ess_least, ess_mean;  // effective samples per 1000 iterations
  // Effective samples per query, and per second, over those of regular MCMC.
  Estimate speedup_least, speedup_mean, time_speedup_least, time_speedup_mean;
  double seconds = 0.0, acceptance = 0.0, bright = 0.0;
  double shared_passes = 0.0;  // anchor and bound, once for all runs
  double run_passes = 0.0;     // start and burn-in, per run
};

struct Report {
  Experiment experiment;
  Effort effort;
  RowId rows = 0;
  Index coefficients = 0;
  std::uint64_t seed = 0;
  Choice scales;
  std::vector<AlgorithmResult> results;  // regular MCMC first

  std::vector<Row> table() const;
  // All three algorithms target one posterior. Returns the smaller of two p-values, one for each FlyMC algorithm: that
  // of its difference from regular MCMC in the mean log posterior, by Student's test over runs with a pooled variance.
  double agreement() const;
  std::string text() const;
  std::string json() const;
};

}  // namespace flymc::paper
