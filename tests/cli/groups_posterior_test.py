"""Models with groups: the posterior of a table in its own units beside sums over a grid, and what fits cost."""
import itertools
import json

import numpy as np
import pyarrow
from command import flymc, write
from groups_test import fit, visits


def half_t(x, scale):
    return -2.0 * np.log1p((x / scale) ** 2 / 3.0)


def truth_of(table):
    """Means and standard deviations of a gaussian model with independent intercepts and slopes of the towns.

    Given the three scales all else is normal. These are summed over a grid of their logarithms.
    """
    y, age = table["stay"].to_numpy(), table["age"].to_numpy()
    town = np.unique(table["town"].to_numpy(zero_copy_only=False), return_inverse=True)[1]
    unit, width = y.std(ddof=1), age.std(ddof=1)
    x, w = np.column_stack([np.ones(len(y)), (age - age.mean()) / width]), np.column_stack([np.ones(len(y)), age])
    groups = range(town.max() + 1)
    ww = np.array([w[town == g].T @ w[town == g] for g in groups])
    wx = np.array([w[town == g].T @ x[town == g] for g in groups])
    wy = np.array([w[town == g].T @ y[town == g] for g in groups])
    grid = [np.linspace(np.log(9.4), np.log(13.4), 24), np.linspace(np.log(0.5), np.log(150), 44), np.linspace(np.log(0.08), np.log(3), 44)]
    points = np.array(list(itertools.product(*grid)))
    sigma, sd, sd_slope = np.exp(points).T
    d = np.zeros((len(points), 1, 2, 2))
    d[:, 0, 0, 0], d[:, 0, 1, 1] = (sigma / sd) ** 2, (sigma / sd_slope) ** 2
    inner = np.linalg.inv(d + ww)
    prior = np.diag([1.0, 1.0]) / (2.5 * unit) ** 2
    mean_of_prior = np.array([y.mean(), 0.0])
    s2 = (sigma**2)[:, None, None]
    precision = (x.T @ x - np.einsum("gij,pgik,gkl->pjl", wx, inner, wx)) / s2 + prior
    right = (x.T @ y - np.einsum("gij,pgik,gk->pj", wx, inner, wy)) / s2[:, 0] + prior @ mean_of_prior
    yy = (y @ y - np.einsum("gi,pgik,gk->p", wy, inner, wy)) / sigma**2
    mean = np.linalg.solve(precision, right[..., None])[..., 0]
    log = -len(y) * np.log(sigma) - 0.5 * (np.linalg.slogdet(d + ww)[1] - np.linalg.slogdet(d)[1]).sum(1)
    log += -0.5 * np.linalg.slogdet(precision)[1] - 0.5 * yy + 0.5 * np.einsum("pi,pi->p", mean, right)
    log += half_t(sigma, 2.5 * unit) + half_t(sd, 2.5 * unit) + half_t(sd_slope, 2.5 * unit / width) + points.sum(1)
    p = np.exp(log - log.max())
    p /= p.sum()
    # The coefficients on the scale of the table: the intercept where age is 0, and the slope per year.
    back = np.array([[1.0, -age.mean() / width], [0.0, 1.0 / width]])
    of_table, covariance = mean @ back.T, back @ np.linalg.inv(precision) @ back.T
    out = {}
    for name, value, variance in (("intercept", of_table[:, 0], covariance[:, 0, 0]), ("age", of_table[:, 1], covariance[:, 1, 1]),
                                  ("sigma", sigma, 0.0), ("sd(town, intercept)", sd, 0.0), ("sd(town, age)", sd_slope, 0.0)):
        first = p @ value
        out[name] = first, np.sqrt(p @ (variance + (value - first) ** 2))
    # The effects of each town: an intercept and a slope.
    effects = np.einsum("pgij,pgj->pgi", inner, wy - np.einsum("gij,pj->pgi", wx, mean))
    return out, np.einsum("p,pgi->gi", p, effects).ravel()


