// A run on disk: ingest, prepare, sample. Each stage starts from the files of the stage before. A run that was
// interrupted anywhere resumes from there and gives the same draws as an uninterrupted run.
#pragma once

#include <string_view>

#include "flymc/comm/communicator.hpp"
#include "flymc/run/files/folder/run_directory.hpp"

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

// Progress of a stage other than the chains.
struct StageProgress {
  std::string_view what;  // the activity
  double done = 0.0;
  double total = 0.0;  // 0: unknown
  std::string_view unit;
};

// Receives the progress of a run, and can stop it. Chains call it from their own threads after every iteration: be
// quick.
class Monitor {
 public:
  virtual ~Monitor() = default;
  virtual void say(const std::string&) {}
  virtual void progress(const ChainProgress&) {}
  virtual void progress(const StageProgress&) {}  // often, and from any thread
  virtual bool stop() const { return false; }
};

// Throws InputError if the table cannot be opened, or lacks a column that the settings name. Call it before an existing
// run is replaced.
void check_table(const Settings& settings);
// Stage 1. Does nothing if it has been done.
void ingest(const RunDirectory& directory, Monitor& monitor, const Communicator& communicator = Communicator::alone());
// Runs all stages that have not been done. Returns false if the monitor stopped it; the work done until then is kept.
// Every rank of a communicator calls it on one folder that all ranks see; the first rank writes. The number of ranks
// may differ from that of the process that began.
bool complete(const RunDirectory& directory, Monitor& monitor,
              const Communicator& communicator = Communicator::alone());

}  // namespace flymc
