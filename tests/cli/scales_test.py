"""A drawn residual scale: compared with quadrature and other software, predictions, comparisons, and refusals."""
import json

import numpy as np
import pyarrow
import pytest
import scipy.optimize
import statsmodels.api as statsmodels
from command import flymc, refusal, write


def amounts(rows, seed=1, nu=None):
    """Amounts around 300 that depend on a number and on a column of levels, one of them rare."""
    random = np.random.default_rng(seed)
    x = random.normal(3, 2, rows)
    kind = random.choice(["a", "b", "c"], rows, p=[0.7, 0.28, 0.02])
    noise = random.normal(size=rows) if nu is None else random.standard_t(nu, rows)
    return {"x": x, "kind": kind, "y": 300 + 1.5 * x + 4.0 * (kind == "b") - 2.0 * (kind == "c") + 5.0 * noise}


def design(table):
    return np.column_stack([np.ones(len(table["x"])), table["x"], table["kind"] == "b", table["kind"] == "c"]).astype(float)


def fit(table, *words, folder, out="run", family="gaussian"):
    path = write(pyarrow.table(table), folder / f"{out}.parquet")
    done = json.loads(flymc("fit", path, "--target", "y", "--family", family, "--out", out, "--quiet", "--json", *words,
                            folder=folder))
    return {p["name"]: p for p in done["parameters"]}, done


def by_quadrature(table, weights=None):
    """Mean and sd of coefficients and sigma under the default prior: normal given sigma, on a grid of log sigma.

    The prior is the documented default: coefficients normal(0, 2.5 sd(y) / sd(x)), the intercept at the means of the
    columns normal(mean(y), 2.5 sd(y)), sigma half a student_t(3, 0, 2.5 sd(y)).
    """
    y, x = table["y"], design(table)
    weights = np.ones(len(y)) if weights is None else weights
    centre = np.average(table["x"], weights=None)
    unit = np.sqrt(np.sum(weights * (y - np.average(y, weights=weights)) ** 2) / (np.sum(weights) - 1))
    x[:, 1] -= centre
    scale = 2.5 * unit * np.array([1, 1 / np.std(table["x"], ddof=1), 1, 1])
    location = np.array([np.average(y, weights=weights), 0, 0, 0])
    precision, gram = np.diag(scale**-2.0), x.T @ (weights[:, None] * x)
    moment, square = x.T @ (weights * y), np.sum(weights * y * y)
    guess = np.sqrt(np.mean((y - x @ np.linalg.lstsq(x, y, rcond=None)[0]) ** 2))
    found = []
    for sigma in guess * np.exp(np.linspace(-2.5, 2.5, 4001)):
        total = precision + gram / sigma**2
        mean = np.linalg.solve(total, precision @ location + moment / sigma**2)
        log = -np.sum(weights) * np.log(sigma) - 0.5 * np.linalg.slogdet(total)[1]
        log -= 0.5 * (location @ precision @ location + square / sigma**2 - mean @ total @ mean)
        log -= 2.0 * np.log1p((sigma / (2.5 * unit)) ** 2 / 3.0) - np.log(sigma)  # the grid is of log sigma
        back = np.eye(4)
        back[0, 1] = -centre  # from the intercept at the mean to the intercept at 0
        found.append((log, sigma, back @ mean, np.diag(back @ np.linalg.inv(total) @ back.T)))
    logs, sigmas, means, variances = (np.array(part) for part in zip(*found))
    p = np.exp(logs - logs.max())
    p /= p.sum()
    mean, mean_sigma = p @ means, p @ sigmas
    sd = np.sqrt(p @ (variances + (means - mean) ** 2))
    return (dict(zip(("intercept", "x", "kind[b]", "kind[c]", "sigma"), zip((*mean, mean_sigma),
            (*sd, np.sqrt(p @ (sigmas - mean_sigma) ** 2))))))


@pytest.mark.parametrize("rows, words", [(12, []), (300, []), (3000, []), (3000, ["--regular"])])
def test_the_gaussian_posterior_is_that_of_quadrature(rows, words, tmp_path):
    table = amounts(rows, seed=rows)
    table["kind"][:6] = ["a", "b", "c"] * 2  # all levels occur
    found, done = fit(table, "--draws", 5000, *words, folder=tmp_path)
    for name, (mean, sd) in by_quadrature(table).items():
        # 4.5 standard errors; an sd has an error of about mcse / sqrt(2), and twice that for the skewed sigma of few
        # rows.
        assert found[name]["mean"] == pytest.approx(mean, abs=4.5 * found[name]["mcse_mean"]), name
        assert found[name]["sd"] == pytest.approx(sd, abs=4.5 * 2 * found[name]["mcse_mean"]), name
    assert "sigma student_t(3, 0," in done["choices"]


