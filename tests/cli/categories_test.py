"""Columns of many levels, which are stored as codes, give the posterior of a table with a 0/1 column for each level."""
import decimal
import json

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from command import flymc, refusal, write


def shop(rows, seed=5):
    """Sixty products of very different popularity, twelve months, a price; and the same with a column per level."""
    random = np.random.default_rng(seed)
    share = 1 / np.arange(1, 61)
    product = random.choice(60, rows, p=share / share.sum())
    month = random.integers(0, 12, rows)
    price = random.normal(20, 6, rows)
    eta = -1 + 0.05 * (price - 20) + 0.4 * np.sin(product) + 0.2 * np.cos(month)
    y = (random.random(rows) < 1 / (1 + np.exp(-eta))).astype(np.int64)
    names = [f"p{v:02d}" for v in range(60)]
    table = {"price": price, "product": np.array(names)[product], "month": np.array([f"m{v:02d}" for v in month]), "y": y}
    wide = {"price": price}
    for p in range(1, 60):
        wide[f"product[p{p:02d}]"] = (product == p).astype(float)
    for m in range(1, 12):
        wide[f"month[m{m:02d}]"] = (month == m).astype(float)
    wide["y"] = y
    return pyarrow.table(table), pyarrow.table(wide)


def run(table, name, *words, folder, suffix=".parquet"):
    path = write(table, folder / (name + suffix))
    return json.loads(flymc("fit", path, "--target", "y", "--out", name, "--quiet", "--json", *words, folder=folder))


@pytest.mark.parametrize("family", [["--draws", 2000], ["--lit", "0.02", "--draws", 2000], ["--family", "softmax", "--draws", 1000]])
def test_the_posterior_is_that_of_a_column_per_level(family, tmp_path):
    table, wide = shop(20_000)
    coded = run(table, "coded", *family, folder=tmp_path)
    written_out = run(wide, "wide", *family, folder=tmp_path)
    names = [p["name"] for p in coded["parameters"]]
    assert names == [p["name"] for p in written_out["parameters"]] and len(names) == 72
    z = []
    for own, other in zip(coded["parameters"], written_out["parameters"]):
        z.append((own["mean"] - other["mean"]) / np.hypot(own["mcse_mean"], other["mcse_mean"]))
        assert own["sd"] == pytest.approx(other["sd"], rel=0.12)
    # 72 standard normals: rms 1 +- 0.083, the largest beyond 4.5 in one of 2,000 tests.
    assert np.sqrt(np.mean(np.square(z))) < 1.35 and np.max(np.abs(z)) < 4.5
    assert (tmp_path / "coded/rows.arrow").stat().st_size < 0.1 * (tmp_path / "wide/rows.arrow").stat().st_size


def test_draws_are_the_same_from_every_format_and_on_any_threads(tmp_path):
    table, _ = shop(30_000)
    draws = []
    for name, words, suffix in (("a", ["--threads", 1], ".parquet"), ("b", ["--threads", 2], ".csv"), ("c", [], ".feather")):
        run(table, name, "--draws", 200, *words, folder=tmp_path, suffix=suffix)
        draws.append(pyarrow.parquet.read_table(tmp_path / name / "draws.parquet"))
    assert draws[1].equals(draws[0]) and draws[2].equals(draws[0])


def test_predictions_are_those_of_a_column_per_level(tmp_path):
    table, wide = shop(20_000)
    run(table, "coded", "--draws", 500, folder=tmp_path)
    new, new_wide = shop(300, seed=6)
    flymc("predict", "coded", write(new.drop_columns(["y"]), tmp_path / "new.parquet"), "--out", "said.parquet", folder=tmp_path)
    said = pyarrow.parquet.read_table(tmp_path / "said.parquet")
    draws = pyarrow.parquet.read_table(tmp_path / "coded/draws.parquet").to_pandas()
    design = new_wide.to_pandas().drop(columns="y")
    eta = draws["intercept"].to_numpy()[None, :] + sum(
        np.outer(design[column].to_numpy(), draws[column].to_numpy()) for column in design.columns
    )
    assert np.allclose(said["mean"].to_numpy(), (1 / (1 + np.exp(-eta))).mean(axis=1), atol=1e-12)


def test_a_run_that_was_killed_goes_on(tmp_path):
    table, _ = shop(20_000)
    run(table, "whole", "--draws", 400, folder=tmp_path)
    path = tmp_path / "whole.parquet"
    flymc("ingest", path, "--target", "y", "--draws", 400, "--out", "parts", folder=tmp_path)
    flymc("resume", "parts", folder=tmp_path)
    assert (tmp_path / "parts/draws.parquet").read_bytes() == (tmp_path / "whole/draws.parquet").read_bytes()


def test_levels_that_are_numbers(tmp_path):
    """-0.0 and 0.0 are one level; decimals are shown with all their digits and without trailing zeros."""
    random = np.random.default_rng(3)
    which, y = random.integers(0, 4, 800), random.integers(0, 2, 800)
    zeros = np.array([-0.0, 0.0, 1.0, -1.5])[which]
    few = ["--categorical", "k", "--draws", 50]
    found = run(pyarrow.table({"k": zeros, "y": y}), "zeros", *few, folder=tmp_path)
    assert [p["name"] for p in found["parameters"]] == ["intercept", "k[0]", "k[1]"]  # the reference is -1.5
    long = [decimal.Decimal(text) for text in ("12345678901234567890", "12345678901234567891", "-3", "0")]
    table = pyarrow.table({"k": pyarrow.array([long[v] for v in which], pyarrow.decimal128(20, 0)), "y": y})
    found = run(table, "long", *few, folder=tmp_path)
    assert {p["name"] for p in found["parameters"][1:]} | {"k[-3]"} == {f"k[{v}]" for v in long}
    said = refusal("fit", "long.parquet", "--target", "y", "--out", "number", folder=tmp_path)
    assert "column 'k', row" in said and "has more digits than a number here keeps" in said
    short = [decimal.Decimal(text) for text in ("1.50", "2.00", "-0.05", "0.00")]
    table = pyarrow.table({"k": pyarrow.array([short[v] for v in which], pyarrow.decimal128(5, 2)), "y": y})
    found = run(table, "short", *few, folder=tmp_path)
    assert {p["name"] for p in found["parameters"][1:]} == {"k[0]", "k[1.5]", "k[2]"}  # the reference is -0.05
    assert len(run(table, "numbers", "--draws", 50, folder=tmp_path)["parameters"]) == 2


def test_fractional_weights_far_from_zero(tmp_path):
    """The default prior is per standard deviation, which must be accurate with weights even if the mean is 1e9
    deviations."""
    random = np.random.default_rng(4)
    x, y, w = random.normal(size=30), random.integers(0, 2, 30), random.uniform(0.5, 1.5, 30)
    far = x + 1e9
    near_and_far = []
    for name, column in (("near", far - 1e9), ("far", far)):
        found = run(pyarrow.table({"x": column, "y": y, "w": w}), name, "--weights", "w", folder=tmp_path)
        near_and_far.append({p["name"]: p for p in found["parameters"]}["x"])
    one, other = near_and_far  # with thirty rows the prior matters enough that an error in it would show
    assert one["mean"] == pytest.approx(other["mean"], abs=4.5 * np.hypot(one["mcse_mean"], other["mcse_mean"]))
    assert one["sd"] == pytest.approx(other["sd"], abs=4.5 * np.hypot(one["mcse_sd"], other["mcse_sd"]))
