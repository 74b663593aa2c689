// A hurdle: two runs in one folder, of whether a count is more than 0 and of how large it is where it is.
//
//   zero/    a run of all rows, whose target is 1 where the count is more than 0
//   count/   a run of the rows where it is
//
// p(y = 0) = 1 - p and p(y) = p f(y) for y > 0, with p of the zero part and f, which is truncated at 0, of the count part.
// The likelihood is a product of one factor per part, and the priors are independent: so are the posteriors, and a draw of
// one beside a draw of the other is a draw of both. The parts have different random numbers.
#pragma once

#include <filesystem>
#include <vector>

#include "flymc/run/files/predict.hpp"
#include "flymc/run/files/run_directory.hpp"

namespace flymc {

// The settings of the fits that a family stands for: those that were given, or those of both parts of a hurdle, zero and
// count. An offset or an exposure is of the count part alone. Throws InputError if one of them cannot be used.
std::vector<Settings> fits_of(const Settings& settings);

struct HurdleRun {
  // Whether there is one in this folder.
  static bool is_in(const std::filesystem::path& folder);
  static HurdleRun create(const std::filesystem::path& folder, const std::vector<Settings>& parts, Existing existing);
  // Throws InputError if there is none.
  explicit HurdleRun(std::filesystem::path folder);

  std::filesystem::path path;
  RunDirectory zero, count;

 private:
  HurdleRun(std::filesystem::path folder, RunDirectory its_zero, RunDirectory its_count)
      : path(std::move(folder)), zero(std::move(its_zero)), count(std::move(its_count)) {}
};

// By both parts, as of a run whose target is a number (predict.hpp): the mean is p E[y | y > 0].
RowId predict(const RunDirectory& zero, const RunDirectory& count, const PredictOptions& options,
              const std::filesystem::path& out);

}  // namespace flymc
