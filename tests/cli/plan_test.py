"""Compares what `flymc plan` predicts with what the fit takes: passes and bytes, which are the same on every
machine."""
import json

import numpy as np
import pyarrow as pa
import pytest
from command import flymc, people, write


def with_thin_levels(rows):
    """Twenty of thirty levels have 0.1 % of the rows each, nearly all of one class; these rows are lit."""
    random = np.random.default_rng(3)
    shares = np.r_[np.full(10, 0.098), np.full(20, 0.001)]
    level = random.choice(30, rows, p=shares)
    x = random.normal(size=rows)
    eta = np.where(level < 10, 0.5 * x + 0.2 * (level - 5), np.where(level % 2 == 0, 9.0, -9.0))
    y = (random.random(rows) < 1 / (1 + np.exp(-eta))).astype(np.int64)
    return pa.table({"x": x, "level": [f"l{v}" for v in level], "y": y})


def with_rare_ones(rows):
    random = np.random.default_rng(4)
    x = random.normal(size=(rows, 4))
    y = np.zeros(rows, np.int64)
    y[random.choice(rows, 5, replace=False)] = 1
    return pa.table({**{f"x{j}": x[:, j] for j in range(4)}, "y": y})


def of_numbers(rows):
    random = np.random.default_rng(5)
    x = random.normal(size=(rows, 20))
    y = x @ random.normal(size=20) + random.standard_t(4, rows)
    return pa.table({**{f"x{j}": x[:, j] for j in range(20)}, "y": y})


def of_classes(rows):
    random = np.random.default_rng(6)
    x = random.normal(size=(rows, 5))
    y = np.argmax(x[:, :3] + random.gumbel(size=(rows, 3)), axis=1)
    return pa.table({**{f"x{j}": x[:, j] for j in range(5)}, "y": y})


TABLES = {
    "regular MCMC, by the shape": (people(600), []),
    "Newton's method on all rows": (people(20_000), []),
    "a subsample": (people(150_000), []),
    "rows in single precision": (people(20_000), ["--float32"]),
    "lit rows": (with_thin_levels(100_000), []),
    "regular MCMC, or all rows lit, after the statistics pass": (with_rare_ones(3_000), []),
    "numbers": (of_numbers(100_000), ["--family", "student_t", "--sigma", "1"]),
    "classes": (of_classes(60_000), ["--family", "softmax"]),
}


@pytest.mark.parametrize("name", TABLES)
def test_passes_and_bytes_are_those_of_the_fit(name, tmp_path):
    table, flags = TABLES[name]
    words = [write(table, tmp_path / "t.parquet"), "--target", "y", "--draws", 1000, "--json", *flags]
    plan = json.loads(flymc("plan", *words, folder=tmp_path))
    fit = json.loads(flymc("fit", *words, "--out", "run", "--quiet", folder=tmp_path))
    rows = table.num_rows
    assert plan["rows"] == fit["rows"] == rows and plan["rows_are_exact"]
    assert plan["coefficients"] == len(fit["coefficients"])
    assert fit["choices"].startswith(plan["choices"])
    assert (plan["lit_rows"] > 0) == ("rows are lit" in fit["choices"])
    setup = fit["anchor_queries"] + fit["bound_queries"] + sum(c["start_queries"] for c in fit["chains"])
    assert 0.5 < plan["setup_passes"] / (setup / rows) < 2.0
    sampling = sum(c["warmup_queries"] + c["sampling_queries"] for c in fit["chains"])
    assert 0.5 < plan["sampling_passes"] / (sampling / rows) < 2.0
    assert 0.9 < plan["store_bytes"] / (tmp_path / "run/rows.arrow").stat().st_size < 1.1


def test_many_thin_levels_make_a_range(tmp_path):
    random = np.random.default_rng(8)
    level = np.r_[np.zeros(95_500, int), np.repeat(np.arange(1, 151), 30)]
    random.shuffle(level)
    y = (random.random(level.size) < np.where(level == 0, 0.4, 0.2 + 0.6 * (level % 2))).astype(np.int64)
    words = [write(pa.table({"level": [f"l{v}" for v in level], "y": y}), tmp_path / "t.parquet"), "--target", "y", "--draws", 1000]
    plan = json.loads(flymc("plan", *words, "--json", folder=tmp_path))
    fit = json.loads(flymc("fit", *words, "--json", "--out", "run", "--quiet", folder=tmp_path))
    sampling = sum(c["warmup_queries"] + c["sampling_queries"] for c in fit["chains"]) / level.size
    assert plan["least_sampling_passes"] < plan["sampling_passes"]
    assert 0.5 * plan["least_sampling_passes"] < sampling < 2.0 * plan["sampling_passes"]
    assert "hence the range" in flymc("plan", *words, folder=tmp_path)


def test_a_fit_that_a_sample_cannot_tell_is_told_as_the_least(tmp_path):
    random = np.random.default_rng(7)
    table = pa.table({**{f"x{j}": random.normal(size=5000) for j in range(1500)}, "y": random.integers(0, 2, 5000)})
    said = flymc("plan", write(table, tmp_path / "t.parquet"), "--target", "y", folder=tmp_path)
    assert "at least" in said and "the shape of the table alone" in said


def test_a_column_that_is_constant_is_refused_as_by_fit(tmp_path):
    table = people(500).append_column("one", pa.array(np.ones(500)))
    words = [write(table, tmp_path / "t.parquet"), "--target", "y"]
    assert "'one'" in flymc("plan", *words, folder=tmp_path, expect=1, both=True)
