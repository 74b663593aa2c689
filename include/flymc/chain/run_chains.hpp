// Many chains that share one store and one bound.
#pragma once

#include "flymc/chain/chain_run.hpp"
#include "flymc/comm/execution.hpp"

namespace flymc {

// Runs the chains with these numbers; each writes to the sink under its position in the list. A chain's draws depend
// only on the seed and its number, not on threads, ranks or other chains.
std::vector<ChainReport> run_chains(std::span<const std::uint64_t> chains, const ChainPlan& plan,
                                    const ChainOptions& options, const Execution& execution, Sink& sink);

// Calls advance(0) ... advance(chains - 1): concurrently on threads, or one after the other if there are several ranks,
// since concurrent chains could deadlock waiting for each other's ranks. With so many rows a chain takes only seconds.
void for_each_chain(std::size_t chains, const Execution& execution, const std::function<void(std::size_t)>& advance);

}  // namespace flymc
