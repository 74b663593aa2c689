// Predictive checks of a finished run: do its rows look like those that its model draws?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "flymc/diagnose/predictive.hpp"
#include "flymc/run/files/folder/run_directory.hpp"

namespace flymc {

struct CheckOptions {
  RowId rows = 10000;        // the largest number of rows that are sampled from the table
  std::int64_t draws = 500;  // the number of replicated tables
  std::uint64_t seed = 0;
};
// Throws InputError if an option cannot be used. Opens no file.
void check(const CheckOptions& options);

struct RunCheck : PredictiveCheck {
  CheckOptions options = {};
  RowId rows = 0;     // in the table; if rows have weights, the sum of the weights
  RowId sampled = 0;  // how many of these rows were sampled
  std::string target = {};
  std::string counted = {};               // the class that counts as 1; empty if the target is not one of two classes
  bool successes = false;                 // whether the target counts successes of trials
  std::vector<std::string> remarks = {};  // what the reader should know about the method

  // The heading of a part: the statistic, and how its groups are formed.
  std::string title(const CheckPart& part) const;
  // Describes a group in a few words, such as "0.31 to 0.42" or "12 and more".
  static std::string place(const CheckPart& part, const CheckedGroup& group);
  // Whether the part compares shares, which are shown in per cent.
  bool shares(const CheckPart& part) const;
  // A value of this part as text, in per cent if the part compares shares.
  std::string number(const CheckPart& part, double value) const;

  // Says whether the check found a deviation.
  std::string verdict() const;
  // Says how reliable the verdict is.
  std::string assurance() const;
  // One sentence for each group outside its band, the furthest first, at most `most`.
  std::vector<std::string> findings(std::size_t most = 5) const;
  // Suggests remedies for the deviations that were found. Empty if there are none.
  std::string advice() const;
  // All of the above as text for a terminal.
  std::string text() const;
};

// Checks a random sample of rows that depends on the seed. A row with weight w counts as w copies, and copies are
// sampled. Throws InputError if the run is not finished, its rows are missing, or a weight is not a whole number,
// because the number of rows to compare with is then unknown.
RunCheck check_run(const RunDirectory& run, const CheckOptions& options = {});
std::string to_json(const RunCheck& check);

}  // namespace flymc
