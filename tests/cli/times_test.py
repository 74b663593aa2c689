"""Times until an event and positive amounts: compared with maximum likelihood and R's survreg, and refusals."""
import json
import shutil
import subprocess

import numpy as np
import pyarrow
import pytest
import scipy.optimize
import scipy.stats
from command import flymc, refusal, spoilt, write

FAMILIES = ("weibull", "lognormal", "loglogistic")


def patients(rows, family="weibull", seed=1, until=8.0):
    """Years until an event by age and treatment; patients without an event leave at random or at the end of the
    study."""
    random = np.random.default_rng(seed)
    age, drug = random.normal(60, 10, rows), random.choice(["a", "b", "none"], rows, p=[0.5, 0.48, 0.02])
    error = {"weibull": lambda: np.log(random.exponential(size=rows)), "lognormal": lambda: random.normal(size=rows),
             "loglogistic": lambda: random.logistic(size=rows)}[family]()
    time = np.exp(1.8 - 0.03 * (age - 60) + 0.4 * (drug == "b") - 0.5 * (drug == "none") + 0.7 * error)
    left = np.minimum(random.uniform(0, 3 * until, rows), until)
    return {"age": age, "drug": drug, "died": (time <= left).astype(int), "years": np.minimum(time, left)}


def design(table):
    return np.column_stack([np.ones(len(table["age"])), table["age"], table["drug"] == "b", table["drug"] == "none"]).astype(float)


def fit(table, family, *words, folder, out="run"):
    path = write(pyarrow.table(table), folder / f"{out}.parquet")
    event = ["--event", "died"] if "died" in table else []
    done = json.loads(flymc("fit", path, "--target", "years", *event, "--family", family, "--out", out, "--quiet", "--json",
                            *words, folder=folder))
    return {p["name"]: p for p in done["parameters"]}, done


DENSITIES = {  # log f and log S of the standardised residual
    "weibull": (lambda u: u - np.exp(u), lambda u: -np.exp(u)),
    "lognormal": (scipy.stats.norm.logpdf, scipy.stats.norm.logsf),
    "loglogistic": (scipy.stats.logistic.logpdf, scipy.stats.logistic.logsf),
}


def best(table, family):
    """The maximum of the likelihood of coefficients and log sigma, with standard errors by finite differences."""
    x, y, seen = design(table), np.log(table["years"]), table["died"] == 1
    x[:, 1] -= 60
    density, longer = DENSITIES[family]

    def minus(at):
        u = (y - x @ at[:4]) / np.exp(at[4])
        return -(np.sum(density(u[seen]) - at[4]) + np.sum(longer(u[~seen])))

    at = scipy.optimize.minimize(minus, np.append(np.linalg.lstsq(x, y, rcond=None)[0], 0.0), method="BFGS").x
    step = 1e-3 * np.eye(5)
    hessian = np.array([[(minus(at + a + b) - minus(at + a - b) - minus(at - a + b) + minus(at - a - b)) / 4e-6
                         for b in step] for a in step])
    covariance = np.linalg.inv(hessian)
    back = np.eye(5)
    back[0, 1] = -60
    at, covariance = back @ at, back @ covariance @ back.T
    error = np.sqrt(np.diag(covariance))
    sigma = np.exp(at[4])
    return {**dict(zip(("intercept", "age", "drug[b]", "drug[none]"), zip(at[:4], error[:4]))), "sigma": (sigma, sigma * error[4])}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_posterior_beside_the_maximum_of_the_likelihood(family, tmp_path):
    table = patients(40_000, family, seed=3)
    found, done = fit(table, family, "--draws", 10000, folder=tmp_path)
    for name, (mean, error) in best(table, family).items():
        # With 800 rows of a level, a posterior mean differs from the maximum by some hundredths of a deviation.
        assert found[name]["mean"] == pytest.approx(mean, abs=0.04 * error + 4.5 * found[name]["mcse_mean"]), name
        assert found[name]["sd"] == pytest.approx(error, rel=0.03), name
    assert done["warnings"] == []
    assert f"events 'died', {table['died'].sum()} of 40000 rows" in done["choices"]


