// Many chains on threads, sharing one store and one bound.
#pragma once

#include "flymc/chain/chain_run.hpp"
#include "flymc/core/parallel.hpp"

namespace flymc {

// Runs chain numbers `chains` (writing to the sink under the position in that
// list). A chain's draws depend on the seed and its number alone: not on the threads, nor on which other chains run.
std::vector<ChainReport> run_chains(std::span<const std::uint64_t> chains, const ChainPlan& plan,
                                    const ChainOptions& options, const Threads& threads, Sink& sink);

}  // namespace flymc
