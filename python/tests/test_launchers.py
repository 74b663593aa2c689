"""Processes that `mpirun` or `srun` started each fit alone in Python, which a warning says once."""

import os
import shutil
import subprocess
import sys
import warnings

import flymc
import pytest
from flymc import launchers

SAYS = "4 processes were started together"
NAMES = {name for pair in launchers.PROCESSES.items() for name in pair}


@pytest.fixture
def environment(monkeypatch):
    """Sets variables as a launcher does, with those of the tests' own launcher removed."""

    def give(**variables):
        for name in NAMES:
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(launchers, "_warned", False)

    return give


def fit(parquet, quick):
    """The warnings of a fit about processes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        flymc.fit("clicked", str(parquet), columns=["x"], **quick)
    return [warning for warning in caught if "started together" in str(warning.message)]


@pytest.mark.parametrize("size, rank", launchers.PROCESSES.items())
def test_first_process_warns_once(environment, parquet, quick, size, rank):
    environment(**{size: "4", rank: "0"})
    (warning,) = fit(parquet, quick)
    assert SAYS in str(warning.message) and "mpirun -n 4 flymc fit" in str(warning.message)
    assert warning.filename == __file__
    assert not fit(parquet, quick)


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "3"},  # the first one says it
        {"PMI_SIZE": "1", "PMI_RANK": "0"},
        {"SLURM_NTASKS": "4", "SLURM_PROCID": "0"},  # a batch script, or a shell within an allocation
        {"SLURM_NTASKS": "4", "SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0"},
        {"PMI_SIZE": "many"},
    ],
)
def test_others_do_not_warn(environment, parquet, quick, variables):
    environment(**variables)
    assert not fit(parquet, quick)


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="needs mpirun")
def test_mpirun_warns_once(parquet):
    program = (
        "import flymc; print(flymc.fit('clicked', "
        f"{str(parquet)!r}, columns=['x'], chains=1, warmup=100, draws=100, threads=1, progress=False).array().shape)"
    )
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    words = ["mpirun", "-n", "2", sys.executable, "-c", program]
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, **root}, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("(1, 100, 2)") == 2
    assert done.stderr.count("2 processes were started together") == 1
