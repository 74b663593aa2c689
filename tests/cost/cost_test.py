"""Compares the cost of fits, in queries of rows, with the record in queries.json: a change of more than 5 % fails.

    FLYMC=path/to/flymc python -m pytest tests/cost/cost_test.py
    FLYMC=path/to/flymc python tests/cost/cost_test.py           # records the present queries

Queries are the same on every machine. The history of queries.json says which commit changed them; its message says why.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

COMMAND = os.environ.get("FLYMC", "flymc")
RECORD = pathlib.Path(__file__).parent / "queries.json"
STAGES = ("anchor", "bound", "warm-up", "sampling")
ALLOWED, FEW = 0.05, 500  # a share; differences below FEW queries are ignored


def table(rows=20000, features=10, seed=1):
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, features))
    eta = -1 + x @ np.linspace(-0.5, 0.5, features)
    columns = {f"x{j}": x[:, j] for j in range(features)}
    columns["level"] = np.array([f"l{k}" for k in range(12)])[np.minimum(random.geometric(0.3, rows) - 1, 11)]
    columns["yes"] = (random.random(rows) < 1 / (1 + np.exp(-eta))).astype(int)
    columns["rare"] = (random.random(rows) < 0.1 / (1 + np.exp(-eta))).astype(int)
    columns["count"] = random.poisson(np.exp(0.5 * eta))
    columns["varied"] = random.negative_binomial(2, 2 / (2 + np.exp(0.5 * eta)))
    columns["class"] = np.array(["a", "b", "c"])[(random.random(rows) < 0.4).astype(int) + columns["yes"]]
    columns["number"] = eta + random.normal(size=rows)
    columns["amount"] = np.exp(eta + random.gumbel(size=rows))
    return pa.table(columns)


X = ",".join(f"x{j}" for j in range(10))
FITS = {
    "logistic": ["--target", "yes", "--columns", X],
    "levels": ["--target", "yes", "--columns", f"{X},level"],
    "rare": ["--target", "rare", "--columns", X],
    "student_t prior": ["--target", "yes", "--columns", X, "--prior", "student_t(4, 0, 1)"],
    "poisson": ["--target", "count", "--columns", X, "--family", "poisson"],
    "negative_binomial": ["--target", "varied", "--columns", X, "--family", "negative_binomial"],
    "softmax": ["--target", "class", "--columns", X, "--family", "softmax"],
    "gaussian": ["--target", "number", "--columns", X, "--family", "gaussian"],
    "student_t": ["--target", "number", "--columns", X, "--family", "student_t"],
    "weibull": ["--target", "amount", "--columns", X, "--family", "weibull"],
    "regular": ["--target", "yes", "--columns", X, "--regular"],
}


def queries(folder, words):
    """Queries by stage, for two chains of 500 draws."""
    if not (folder / "table.parquet").exists():
        pyarrow.parquet.write_table(table(), folder / "table.parquet")
    command = [COMMAND, "fit", "table.parquet", *words, "--chains", "2", "--warmup", "200", "--draws", "500", "--seed", "1",
               "--out", "run", "--overwrite", "--quiet", "--json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    chains = report["chains"]
    return dict(zip(STAGES, [report["anchor_queries"], report["bound_queries"], sum(c["warmup_queries"] for c in chains),
                             sum(c["sampling_queries"] for c in chains)], strict=True))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cost")


@pytest.mark.parametrize("fit", FITS)
def test_queries_are_those_recorded(fit, folder):
    found, recorded = queries(folder, FITS[fit]), json.loads(RECORD.read_text())[fit]
    changed = {stage: (recorded[stage], found[stage]) for stage in STAGES
               if abs(found[stage] - recorded[stage]) > max(FEW, ALLOWED * recorded[stage])}
    assert not changed, (f"{fit} takes other numbers of queries (before, now): {changed}; if that is meant, record them by "
                         "`python tests/cost/cost_test.py` and say why in the commit")


def record():
    with tempfile.TemporaryDirectory() as folder:
        found = {fit: queries(pathlib.Path(folder), words) for fit, words in FITS.items()}
    RECORD.write_text(json.dumps(found, indent=1) + "\n")
    for fit, stages in found.items():
        print(f"{fit:20}", *(f"{stage} {count:>12,}" for stage, count in stages.items()))


if __name__ == "__main__":
    sys.exit(record())