def test_the_posterior_is_that_of_the_table_in_its_own_units(tmp_path):
    table = visits()
    write(table, tmp_path / "t.parquet")
    summary = fit("t.parquet", "run", "stay ~ age + (age || town)", "--family", "gaussian", "--draws", 10000, folder=tmp_path)
    truth, effects = truth_of(table)
    assert [p["name"] for p in summary["parameters"]] == list(truth)
    for p in summary["parameters"]:
        mean, sd = truth[p["name"]]
        assert abs(p["mean"] - mean) < 4.5 * p["mcse_mean"] + 0.002 * sd, (p["name"], p["mean"], mean, p["mcse_mean"])
        assert abs(p["sd"] - sd) < 4.5 * p["mcse_sd"] + 0.002 * sd, (p["name"], p["sd"], sd, p["mcse_sd"])
    drawn = json.loads(flymc("groups", "run", "--json", folder=tmp_path))["effects"]
    assert [e["name"] for e in drawn[:3]] == ["town[t0, intercept]", "town[t0, age]", "town[t1, intercept]"]
    for e, mean in zip(drawn, effects, strict=True):
        assert abs(e["mean"] - mean) < 4.5 * e["mcse_mean"] + 0.002 * e["sd"], (e, mean)


def test_the_cost_does_not_depend_on_the_unit_of_a_slope(tmp_path):
    table = visits(1500, towns=30)
    age = table["age"].to_numpy()
    cost = {}
    for unit in (1.0, 1e-3, 1e-9):
        write(table.set_column(2, "age", pyarrow.array(unit * age)), tmp_path / "t.parquet")
        name = f"run{unit}"
        summary = fit("t.parquet", name, "ill ~ age + (1 + age | town)", "--draws", 300, "--chains", 2, folder=tmp_path)
        cost[unit] = sum(chain["sampling_queries"] for chain in summary["chains"]) / summary["draws"]
        sd = next(p for p in summary["parameters"] if p["name"] == "sd(town, age)")
        cost[unit, "sd"] = unit * sd["median"]
    for unit in (1e-3, 1e-9):
        assert cost[unit] < 1.5 * cost[1.0] and 0.7 < cost[unit, "sd"] / cost[1.0, "sd"] < 1.4, cost


def test_what_rows_cannot_tell_apart_is_cheap_and_moves(tmp_path):
    """Wards within hospitals, and columns that are constant within hospitals and within doctors, who are crossed with them."""
    random, rows = np.random.default_rng(8), 20_000
    ward, doctor, age = random.integers(0, 240, rows), random.integers(0, 50, rows), random.normal(0, 1, rows)
    hospital, beds, years = ward % 24, random.normal(0, 1, 24).round(2), random.normal(0, 1, 50).round(2)
    at = -0.5 + 0.4 * age + 0.3 * beds[hospital] - 0.4 * years[doctor] + random.normal(0, 0.3, 240)[ward]
    at += random.normal(0, 0.5, 24)[hospital] + random.normal(0, 0.3, 50)[doctor]
    ill = (random.random(rows) < 1 / (1 + np.exp(-at))).astype(int)
    columns = {"ill": ill, "age": age, "beds": beds[hospital], "years": years[doctor], "hospital": hospital, "ward": ward, "doctor": doctor}
    write(pyarrow.table(columns), tmp_path / "t.parquet")
    formula = "ill ~ age + beds + years + (1 | doctor) + (1 | hospital/ward)"
    summary = fit("t.parquet", "run", formula, "--draws", 500, "--chains", 2, folder=tmp_path)
    assert sum(chain["sampling_queries"] for chain in summary["chains"]) / summary["draws"] < 2000
    truth = {"intercept": -0.5, "age": 0.4, "beds": 0.3, "years": -0.4, "sd(doctor)": 0.3, "sd(hospital)": 0.5, "sd(hospital:ward)": 0.3}
    parameters = {p["name"]: p for p in summary["parameters"]}
    assert parameters.keys() == truth.keys()
    for name, value in truth.items():
        own = parameters[name]
        assert own["ess_bulk"] > 150 and abs(own["mean"] - value) < 4 * own["sd"], own
    assert parameters["beds"]["sd"] > 0.06  # that of 24 hospitals, not of 20,000 rows
