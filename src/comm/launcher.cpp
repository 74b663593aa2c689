// Reads the variables that Open MPI, MPICH and its kin, and Slurm set in the environment of their processes.
#include "flymc/comm/launcher.hpp"

#include <algorithm>
#include <cstdlib>

namespace flymc {

Launcher launcher() {
  if (std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr) return Launcher::open_mpi;
  if (std::getenv("PMI_SIZE") != nullptr) return Launcher::pmi;
  if (std::getenv("PMIX_RANK") != nullptr) return Launcher::pmix;
  return Launcher::none;
}

int started_together() {
  int most = 1;
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (const char* const size = std::getenv(name)) most = std::max(most, std::atoi(size));
  return most;
}

}  // namespace flymc
