"""Shared by the tests of scale: a table, flymc on ranks, and bitwise comparison of draws."""
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "faults"))
from runs import Command, difference  # noqa: E402,F401  (skips where pyarrow is missing)

import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet  # noqa: E402

# Open MPI refuses to run as root, or on more ranks than cores, unless these variables permit it.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
               "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_mpi_yield_when_idle": "1"}
os.environ.update(ENVIRONMENT)

# The target, and the columns that are left out. With town, which has many levels, rows have codes. The anchored bound
# keeps more rows bright than the default, so ranks exchange more.
FAMILIES = {"logistic": ("y", "k,r,town"), "softmax": ("k", "y,r,town"), "student_t": ("r", "y,k")}
SETTINGS = ["--bound", "anchored", "--chains", "2", "--warmup", "120", "--draws", "80"]


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def need_mpi(program):
    if shutil.which("mpirun") is None:
        skip("there is no mpirun; .ci/setup installs it")
    if not any(pathlib.Path(program).resolve().parent.glob("flymc_*.so")):  # the plugins
        skip("flymc was built without MPI")


def make_table(path, rows=200_000, seed=1):
    """Three numbers, texts of four and of twenty levels, and a target for each family; row groups for ranks to
    share."""
    random = np.random.default_rng(seed)
    a, b, c = random.normal(size=(3, rows))
    kind = np.array(["ash", "beech", "cedar", "oak"])[random.integers(0, 4, rows)]
    eta = -1.0 + 0.5 * a - 0.3 * b + 0.4 * (kind == "oak")
    y = (random.random(rows) < 1.0 / (1.0 + np.exp(-eta))).astype(np.int64)
    k = np.where(random.random(rows) < 0.5, y, random.integers(0, 3, rows))
    r = eta + random.standard_t(4, rows)
    town = np.array([f"t{v:02d}" for v in range(20)])[random.integers(0, 20, rows)]
    pa.parquet.write_table(pa.table({"a": a, "b": b, "c": c, "kind": kind, "town": town, "y": y, "k": k, "r": r}), path,
                           row_group_size=20_000)


def on_ranks(ranks, program, *arguments):
    """The words of a command on `ranks` ranks; 0: without mpirun."""
    return [*(["mpirun", "-n", str(ranks)] if ranks else []), str(program), *map(str, arguments)]


def fit_arguments(table, family):
    target, others = FAMILIES[family]
    scale = ["--sigma", "1"] if family == "student_t" else []
    return ["fit", table, "--target", target, "--exclude", others, "--family", family, *scale, *SETTINGS]


def succeed(words, limit=300):
    ended = Command(words[0], *words[1:]).wait(limit)
    assert ended.code == 0, f"{' '.join(words)}: {ended}"
    return ended
