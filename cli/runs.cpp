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

Study made_by_first(const Communicator& ranks, const std::filesystem::path& path, const std::function<Study()>& make) {
  std::optional<Study> made;
  std::exception_ptr fault;
  if (ranks.rank() == 0) try {
      made.emplace(make());
    } catch (...) {
      fault = std::current_exception();
    }
  const bool failed = any(ranks, fault != nullptr);  // the others wait here
  if (fault) std::rethrow_exception(fault);
  if (failed) throw FirstRankFailed();
  return made ? *std::move(made) : Study(path);
}

void print_parts(const std::vector<Settings>& fits, bool json, Headings headings,
                 const std::function<void(std::size_t)>& print_one) {
  if (fits.size() == 1) return print_one(0);
  for (std::size_t i = 0; i < fits.size(); ++i) {
    if (json)
      print("{}\"{}\":\n", i == 0 ? "{" : ",", fits[i].part);
    else if (headings == Headings::lines)
      print("{}{}\n", i == 0 ? "" : "\n", heading_of(fits[i]));
    else
      print("{}{}: ", i == 0 ? "" : "\n", fits[i].part);
    print_one(i);
  }
  if (json) print("}}\n");
}

int print_summaries(const Study& study, const Output& output, const SummaryOptions& options) {
  print_parts(study.fits(), output.json, Headings::lines,
              [&](std::size_t i) { print_summary(study.parts()[i].run, output, options); });
  return Exit::success;
}

// mpirun ends the ranks that are left when one is lost. They wait for that one, and may not get to a checkpoint.
int complete_study(const Study& study, const Output& output, const Communicator& ranks) {
  const bool speaks = ranks.rank() == 0;
  if (ranks.size() == 1)
    stop_on_signals(usual_last_words);
  else
    stop_on_signals(
        !speaks ? ""
                : shown(fmt::format("\nflymc: this job is to end (a rank was lost, or somebody stopped it); `flymc "
                                    "resume {}` goes on from the last checkpoint, on any number of ranks\n",
                                    for_a_shell(study.path().string()))));
  for (const Study::Part& part : study.parts()) {
    Progress progress(Progress::style_of(output.quiet || !speaks), stop_requested);
    if (!output.quiet && speaks) tell("{}", part.name().empty() ? "" : heading_of(part.run.settings()) + "\n");
    const bool done = complete(part.run, progress, ranks);
    progress.finish();
    if (!done) {
      return speaks ? say_interrupted(study.path(), output.json) : static_cast<int>(Exit::interrupted);
    }
  }
  if (!speaks) return Exit::success;
  for (const Study::Part& part : study.parts())
    if (!output.quiet)
      tell("draws are in {}; `flymc export {} --out draws.nc` writes them for ArviZ\n", part.run.draws().string(),
           for_a_shell(part.run.path().string()));
  if (!output.quiet) tell("\n");
  return print_summaries(study, output);
}

}  // namespace flymc
