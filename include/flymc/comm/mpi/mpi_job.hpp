// Ranks of an MPI job. Only programs that are built with FLYMC_MPI have it.
#pragma once

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

 private:
  std::unique_ptr<const Communicator> ranks_;
};

}  // namespace flymc