def test_weights_count_rows(tmp_path):
    table = amounts(600, seed=5)
    table["kind"][:6] = ["a", "b", "c"] * 2
    weights = np.arange(600) % 3.0
    found, _ = fit({**table, "w": weights}, "--weights", "w", "--draws", 5000, folder=tmp_path)
    expected = by_quadrature(table, weights)
    for name in ("x", "kind[b]", "sigma"):
        assert found[name]["mean"] == pytest.approx(expected[name][0], abs=0.02 * expected[name][1] + 4.5 * found[name]["mcse_mean"])
        assert found[name]["sd"] == pytest.approx(expected[name][1], rel=0.04), name


def test_the_gaussian_beside_statsmodels(tmp_path):
    table = amounts(200_000)
    found, done = fit(table, "--prior", "flat", "--draws", 10000, folder=tmp_path)
    least_squares = statsmodels.OLS(table["y"], design(table)).fit()
    for name, mean, error in zip(("intercept", "x", "kind[b]", "kind[c]"), least_squares.params, least_squares.bse):
        assert found[name]["mean"] == pytest.approx(mean, abs=0.05 * error + 4.5 * found[name]["mcse_mean"]), name
        assert found[name]["sd"] == pytest.approx(error, rel=0.03), name
    assert found["sigma"]["mean"] == pytest.approx(np.sqrt(least_squares.scale), rel=1e-3)
    assert done["warnings"] == []
    assert all(chain["bright_mean"] == 0 for chain in done["chains"])  # a quadratic log likelihood equals its bound


def test_the_student_t_beside_its_maximum_of_likelihood(tmp_path):
    table = amounts(100_000, nu=4)
    found, done = fit(table, "--draws", 10000, family="student_t", folder=tmp_path)
    x, y = design(table), table["y"] - 300

    def minus_log_likelihood(at):  # arguments: coefficients and log sigma
        r = (y - x @ at[:4]) / np.exp(at[4])
        weight = 5 * r / (4 + r * r)
        slope = np.append(x.T @ weight / np.exp(at[4]), np.sum(weight * r) - len(y))
        return np.sum(2.5 * np.log1p(r * r / 4)) + len(y) * at[4], -slope

    start = np.append(np.linalg.lstsq(x, y, rcond=None)[0], np.log(4.0))
    best = scipy.optimize.minimize(minus_log_likelihood, start, jac=True, method="BFGS", options={"gtol": 1e-4}).x
    steps = 1e-4 * np.eye(5)
    hessian = np.array([(minus_log_likelihood(best + h)[1] - minus_log_likelihood(best - h)[1]) / 2e-4 for h in steps])
    error = np.sqrt(np.diag(np.linalg.inv(hessian)))
    sigma = np.exp(best[4])
    expected = [*zip(best + np.array([300, 0, 0, 0, 0]), error)][:4] + [(sigma, sigma * error[4])]
    for name, (mean, sd) in zip(("intercept", "x", "kind[b]", "kind[c]", "sigma"), expected):
        assert found[name]["mean"] == pytest.approx(mean, abs=0.03 * sd + 4.5 * found[name]["mcse_mean"]), name
        assert found[name]["sd"] == pytest.approx(sd, rel=0.03), name
    assert done["warnings"] == []


def test_an_offset_is_a_shift_of_the_target(tmp_path):
    table = amounts(5000)
    shift = np.random.default_rng(9).normal(size=5000)
    plain, _ = fit(table, folder=tmp_path)
    shifted, _ = fit({**table, "y": table["y"] + shift, "shift": shift}, "--offset", "shift", folder=tmp_path, out="shifted")
    for name, parameter in plain.items():
        assert shifted[name]["mean"] == pytest.approx(parameter["mean"], abs=1e-9 * abs(parameter["mean"])), name
    new = {"x": [1.0], "kind": ["a"], "shift": [100.0]}
    write(pyarrow.table(new), tmp_path / "new.csv")
    flymc("predict", "shifted", "new.csv", "--kind", "mean", "--out", "p.csv", folder=tmp_path)
    mean = float((tmp_path / "p.csv").read_text().splitlines()[1].split(",")[1])
    assert mean == pytest.approx(shifted["intercept"]["mean"] + shifted["x"]["mean"] + 100, rel=1e-9)


def test_new_targets_have_the_drawn_scale(tmp_path):
    for family, nu, wide in (("gaussian", None, 1.645), ("student_t", 4, 2.132)):
        found, _ = fit(amounts(20_000, nu=nu), folder=tmp_path, out=family, family=family)
        write(pyarrow.table({"x": [0.0] * 200, "kind": ["a"] * 200}), tmp_path / "new.csv")

        def widths(kind):
            flymc("predict", family, "new.csv", "--kind", kind, "--interval", 0.9, "--out", "p.csv", folder=tmp_path)
            rows = np.loadtxt(tmp_path / "p.csv", delimiter=",", skiprows=1)[:, 1:]
            return np.mean(rows[:, 2] - rows[:, 1])

        assert widths("target") == pytest.approx(2 * wide * found["sigma"]["mean"], rel=0.02)
        assert widths("mean") == pytest.approx(2 * 1.645 * found["intercept"]["sd"], rel=0.1)


