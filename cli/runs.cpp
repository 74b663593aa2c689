// Stages, progress and summaries.
#include "runs.hpp"

#include <fmt/format.h>

#include <exception>
#include <optional>
#include <utility>

#include "failures.hpp"
#include "flags.hpp"
#include "flymc/run/files/stages/run.hpp"
#include "interrupt.hpp"
#include "progress.hpp"
#include "speech.hpp"
#include "usage.hpp"

namespace flymc {
namespace {

// The question that a part of a hurdle answers; empty for other runs.
std::string heading(const Settings& settings) {
  if (settings.hurdle.empty()) return "";
  return settings.hurdle == "zero"
             ? fmt::format("zero: whether {} is more than 0 ({})\n", settings.target, settings.family)
             : fmt::format("count: {} where it is more than 0 ({})\n", settings.target, settings.family);
}

void print_summary(const RunDirectory& directory, const Output& output, const SummaryOptions& options) {
  const RunReport report = read_report(directory);
  Progress progress(Progress::style_of(output.quiet), stop_requested);
  const auto of_how_many = [&](Index done, Index all) {
    progress.progress(
        StageProgress{"diagnostics", static_cast<double>(done), static_cast<double>(all), "coefficients"});
  };
  const FitSummary summary = in_flags(summarise(directory, report, options, of_how_many));
  progress.finish();
  print("{}", output.json ? to_json(summary, report)
                          : summary.text(fmt::format("`flymc summary {} --all` shows all",
                                                     for_a_shell(directory.path().string()))));
  if (!output.json && !convergence_warnings(summary.parameters, summary.enough_ess).empty())
    tell("`flymc sample {} --draws {} --out OTHER` draws so many, from where these chains ended\n",
         for_a_shell(directory.path().string()),
         draws_that_should_do(summary.parameters, summary.enough_ess, report.draws_per_chain));
}

}  // namespace

Runs::Runs(RunDirectory run) : path(run.path()) { parts.push_back(std::move(run)); }

Runs::Runs(HurdleRun hurdle) : path(std::move(hurdle.path)) {
  parts.push_back(std::move(hurdle.zero));
  parts.push_back(std::move(hurdle.count));
}

Runs Runs::in(const std::filesystem::path& folder) {
  return HurdleRun::is_in(folder) ? Runs(HurdleRun(folder)) : Runs(RunDirectory(folder));
}

Runs made_by_first(const Communicator& ranks, const std::filesystem::path& path, const std::function<Runs()>& make) {
  std::optional<Runs> made;
  std::exception_ptr fault;
  if (ranks.rank() == 0) try {
      made.emplace(make());
    } catch (...) {
      fault = std::current_exception();
    }
  const bool failed = any(ranks, fault != nullptr);  // the others wait here
  if (fault) std::rethrow_exception(fault);
  if (failed) throw FirstRankFailed();
  return made ? *std::move(made) : Runs::in(path);
}

int print_summaries(const Runs& runs, const Output& output, const SummaryOptions& options) {
  const bool one = runs.parts.size() == 1;
  for (std::size_t i = 0; i < runs.parts.size(); ++i) {
    const Settings& settings = runs.parts[i].settings();
    if (!one && output.json) print("{}\"{}\":\n", i == 0 ? "{" : ",", settings.hurdle);
    if (!one && !output.json) print("{}{}", i == 0 ? "" : "\n", heading(settings));
    print_summary(runs.parts[i], output, options);
  }
  if (!one && output.json) print("}}\n");
  return Exit::success;
}

// mpirun ends the ranks that are left when one is lost. They wait for that one, and may not get to a checkpoint.
int complete_runs(const Runs& runs, const Output& output, const Communicator& ranks) {
  const bool speaks = ranks.rank() == 0;
  if (ranks.size() == 1)
    stop_on_signals(usual_last_words);
  else
    stop_on_signals(
        !speaks ? ""
                : shown(fmt::format("\nflymc: this job is to end (a rank was lost, or somebody stopped it); `flymc "
                                    "resume {}` goes on from the last checkpoint, on any number of ranks\n",
                                    for_a_shell(runs.path.string()))));
  for (const RunDirectory& directory : runs.parts) {
    Progress progress(Progress::style_of(output.quiet || !speaks), stop_requested);
    if (!output.quiet && speaks) tell("{}", heading(directory.settings()));
    const bool done = complete(directory, progress, ranks);
    progress.finish();
    if (!done) {
      if (speaks) tell("stopped; `flymc resume {}` goes on from here\n", for_a_shell(runs.path.string()));
      return Exit::interrupted;
    }
  }
  if (!speaks) return Exit::success;
  for (const RunDirectory& directory : runs.parts)
    if (!output.quiet)
      tell("draws are in {}; `flymc export {} --out draws.nc` writes them for ArviZ\n", directory.draws().string(),
           for_a_shell(directory.path().string()));
  if (!output.quiet) tell("\n");
  return print_summaries(runs, output);
}

}  // namespace flymc
