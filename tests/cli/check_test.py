"""flymc check: a right model passes, a wrong one is caught, and runs that cannot be checked are refused with a
reason."""
import json

import numpy as np
import pyarrow as pa
import pytest
from command import flymc, refusal, write

ROWS = 6_000


def sigmoid(eta):
    return 1 / (1 + np.exp(-eta))


def base(seed):
    random = np.random.default_rng(seed)
    return random, random.normal(0, 1, ROWS), random.normal(50, 10, ROWS)


def two_values(seed, curve=0.0):
    random, x, z = base(seed)
    p = sigmoid(-0.5 + 0.8 * x - 0.02 * (z - 50) + curve * (x**2 - 1))
    return {"x": x, "z": z, "y": (random.random(ROWS) < p).astype(int)}


def counts(seed, shape=np.inf):
    random, x, z = base(seed)
    mean = np.exp(0.2 + 0.4 * x)
    return {"x": x, "z": z, "y": random.poisson(mean if np.isinf(shape) else mean * random.gamma(shape, 1 / shape, ROWS))}


def numbers(seed, nu=np.inf):
    random, x, z = base(seed)
    noise = random.normal(0, 1, ROWS) if np.isinf(nu) else random.standard_t(nu, ROWS)
    return {"x": x, "z": z, "y": 3 + x + 0.1 * z + 2 * noise}


def times(seed, weibull=True):
    random, x, _ = base(seed)
    noise = np.log(-np.log(random.random(ROWS))) if weibull else random.normal(0, 1, ROWS)
    time, end = np.exp(1 + 0.5 * x + 0.7 * noise), random.exponential(6, ROWS)
    return {"x": x, "y": np.minimum(time, end), "seen": (time <= end).astype(int)}


def successes(seed, size=np.inf):
    random, x, _ = base(seed)
    trials, p = random.integers(1, 30, ROWS), sigmoid(-0.5 + 0.6 * x)
    return {"x": x, "trials": trials, "y": random.binomial(trials, p if np.isinf(size) else random.beta(p * size, (1 - p) * size))}


def ordered(seed, curve=0.0):
    random, x, z = base(seed)
    latent = 0.8 * x + curve * x**2 + random.logistic(0, 1, ROWS)
    return {"x": x, "z": z, "y": np.digitize(latent, [-1, 0.2, 1.5])}


def classes(seed, curve=0.0):
    random, x, z = base(seed)
    eta = np.stack([0 * x, 0.5 + 0.7 * x + curve * x**2, -0.5 + 0.02 * (z - 50)], 1)
    share = np.exp(eta) / np.exp(eta).sum(1, keepdims=True)
    return {"x": x, "z": z, "y": np.array(["red", "green", "blue"])[(random.random(ROWS)[:, None] > share.cumsum(1)).sum(1)]}


FAMILIES = {
    "logistic": (two_values, {"curve": 0.5}, []),
    "poisson": (counts, {"shape": 2}, []),
    "gaussian": (numbers, {"nu": 4}, []),
    "weibull": (times, {"weibull": False}, ["--event", "seen"]),
    "binomial": (successes, {"size": 10}, ["--trials", "trials"]),
    "ordinal": (ordered, {"curve": 0.3}, []),
    "softmax": (classes, {"curve": 0.4}, []),
}


def checked(table, folder, *flags, check=()):
    write(pa.table(table), folder / "table.parquet")
    flymc("fit", "table.parquet", "--target", "y", *flags, "--out", "run", "--overwrite", "--quiet", "--draws", 250,
          folder=folder)
    return json.loads(flymc("check", "run", "--json", *check, folder=folder))


@pytest.mark.parametrize("family", FAMILIES)
def test_right_models_pass_and_wrong_ones_do_not(family, tmp_path):
    """Three right models in a row raise an alarm with probability 0.05^3 = 1.3e-4 at most."""
    make, wrong, flags = FAMILIES[family]
    flags = ["--family", family, *flags]
    assert any(checked(make(seed), tmp_path, *flags)["passed"] for seed in (1, 2, 3))
    found = checked(make(1, **wrong), tmp_path, *flags)
    assert not found["passed"]
    assert found["p_value"] < 0.01
    assert found["verdict"].startswith("something looks wrong: ")
    assert " the model expects " in found["findings"][0]
    said = flymc("check", "run", folder=tmp_path)
    assert "<- more than expected" in said or "<- less than expected" in said
    assert "at most one right model in 20 raises an alarm" in said
    assert found["advice"] in said