def test_a_prior_of_sigma_is_its_own(tmp_path):
    """A prior for all coefficients does not apply to sigma; a narrow prior of sigma itself does, and `sample` can
    replace it."""
    table = amounts(2000)
    usual, _ = fit(table, "--prior", "normal(0, 50)", folder=tmp_path)
    assert usual["sigma"]["mean"] == pytest.approx(5.0, rel=0.05)
    narrow, done = fit(table, "--prior", "normal(0, 50); sigma: normal(0, 0.05)", folder=tmp_path, out="narrow")
    assert narrow["sigma"]["mean"] < 0.9 * usual["sigma"]["mean"]
    assert any("'sigma' is" in w and "strains against the data" in w for w in done["warnings"])
    said = flymc("sample", "run", "--prior", "normal(0, 50); sigma: normal(0, 0.05)", "--out", "again", "--json", "--quiet",
                 folder=tmp_path)
    again = {p["name"]: p for p in json.loads(said)["parameters"]}
    for name in narrow:
        assert again[name]["mean"] == pytest.approx(narrow[name]["mean"], abs=6 * narrow[name]["mcse_mean"]), name


def test_a_scale_that_is_given(tmp_path):
    table = amounts(2000)
    found, _ = fit(table, "--sigma", 5, folder=tmp_path)
    assert "sigma" not in found
    assert found["x"]["sd"] == pytest.approx(5 / (2 * np.sqrt(2000)), rel=0.1)


def test_residuals_of_another_shape_are_noticed(tmp_path):
    table = amounts(5000)
    table["y"][::50] += 400.0
    _, done = fit(table, folder=tmp_path)
    assert any("do not look like those of the gaussian family" in w for w in done["warnings"]), done["warnings"]
    _, robust = fit(table, folder=tmp_path, family="student_t", out="robust")
    assert not any("do not look like" in w for w in robust["warnings"])


@pytest.mark.parametrize("change, said", [
    (lambda t: {**t, "y": np.full(len(t["y"]), 3.0)}, "is the same in every row, so that there is no residual scale to draw"),
    (lambda t: {**t, "y": 2.0 + 3.0 * t["x"]}, "either the columns explain the target exactly"),
    (lambda t: {k: v[:5] for k, v in t.items()}, "too few to draw a residual scale beside"),
    (lambda t: {**t, "sigma": t["x"] ** 2}, "two features would be named 'sigma'"),
])
def test_what_has_no_scale(change, said, tmp_path):
    table = amounts(100)
    table["kind"][:6] = ["a", "b", "c"] * 2
    path = write(pyarrow.table(change(table)), tmp_path / "t.parquet")
    assert said in refusal("fit", path, "--target", "y", "--family", "gaussian", "--out", "run", folder=tmp_path)


def test_a_narrow_prior_far_from_0(tmp_path):
    """It couples the coefficient and sigma in the coordinates of the chains more strongly than the rows determine
    either."""
    random = np.random.default_rng(2)
    t = random.uniform(0, 2, 3000)
    table = {"t": t, "y": 9.81 * t + 0.3 * random.normal(size=3000)}
    found, done = fit(table, "--prior", "default; t: normal(9.81, 0.0001)", folder=tmp_path)
    shifted, _ = fit({**table, "known": 9.81 * t}, "--offset", "known", "--prior", "default; t: normal(0, 0.0001)", folder=tmp_path,
                     out="offset")
    for name, more in (("intercept", 0), ("t", 9.81), ("sigma", 0)):
        assert found[name]["mean"] == pytest.approx(more + shifted[name]["mean"], abs=6 * shifted[name]["mcse_mean"]), name
        assert found[name]["sd"] == pytest.approx(shifted[name]["sd"], rel=0.1), name
    assert not any("R-hat" in w or "effective" in w for w in done["warnings"]), done["warnings"]


def test_without_an_intercept_columns_explain_where_the_target_lies(tmp_path):
    random = np.random.default_rng(3)
    table = {"x": random.uniform(1, 2, 3000)}
    table["y"] = 1e4 * table["x"] + random.normal(size=3000)
    found, done = fit(table, "--no-intercept", folder=tmp_path)
    assert found["x"]["mean"] == pytest.approx(1e4, rel=1e-4) and found["sigma"]["mean"] == pytest.approx(1, rel=0.1)
    assert done["warnings"] == []


def test_interrupted_and_single_precision_and_plan(tmp_path):
    """Rows of half the size give the same draws up to rounding; and `plan` accepts the family."""
    table = amounts(30_000, nu=4)
    double, _ = fit(table, folder=tmp_path, family="student_t")
    single, _ = fit(table, "--float32", folder=tmp_path, family="student_t", out="single")
    for name in double:
        assert single[name]["mean"] == pytest.approx(double[name]["mean"], abs=0.1 * double[name]["sd"]), name
    assert "5 coefficients" in flymc("plan", "run.parquet", "--target", "y", "--family", "student_t", folder=tmp_path)
