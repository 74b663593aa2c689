// The runs of one algorithm: chains from prior draws, their cost, their effective sizes and their traces.
#pragma once

#include "experiment.hpp"
#include "flymc/comm/execution.hpp"

namespace flymc::paper {

enum class Algorithm { regular, untuned, tuned };
std::string name_of(Algorithm algorithm);

// One point of a trace.
struct TracePoint {
  std::int64_t iteration = 0;
  double log_posterior = 0.0;  // of all rows, for every algorithm; its queries are not counted
  double queries = 0.0;        // per iteration since the point before
};

struct RunResult {
  std::uint64_t seed = 0;
  double queries = 0.0;    // per iteration after burn-in
  double ess_least = 0.0;  // effective samples per 1000 iterations, by coda's definition: the least over the
  double ess_mean = 0.0;   //   coefficients, and their mean
  double seconds = 0.0;    // per iteration after burn-in, of the chain's thread
  double acceptance = 0.0, bright = 0.0;
  double mean_log_posterior = 0.0;  // after burn-in
  RowId start_queries = 0, burn_in_queries = 0;
  std::vector<TracePoint> trace;  // from the first iteration on, evenly on a logarithmic scale
};

struct AlgorithmResult {
  Algorithm algorithm = Algorithm::regular;
  RowId anchor_queries = 0, bound_queries = 0;  // once for all runs
  std::vector<RunResult> runs;
};

// Run r has the seed `seed` + r, so it starts from the same prior draw under every algorithm.
AlgorithmResult run_algorithm(const Experiment& experiment, const Effort& effort, Algorithm algorithm,
                              const Store& store, const Scales& scales, std::uint64_t seed, const Execution& execution);

}  // namespace flymc::paper
