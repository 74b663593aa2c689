// Chains side by side.
#include "flymc/chain/run_chains.hpp"

#include <set>

#include "flymc/core/error.hpp"

namespace flymc {

std::vector<ChainReport> run_chains(std::span<const std::uint64_t> chains, const ChainPlan& plan,
                                    const ChainOptions& options, const Threads& threads, Sink& sink) {
  if (chains.empty()) throw InputError("at least one chain is needed");
  if (std::set<std::uint64_t>(chains.begin(), chains.end()).size() != chains.size())
    throw InputError("two chains of one number would be the same chain");
  std::vector<ChainReport> reports(chains.size());
  threads.run(chains.size(), [&](std::size_t i) {
    ChainRun run(chains[i], plan, options);
    run.advance(sink, i);
    reports[i] = run.report();
  });
  return reports;
}

}  // namespace flymc
