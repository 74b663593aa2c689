// Posterior prediction for the rows of a new table, in batches and on all cores.
//
// One row per row of the table, in its order: `row` (from 1, over all files), then by the kind of target
//   two classes   mean, lower, upper                       of the probability that the target is its positive level
//   classes       class, and mean[c], lower[c], upper[c]   the most probable class, and the probability of each class c
//   number        mean, lower, upper                       of the family's mean
//   time, amount  mean, lower, upper                       of its median; or, at given times t,
//                 survival[t], lower[t], upper[t]          of the probability that it is longer than t
// The interval is one of two kinds. That of the `mean` has quantiles of the mean, or of the probability, over the draws:
// how well it is known. That of a new `target` has quantiles of targets, one drawn under each draw: where they will lie.
// A target that is of a class or not has the quantiles 0 and 1, by the posterior mean of its probability: an upper end
// of 0 says that the class has less than the probability beyond the upper end, a lower end of 1 that all others have.
// A row with a missing value has no prediction if missing values are dropped, and is an error otherwise.
#pragma once

#include "flymc/run/files/run_directory.hpp"

namespace flymc {

struct PredictOptions {
  std::vector<std::string> table = {};
  std::string delimiter = {};
  std::string missing = "error";
  double interval = 0.9;  // the probability between lower and upper
  // At most so many draws are used, evenly spaced over the chains. The end of a 90 % interval then has a Monte Carlo
  // error of sqrt(0.05 * 0.95 / draws) / 0.103 standard deviations, 3 % of one, and the mean one of 1.6 %.
  std::int64_t draws = 4000;
  std::string kind = {};           // mean or target; empty: target for numbers, mean for classes
  std::vector<double> times = {};  // of survival probabilities; none: the time itself
  int threads = 0;                 // 0: all cores. Predictions do not depend on it
};

// Throws InputError if an option cannot be used. Before any file is opened.
void check(const PredictOptions& options);

// Writes to a .parquet or .csv file, whole or not at all. Returns the number of rows. Targets are drawn from the run's
// seed and the number of the row.
RowId predict(const RunDirectory& directory, const PredictOptions& options, const std::filesystem::path& out);

}  // namespace flymc