@pytest.mark.parametrize("family", FAMILIES)
def test_beside_survreg(family, tmp_path):
    if shutil.which("Rscript") is None:
        pytest.skip("Rscript is not installed")
    table = patients(100_000, family, seed=5)
    found, _ = fit(table, family, "--prior", "flat", "--draws", 10000, folder=tmp_path)
    write(pyarrow.table(table), tmp_path / "t.csv")
    script = f"""library(survival); t <- read.csv("t.csv"); t$drug <- factor(t$drug, c("a", "b", "none"))
      m <- survreg(Surv(years, died) ~ age + drug, t, dist="{family}")
      cat(coef(m), m$scale, sqrt(diag(vcov(m))))"""
    done = subprocess.run(["Rscript", "-e", script], cwd=tmp_path, capture_output=True, text=True)
    if "there is no package" in done.stderr:
        pytest.skip("R's package survival is not installed")
    numbers = [float(word) for word in done.stdout.split()]
    for i, name in enumerate(("intercept", "age", "drug[b]", "drug[none]")):
        assert found[name]["mean"] == pytest.approx(numbers[i], abs=0.05 * numbers[5 + i] + 4.5 * found[name]["mcse_mean"]), name
        assert found[name]["sd"] == pytest.approx(numbers[5 + i], rel=0.03), name
    assert found["sigma"]["mean"] == pytest.approx(numbers[4], abs=0.1 * numbers[4] * numbers[9])


def test_amounts_without_events_are_all_seen(tmp_path):
    """A log-normal regression of amounts equals the gaussian one of their logarithms, under the same default prior."""
    table = {k: v for k, v in patients(5000, "lognormal", until=1e9).items() if k != "died"}
    found, _ = fit(table, "lognormal", folder=tmp_path)
    logs = {**{k: v for k, v in table.items() if k != "years"}, "log_years": np.log(table["years"])}
    path = write(pyarrow.table(logs), tmp_path / "logs.parquet")
    gaussian = json.loads(flymc("fit", path, "--target", "log_years", "--family", "gaussian", "--out", "logs", "--quiet", "--json",
                                folder=tmp_path))
    for parameter in gaussian["parameters"]:
        assert found[parameter["name"]]["mean"] == pytest.approx(parameter["mean"], abs=1e-9), parameter["name"]


@pytest.mark.parametrize("family, median", [("weibull", np.log(np.log(2))), ("lognormal", 0), ("loglogistic", 0)])
def test_predictions(family, median, tmp_path):
    """Medians, survival curves and new times agree with those computed from the draws."""
    fit(patients(20_000, family), family, folder=tmp_path)
    new = {"age": [50.0, 80.0], "drug": ["a", "none"]}
    write(pyarrow.table(new), tmp_path / "new.csv")
    draws = pyarrow.parquet.read_table(tmp_path / "run" / "draws.parquet").to_pandas()
    eta = [draws["intercept"] + 50 * draws["age"], draws["intercept"] + 80 * draws["age"] + draws["drug[none]"]]

    def predicted(*words):
        flymc("predict", "run", "new.csv", *words, "--out", "p.csv", folder=tmp_path)
        return np.genfromtxt(tmp_path / "p.csv", delimiter=",", names=True, deletechars="")

    found = predicted("--kind", "mean")
    for row, at in zip(found, eta):
        times = np.exp(at + draws["sigma"] * median)
        assert row["mean"] == pytest.approx(times.mean(), rel=1e-9)
        assert row["lower"] == pytest.approx(np.quantile(times, 0.05), rel=1e-9)
    curves = predicted("--times", "1,2.5,40")
    longer = DENSITIES[family][1]
    for row, at in zip(curves, eta):
        for t in ("1", "2.5", "40"):
            p = np.exp(longer((np.log(float(t)) - at) / draws["sigma"]))
            assert row[f"survival[{t}]"] == pytest.approx(p.mean(), rel=1e-9, abs=1e-12)
            assert row[f"upper[{t}]"] == pytest.approx(np.quantile(p, 0.95), rel=1e-9, abs=1e-12)
    # The ends of the 0.8 interval are the 10 % and 90 % quantiles of new times.
    target = predicted("--interval", "0.8")[0]
    error = {"weibull": scipy.stats.gumbel_l, "lognormal": scipy.stats.norm, "loglogistic": scipy.stats.logistic}[family]
    for end, p in (("lower", 0.1), ("upper", 0.9)):
        assert np.log(target[end]) == pytest.approx((eta[0] + draws["sigma"] * error.ppf(p)).mean(), abs=0.15)


