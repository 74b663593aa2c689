// Which launcher started this process, and how many others, according to the environment. This needs no MPI.
#pragma once

namespace flymc {

enum class Launcher {
  none,
  open_mpi,  // mpirun of Open MPI
  pmi,       // mpiexec of MPICH and its kin, or Slurm's srun
  pmix,      // srun --mpi=pmix, and others
};
Launcher launcher();

// The number of processes that were started together, this one included. For Slurm it is the size of the job step
// (`srun`), not of the allocation, because a shell within an allocation is one process.
int started_together();

}  // namespace flymc
