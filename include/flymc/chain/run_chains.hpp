// Many chains on threads, sharing one store and one bound.
#pragma once

#include <functional>
#include <span>

#include "flymc/chain/chain.hpp"
#include "flymc/core/parallel.hpp"
#include "flymc/draws/sink.hpp"

namespace flymc {

struct ChainOptions {
  int warmup = 1000;
  int draws = 1000;
  int thin = 1;  // iterations per draw that is kept
  std::uint64_t seed = 1;
};

// What a chain cost and how it went.
struct ChainReport {
  RowId start_queries = 0;
  RowId warmup_queries = 0;
  RowId sampling_queries = 0;
  std::int64_t iterations = 0;  // of sampling
  std::int64_t not_finite = 0;  // densities that could not be computed while sampling, each rejected
  double acceptance = 0.0;      // mean over sampling
  double bright_mean = 0.0;     // mean number of bright rows over sampling
  double sampling_seconds = 0.0;
};

// How a chain begins, and with which kernels; both are called once per chain, from its thread.
struct ChainPlan {
  std::function<State(ChainId, RowId& queries)> start;
  std::function<Tuners()> kernels;
};

// Runs chain numbers `chains` (writing to the sink under the position in that list). A chain's draws depend on the seed
// and its number alone: not on the threads, nor on which other chains run.
std::vector<ChainReport> run_chains(std::span<const std::uint64_t> chains, const ChainPlan& plan,
                                    const ChainOptions& options, const Threads& threads, Sink& sink);

}  // namespace flymc
