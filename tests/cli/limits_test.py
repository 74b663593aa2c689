"""Too little memory, missing permissions, and numbers at the ends of double precision."""
import json
import os
import pathlib
import resource
import stat
import subprocess

import numpy as np
import pyarrow
import pyarrow.feather
import pytest
from command import COMMAND, flymc, people, write

QUICK = ["--chains", 2, "--draws", 100, "--quiet"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run with a bound, so that there is a file of gaps."""
    folder = tmp_path_factory.mktemp("run")
    table = write(people(2_000), folder / "people.parquet")
    flymc("fit", table, "--target", "y", "--bound", "sharp", "--out", "run", *QUICK, folder=folder)
    return folder / "run"


def with_memory(mebibytes, *words, folder):
    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20))

    return subprocess.run([COMMAND, *map(str, words)], cwd=folder, capture_output=True, text=True, preexec_fn=limited)


def test_too_little_memory_is_not_the_files_fault(tmp_path):
    """Twenty million numbers in one piece take 160 MB per column, in a valid file of 1 MB."""
    rows = 20_000_000
    table = pyarrow.table({"x": np.arange(rows) % 11 / 7, "y": np.arange(rows, dtype=float) % 2})
    pyarrow.feather.write_feather(table, tmp_path / "t.feather", compression="lz4", chunksize=rows)
    words = ["fit", "t.feather", "--target", "y", "--out", "run", "--threads", 1, *QUICK]
    done = with_memory(400, *words, folder=tmp_path)
    assert done.returncode == 3, done.stderr
    assert "not enough memory" in done.stderr and "--exclude" in done.stderr, done.stderr
    assert "damaged" not in done.stderr and "defect" not in done.stderr


def test_a_run_that_may_only_be_read_is_sampled_from(run, tmp_path):
    """Copies of its files are writable. The test looks at permissions, because root may write everything."""
    files = [path for path in run.rglob("*") if path.is_file()]
    for path in files:
        path.chmod(0o444)
    flymc("sample", run, "--out", "other", "--seed", 2, *QUICK, folder=tmp_path)
    for path in (tmp_path / "other").rglob("*"):
        assert path.stat().st_mode & stat.S_IWUSR, path
    assert (tmp_path / "other" / "gaps.flymc").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_only_be_read_is_sampled_from(run, tmp_path):
    run.chmod(0o555)
    try:
        flymc("sample", run, "--out", "other", "--seed", 2, *QUICK, folder=tmp_path)
    finally:
        run.chmod(0o755)


def test_weights_in_another_unit_have_the_same_default_prior(tmp_path):
    """With weights that sum to 1 the posterior is nearly the prior, whose scale is 2.5 divided by the column's deviation."""
    random = np.random.default_rng(4)
    x = random.normal(size=400)
    table = pyarrow.table({"x": x, "y": np.arange(400) % 2, "w": np.full(400, 1 / 400)})
    name = write(table, tmp_path / "t.parquet")
    words = ["fit", name, "--target", "y", "--weights", "w", "--out", "run", "--quiet", "--json", "--draws", 1000]
    done = json.loads(flymc(*words, folder=tmp_path))
    known = {p["name"]: p for p in done["parameters"]}["x"]
    # The total weight is 1, and a row's curvature is at most 1/4, so the posterior deviation lies in this range.
    narrow, wide = 1 / np.sqrt(1 / 2.5**2 + 1 / 4), 2.5 / np.std(x, ddof=1)
    assert narrow * 0.9 < known["sd"] < wide * 1.1
    assert any("the weights sum to 1, where there are 400 rows" in text for text in done["warnings"])


def test_offsets_far_out_are_a_shift_of_the_intercept(tmp_path):
    """exp(-690) is still a normal double; a constant in the offset only shifts the intercept."""
    random = np.random.default_rng(5)
    x = random.normal(size=1_500)
    y = random.poisson(np.exp(0.5 + 0.3 * x))
    table = pyarrow.table({"x": x, "y": y, "near": np.zeros(1_500), "far": np.full(1_500, -690.0)})
    name = write(table, tmp_path / "t.parquet")
    found = {}
    for offset in ("near", "far"):
        words = ["--formula", "y ~ x", "--family", "poisson", "--offset", offset, "--out", offset, "--json", *QUICK]
        done = json.loads(flymc("fit", name, *words, folder=tmp_path))
        found[offset] = {p["name"]: p for p in done["parameters"]}
    near, far = found["near"], found["far"]
    assert far["intercept"]["mean"] == pytest.approx(near["intercept"]["mean"] + 690, abs=1e-3)
    assert far["intercept"]["sd"] == pytest.approx(near["intercept"]["sd"], rel=1e-2)
    assert far["x"]["mean"] == pytest.approx(near["x"]["mean"], abs=1e-3)


def test_columns_are_counted_before_the_table_is_read(tmp_path):
    """A million columns would take gigabytes."""
    names = ",".join(f"x{i}" for i in range(1_000_000))
    pathlib.Path(tmp_path / "t.csv").write_text(f"y,{names}\n" + "1," * 1_000_000 + "1\n")
    done = with_memory(800, "fit", "t.csv", "--target", "y", "--out", "run", "--threads", 1, folder=tmp_path)
    assert done.returncode == 1 and "t.csv: has 1000001 columns, and a table may have at most 100000" in done.stderr
    one = pyarrow.array([0])
    wide = pyarrow.Table.from_arrays([one] * 100_001, names=[f"x{i}" for i in range(100_001)])
    write(wide, tmp_path / "t.feather")
    done = subprocess.run([COMMAND, "plan", "t.feather", "--target", "x1"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "t.feather: has 100001 columns" in done.stderr
