// The cost of draws by flymc, by regular MCMC, by independence Metropolis, and by the Laplace approximation alone.
#pragma once

#include <cmath>

#include "tables.hpp"

namespace flymc::bench {

// Seconds of set-up are wall-clock time; those of sampling are processor time divided by the number of threads.
struct Cost {
  Index parameters = 0;
  double passes_setup = 0.0, passes_warmup = 0.0, passes_sampling = 0.0;
  double ess_min = 0.0, ess_mean = 0.0;
  double ess_tail = HUGE_VAL, rhat = 0.0;  // the worst of all parameters
  double bright_mean = 0.0, acceptance = 0.0;
  double seconds_setup = 0.0, seconds_sampling = 0.0;
  std::int64_t iterations = 0;  // of all chains
  std::size_t lit = 0;
  bool regular = false;
  std::vector<ParameterSummary> summary;
  // Spread of the chains' means relative to the MCSEs that the chains report: 1 if effective sizes are right.
  double honesty = 0.0;
  double passes_per_1000() const { return 1000.0 * passes_sampling / ess_min; }
  double ess_per_second() const { return ess_min / seconds_sampling; }
  // The passes for 1000 effective draws: set-up, warm-up and sampling.
  double passes_total() const { return passes_setup + passes_warmup + passes_per_1000(); }
};

Cost measure_fit(const Case& table, const FitOptions& options, const Execution& execution);

// Metropolis on the full-data posterior with proposals from the Laplace approximation.
Cost measure_independence(const Case& table, const Preparation& laplace, int chains, int draws, std::uint64_t seed,
                          const Execution& execution);

// Draws per second from the Laplace approximation, one at a time, on all threads of `execution`.
double iid_per_second(const Anchor& laplace, const Execution& execution);

// Throws if the means of the two summaries differ by more than 4.8 standard errors.
void expect_same_means(const std::vector<ParameterSummary>& one, const std::vector<ParameterSummary>& other);

}  // namespace flymc::bench
