"""Defaults: a user who only names the target gets the same answer as from other software, in any units.

Each table is drawn from a known model and is so large that a sensible default prior has no noticeable effect. The
reference is the maximum-likelihood estimate by statsmodels, whose standard errors are the posterior's deviations.
"""
import json
import re
import warnings

import numpy as np
import pyarrow
import pytest
import statsmodels.api as statsmodels
from command import flymc, write
from statsmodels.miscmodels.tmodel import TLinearModel


def fit(table, *words, folder):
    path = write(pyarrow.table(table), folder / "t.parquet")
    done = json.loads(flymc("fit", path, *words, "--out", "run", "--quiet", "--json", folder=folder))
    return {p["name"]: p for p in done["parameters"]}, done


def logistic_estimate(x, y):
    """Slope and standard error. The column is centred for statsmodels' arithmetic."""
    found = statsmodels.Logit(y, statsmodels.add_constant(x - x.mean())).fit(disp=0)
    return found.params[1], found.bse[1]


def student_t_estimates(x, y, unit):
    """Intercept and slope with standard errors, fitted in a unit of y in which statsmodels finds the mode. The four
    degrees of freedom are fixed and the scale is estimated, which hardly affects the other estimates."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # statsmodels counts the names of parameters without the scale
        found = TLinearModel(y / unit, statsmodels.add_constant(x), fix_df=4.0).fit(method="bfgs", disp=0)
    return unit * found.params[:2], unit * found.bse[:2]


def test_a_price_in_its_own_units(tmp_path):
    """Regression test: the prior did not adapt to large prices and dominated, with intercept 0.48 and deviation
    2.49."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=20_000)
    price = 300_000 + 50_000 * x + 20_000 * rng.standard_t(4, size=len(x))
    found, report = fit({"x": x, "price": price}, "--target", "price", "--family", "student_t", "--sigma", 20_000,
                        folder=tmp_path)
    # The estimated scale is 0.993 of the given one, which moves estimates by less than a tenth of a standard error.
    for name, estimate, error in zip(("intercept", "x"), *student_t_estimates(x, price, 20_000)):
        assert found[name]["mean"] == pytest.approx(estimate, abs=0.15 * error)
        assert found[name]["sd"] == pytest.approx(error, rel=0.06)
    assert report["warnings"] == []
    # Costs do not depend on units either: no row is lit just because prices are large numbers.
    assert "rows are lit" not in report["choices"]
    assert sum(c["sampling_queries"] for c in report["chains"]) < len(x)
    assert "prior (default) normal(0, " in report["choices"]


def test_years(tmp_path):
    """A narrow column far from 0. Regression test: the slope was -0.0007, and the estimate is -0.36."""
    rng = np.random.default_rng(2)
    year = 2000 + 0.5 * rng.random(60_000)
    late = (rng.random(len(year)) < 1 / (1 + np.exp(1.2 + 0.36 * (year - 2000)))).astype(float)
    slope, error = logistic_estimate(year, late)
    found, _ = fit({"year": year, "late": late}, "--target", "late", folder=tmp_path)
    # The mean of 4,000 draws has an error of 0.03 deviations; the prior, of deviation 2.5 / 0.144, shifts it by 0.005.
    assert found["year"]["mean"] == pytest.approx(slope, abs=0.15 * error)
    assert found["year"]["sd"] == pytest.approx(error, rel=0.06)


def test_a_level_is_a_level_however_it_is_written(tmp_path):
    """Text, true/false and a 0/1 column give one model with one prior."""
    rng = np.random.default_rng(3)
    here, x = rng.random(5_000) < 0.01, 100 + 20 * rng.normal(size=5_000)
    y = (rng.random(len(x)) < 1 / (1 + np.exp(2 - 4 * here - 0.02 * (x - 100)))).astype(int)
    forms = {"text": np.where(here, "yes", "no"), "flag": here, "number": here.astype(float), "integer": here.astype(int)}
    draws = []
    for name, column in forms.items():
        folder = tmp_path / name
        folder.mkdir()
        found, _ = fit({"x": x, "here": column, "y": y}, "--target", "y", folder=folder)
        draws.append([(p["mean"], p["sd"]) for p in found.values()])
    assert draws[1:] == draws[:1] * 3


def test_a_prior_is_per_unit_of_a_column(tmp_path):
    """The same prior in other units gives the same posterior, which agrees with the product of prior and likelihood."""
    rng = np.random.default_rng(4)
    metres = 1_700 + 100 * rng.normal(size=400)
    y = (rng.random(len(metres)) < 1 / (1 + np.exp(-0.004 * (metres - 1_700)))).astype(float)
    found = {}
    for unit, words in {1.0: "default; length: normal(0, 0.001)", 1000.0: "default; length: normal(0, 1)"}.items():
        folder = tmp_path / str(unit)
        folder.mkdir()
        found[unit], _ = fit({"length": metres / unit, "y": y}, "--target", "y", "--prior", words, folder=folder)
    slope, error = logistic_estimate(metres, y)
    weight = 1 / error**2
    expected = slope * weight / (weight + 1e6)
    deviation = (weight + 1e6) ** -0.5
    assert found[1.0]["length"]["mean"] == pytest.approx(expected, abs=0.2 * deviation)
    assert found[1.0]["length"]["sd"] == pytest.approx(deviation, rel=0.08)
    assert found[1000.0]["length"]["mean"] == pytest.approx(1000 * found[1.0]["length"]["mean"], abs=150 * deviation)


def slow_table(folder):
    rng = np.random.default_rng(6)
    x = rng.normal(size=(2_000, 3))
    y = (rng.random(len(x)) < 1 / (1 + np.exp(-x @ [1, -1, 0.5]))).astype(float)
    return write(pyarrow.table({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y}), folder / "slow.parquet")


def worst(done):
    return min(min(p["ess_bulk"], p["ess_tail"]) for p in done["parameters"]), max(p["r_hat"] for p in done["parameters"])


def test_there_are_enough_draws(tmp_path):
    """1000 draws if chains are quick, more if they are slow, and the text says which."""
    table = slow_table(tmp_path)
    quick, slow, fixed = (
        json.loads(flymc("fit", table, "--target", "y", "--out", name, "--quiet", "--json", *words, folder=tmp_path))
        for name, words in (("quick", []), ("slow", ["--move", "random_walk"]),
                            ("fixed", ["--move", "random_walk", "--draws", 1000]))
    )
    assert quick["draws"] == 1000 and quick["warnings"] == []
    assert 1000 < slow["draws"] <= 10_000 and slow["draws"] % 1000 == 0 and slow["warnings"] == []
    ess, r_hat = worst(slow)
    assert ess >= 400 and r_hat < 1.01
    assert fixed["draws"] == 1000 and worst(fixed)[0] < 400
    assert "draws = 'auto'" in (tmp_path / "slow/settings.toml").read_text()


def test_what_it_would_take_is_said_and_true(tmp_path):
    """If there were too few draws, the command in the message gives enough."""
    table = slow_table(tmp_path)
    flymc("fit", table, "--target", "y", "--out", "run", "--move", "random_walk", "--draws", 500, folder=tmp_path)
    said = flymc("summary", "run", folder=tmp_path, both=True)
    command = re.search(r"`flymc (sample run --draws (\d+) --out) OTHER`", said)
    assert command and f"--draws {command[2]} should do" in said
    done = json.loads(flymc(*command[1].split(), "more", "--quiet", "--json", folder=tmp_path))
    assert done["draws"] == int(command[2])
    ess, r_hat = worst(done)
    assert ess >= 400 and r_hat < 1.01
