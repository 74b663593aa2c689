// The runs that a command works on, from their creation to their summary.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "flymc/comm/communicator.hpp"
#include "flymc/run/files/folder/report.hpp"
#include "flymc/run/files/folder/run_directory.hpp"
#include "flymc/run/files/predict/hurdle.hpp"

namespace flymc {

// How a command prints.
struct Output {
  bool json = false;
  bool quiet = false;
};

// One run, or both parts of a hurdle.
struct Runs {
  explicit Runs(RunDirectory run);
  explicit Runs(HurdleRun hurdle);
  // Opens those in a folder.
  static Runs in(const std::filesystem::path& folder);

  std::filesystem::path path;
  std::vector<RunDirectory> parts;
};

// Calls `make` on the first rank, and opens what it made on the others. If the first rank fails, throws FirstRankFailed
// on the others.
Runs made_by_first(const Communicator& ranks, const std::filesystem::path& path, const std::function<Runs()>& make);

// Completes the stages that are left, on all ranks, and prints the summaries. Returns the exit code.
int complete_runs(const Runs& runs, const Output& output, const Communicator& ranks);

// Prints the summaries of finished runs. Returns the exit code.
int print_summaries(const Runs& runs, const Output& output, const SummaryOptions& options = {});

}  // namespace flymc
