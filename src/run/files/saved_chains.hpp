// The chains of a run, with the parts and the checkpoints that they leave on disk.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "flymc/chain/chain_run.hpp"
#include "part_sink.hpp"
#include "stages.hpp"

namespace flymc {

// Ranks have the same chains at the same iteration; the first of them writes.
class SavedChains {
 public:
  // They begin, or go on from where their checkpoints say.
  SavedChains(const Job& job, const ChainPlan& plan, PartSink& sink);

  // Every chain up to `draws` draws. False if the monitor stopped them.
  bool advance(std::int64_t draws);

  bool all_at(std::int64_t draws) const;
  std::int64_t most_draws() const;
  // The present states of the chains, on the scale of the table's columns.
  std::vector<Vector> ends(const RunParts& parts) const;
  // Throws InputError if draws are lost that a checkpoint knows of.
  void check_parts() const;
  std::vector<ChainReport> reports() const;

 private:
  ChainRun go_on(std::uint64_t chain, const ChainPlan& plan, const ChainOptions& options,
                 const Checkpoint& checkpoint) const;
  void advance_one(std::size_t i, std::int64_t draws, const std::atomic<bool>& failed);
  bool stops(int steps) const;
  void save(std::size_t i);

  const Job& job_;
  PartSink& sink_;
  std::vector<ChainRun> runs_;
};

}  // namespace flymc
