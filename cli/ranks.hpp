// The ranks of this process: those of an MPI job where mpirun started it, else itself alone.
#pragma once

#include "flymc/comm/communicator.hpp"

#ifdef FLYMC_WITH_MPI
#include <optional>

#include "flymc/comm/mpi/mpi_job.hpp"
#endif

namespace flymc {

class Ranks {
 public:
#ifdef FLYMC_WITH_MPI
  Ranks() {
    if (MpiJob::launched()) job_.emplace();
  }
  const Communicator& all() const { return job_ ? job_->ranks() : Communicator::alone(); }
  // Ends the ranks that wait for this one, which has failed.
  void abort(int code) const {
    if (job_ && job_->ranks().size() > 1) job_->abort(code);
  }

 private:
  std::optional<MpiJob> job_;
#else
  const Communicator& all() const { return Communicator::alone(); }
  void abort(int) const {}
#endif
};

}  // namespace flymc
