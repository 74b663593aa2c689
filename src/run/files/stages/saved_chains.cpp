// Runs chains in parallel; each saves a checkpoint from time to time and when it stops.
#include "saved_chains.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "../folder/checkpoint_file.hpp"
#include "../folder/clock.hpp"
#include "flymc/chain/run_chains.hpp"
#include "starts.hpp"

namespace flymc {
namespace {

std::int64_t done(const ChainRun& run) {
  return run.warming_up() ? static_cast<std::int64_t>(run.iteration()) : run.draws();
}

}  // namespace

SavedChains::SavedChains(const Job& job, const ChainPlan& plan, PartSink& sink) : job_(job), sink_(sink) {
  const RunDirectory& directory = job.directory;
  const FitOptions& fit = job.settings().fit;
  const ChainOptions options{fit.warmup, fit.draws, fit.thin, seed_of(directory)};
  for (int i = 0; i < fit.chains; ++i) {
    const auto chain = static_cast<std::uint64_t>(i);
    const auto checkpoint = load_checkpoint(directory, chain);
    runs_.push_back(checkpoint ? go_on(chain, plan, options, *checkpoint) : ChainRun(chain, plan, options));
    if (!job_.first()) continue;
    const std::int64_t draws = checkpoint ? checkpoint->draws : 0;
    sink_.go_on(runs_.size() - 1, directory.keep_parts(chain, draws),
                directory.keep_parts(chain, draws, RunDirectory::PartOf::effects), draws);
  }
}

// A readable checkpoint may still belong to other rows or kernels.
ChainRun SavedChains::go_on(std::uint64_t chain, const ChainPlan& plan, const ChainOptions& options,
                            const Checkpoint& checkpoint) const {
  try {
    return ChainRun(chain, plan, options, checkpoint);
  } catch (const InputError& error) {
    throw error.saying(fmt::format("{}: {}; {}", job_.directory.checkpoint(chain).string(), error.what(),
                                   job_.directory.advice(chain)));
  }
}

bool SavedChains::advance(std::int64_t draws) {
  std::atomic<bool> failed = false;
  for_each_chain(runs_.size(), job_.execution, [&](std::size_t i) {
    try {
      if (failed || job_.stopped()) return;
      advance_one(i, draws, failed);
    } catch (...) {
      failed = true;  // the others stop at their next iteration, with a checkpoint
      throw;
    }
  });
  return all_at(draws);
}

void SavedChains::advance_one(std::size_t i, std::int64_t draws, const std::atomic<bool>& failed) {
  ChainRun& run = runs_[i];
  auto saved = Clock::now(), began = Clock::now();
  bool was_warming_up = run.warming_up();
  std::int64_t before = done(run);  // when `began` was set
  run.extend(draws);
  const bool finished_before = run.draws() >= draws;
  NoSink none;  // for ranks other than the first, which do not write
  int steps = 0;
  run.advance(job_.first() ? static_cast<Sink&>(sink_) : none, i, [&](const ChainRun& now) {
    if (was_warming_up != now.warming_up()) {
      began = Clock::now();
      before = 0;
    }
    was_warming_up = now.warming_up();
    const ChainReport& r = now.report();
    job_.monitor.progress(
        {now.chain(), now.warming_up(), done(now), now.warming_up() ? job_.settings().fit.warmup : draws, now.bright(),
         r.start_queries + r.warmup_queries + r.sampling_queries, done(now) - before, seconds_since(began)});
    if (seconds_since(saved) >= job_.settings().checkpoint_seconds) {
      save(i);
      saved = Clock::now();
    }
    return !failed && !stops(++steps);
  });
  if (!finished_before) save(i);
}

// Ranks must stop at the same iteration, so they compare their stop flags every 16 iterations.
bool SavedChains::stops(int steps) const {
  constexpr int now_and_then = 16;
  if (job_.communicator().size() == 1) return job_.monitor.stop();
  return steps % now_and_then == 0 && job_.stopped();
}

// Draws are written first, so that a checkpoint never counts draws that are not on disk.
void SavedChains::save(std::size_t i) {
  if (!job_.first()) return;
  sink_.close_part(i);
  save_checkpoint(job_.directory, runs_[i].chain(), runs_[i].checkpoint());
}

bool SavedChains::all_at(std::int64_t draws) const {
  return std::all_of(runs_.begin(), runs_.end(), [&](const ChainRun& run) { return run.draws() >= draws; });
}

std::int64_t SavedChains::most_draws() const {
  std::int64_t most = 0;
  for (const ChainRun& run : runs_) most = std::max(most, run.draws());
  return most;
}

std::vector<Vector> SavedChains::ends(const RunParts& parts) const {
  std::vector<Vector> out;
  for (const ChainRun& run : runs_) out.push_back(parts.shown(run.checkpoint().place.theta));
  return out;
}

void SavedChains::check_parts() const {
  for (std::size_t i = 0; i < runs_.size(); ++i) sink_.check_complete(i);
}

std::vector<ChainReport> SavedChains::reports() const {
  std::vector<ChainReport> out;
  for (const ChainRun& run : runs_) out.push_back(run.report());
  return out;
}

}  // namespace flymc
