// Predictive checks of a finished run: do its rows look like those that its model draws?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "flymc/diagnose/predictive.hpp"
#include "flymc/run/files/run_directory.hpp"

namespace flymc {

struct CheckOptions {
  RowId rows = 10000;        // at most so many of the table's, a random sample
  std::int64_t draws = 500;  // as many replicated tables
  std::uint64_t seed = 0;
};
// Throws InputError if an option cannot be used. Before any file is opened.
void check(const CheckOptions& options);

struct RunCheck : PredictiveCheck {
  CheckOptions options = {};
  RowId rows = 0;     // of the table; where rows have weights their sum, as many rows as they stand for
  RowId sampled = 0;  // of them
  std::string target = {};
  std::string counted = {};               // the class that counts as 1; empty: the target is something else
  bool successes = false;                 // whether the target counts successes of trials
  std::vector<std::string> remarks = {};  // what a reader should know of how it was done

  // What is looked at in a part, what its groups are, and what is compared in them; for headings.
  std::string title(const CheckPart& part) const;
  // Where a group lies, a few words: "0.31 to 0.42", "12 and more".
  static std::string place(const CheckPart& part, const CheckedGroup& group);
  // Whether its numbers are shares, which are told in per cent.
  bool shares(const CheckPart& part) const;
  // What is observed, what is expected and within what, as words for a number of this part.
  std::string number(const CheckPart& part, double value) const;

  // Whether something looks wrong.
  std::string verdict() const;
  // How sure that is.
  std::string assurance() const;
  // The groups that are furthest outside of their bands, a sentence each, at most `most`.
  std::vector<std::string> findings(std::size_t most = 5) const;
  // What may help, by what was found; empty if nothing was.
  std::string advice() const;
  // All of it for a terminal.
  std::string text() const;
};

// Rows are sampled by the seed; of rows with weights, which count as so many copies each, copies are. Throws InputError if
// the run is not finished, its rows are not there, or weights are not whole numbers, so that nobody knows how many rows
// there are to compare with.
RunCheck check_run(const RunDirectory& run, const CheckOptions& options = {});
std::string to_json(const RunCheck& check);

}  // namespace flymc
