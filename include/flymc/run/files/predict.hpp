// Posterior prediction for the rows of a new table, in batches.
//
// One row per row of the table, in its order: `row` (from 1, over all files), then by the kind of target
//   two classes   mean, lower, upper                       of the probability that the target is its positive level
//   classes       class, and mean[c], lower[c], upper[c]   the most probable class, and the probability of each class c
//   number        mean, lower, upper                       the family's mean, and an interval for a new observation
// Interval ends are quantiles over the draws. A row with a missing value has no prediction if missing values are
// dropped, and is an error otherwise.
#pragma once

#include "flymc/run/files/run_directory.hpp"

namespace flymc {

struct PredictOptions {
  std::vector<std::string> table = {};
  std::string delimiter = {};
  std::string missing = "error";
  double interval = 0.9;  // the probability between lower and upper
  // At most so many draws are used, evenly spaced: memory, and the time a row takes, are bounded.
  std::int64_t draws = 4000;
};

// Throws InputError if an option cannot be used. Before any file is opened.
void check(const PredictOptions& options);

// Writes to a .parquet or .csv file, whole or not at all. Returns the number of rows.
RowId predict(const RunDirectory& directory, const PredictOptions& options, const std::filesystem::path& out);

}  // namespace flymc
