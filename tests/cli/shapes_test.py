"""Counts that vary more than a Poisson's, and amounts: compared with statsmodels and R, with a drawn shape."""
import json
import shutil
import subprocess

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import statsmodels.api as statsmodels
from command import flymc, predictions, refusal, write
from scipy import optimize, special


def policies(rows, seed=1):
    """Claims and their cost, by age and by region, one of them rare; policies ran for a part of a year."""
    random = np.random.default_rng(seed)
    age, years = random.uniform(18, 80, rows), random.uniform(0.05, 1.0, rows)
    region = random.choice(["east", "north", "west"], rows, p=[0.6, 0.395, 0.005])
    rate = np.exp(-0.5 - 0.02 * (age - 40) + 0.3 * (region == "north") + 0.6 * (region == "west"))
    claims = random.poisson(years * rate * random.gamma(0.8, 1 / 0.8, rows))
    cost = 2000 * rate * random.gamma(0.6, 1 / 0.6, rows)
    return {"age": age, "region": region, "years": years, "claims": claims, "cost": np.maximum(cost, 1e-200)}


def columns_of(table):
    x = np.column_stack([table["age"], table["region"] == "north", table["region"] == "west"]).astype(float)
    return statsmodels.add_constant(x)


NAMES = ("intercept", "age", "region[north]", "region[west]", "shape")


def fit(table, target, family, *words, folder, out="run"):
    other = "cost" if target == "claims" else "claims"
    path = write(pyarrow.table({k: v for k, v in table.items() if k != other}), folder / "t.parquet")
    return json.loads(flymc("fit", path, "--target", target, "--family", family, "--out", out, "--quiet", "--json",
                            *words, folder=folder))


def check(done, estimates, errors):
    found = {p["name"]: p for p in done["parameters"]}
    assert tuple(found) == NAMES
    for name, estimate, error in zip(NAMES, estimates, errors):
        assert found[name]["mean"] == pytest.approx(estimate, abs=0.12 * error), name
        assert found[name]["sd"] == pytest.approx(error, rel=0.03), name
    assert done["warnings"] == []


def test_counts_beside_statsmodels(tmp_path):
    table = policies(150_000)
    done = fit(table, "claims", "negative_binomial", "--exposure", "years", "--draws", 8000, folder=tmp_path)
    found = statsmodels.NegativeBinomial(table["claims"], columns_of(table), exposure=table["years"]).fit(disp=0)
    dispersion, error = found.params[-1], found.bse[-1]  # 1 / shape
    check(done, [*found.params[:-1], 1 / dispersion], [*found.bse[:-1], error / dispersion**2])
    assert "shape student_t(3, 0, 10), positive" in done["choices"]


def test_amounts_beside_statsmodels(tmp_path):
    """The mean is compared with a gamma GLM, and the shape with the maximum of its own likelihood, which the mean does
    not affect."""
    table = policies(150_000, seed=2)
    done = fit(table, "cost", "gamma", "--draws", 8000, "--exclude", "years", folder=tmp_path)
    x = columns_of(table)
    found = statsmodels.GLM(table["cost"], x, statsmodels.families.Gamma(statsmodels.families.links.Log())).fit()
    u = table["cost"] / found.mu
    surprise = np.mean(u - 1 - np.log(u))
    shape = optimize.brentq(lambda k: np.log(k) - special.digamma(k) - surprise, 1e-3, 1e3)
    errors = found.bse / np.sqrt(found.scale * shape)
    own = np.sqrt(1 / (len(u) * (special.polygamma(1, shape) - 1 / shape)))
    check(done, [*found.params, shape], [*errors, own])


