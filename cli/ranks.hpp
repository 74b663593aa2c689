// The ranks of this process: those of an MPI job where mpirun started it, else itself alone.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "flymc/comm/communicator.hpp"
#include "flymc/core/error.hpp"

#ifdef FLYMC_WITH_MPI
#include <optional>

#include "flymc/comm/mpi/mpi_job.hpp"
#endif

namespace flymc {

#ifdef FLYMC_WITH_MPI
inline constexpr bool with_mpi = true;
#else
inline constexpr bool with_mpi = false;
#endif

// The number of processes that a launcher started together with this one, itself included, from the environment. For
// Slurm it is that of the job step (`srun`), not of the allocation, because a shell within an allocation is one
// process.
inline int started_together() {
  int most = 1;
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (const char* const size = std::getenv(name)) most = std::max(most, std::atoi(size));
  return most;
}

// Throws InputError unless there are `expected` ranks. If that is 0, throws if several processes were started together
// and this one is a rank alone: each of them would fit the whole table.
inline void check_ranks(int ranks, int expected) {
  if (expected > 0 && ranks != expected)
    throw InputError(fmt::format(
        "--expect-ranks {0}: there {1} {2} rank{3}; start the command with `mpirun -n {0}`, and build flymc "
        "with the same MPI",
        expected, ranks == 1 ? "is" : "are", ranks, ranks == 1 ? "" : "s"));
  if (const int started = started_together(); expected == 0 && ranks == 1 && started > 1)
    throw InputError(fmt::format(
        "{} processes were started together, and each would fit the whole table alone: {}; build flymc with the MPI "
        "that starts it (-DFLYMC_MPI=ON), or give --expect-ranks 1 if each is to work alone",
        started,
        with_mpi ? "they do not find each other by the MPI that flymc was built with" : "this flymc has no MPI"));
}

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
