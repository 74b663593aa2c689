// Ranks of an MPI job. Only programs that are built with FLYMC_MPI have it.
#pragma once

#include <chrono>
#include <memory>

#include "flymc/comm/communicator.hpp"

namespace flymc {

// From MPI_Init to MPI_Finalize; once per process, and only where launcher() says that there are others. All MPI calls come from the thread that made it.
class MpiJob {
 public:
  MpiJob();
  ~MpiJob();
  MpiJob(const MpiJob&) = delete;
  MpiJob& operator=(const MpiJob&) = delete;

  const Communicator& ranks() const { return *ranks_; }
  // Ends all ranks: what a rank does that cannot go on, since the others would wait for it for ever.
  [[noreturn]] void abort(int code) const;
  // For a rank that has failed: waits for the others to call this too, at most so long. Returns whether all have. If so,
  // no rank waits for another, and each may finish by itself; if not, some rank has not failed.
  bool all_failed(std::chrono::milliseconds patience) const;

 private:
  std::unique_ptr<const Communicator> ranks_;
  struct Failed;  // a channel of its own, because ranks that have not failed use the other one meanwhile
  std::unique_ptr<Failed> failed_;
};

}  // namespace flymc