def test_alarms_of_right_models_are_as_rare_as_stated(tmp_path):
    """More than 9 alarms in 40 checks at a rate of 0.05 have a probability of 1e-5."""
    alarms = sum(not checked(two_values(seed), tmp_path, "--threads", 2, check=["--rows", 1000, "--draws", 200])["passed"]
                 for seed in range(40))
    assert alarms <= 9


def test_what_is_missing_is_said(tmp_path):
    """A missing curve is found in the groups by prediction and in those by its own column."""
    found = checked(two_values(5, curve=0.5), tmp_path)
    outside = {part.get("column", part["kind"]) for part in found["parts"] if any(g["outside"] for g in part["groups"])}
    assert outside >= {"calibration", "x"} and "z" not in outside
    assert found["advice"].startswith("the effect of x may not be a straight line")


def test_weights_that_count_rows_are_so_many_rows(tmp_path):
    """A table of distinct rows with their counts is checked like the long table; each copy gets a target of its own."""
    table = two_values(7)
    rough = {"x": table["x"].round(), "y": (np.random.default_rng(7).random(ROWS) < sigmoid(0.8 * table["x"].round())).astype(int)}
    frame = pa.table(rough).group_by(["x", "y"]).aggregate([([], "count_all")]).rename_columns(["x", "y", "n"])
    results = [checked({name: frame[name] for name in frame.column_names}, tmp_path, "--weights", "n", check=["--seed", s])
               for s in range(3)]
    assert any(found["passed"] for found in results)
    assert results[0]["rows"] == ROWS and results[0]["sampled_rows"] == ROWS
    assert "a row of weight k in 'n' is k rows" in results[0]["remarks"][0]
    assert sum(group["rows"] for group in results[0]["parts"][0]["groups"]) == ROWS


def test_rows_are_sampled_by_the_seed(tmp_path):
    one = checked(two_values(8), tmp_path, check=["--rows", 500])
    assert one["sampled_rows"] == 500
    assert one == json.loads(flymc("check", "run", "--json", "--rows", 500, folder=tmp_path))
    assert one != json.loads(flymc("check", "run", "--json", "--rows", 500, "--seed", 3, folder=tmp_path))


def test_what_cannot_be_checked_is_refused(tmp_path):
    table = two_values(9)
    checked({**table, "w": np.full(ROWS, 2)}, tmp_path, "--weights", "w")
    write(pa.table({**table, "w": np.full(ROWS, 0.5)}), tmp_path / "table.parquet")
    flymc("fit", "table.parquet", "--target", "y", "--weights", "w", "--out", "half", "--quiet", "--draws", 250,
          folder=tmp_path)
    assert "the weights in column 'w' are not whole numbers" in refusal("check", "half", folder=tmp_path)
    flymc("fit", "table.parquet", "--target", "y", "--exclude", "w", "--out", "few", "--quiet", "--draws", 20,
          folder=tmp_path)
    assert "a check needs 100 draws, and there are 80; `flymc sample few`" in refusal("check", "few", folder=tmp_path)
    (tmp_path / "run" / "rows.arrow").unlink()
    assert "its rows were removed" in refusal("check", "run", folder=tmp_path)
    assert "--rows must be from 50 to 1000000, not 7" in flymc("check", "run", "--rows", 7, folder=tmp_path, expect=2, both=True)


@pytest.mark.parametrize("family", ["ordinal", "softmax", "poisson"])
def test_shares_of_all_rows_are_those_of_the_table(family, tmp_path):
    """Every row is sampled once, even if a run stores it as two."""
    table = FAMILIES[family][0](4)
    found = checked(table, tmp_path, "--family", family)
    assert found["sampled_rows"] == found["rows"] == ROWS
    for group in found["parts"][0]["groups"]:
        inside = (table["y"].astype(str) == group["group"] if family != "poisson" else
                  (table["y"] >= group["from"]) & (table["y"] <= (group["to"] if group["to"] is not None else np.inf)))
        assert group["observed"] == pytest.approx(inside.mean(), abs=1e-12)
        assert group["rows"] == inside.sum()
