// What a finished run took, as its report.json keeps it, and its summary.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "flymc/chain/chain_run.hpp"
#include "flymc/run/fit.hpp"

namespace flymc {

class DrawsFile;
class RunDirectory;

struct RunReport {
  std::string version;  // of flymc
  RowId rows = 0, dropped = 0;
  std::vector<std::string> classes;  // of the target; none for numbers
  RowId anchor_queries = 0, bound_queries = 0;
  std::vector<ChainReport> chains;
  std::int64_t draws = 0;                                   // per chain
  std::string choices;                                      // of bound, sweep, move and what counts as 1, in words
  std::vector<std::string> warnings;                        // about the model, known without draws
  double radius = std::numeric_limits<double>::infinity();  // of the bound
  std::vector<std::string> coefficients;                    // their names
  bool differences = false;                      // between classes are reported, not the coefficients: see Reported
  std::vector<double> laplace_mean, laplace_sd;  // of each number that is reported
};
std::string to_json(const RunReport& report);
// With a checksum: a run with a report is finished.
void write_report(const RunDirectory& directory, const RunReport& report);
// Throws InputError if the run is not finished, or its report damaged.
RunReport read_report(const RunDirectory& directory);

// The summary of all coefficients, or of their differences, and of the cost; reads a column or two of draws at a time.
FitSummary summarise(const RunReport& report, const DrawsFile& draws);
// The same as one JSON object: run, rows, cost, parameters.
std::string to_json(const FitSummary& summary, const RunReport& report);

}  // namespace flymc
