"""Refuses processes that were started together without a common MPI job: each of them would fit the whole table.

    FLYMC=path/to/flymc python -m pytest ranks_test.py
"""
import os
import subprocess

import pytest

from command import COMMAND
from tables import csv

FIT = ["fit", "t.csv", "--target", "bought", "--out", "run", "--chains", "1", "--warmup", "20", "--draws", "20", "--threads", "1", "--quiet"]


def ended(folder, *words, **environment):
    (folder / "t.csv").write_bytes(csv())
    done = subprocess.run([COMMAND, *words], cwd=folder, capture_output=True, text=True, env={**os.environ, **environment}, timeout=60)
    return done.returncode, done.stderr


@pytest.mark.parametrize("name", ["SLURM_STEP_NUM_TASKS", "MV2_COMM_WORLD_SIZE"])
def test_several_processes_without_mpi_are_refused(name, tmp_path):
    code, said = ended(tmp_path, *FIT, **{name: "4"})
    assert code == 1 and "4 processes were started together, and each would fit the whole table alone" in said
    assert "--expect-ranks 1" in said and not (tmp_path / "run").exists()
    for command in (["resume", "run"], ["sample", "run", "--out", "other"], ["ingest", *FIT[1:]]):
        code, said = ended(tmp_path, *command, **{name: "4"})
        assert code == 1 and "4 processes were started together" in said, command


# A job step of one task, a shell within an allocation of four tasks, and a process that is told to work alone.
@pytest.mark.parametrize("more, environment", [([], {"SLURM_STEP_NUM_TASKS": "1"}), ([], {"SLURM_NTASKS": "4", "SLURM_PROCID": "0"}),
                                               (["--expect-ranks", "1"], {"SLURM_STEP_NUM_TASKS": "4"})])
def test_a_process_by_itself_works(more, environment, tmp_path):
    assert ended(tmp_path, *FIT, *more, **environment)[0] == 0


def test_another_number_of_ranks_than_expected_is_refused(tmp_path):
    code, said = ended(tmp_path, *FIT, "--expect-ranks", "3")
    assert code == 1 and "--expect-ranks 3: there is 1 rank" in said and not (tmp_path / "run").exists()
    assert ended(tmp_path, *FIT, "--expect-ranks", "0")[0] == 2
