// The three stages of a run, and the arguments that they share.
#pragma once

#include <optional>

#include "../reading/run_parts.hpp"
#include "flymc/comm/execution.hpp"
#include "flymc/run/files/stages/run.hpp"
#include "flymc/run/sampler.hpp"

namespace flymc {

// The run's folder, the receiver of its progress, and the threads and ranks that do the work.
struct Job {
  const RunDirectory& directory;
  Monitor& monitor;
  Execution execution;

  const Settings& settings() const { return directory.settings(); }
  const Communicator& communicator() const { return execution.communicator; }
  bool first() const { return communicator().rank() == 0; }  // the rank that writes
  // Returns the first rank's answer on every rank, because files change and shared disks lag.
  template <class IsSo>
  bool found(const IsSo& is_so) const {
    return any(communicator(), first() && is_so());
  }
  bool stopped() const { return any(communicator(), monitor.stop()); }
  // Waits until all ranks are here. The first rank's earlier work is then visible to all.
  void wait_for_all() const { any(communicator(), false); }
};

// Stage 1: encodes the table as rows. Does nothing if the rows exist.
void ingest(const Job& job);
// Stage 2: loads anchor and bound, or computes them from the rows. Empty if the monitor stopped it.
std::optional<Preparation> prepared(const Job& job, const RunParts& parts);
// The time that the first two stages took in this process.
struct SetUpSeconds {
  double ingest = 0.0, prepare = 0.0;
};
// Stage 3: draws, and writes the report of the run. Returns false if the monitor stopped it.
bool sample(const Job& job, const RunParts& parts, const Preparation& preparation, const SetUpSeconds& set_up);
// Stages 2 and 3 of a model with groups. Its preparation is not stored: a run that goes on makes it again, the same.
bool sample_groups(const Job& job, const RunParts& parts, SetUpSeconds set_up);

}  // namespace flymc
