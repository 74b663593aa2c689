// Ranks of an MPI job. Only programs that are built with FLYMC_MPI use it.
#pragma once

#include <chrono>
#include <memory>

#include "flymc/comm/communicator.hpp"

namespace flymc {

// Calls MPI_Init when it is made and MPI_Finalize when it is destroyed. Make it once per process, and only if
// launcher() finds other processes. All MPI calls come from the thread that made it.
class MpiJob {
 public:
  MpiJob();
  ~MpiJob();
  MpiJob(const MpiJob&) = delete;
  MpiJob& operator=(const MpiJob&) = delete;

  const Communicator& ranks() const { return *ranks_; }
  // Ends all ranks. A rank that cannot go on calls this, because the others would wait for it for ever.
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
