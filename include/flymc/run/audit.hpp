// Whether draws stay where they are when all rows are read: an audit of a finished run, by what no run has.
//
// Some draws of the run, nearly independent, are moved by a few steps of regular MCMC with random numbers of its own. It
// reads every row and shares neither bound nor z nor lit rows with the run; the mode of all rows, around which it moves,
// is searched anew. A step applies the moves in their order or in the reverse order, each with probability 1/2, so that
// it is reversible. If draws have the posterior's distribution, a draw and the moved one may then be swapped, and the
// changes of all numbers are tested at once for being as likely up as down (diagnose/swapped_pairs.hpp): exactly, for
// any number of draws and however skewed the posterior is.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "flymc/comm/execution.hpp"
#include "flymc/diagnose/summary.hpp"
#include "flymc/model/model.hpp"

namespace flymc {

struct Fit;
struct Report;

struct AuditOptions {
  std::int64_t draws = 0;  // that are moved; 0: 100 to 1000, the fewer the more rows there are
  int steps = 1;           // of each
  std::uint64_t seed = 0;
};
// Throws InputError if an option cannot be used.
void check(const AuditOptions& options);

// How many draws of a run are moved: those that are asked for, and at most half of the least effective size of any of
// its numbers, so that they hardly depend on each other; 0 if that is fewer than an audit needs.
std::int64_t audited_draws(const AuditOptions& options, RowId rows, std::span<const ParameterSummary> numbers,
                           std::int64_t all_draws);
constexpr std::int64_t fewest_audited = 20;
// Why it cannot be made; `path`: of the run, empty if it is in memory.
std::string too_few_to_audit(std::span<const ParameterSummary> numbers, std::int64_t all_draws,
                             const std::string& path = "");

// Whether the chains had no z: those that have one check it now and then.
bool is_regular(const Report& report);

// What an audit needs to know of a run.
struct AuditedRun {
  RowMatrix draws;                                           // of theta, nearly independent: a row each
  std::int64_t all_draws = 0;                                // that these are of
  std::vector<ParameterSummary> numbers = {};                // what is reported, over all draws
  std::function<Vector(const Vector& theta)> reported = {};  // the same numbers at theta
  bool regular = false;                                      // whether the run itself was regular MCMC
};

// By how much a number is larger after the move, on average.
struct Drift {
  double mean = 0.0, error = 0.0;  // and its standard error
  bool found = false;              // too large for chance, all numbers together
};

struct AuditedNumber {
  std::string name;
  Drift centre;  // in standard deviations of the draws
  Drift spread;  // of the square about the draws' mean, in parts of their variance
};

struct Audit {
  AuditOptions options = {};
  std::int64_t draws = 0, all_draws = 0;
  double level = 0.001;     // the probability of a failure if the draws are right
  double p_value = 1.0;     // see SwappedPairs
  double acceptance = 0.0;  // of the moves
  std::vector<AuditedNumber> numbers = {};
  Drift log_posterior = {};  // in nats
  double strongest = 0.0;    // the largest strength of all
  // A shift of a number's mean, in its standard deviations, that an audit such as this finds with probability 0.9: the
  // largest over the numbers, and whose it is.
  double sees = std::numeric_limits<double>::infinity();
  std::string hardest = {};
  RowId rows = 0, queries = 0;
  bool regular = false;

  bool passed() const { return p_value > level; }
  double passes() const { return static_cast<double>(queries) / static_cast<double>(rows); }
  // What was done, what came out, and how sure that is: a line each.
  std::string subject() const;
  std::string verdict() const;
  std::string assurance() const;
  // What drifts and where to, a sentence each, at most `most`, the strongest first; empty if it passed.
  std::vector<std::string> findings(std::size_t most = 10) const;
  // What to do; empty if it passed.
  std::string advice() const;
  // All of it for a terminal.
  std::string text() const;
};

// `of_how_many` hears of each draw that was moved, from any thread. Throws InputError if a draw has no posterior density
// or there is no mode.
Audit audit(const Store& store, const Model& model, const AuditedRun& run, const AuditOptions& options,
            const Threads& threads, const std::function<void(std::int64_t, std::int64_t)>& of_how_many = nullptr);
// Of a fit in memory.
Audit audit(const Store& store, const Model& model, const Fit& fit, const AuditOptions& options = {},
            const Threads& threads = Threads());

}  // namespace flymc
