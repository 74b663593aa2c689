// Runs chains on threads, or one after the other.
#include "flymc/chain/run_chains.hpp"

#include <set>

#include "flymc/core/error.hpp"

namespace flymc {

void for_each_chain(std::size_t chains, const Execution& execution, const std::function<void(std::size_t)>& advance) {
  if (execution.communicator.size() == 1) return execution.threads.run(chains, advance);
  for (std::size_t i = 0; i < chains; ++i) advance(i);
}

std::vector<ChainReport> run_chains(std::span<const std::uint64_t> chains, const ChainPlan& plan,
                                    const ChainOptions& options, const Execution& execution, Sink& sink) {
  if (chains.empty()) throw InputError("at least one chain is needed");
  if (std::set<std::uint64_t>(chains.begin(), chains.end()).size() != chains.size())
    throw InputError("two chains of one number would be the same chain");
  std::vector<ChainReport> reports(chains.size());
  for_each_chain(chains.size(), execution, [&](std::size_t i) {
    ChainRun run(chains[i], plan, options);
    run.advance(sink, i);
    reports[i] = run.report();
  });
  return reports;
}

}  // namespace flymc
