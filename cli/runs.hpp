// The study that a command works on, from its creation to its summary.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "flymc/comm/communicator.hpp"
#include "flymc/run/files/folder/report.hpp"
#include "flymc/run/files/study/study.hpp"

namespace flymc {

// How a command prints.
struct Output {
  bool json = false;
  bool quiet = false;
};

// Calls `make` on the first rank, and opens what it made on the others. If the first rank fails, throws FirstRankFailed
// on the others.
Study made_by_first(const Communicator& ranks, const std::filesystem::path& path, const std::function<Study()>& make);

// Completes the stages that are left, on all ranks, and prints the summaries. Returns the exit code.
int complete_study(const Study& study, const Output& output, const Communicator& ranks);

// Prints the summaries of a finished study. Returns the exit code.
int print_summaries(const Study& study, const Output& output, const SummaryOptions& options = {});

// Calls `print_one` with the position of each fit. Prints one JSON object by the names of the parts, or a heading before
// each part and an empty line between them; for a single fit neither.
enum class Headings { lines, names };
void print_parts(const std::vector<Settings>& fits, bool json, Headings headings,
                 const std::function<void(std::size_t)>& print_one);

}  // namespace flymc
