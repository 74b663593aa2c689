// An audit of a finished run: a test whether its draws are from the posterior, by regular MCMC on all rows.
//
// Some nearly independent draws of the run are moved by a few steps of regular MCMC with random numbers of its own. The
// moves read every row and share neither bound nor z nor lit rows with the run. They are tuned around a mode that the
// audit finds itself, from all rows. A step applies the moves in their order or in the reverse order, each with
// probability 1/2, so that it is reversible. If the draws have the posterior's distribution, a draw and the moved draw
// can be swapped, so each number is as likely to change up as down. One test (diagnose/swapped_pairs.hpp) checks this
// for all numbers. It is exact for any number of draws and any posterior, however skewed (docs/exactness.md, "Audit a
// run of your own").
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
  std::int64_t draws = 0;  // how many draws are moved; 0: 100 to 1000, fewer for more rows
  int steps = 1;           // the number of steps that move each draw
  std::uint64_t seed = 0;
};
// Throws InputError if an option cannot be used.
void check(const AuditOptions& options);

// How many draws of a run are moved: the requested number, and at most half of the smallest effective sample size of
// its numbers, so that they are nearly independent; 0 if that is fewer than an audit needs.
std::int64_t audited_draws(const AuditOptions& options, RowId rows, std::span<const ParameterSummary> numbers,
                           std::int64_t all_draws);
constexpr std::int64_t fewest_audited = 20;
// The message for a run with too few independent draws; `path` is the run's folder, empty for a fit in memory.
std::string too_few_to_audit(std::span<const ParameterSummary> numbers, std::int64_t all_draws,
                             const std::string& path = "");

// Whether a run was regular MCMC: its chains have made no self-checks, which all chains with z make.
bool is_regular(const Report& report);

// The parts of a run that an audit needs.
struct AuditedRun {
  RowMatrix draws;                                           // nearly independent values of theta, one per row
  std::int64_t all_draws = 0;                                // the number of draws that these were taken from
  std::vector<ParameterSummary> numbers = {};                // the summary of each reported number, over all draws
  std::function<Vector(const Vector& theta)> reported = {};  // the reported numbers at theta
  bool regular = false;                                      // whether the run itself was regular MCMC
};

// The mean change of a number by the move.
struct Drift {
  double mean = 0.0, error = 0.0;  // the mean change and its standard error
  bool found = false;              // whether it is too large for chance, allowing for all numbers
};

struct AuditedNumber {
  std::string name;
  Drift centre;  // of the number, in standard deviations of the draws
  Drift spread;  // of its squared distance from the draws' mean, relative to their variance
};

struct Audit {
  AuditOptions options = {};
  std::int64_t draws = 0, all_draws = 0;
  double level = 0.001;     // the probability of a failure if the draws are right
  double p_value = 1.0;     // see SwappedPairs
  double acceptance = 0.0;  // of the moves
  std::vector<AuditedNumber> numbers = {};
  Drift log_posterior = {};  // in nats
  double strongest = 0.0;    // the largest strength, see SwappedPairs
  // The error of a mean, in standard deviations, that such an audit finds with probability 0.9. This is the largest
  // over the numbers; `hardest` is the name of that number.
  double sees = std::numeric_limits<double>::infinity();
  std::string hardest = {};
  RowId rows = 0, queries = 0;
  bool regular = false;

  bool passed() const { return p_value > level; }
  double passes() const { return static_cast<double>(queries) / static_cast<double>(rows); }
  // One line each: what was done, the result, and how reliable it is.
  std::string subject() const;
  std::string verdict() const;
  std::string assurance() const;
  // A sentence for each number that drifts, with its direction; strongest first, at most `most`. Empty if it passed.
  std::vector<std::string> findings(std::size_t most = 10) const;
  // The advice after a failure; empty if it passed.
  std::string advice() const;
  // All of these as lines for a terminal.
  std::string text() const;
};

// Calls `of_how_many`, from any thread, after each draw that was moved. Throws InputError if a draw has no posterior
// density or the posterior has no mode.
Audit audit(const Store& store, const Model& model, const AuditedRun& run, const AuditOptions& options,
            const Threads& threads, const std::function<void(std::int64_t, std::int64_t)>& of_how_many = nullptr);
// Audits a fit in memory.
Audit audit(const Store& store, const Model& model, const Fit& fit, const AuditOptions& options = {},
            const Threads& threads = Threads());

}  // namespace flymc
