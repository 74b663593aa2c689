// Many chains, sharing one store and one bound.
#pragma once

#include "flymc/chain/chain_run.hpp"
#include "flymc/comm/execution.hpp"

namespace flymc {

// Runs chain numbers `chains` (writing to the sink under the position in that list). A chain's draws depend on the seed
// and its number alone: not on the threads or ranks, nor on which other chains run.
std::vector<ChainReport> run_chains(std::span<const std::uint64_t> chains, const ChainPlan& plan,
                                    const ChainOptions& options, const Execution& execution, Sink& sink);

// Calls advance(0) ... advance(chains - 1): side by side on threads, or one after the other where ranks go together,
// since two chains could wait for each other's ranks for ever. A chain is a matter of seconds where rows are so many.
void for_each_chain(std::size_t chains, const Execution& execution, const std::function<void(std::size_t)>& advance);

}  // namespace flymc
