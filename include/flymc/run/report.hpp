// What a fit took and what is to be said of it, in memory or on disk; and its summary, ready to print.
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
  RowId table_rows = 0;                   // if a row of the table may be several of these; 0: as many
  std::vector<std::string> coefficients;  // their names
  std::vector<std::string> classes;       // of the target; none for numbers
  bool differences = false;               // between classes are reported, not the coefficients: see Reported
  RowId anchor_queries = 0, bound_queries = 0;
  std::vector<ChainReport> chains;
  std::int64_t draws_per_chain = 0;
  std::string choices;                                      // of bound, sweep, move and what counts as 1, in words
  std::vector<std::string> warnings;                        // about the posterior, known without draws
  std::vector<std::string> without_moments;                 // numbers whose posterior has no sd, perhaps no mean
  double radius = std::numeric_limits<double>::infinity();  // of the bound
  // Laplace's, of each number that is reported, for differences from the first class; empty: not known.
  std::vector<double> laplace_mean, laplace_sd;
  std::vector<std::vector<double>> laplace_sd_of_others;  // of differences from each further class

  // All queries: set-up, starts, warm-up and sampling of every chain.
  RowId queries() const;
  // Differences are from those of `reference_class`; empty: the first. Throws InputError if there is no such class.
  Reported reported(const std::string& reference_class = "") const;
  // Mean and standard deviation of the Laplace approximation of what is reported; empty: not known.
  std::pair<Vector, Vector> laplace(const Reported& reported) const;
};

// How coefficients are shown.
struct Presentation {
  std::vector<std::string> names;
  std::vector<std::string> classes = {};  // of the target
  // Of parameters, from the scale of the features to that of the table: a linear map.
  std::function<Vector(const Vector&)> original = [](const Vector& parameters) { return parameters; };
};

// All that is known before the chains have run.
Report report_on(const Store& store, const Model& model, const Preparation& preparation, const FitOptions& options,
                 const Presentation& shown);

struct SummaryOptions {
  double interval = usual_interval;
  bool all = false;                  // every line of the table, however long it is
  bool ratios = false;               // of a run: exp of the coefficients too, as its family calls it
  std::string reference_class = {};  // that differences are from: see Report::reported
  double asked_ess = 0.0;            // a warning says where draws are worth less, or less than the usual limit
};
// Throws InputError if the interval is none.
void check(const SummaryOptions& options);

// The summary of a fit, ready to print.
struct FitSummary {
  std::vector<ParameterSummary> parameters;
  SummaryOptions options = {};
  Ratio ratio = {};                   // what exp of a coefficient is, to be shown too; without a name it is not
  std::size_t with_ratio = 0;         // of how many parameters, the first ones: not of a residual scale or a shape
  double enough_ess = 0.0;            // below it an effective size is too small
  std::vector<LaplaceCheck> laplace;  // of each parameter; empty where there was no anchor
  std::string remark;                 // what the parameters are, where they are not the coefficients
  std::string choices;                // of bound, sweep and move, in words
  std::string cost;                   // rows, queries and passes, in words
  std::vector<std::string> warnings;
  // A long table without most of its lines; `all_of_them` says where they are.
  std::string text(const std::string& all_of_them = "all are in `parameters`") const;
  // With mentions of settings (core/mention.hpp) spelled.
  FitSummary spelled(const std::function<std::string(const Mention&)>& spell) &&;
};
std::ostream& operator<<(std::ostream& out, const FitSummary& summary);

// Of the reported parameters, which were summarised one by one.
FitSummary summarise(const Report& report, std::vector<ParameterSummary> parameters,
                     const SummaryOptions& options = {});

// Of all coefficients, or of their differences; reads a column or two of draws at a time. `of_how_many` hears of each.
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
