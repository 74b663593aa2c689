// A hurdle model: two runs in one folder, one for whether a count is more than 0 and one for the positive counts.
//
//   zero/    a run of all rows, whose target is 1 where the count is more than 0
//   count/   a run of the rows with a positive count
//
// p(y = 0) = 1 - p and p(y) = p f(y) for y > 0, with p from the zero part and f, which is truncated at 0, from the
// count part. The likelihood is a product of one factor per part and the priors are independent, so the posteriors are
// independent too. A draw of each part, side by side, is a draw of both. The parts use different random numbers.
#pragma once

#include <filesystem>
#include <vector>

#include "flymc/run/files/folder/run_directory.hpp"
#include "flymc/run/files/predict/predict.hpp"

namespace flymc {

// Returns the settings of the fits that a family needs: the given settings, or for a hurdle those of its two parts,
// zero and count. An offset or an exposure belongs to the count part alone. Throws InputError if a setting cannot be
// used.
std::vector<Settings> fits_of(const Settings& settings);

struct HurdleRun {
  // Whether the folder contains a hurdle run.
  static bool is_in(const std::filesystem::path& folder);
  static HurdleRun create(const std::filesystem::path& folder, const std::vector<Settings>& parts, Existing existing);
  // Throws InputError if the folder contains none.
  explicit HurdleRun(std::filesystem::path folder);

  std::filesystem::path path;
  RunDirectory zero, count;

 private:
  HurdleRun(std::filesystem::path folder, RunDirectory its_zero, RunDirectory its_count)
      : path(std::move(folder)), zero(std::move(its_zero)), count(std::move(its_count)) {}
};

// Predicts from both parts, as for a run whose target is a number (predict.hpp). The mean is p E[y | y > 0].
RowId predict(const RunDirectory& zero, const RunDirectory& count, const PredictOptions& options,
              const std::filesystem::path& out);

}  // namespace flymc
