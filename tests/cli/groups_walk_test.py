"""Every kind of model with groups once, with few draws: code for sanitizers to walk through."""
import json

import numpy as np
import pyarrow
import pytest
from command import flymc, write

FEW = ("--draws", 20, "--warmup", 20, "--chains", 2, "--quiet")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("walk")
    random, rows = np.random.default_rng(3), 600
    ward, doctor, age = random.integers(0, 24, rows), random.integers(0, 7, rows), random.normal(0, 1, rows)
    eta = 0.5 * age + random.normal(0, 0.5, 24)[ward] + random.normal(0, 0.5, 7)[doctor]
    write(pyarrow.table({
        "ill": (random.random(rows) < 1 / (1 + np.exp(-eta))).astype(int), "visits": random.poisson(np.exp(0.3 * eta)),
        "stay": eta + random.normal(0, 1, rows), "age": age, "beds": random.normal(0, 1, 6)[ward % 6],
        "hospital": ward % 6, "ward": ward, "doctor": [f"d{d}" for d in doctor]}), folder / "t.parquet")
    return folder


@pytest.mark.parametrize("family, formula", [
    ("logistic", "ill ~ age + beds + (1 + age | hospital/ward) + (1 | doctor)"),
    ("poisson", "visits ~ age + (age || doctor) + (1 | hospital:ward)"),
    ("gaussian", "stay ~ age + beds + (1 + age | hospital) + (1 | hospital:ward)"),
    ("student_t", "stay ~ age + (0 + age | doctor) + (1 | hospital/ward)"),
    ("hurdle_poisson", "visits ~ age + (1 | doctor)")])
def test_walk(folder, family, formula):
    flymc("fit", "t.parquet", "--formula", formula, "--family", family, "--out", family, *FEW, folder=folder)
    assert "sd(" in flymc("summary", family, folder=folder)
    effects = json.loads(flymc("groups", family, "--json", folder=folder))
    assert np.isfinite([e["mean"] for part in (effects if "zero" in effects else {"": effects}).values() for e in part["effects"]]).all()
    flymc("groups", family, "--variances", folder=folder)
    flymc("report", family, folder=folder)
    flymc("predict", family, "t.parquet", "--new-levels", "gaussian", "--out", f"{family}.csv", folder=folder)
    assert len((folder / f"{family}.csv").read_text().splitlines()) == 601
