"""Whether a launcher such as `mpirun` started this process together with others, as the environment says."""

import os
import warnings

# Open MPI, MPICH and its relatives, MVAPICH and Slurm's `srun` set these in each process that they start: the number of
# processes, and which one this is. Slurm's numbers are those of the job step: a batch script is one process, whatever its SLURM_NTASKS. The command
# reads the same names (src/comm/launcher.cpp).
PROCESSES = {
    "OMPI_COMM_WORLD_SIZE": "OMPI_COMM_WORLD_RANK",
    "PMI_SIZE": "PMI_RANK",
    "MV2_COMM_WORLD_SIZE": "MV2_COMM_WORLD_RANK",
    "SLURM_STEP_NUM_TASKS": "SLURM_PROCID",
}

_warned = False


def started_together() -> tuple[int, int]:
    """How many processes were started together, this one included, and the number of this one, from 0."""
    for count, own in PROCESSES.items():
        if (size := os.environ.get(count, "")).isdecimal() and int(size) > 1:
            rank = os.environ.get(own, "")
            return int(size), int(rank) if rank.isdecimal() else 0
    return 1, 0


def warn_of_lone_fits() -> None:
    """Warns the caller's caller, once, if there are other processes. The first of them speaks for all."""
    global _warned
    processes, rank = started_together()
    if processes > 1 and rank == 0 and not _warned:
        _warned = True
        warnings.warn(
            f"{processes} processes were started together. Each of them that calls flymc.fit fits the whole table alone. "
            f"Processes share one fit if they run the command: mpirun -n {processes} flymc fit TABLE --target COLUMN "
            "--out RUN; flymc.load(RUN) then opens it",
            stacklevel=3,
        )