def test_counts_beside_glm_nb(tmp_path):
    if shutil.which("Rscript") is None:
        pytest.skip("needs R")
    if subprocess.run(["Rscript", "-e", "library(MASS)"], capture_output=True).returncode != 0:
        pytest.skip("needs the R package MASS (Debian: r-cran-mass)")
    table = policies(100_000, seed=3)
    done = fit(table, "claims", "negative_binomial", "--exposure", "years", "--draws", 8000, folder=tmp_path)
    pyarrow.csv = pytest.importorskip("pyarrow.csv")
    pyarrow.csv.write_csv(pyarrow.table(table), tmp_path / "t.csv")
    said = subprocess.run(["Rscript", "-e", """
        library(MASS)
        t <- read.csv("t.csv")
        found <- glm.nb(claims ~ age + region + offset(log(years)), data = t, control = glm.control(maxit = 100))
        cat(c(coef(found), found$theta, sqrt(diag(vcov(found))), found$SE.theta), sep = "\\n")"""],
                          cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    numbers = [float(s) for s in said]
    check(done, numbers[:5], numbers[5:])


def test_predictions_know_the_shape(tmp_path):
    table = policies(60_000, seed=4)
    fit(table, "claims", "negative_binomial", "--exposure", "years", folder=tmp_path)
    new = {"age": [40.0, 40.0], "region": ["east", "east"], "years": [1.0, 0.25]}
    write(pyarrow.table(new), tmp_path / "new.csv")

    year, quarter = predictions("mean", folder=tmp_path)
    assert year[0] == pytest.approx(np.exp(-0.5), rel=0.05)
    assert quarter == pytest.approx([0.25 * v for v in year], rel=1e-12)
    # At shape 0.8 and mean 0.61, 95 % of new counts are at most 2, as for a Poisson; the 99 % quantiles differ.
    flymc("predict", "run", "new.csv", "--kind", "target", "--interval", "0.98", "--out", "wide.csv", folder=tmp_path)
    upper = float((tmp_path / "wide.csv").read_text().splitlines()[1].split(",")[-1])
    p = 0.8 / (0.8 + np.exp(-0.5))
    from scipy import stats
    assert upper == stats.nbinom.ppf(0.99, 0.8, p)


def test_what_is_refused(tmp_path):
    table = policies(2000)
    table["claims"] = table["claims"] + 0.5
    path = write(pyarrow.table(table), tmp_path / "t.parquet")
    assert "a count: 0, 1, 2, ..." in refusal("fit", path, "--target", "claims", "--family", "negative_binomial", "--exclude",
                                              "cost", "--out", "run", folder=tmp_path)
    table["cost"][7] = 0.0
    path = write(pyarrow.table(table), tmp_path / "t.parquet")
    said = refusal("fit", path, "--target", "cost", "--family", "gamma", "--exclude", "claims", "--out", "run", folder=tmp_path)
    assert "a number above 0; fit whether there is any amount" in said and "row 8" in said
    table["claims"] = np.arange(2000) % 1999
    many = {k: np.concatenate([v] * 11) for k, v in table.items()}
    many["claims"] = np.arange(22_000)
    path = write(pyarrow.table(many), tmp_path / "t.parquet")
    assert "more than 20000 different values" in refusal(
        "fit", path, "--target", "claims", "--family", "negative_binomial", "--exclude", "cost", "--out", "run", folder=tmp_path)


def test_a_flat_prior_of_a_shape_without_end(tmp_path):
    """However large the shape, the counts are at least as likely as with a Poisson, so the posterior would be
    improper."""
    table = policies(2000, seed=5)
    path = write(pyarrow.table({k: v for k, v in table.items() if k != "cost"}), tmp_path / "t.parquet")
    said = refusal("fit", path, "--target", "claims", "--family", "negative_binomial", "--prior", "default; shape: flat", "--out",
                   "run", folder=tmp_path)
    assert "the shape has no posterior under a flat prior" in said


def test_large_counts_take_few_passes(tmp_path):
    """The term of the shape must be based on the same targets as the rows of a subsample."""
    random = np.random.default_rng(6)
    x = random.normal(size=60_000)
    y = random.poisson(np.exp(6 + 0.3 * x) * random.gamma(1.5, 1 / 1.5, len(x)))
    path = write(pyarrow.table({"x": x, "y": y}), tmp_path / "t.parquet")
    done = json.loads(flymc("fit", path, "--target", "y", "--family", "negative_binomial", "--out", "run", "--quiet", "--json",
                            folder=tmp_path))
    assert done["anchor_queries"] < 12 * done["rows"]
    assert done["parameters"][-1]["mean"] == pytest.approx(1.5, abs=0.05)


def test_a_prior_of_the_shape(tmp_path):
    """A narrow prior fixes the shape; a prior for all coefficients does not apply to it."""
    table = policies(2000, seed=5)
    narrow = fit(table, "claims", "negative_binomial", "--prior", "default; shape: normal(3, 0.001)", folder=tmp_path, out="a")
    assert narrow["parameters"][-1]["mean"] == pytest.approx(3, abs=0.01)
    free = fit(table, "claims", "negative_binomial", folder=tmp_path, out="b")
    for_all = fit(table, "claims", "negative_binomial", "--prior", "normal(0, 100)", folder=tmp_path, out="c")
    assert for_all["parameters"][-1]["mean"] == pytest.approx(free["parameters"][-1]["mean"], rel=0.05)


@pytest.mark.parametrize(("target", "family", "name"),
                         [("claims", "negative_binomial", "rate ratio"), ("cost", "gamma", "ratio of means")])
def test_ratios_of_all_but_the_shape(target, family, name, tmp_path):
    fit(policies(3000), target, family, "--draws", 200, folder=tmp_path)
    summary = json.loads(flymc("summary", "run", "--ratios", "--json", folder=tmp_path))
    assert summary["ratio"] == name
    *coefficients, shape = summary["parameters"]
    assert shape["name"] == "shape" and "ratio" not in shape
    for p in coefficients:
        assert p["ratio"]["upper"] == pytest.approx(np.exp(p["upper"]), rel=1e-12)
    text = flymc("summary", "run", "--ratios", folder=tmp_path)
    told = text.split(f"{name.replace('ratio', 'ratios')}, exp of the median")[1].split("\n\n")[0]
    assert "of the intercept: the " in told and "region[west]" in told and "shape" not in told
