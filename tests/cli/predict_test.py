"""Predictions and summaries by the command: their kinds, their intervals, and refusals."""
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from command import flymc, people, refusal, write

QUICK = ("--chains", 2, "--draws", 300, "--warmup", 200, "--quiet")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("predict")
    table = people(5000)
    write(table, folder / "t.parquet")
    write(table.slice(0, 100), folder / "new.parquet")
    flymc("fit", "t.parquet", "--target", "y", "--exclude", "income", "--out", "logistic", *QUICK, folder=folder)
    flymc("fit", "t.parquet", "--target", "region", "--exclude", "income", "--family", "softmax", "--out", "softmax",
          *QUICK, folder=folder)
    flymc("fit", "t.parquet", "--target", "age", "--exclude", "income", "--family", "student_t", "--sigma", 12, "--nu", 30,
          "--prior", "normal(0, 100)", "--out", "student_t", *QUICK, folder=folder)
    return folder


def predict(folder, run, *words):
    flymc("predict", run, "new.parquet", "--out", "p.parquet", *words, folder=folder)
    return pa.parquet.read_table(folder / "p.parquet").to_pydict()


def test_kinds(folder):
    usual, mean, target = (predict(folder, "student_t", *kind) for kind in ((), ("--kind", "mean"), ("--kind", "target")))
    assert usual == target and usual["mean"] == mean["mean"]
    width = {name: np.subtract(p["upper"], p["lower"]) for name, p in (("mean", mean), ("target", target))}
    # 1.697 is the 95 % point of t with 30 degrees of freedom; an end from 600 draws has an error of 5 % of a deviation.
    assert np.all(width["mean"] < 5) and abs(width["target"].mean() / (2 * 1.697 * 12) - 1) < 0.03
    usual, target = predict(folder, "logistic"), predict(folder, "logistic", "--kind", "target")
    assert usual == predict(folder, "logistic", "--kind", "mean")
    assert usual["mean"] == target["mean"] and set(target["lower"] + target["upper"]) <= {0.0, 1.0}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_empty_line_of_one_column_is_a_row(tmp_path, end):
    write(people(2000).select(["age", "y"]), tmp_path / "t.parquet")
    flymc("fit", "t.parquet", "--target", "y", "--out", "run", *QUICK, folder=tmp_path)
    (tmp_path / "new.csv").write_text(end.join(["age", "30", "", "60", ""]), newline="")
    assert "new.csv, column 'age', row 2: the value is missing" in refusal("predict", "run", "new.csv", "--out", "p.csv", folder=tmp_path)
    flymc("predict", "run", "new.csv", "--missing", "drop", "--out", "p.csv", folder=tmp_path)
    lines = (tmp_path / "p.csv").read_text().splitlines()
    assert len(lines) == 4 and lines[2] == "2,,," and lines[1][:2] == "1," and lines[3][:2] == "3,"


def test_threads_and_draws(folder):
    for run in ("logistic", "softmax", "student_t"):
        assert predict(folder, run, "--threads", 1) == predict(folder, run, "--threads", 2)
        assert predict(folder, run) == predict(folder, run, "--draws", 10**12)
        assert predict(folder, run)["row"] == list(range(1, 101))
    few = predict(folder, "logistic", "--draws", 1)
    assert few["lower"] == few["upper"] == few["mean"]


def test_wider_intervals_hold_narrower_ones(folder):
    for run in ("logistic", "student_t"):
        narrow, wide = (predict(folder, run, "--interval", p) for p in (0.5, 0.99))
        assert all(a < b < c < d for a, b, c, d in zip(wide["lower"], narrow["lower"], narrow["upper"], wide["upper"]))


def test_summary_intervals(folder):
    draws = pa.parquet.read_table(folder / "logistic" / "draws.parquet")
    summary = json.loads(flymc("summary", "logistic", "--json", "--interval", 0.95, folder=folder))
    assert summary["interval"] == 0.95
    for p in summary["parameters"]:
        expected = np.quantile(draws[p["name"]], [0.025, 0.05, 0.95, 0.975])
        np.testing.assert_allclose([p[key] for key in ("lower", "q5", "q95", "upper")], expected, rtol=1e-9)
        assert "ratio" not in p
    assert " 2.5%" in flymc("summary", "logistic", "--interval", 0.95, folder=folder).splitlines()[0]
    assert " 5% " in flymc("summary", "logistic", folder=folder).splitlines()[0]


def test_ratios(folder):
    for run in ("logistic", "softmax"):
        summary = json.loads(flymc("summary", run, "--json", "--ratios", folder=folder))
        assert summary["ratio"] == "odds ratio"
        for p in summary["parameters"]:
            ratio = p["ratio"]
            expected = np.exp([p["median"], p["lower"], p["upper"]])
            np.testing.assert_allclose([ratio["median"], ratio["lower"], ratio["upper"]], expected, rtol=1e-12)
        text = flymc("summary", run, "--ratios", folder=folder)
        assert "odds ratios, exp of the median" in text and "odds ratio" not in flymc("summary", run, folder=folder)
    said = refusal("summary", "student_t", "--ratios", folder=folder)
    assert "--ratios: exp of a coefficient of the family student_t is no ratio of odds, rates, means or times" in said
