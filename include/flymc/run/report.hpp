// What a fit took and what is to be said of it, in memory or on disk; and its summary, ready to print.
#pragma once

#include <functional>
#include <iosfwd>
#include <limits>
#include <string>
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
  std::vector<std::string> coefficients;  // their names
  std::vector<std::string> classes;       // of the target; none for numbers
  bool differences = false;               // between classes are reported, not the coefficients: see Reported
  RowId anchor_queries = 0, bound_queries = 0;
  std::vector<ChainReport> chains;
  std::int64_t draws_per_chain = 0;
  std::string choices;                                      // of bound, sweep, move and what counts as 1, in words
  std::vector<std::string> warnings;                        // about the posterior, known without draws
  double radius = std::numeric_limits<double>::infinity();  // of the bound
  std::vector<double> laplace_mean, laplace_sd;             // of each number that is reported; empty: not known

  // All queries: set-up, starts, warm-up and sampling of every chain.
  RowId queries() const;
  Reported reported() const { return Reported(coefficients, differences ? classes : std::vector<std::string>()); }
};

// How coefficients are shown.
struct Presentation {
  std::vector<std::string> names;
  std::vector<std::string> classes = {};  // of the target
  // From the scale of the features to that of the table: a linear map.
  std::function<Vector(const Vector&)> original = [](const Vector& theta) { return theta; };
};

// All that is known before the chains have run.
Report report_on(const Store& store, const Model& model, const Preparation& preparation, const FitOptions& options,
                 const Presentation& shown);

struct SummaryOptions {
  double interval = usual_interval;
  bool odds_ratios = false;  // show them too; whoever asks knows that coefficients are logarithms of odds
};
// Throws InputError if the interval is none.
void check(const SummaryOptions& options);

// The summary of a fit, ready to print.
struct FitSummary {
  std::vector<ParameterSummary> parameters;
  SummaryOptions options = {};
  std::vector<LaplaceCheck> laplace;  // of each parameter; empty where there was no anchor
  std::string remark;                 // what the parameters are, where they are not the coefficients
  std::string choices;                // of bound, sweep and move, in words
  std::string cost;                   // rows, queries and passes, in words
  std::vector<std::string> warnings;
  std::string text() const;
  // With mentions of settings (core/mention.hpp) spelled.
  FitSummary spelled(const std::function<std::string(const Mention&)>& spell) &&;
};
std::ostream& operator<<(std::ostream& out, const FitSummary& summary);

// Of the reported parameters, which were summarised one by one.
FitSummary summarise(const Report& report, std::vector<ParameterSummary> parameters,
                     const SummaryOptions& options = {});

// Of all coefficients, or of their differences; reads a column or two of draws at a time.
template <class Draws>
FitSummary summarise(const Report& report, const Draws& draws, const SummaryOptions& options = {}) {
  check(options);
  const Reported reported = report.reported();
  std::vector<ParameterSummary> parameters;
  for (Index i = 0; i < reported.size(); ++i)
    parameters.push_back(
        summarise(reported.names()[static_cast<std::size_t>(i)], reported.draws(draws, i), options.interval));
  return summarise(report, std::move(parameters), options);
}

}  // namespace flymc
