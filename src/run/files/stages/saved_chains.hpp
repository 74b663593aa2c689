// The chains of a run, with the parts and checkpoints that they write to disk.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "flymc/chain/chain_run.hpp"
#include "part_sink.hpp"
#include "stages.hpp"

namespace flymc {

// All ranks have the same chains at the same iteration. The first rank writes.
class SavedChains {
 public:
  // Starts the chains, or resumes them from their checkpoints.
  SavedChains(const Job& job, const ChainPlan& plan, PartSink& sink);

  // Advances every chain to `draws` draws. Returns false if the monitor stopped them.
  bool advance(std::int64_t draws);

  bool all_at(std::int64_t draws) const;
  std::int64_t most_draws() const;
  // The present states of the chains, on the scale of the table's columns.
  std::vector<Vector> ends(const RunParts& parts) const;
  // Throws InputError if draws are missing that a checkpoint counts.
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
