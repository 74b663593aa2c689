// The report of a fit, in memory or on disk: its cost, warnings and choices. And its summary, ready to print.
#pragma once

#include <functional>
#include <iosfwd>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "flymc/chain/chain_run.hpp"
#include "flymc/diagnose/summary.hpp"
#include "flymc/run/laplace.hpp"
#include "flymc/run/options.hpp"
#include "flymc/run/reported.hpp"
#include "flymc/run/self_check.hpp"

namespace flymc {

struct Mention;
struct Preparation;

struct Report {
  RowId rows = 0, dropped = 0;
  RowId table_rows = 0;                   // if a row of the table may be several of these; 0: the same number
  std::vector<std::string> coefficients;  // their names
  std::vector<std::string> classes;       // of the target; empty for numbers
  bool differences = false;               // differences between classes are reported, not coefficients: see Reported
  RowId anchor_queries = 0, bound_queries = 0;
  std::vector<ChainReport> chains;
  std::int64_t draws_per_chain = 0;
  std::string choices;                       // bound, sweep, move and the class that counts as 1, in words
  std::vector<std::string> warnings;         // about the posterior, known before the chains run
  std::vector<std::string> without_moments;  // numbers whose posterior has no sd, perhaps no mean
  double radius = std::numeric_limits<double>::infinity();  // of the bound
  // Laplace's, for each reported number; differences are from the first class. Empty: unknown.
  std::vector<double> laplace_mean, laplace_sd;
  std::vector<std::vector<double>> laplace_sd_of_others;  // for differences from each further class

  // All queries: set-up, starts, warm-up and sampling of every chain.
  RowId queries() const;
  // Differences are from `reference_class`; empty: the first class. Throws InputError if there is no such class.
  Reported reported(const std::string& reference_class = "") const;
  // Mean and standard deviation of the Laplace approximation of the reported numbers. Empty if unknown.
  std::pair<Vector, Vector> laplace(const Reported& reported) const;
};

// How parameters are shown.
struct Presentation {
  std::vector<std::string> names;
  std::vector<std::string> classes = {};  // of the target
  // Converts parameters from the scale of the features to that of the table: a linear map.
  std::function<Vector(const Vector&)> original = [](const Vector& parameters) { return parameters; };
};

// The report before the chains have run.
Report report_on(const Store& store, const Model& model, const Preparation& preparation, const FitOptions& options,
                 const Presentation& shown);

struct SummaryOptions {
  double interval = usual_interval;
  bool all = false;     // prints every line of the table, however long it is
  bool ratios = false;  // prints exp of the coefficients too, under the family's name for it; needs a run on disk
  std::string reference_class = {};  // the class that differences are from: see Report::reported
  double asked_ess = 0.0;            // the requested ESS: a warning names parameters below it, or below the usual limit
};
// Throws InputError if the interval cannot be used.
void check(const SummaryOptions& options);

// The summary of a fit, ready to print.
struct FitSummary {
  std::vector<ParameterSummary> parameters;
  SummaryOptions options = {};
  // For each parameter: coefficient, cut_point, scale, shape, or for scales of effects sd or cor; needs a run on disk.
  std::vector<std::string> kinds = {};
  Ratio ratio = {};            // the name of exp(coefficient), which is then shown too; unnamed: not shown
  std::size_t with_ratio = 0;  // how many parameters have a ratio: the first ones, which are no scales and no shape
  double enough_ess = 0.0;     // an ESS below it is too small
  std::vector<LaplaceCheck> laplace;  // for each parameter; empty if there was no anchor
  std::string remark;                 // what the parameters are, if they are not the coefficients
  std::string choices;                // of bound, sweep and move, in words
  std::string cost;                   // rows, queries and passes, in words
  std::vector<std::string> warnings;
  // The table and the rest as text. A long table is shortened; `all_of_them` says where to find all lines.
  std::string text(const std::string& all_of_them = "all are in `parameters`") const;
  // The summary with mentions of settings (core/mention.hpp) spelled out.
  FitSummary spelled(const std::function<std::string(const Mention&)>& spell) &&;
};
std::ostream& operator<<(std::ostream& out, const FitSummary& summary);

// Makes a summary from parameters that were already summarised.
FitSummary summarise(const Report& report, std::vector<ParameterSummary> parameters,
                     const SummaryOptions& options = {});

// Summarises all coefficients or their differences. Reads one or two columns of draws at a time and calls `of_how_many`
// after each.
template <class Draws>
FitSummary summarise(const Report& report, const Draws& draws, const SummaryOptions& options = {},
                     const std::function<void(Index, Index)>& of_how_many = nullptr) {
  check(options);
  const Reported reported = report.reported(options.reference_class);
  std::vector<ParameterSummary> parameters;
  for (Index i = 0; i < reported.size(); ++i) {
    parameters.push_back(
        summarise(reported.names()[static_cast<std::size_t>(i)], reported.draws(draws, i), options.interval));
    if (of_how_many) of_how_many(i + 1, reported.size());
  }
  return summarise(report, std::move(parameters), options);
}

}  // namespace flymc
