// A run on disk: ingest, prepare, sample. Each stage starts from what the one before has left, so a run that was
// interrupted anywhere goes on from there, and its draws are those of one that never was.
#pragma once

#include "flymc/comm/communicator.hpp"
#include "flymc/run/files/run_directory.hpp"

namespace flymc {

struct ChainProgress {
  std::uint64_t chain = 0;
  bool warming_up = true;
  std::int64_t done = 0, total = 0;  // iterations of warm-up, or draws
  RowId bright = 0;
  RowId queries = 0;       // so far
  std::int64_t steps = 0;  // of `done`, those made in this process ...
  double seconds = 0.0;    // ... and the time they took
};

// Hears how a run goes, and can stop it. Chains call from their own threads, after every iteration: be quick.
class Monitor {
 public:
  virtual ~Monitor() = default;
  virtual void say(const std::string&) {}
  virtual void progress(const ChainProgress&) {}
  virtual bool stop() const { return false; }
};

// Stage 1. Does nothing if it is done.
void ingest(const RunDirectory& directory, Monitor& monitor, const Communicator& communicator = Communicator::alone());
// All stages that are not done. False if the monitor stopped it; what was done by then is kept. Every rank of a
// communicator calls it, on one folder that all of them see; the first one writes. It may be another number of ranks
// than the one that began.
bool complete(const RunDirectory& directory, Monitor& monitor,
              const Communicator& communicator = Communicator::alone());

}  // namespace flymc
