// The loop over iterations, and chains side by side.
#include "flymc/chain/run_chains.hpp"

#include <chrono>
#include <set>

#include "flymc/core/error.hpp"

namespace flymc {
namespace {

ChainReport run_chain(ChainId id, std::size_t position, const ChainPlan& plan, const ChainOptions& options,
                      Sink& sink) {
  ChainReport report;
  State start = plan.start(id, report.start_queries);
  Warmup warmup(id, std::move(start), plan.kernels());
  for (int i = 0; i < options.warmup; ++i) report.warmup_queries += warmup.step().queries;

  Chain chain = std::move(warmup).freeze();
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < options.draws; ++i) {
    DrawStats stats;
    for (int j = 0; j < options.thin; ++j) {
      const Info info = chain.step();
      stats.queries += info.queries;
      stats.acceptance = info.acceptance;
      report.acceptance += info.acceptance;
      report.bright_mean += static_cast<double>(chain.state().z.set.bright_count());
      report.not_finite += info.not_finite;
      ++report.iterations;
    }
    stats.log_density = chain.state().at.log_density;
    stats.bright = chain.state().z.set.bright_count();
    report.sampling_queries += stats.queries;
    sink.write(position, chain.state().theta, stats);
  }
  report.sampling_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (report.iterations > 0) {
    report.acceptance /= static_cast<double>(report.iterations);
    report.bright_mean /= static_cast<double>(report.iterations);
  }
  return report;
}

}  // namespace

std::vector<ChainReport> run_chains(std::span<const std::uint64_t> chains, const ChainPlan& plan,
                                    const ChainOptions& options, const Threads& threads, Sink& sink) {
  if (chains.empty()) throw InputError("at least one chain is needed");
  if (std::set<std::uint64_t>(chains.begin(), chains.end()).size() != chains.size())
    throw InputError("two chains of one number would be the same chain");
  if (options.warmup < 0 || options.draws < 1 || options.thin < 1)
    throw InputError("warm-up must be 0 or more, draws and thinning 1 or more");
  std::vector<ChainReport> reports(chains.size());
  threads.run(chains.size(), [&](std::size_t i) {
    reports[i] = run_chain({options.seed, chains[i]}, i, plan, options, sink);
  });
  return reports;
}

}  // namespace flymc
