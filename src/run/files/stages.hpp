// The three stages of a run, and what each of them is told.
#pragma once

#include <optional>

#include "flymc/comm/execution.hpp"
#include "flymc/run/files/run.hpp"
#include "flymc/run/sampler.hpp"
#include "run_parts.hpp"

namespace flymc {

// The folder, who hears how it goes, and who does the work.
struct Job {
  const RunDirectory& directory;
  Monitor& monitor;
  Execution execution;

  const Settings& settings() const { return directory.settings(); }
  const Communicator& communicator() const { return execution.communicator; }
  bool first() const { return communicator().rank() == 0; }  // the rank that writes
  // What the first rank finds on the disk is so for all: files come and go, and a disk of many machines tells late.
  template <class IsSo>
  bool found(const IsSo& is_so) const {
    return any(communicator(), first() && is_so());
  }
  bool stopped() const { return any(communicator(), monitor.stop()); }
  // Goes on when all ranks are here, and what the first has done is done for all.
  void wait_for_all() const { any(communicator(), false); }
};

// Table to rows. Does nothing if they are there.
void ingest(const Job& job);
// Rows to anchor and bound, or those that are there. Nothing if the monitor stopped it.
std::optional<Preparation> prepared(const Job& job, const RunParts& parts);
// What the first two stages took in this process.
struct SetUpSeconds {
  double ingest = 0.0, prepare = 0.0;
};
// Draws, and the report of the run. False if the monitor stopped it.
bool sample(const Job& job, const RunParts& parts, const Preparation& preparation, const SetUpSeconds& set_up);

}  // namespace flymc
