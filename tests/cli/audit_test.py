"""flymc audit: right draws pass, also draws from both parts of a hurdle; runs that cannot be audited are refused."""
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from command import flymc, refusal

FEW = ["--chains", 2, "--draws", 400, "--warmup", 300, "--quiet"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    random = np.random.default_rng(1)
    x = random.normal(size=1500)
    y = (random.random(1500) < 1 / (1 + np.exp(1 - 0.5 * x))).astype(int)
    visits = random.poisson(np.exp(0.5 + 0.3 * x)) * (random.random(1500) < 0.6)
    pa.parquet.write_table(pa.table({"x": x, "y": y, "visits": visits}), folder / "t.parquet")
    flymc("fit", "t.parquet", "--target", "y", "--columns", "x", *FEW, "--out", "run", folder=folder)
    return folder


def test_draws_stay_where_they_are_and_the_audit_is_repeatable(folder):
    """One audit in a thousand fails for right draws; three independent ones all fail with probability 1e-9."""
    found = [json.loads(flymc("audit", "run", "--json", "--quiet", "--seed", s, "--draws", 60 + 10 * s, folder=folder)) for s in (1, 2, 3)]
    assert any(f["passed"] for f in found)
    one = found[0]
    assert (one["rows"], one["draws"], one["of_draws"], one["level"]) == (1500, 70, 800, 0.001)
    assert [p["name"] for p in one["parameters"]] == ["intercept", "x"] and one["passed"] == (not one["findings"])
    assert 300 < one["passes"] < 1000 and one["acceptance"] > 0.9
    assert one == json.loads(flymc("audit", "run", "--json", "--seed", 1, "--draws", 70, folder=folder))
    said = flymc("audit", "run", "--seed", 1, "--draws", 70, "--quiet", folder=folder)
    assert said.startswith("audit: 70 of 800 draws, each moved by 1 step of regular MCMC that reads all 1500 rows\n")
    assert one["verdict"] in said and "finds a drift with probability 0.1 %" in said


def test_both_parts_of_a_hurdle_are_audited(folder):
    flymc("fit", "t.parquet", "--target", "visits", "--columns", "x", "--family", "hurdle_poisson", *FEW, "--out", "hurdle", folder=folder)
    both = json.loads(flymc("audit", "hurdle", "--json", "--quiet", "--draws", 40, folder=folder))
    assert list(both) == ["zero", "count"] and both["zero"]["rows"] == 1500 > both["count"]["rows"]
    said = flymc("audit", "hurdle", "--draws", 40, "--quiet", folder=folder)
    assert said.startswith("zero: audit: 40 of 800") and "\n\ncount: audit: 40 of 800" in said


def test_what_cannot_be_audited_is_refused(folder):
    assert "--draws must be from 20 to 100000, not 7" in flymc("audit", "run", "--draws", 7, folder=folder, expect=2, both=True)
    assert "--steps must be from 1 to 1000, not 0" in flymc("audit", "run", "--steps", 0, folder=folder, expect=2, both=True)
    flymc("sample", "run", "--draws", 15, "--out", "few", "--quiet", folder=folder)
    said = refusal("audit", "few", folder=folder)
    assert "few: an audit needs 20 nearly independent draws" in said and "`flymc sample few`" in said
    for rows in (folder / "run").glob("rows*.arrow"):
        rows.unlink()
    assert "run: its rows were removed" in refusal("audit", "run", folder=folder)
