// Posterior prediction for the rows of a new table, in batches and on all cores.
//
// Writes one row per row of the table, in its order: `row` (from 1, over all files), then by the kind of target
//   two classes   mean, lower, upper                       of the probability that the target is its positive level
//   classes       class, and mean[c], lower[c], upper[c]   the most probable class, and the probability of each class c
//   number        mean, lower, upper                       of the family's mean
//   time, amount  mean, lower, upper                       of its median; or, at given times t,
//                 survival[t], lower[t], upper[t]          of the probability that it is longer than t
// The interval is one of two kinds. For the `mean` it gives quantiles of the mean, or of the probability, over the
// draws: how well the mean is known. For a new `target` it gives quantiles of targets, one drawn under each draw: where
// new targets will lie. The target of one class is 0 or 1, and its quantiles follow from the posterior mean of its
// probability: an upper end of 0 says that the class is less probable than the tail above the interval, and a lower end
// of 1 that all other classes together are less probable than the tail below it. A row with a missing value has no
// prediction if missing values are dropped, and is an error otherwise.
//
// The linear predictor of a model with groups has their effects. Only the draws are used whose effects the run kept.
#pragma once

#include "flymc/run/files/folder/run_directory.hpp"

namespace flymc {

struct PredictOptions {
  std::vector<std::string> table = {};
  std::string delimiter = {};
  std::string missing = "error";
  double interval = 0.9;  // the probability between lower and upper
  // The most draws that are used, evenly spaced over the chains. With 4000 draws the end of a 90 % interval has a Monte
  // Carlo error of sqrt(0.05 * 0.95 / draws) / 0.103 standard deviations, which is 3 %, and the mean has one of 1.6 %.
  std::int64_t draws = 4000;
  std::string kind = {};           // mean or target; empty: target for numbers, mean for classes
  std::vector<double> times = {};  // for survival probabilities; empty: predicts the median time
  int threads = 0;                 // 0: all cores. Predictions do not depend on it
  // The effects of a group that the fit has not seen. Empty: such a row is an error. Under each draw they are
  //   uncertainty   those of a random group of the fit
  //   gaussian      drawn from the normal distribution of effects, with the draw's standard deviations and correlations
  //   population    0
  // All rows of the group have the same ones.
  std::string new_levels = {};
  bool without_groups = false;  // whether all effects of groups are 0, and the table needs no groups
};

// Throws InputError if an option cannot be used. Opens no file.
void check(const PredictOptions& options);

// Writes a .parquet or .csv file, whole or not at all. Returns the number of rows. Targets are drawn with the run's
// seed and the number of the row, effects of new groups with the seed and the group's name.
RowId predict(const RunDirectory& directory, const PredictOptions& options, const std::filesystem::path& out);
// The same from the parts of a study. The two parts of a count give E[y] = p E[y | y > 0], with p = P(y > 0) from the
// first part and E[y | y > 0] from the second.
RowId predict(PartRuns parts, const PredictOptions& options, const std::filesystem::path& out);

}  // namespace flymc