def test_weights_and_offsets(tmp_path):
    table = patients(3000)
    doubled, _ = fit({k: np.concatenate([v, v]) for k, v in table.items()}, "weibull", folder=tmp_path, out="doubled")
    weighted, _ = fit({**table, "w": np.full(3000, 2.0)}, "weibull", "--weights", "w", folder=tmp_path, out="weighted")
    shifted, _ = fit({**table, "years": 10 * table["years"], "shift": np.full(3000, np.log(10)) + 1e-3 * table["age"]}, "weibull",
                     "--offset", "shift", folder=tmp_path, out="shifted")
    plain, _ = fit(table, "weibull", folder=tmp_path)
    for name, parameter in doubled.items():
        assert weighted[name]["mean"] == pytest.approx(parameter["mean"], abs=0.1 * parameter["sd"]), name
        assert weighted[name]["sd"] == pytest.approx(parameter["sd"], rel=0.1), name
    assert shifted["age"]["mean"] == pytest.approx(plain["age"]["mean"] - 1e-3, abs=0.1 * plain["age"]["sd"])
    assert shifted["sigma"]["mean"] == pytest.approx(plain["sigma"]["mean"], abs=0.1 * plain["sigma"]["sd"])


@pytest.mark.parametrize("change, words, said", [
    ({"years": [0.0]}, [], "column 'years', row 1: a time or an amount is more than 0, not 0"),
    ({"years": [-2.0]}, [], "is more than 0, not -2"),
    ({"died": [2.0]}, [], "column 'died', row 1: 2 does not say whether the event was seen"),
    ({"died": [0.0] * 500}, [], "events of weight 0 in all are too few"),
    ({}, ["--weights", "died"], "cannot be both"),
])
def test_what_is_refused(change, words, said, tmp_path):
    path = write(pyarrow.table(spoilt(patients(500, seed=5), change)), tmp_path / "t.parquet")
    assert said in refusal("fit", path, "--target", "years", "--event", "died", "--family", "weibull", "--out", "run", *words,
                           folder=tmp_path)


def test_what_does_not_go_together(tmp_path):
    path = write(pyarrow.table(patients(500)), tmp_path / "t.parquet")
    said = flymc("fit", path, "--target", "years", "--event", "died", "--family", "gaussian", "--out", "run", folder=tmp_path,
                 expect=2, both=True)
    assert "--event: only for times until an event (weibull or lognormal or loglogistic)" in said
    said = flymc("fit", path, "--target", "years", "--sigma", 2, "--family", "weibull", "--out", "run", folder=tmp_path,
                 expect=2, both=True)
    assert "--sigma: only for the gaussian or student_t family" in said
    # An empty column name, as from an unset shell variable, must not turn all rows into events.
    said = flymc("fit", path, "--target", "years", "--event", "", "--family", "weibull", "--out", "run", folder=tmp_path, expect=2,
                 both=True)
    assert "--event: name a column" in said
    flymc("fit", path, "--target", "died", "--exclude", "years", "--out", "logistic", "--quiet", folder=tmp_path)
    assert "has no times until an event" in refusal("predict", "logistic", path, "--times", "1", "--out", "p.csv", folder=tmp_path)


def test_few_events_do_not_make_a_narrow_default_prior(tmp_path):
    """Most times are censored at the end of the study, so their mean and deviation reflect the study's length."""
    random = np.random.default_rng(3)
    age = random.normal(60, 10, 1000)
    time = np.exp(4 - 0.1 * (age - 60)) * random.exponential(size=1000)
    table = {"age": age, "drug": np.where(random.random(1000) < 0.5, "a", "b"), "died": (time <= 1).astype(int),
             "years": np.minimum(time, 1)}
    events = table["died"].sum()
    assert events < 80
    found, done = fit(table, "weibull", folder=tmp_path)
    centre = np.log(table["years"]).mean() + np.log(1000 / events)
    assert f"intercept normal({centre:.4g}, 2.5)" in done["choices"] and "sigma student_t(3, 0, 2.5)" in done["choices"]
    wide, _ = fit(table, "weibull", "--prior", "normal(0, 20); sigma: student_t(3, 0, 5)", folder=tmp_path, out="wide")
    assert found["sigma"]["mean"] == pytest.approx(wide["sigma"]["mean"], abs=0.5 * wide["sigma"]["sd"])
    for name, truth in (("age", -0.1), ("sigma", 1.0)):
        assert found[name]["mean"] == pytest.approx(truth, abs=3 * found[name]["sd"]), name
