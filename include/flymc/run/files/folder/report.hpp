// The report of a finished run, as stored in report.json, and its summary.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flymc/run/files/settings/group_terms.hpp"
#include "flymc/run/report.hpp"

namespace flymc {

class RunDirectory;

// The worst convergence of some effects of groups: all those of some groups, which are spread evenly.
struct EffectsWorth {
  std::size_t looked_at = 0, all = 0;
  std::int64_t draws = 0;         // that are kept
  double ess = 0.0, r_hat = 0.0;  // the smallest in bulk or tails, and the largest
};

struct RunReport : Report {
  std::string version;             // the version of flymc
  std::string fingerprint;         // of the rows (run_rows.hpp); empty in reports of earlier versions
  std::string draws_checksum{};    // of draws.parquet (run_draws.hpp); empty in reports of earlier versions
  std::string effects_checksum{};  // of effects.arrow; empty without groups
  std::size_t scales = 0;          // how many of the last parameters are scales of effects of groups: sd(...), cor(...)
  std::vector<GroupTerm> groups{};  // empty without groups, and in reports of earlier versions
  std::optional<EffectsWorth> effects{};
  // The times of set-up, if the process that finished the run also made it. 0 if an earlier process or version did.
  double ingest_seconds = 0.0, prepare_seconds = 0.0;
};
std::string to_json(const RunReport& report);
// Writes the report with a checksum of itself and that of draws.parquet, which must exist. A run with a report is
// finished.
void write_report(const RunDirectory& directory, RunReport report);
// Throws InputError if the run is not finished, or its report damaged.
RunReport read_report(const RunDirectory& directory);

// Summarises a finished run. Throws InputError if ratios or a reference class are requested and the family has none.
FitSummary summarise(const RunDirectory& directory, const RunReport& report, const SummaryOptions& options = {},
                     const std::function<void(Index, Index)>& of_how_many = nullptr);
// The summary as one JSON object: run, rows, cost, parameters.
std::string to_json(const FitSummary& summary, const RunReport& report);

}  // namespace flymc
