"""What a person gets who only says what the target is: the answer that other software gives, in any units.

Each table is drawn from a known model and large enough that a sensible default prior says nothing beside it; the
reference is the maximum-likelihood estimate by Newton's method, whose standard errors are the posterior's deviations.
"""
import json

import numpy as np
import pyarrow
import pytest
from command import flymc, write


def fit(table, *words, folder):
    path = write(pyarrow.table(table), folder / "t.parquet")
    done = json.loads(flymc("fit", path, *words, "--out", "run", "--quiet", "--json", folder=folder))
    return {p["name"]: p for p in done["parameters"]}, done


def logistic_estimate(x, y):
    """Coefficients and standard errors of a logistic regression, as statsmodels' Logit gives them. Columns are centred
    for the arithmetic, and the intercept is taken back."""
    centre = x.mean(axis=0)
    design = np.column_stack([np.ones(len(x)), x - centre])
    theta = np.zeros(design.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-design @ theta))
        hessian = design.T @ (design * (p * (1 - p))[:, None])
        theta += np.linalg.solve(hessian, design.T @ (y - p))
    return theta[1:], np.sqrt(np.diag(np.linalg.inv(hessian)))[1:]


def test_a_price_in_its_own_units(tmp_path):
    """The prior came back where it did not know how large prices are: intercept 0.48 with deviation 2.49."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=20_000)
    price = 300_000 + 50_000 * x + 20_000 * rng.standard_t(4, size=len(x))
    found, report = fit({"x": x, "price": price}, "--target", "price", "--family", "student_t", "--sigma", 20_000,
                        folder=tmp_path)
    # The information of a Student-t about its location is (nu + 1) / (nu + 3) / sigma^2 per row.
    error = 20_000 * np.sqrt(7 / 5 / len(x))
    assert found["intercept"]["mean"] == pytest.approx(300_000, abs=4 * error)
    assert found["x"]["mean"] == pytest.approx(50_000, abs=4 * error)
    assert found["x"]["sd"] == pytest.approx(error, rel=0.05)
    assert report["warnings"] == []
    assert "prior (default) normal(0, " in report["choices"]


def test_years(tmp_path):
    """A column far from 0 and narrow: the slope was -0.0007 where the estimate is -0.36."""
    rng = np.random.default_rng(2)
    year = 2000 + 0.5 * rng.random(60_000)
    late = (rng.random(len(year)) < 1 / (1 + np.exp(1.2 + 0.36 * (year - 2000)))).astype(float)
    (slope,), (error,) = logistic_estimate(year[:, None], late)
    found, _ = fit({"year": year, "late": late}, "--target", "late", folder=tmp_path)
    # The mean of 4,000 draws is good to 0.03 of a deviation; the prior, of deviation 2.5 / 0.144, takes 0.005 of it.
    assert found["year"]["mean"] == pytest.approx(slope, abs=0.15 * error)
    assert found["year"]["sd"] == pytest.approx(error, rel=0.06)


def test_a_level_is_a_level_however_it_is_written(tmp_path):
    """Text, true/false and a column of 0 and 1 are one model, with one prior."""
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
    """The same prior said in other units, and the posterior beside the product of prior and likelihood."""
    rng = np.random.default_rng(4)
    metres = 1_700 + 100 * rng.normal(size=400)
    y = (rng.random(len(metres)) < 1 / (1 + np.exp(-0.004 * (metres - 1_700)))).astype(float)
    found = {}
    for unit, words in {1.0: "default; length: normal(0, 0.001)", 1000.0: "default; length: normal(0, 1)"}.items():
        folder = tmp_path / str(unit)
        folder.mkdir()
        found[unit], _ = fit({"length": metres / unit, "y": y}, "--target", "y", "--prior", words, folder=folder)
    (slope,), (error,) = logistic_estimate(metres[:, None], y)
    weight = 1 / error**2
    expected = slope * weight / (weight + 1e6)
    deviation = (weight + 1e6) ** -0.5
    assert found[1.0]["length"]["mean"] == pytest.approx(expected, abs=0.2 * deviation)
    assert found[1.0]["length"]["sd"] == pytest.approx(deviation, rel=0.08)
    assert found[1000.0]["length"]["mean"] == pytest.approx(1000 * found[1.0]["length"]["mean"], abs=150 * deviation)
