"""Hurdles: both fits, a formula, predictions from both, leave-one-out, and folders."""

import flymc
import numpy as np
import pandas as pd
import pytest
from scipy.special import expit


def visits(rows=4000, seed=1):
    rng = np.random.default_rng(seed)
    age, kind = rng.normal(size=rows), rng.choice(["basic", "full"], rows)
    mu = np.exp(0.4 + 0.2 * age)
    count = rng.poisson(mu)
    while (count == 0).any():
        count = np.where(count == 0, rng.poisson(mu), count)
    some = rng.random(rows) < expit(-0.3 + 0.5 * age + 0.4 * (kind == "full"))
    return pd.DataFrame({"age": age, "kind": kind, "visits": np.where(some, count, 0)})


QUICK = {"chains": 2, "draws": 300, "warmup": 200, "progress": False}


@pytest.fixture(scope="module")
def fit():
    return flymc.fit("visits ~ age * kind", visits(), family="hurdle_poisson", **QUICK)


def test_both_parts_are_fits(fit):
    table = visits()
    names = ["intercept", "age", "kind[full]", "age:kind[full]"]
    assert fit.zero.names == fit.count.names and len(fit.zero.names) == len(names)
    assert fit.rows == fit.zero.rows == 4000 and fit.count.rows == (table["visits"] > 0).sum()
    summary = fit.summary(interval=0.5)
    assert list(summary.index.names) == ["part", "parameter"] and len(summary) == 8
    pd.testing.assert_frame_equal(summary.loc["count"], fit.count.summary(interval=0.5))
    assert repr(fit).startswith("zero: whether visits is more than 0 (logistic)\nparameter")
    assert "\ncount: visits where it is more than 0 (truncated_poisson)\nparameter" in repr(fit)
    zero = flymc.fit("some ~ age * kind", table.assign(some=table["visits"] > 0), **QUICK)
    np.testing.assert_array_equal(zero.array(), fit.zero.array())


def test_predictions_are_of_both_parts(fit):
    new = pd.DataFrame({"age": [0.0, 1.0], "kind": ["basic", "full"]}, index=["one", "two"])
    x = np.column_stack([np.ones(2), new["age"], new["kind"] == "full", new["age"] * (new["kind"] == "full")]).astype(float)
    p = expit(fit.zero.array().reshape(-1, 4) @ x.T)
    mu = np.exp(fit.count.array().reshape(-1, 4) @ x.T)
    means = p * mu / -np.expm1(-mu)
    found = fit.predict(new, kind="mean")
    assert list(found.index) == ["one", "two"] and list(found.columns) == ["mean", "lower", "upper"]
    np.testing.assert_allclose(found["mean"], means.mean(axis=0), rtol=1e-8)
    np.testing.assert_allclose(found["upper"], np.quantile(means, 0.95, axis=0), rtol=1e-8)
    targets = fit.predict(new)
    assert (targets["lower"] == 0).all() and (targets["upper"] > found["upper"]).all()


def test_leave_one_out_and_comparisons(fit):
    every = fit.loo(rows=4000)
    assert every.rows == 4000 and every.elpd == pytest.approx(
        fit.zero.loo(rows=4000).elpd + fit.count.loo(rows=4000).elpd, rel=1e-12)
    some = fit.loo(rows=300)
    assert abs(some.elpd - every.elpd) < 4 * some.subsampling_se < 0.5
    assert set(some.sample["file"]) == {"data"} and (some.sample["file_row"] == some.sample["row"] + 1).all()
    poisson = flymc.fit("visits ~ age * kind", visits(), family="poisson", **QUICK)
    found = flymc.compare({"poisson": poisson, "hurdle": fit})
    assert list(found.table.index) == ["hurdle", "poisson"] and found.table.loc["poisson", "elpd_diff"] < -20


def test_both_parts_are_audited(fit):
    audits = fit.audit(draws=40, seed=2)
    assert list(audits) == ["zero", "count"]
    assert audits["zero"].p_value == fit.zero.audit(draws=40, seed=2).p_value
    assert audits["count"].rows == fit.count.rows < audits["zero"].rows == fit.rows


def test_folders(fit, tmp_path):
    fit.save(tmp_path / "kept")
    again = flymc.load(tmp_path / "kept")
    assert isinstance(again, flymc.HurdleFit)
    pd.testing.assert_frame_equal(again.summary(), fit.summary())
    new = pd.DataFrame({"age": [0.5], "kind": ["full"]})
    pd.testing.assert_frame_equal(again.predict(new), fit.predict(new))
    (tmp_path / "kept" / "count" / "report.json").unlink()
    pd.testing.assert_frame_equal(flymc.resume(tmp_path / "kept", progress=False).summary(), fit.summary())
    with pytest.raises(flymc.InputError, match="holds other files"):
        flymc.fit("visits", visits(), out=tmp_path / "kept", family="poisson", **QUICK)


def test_what_is_refused():
    table = visits(300)
    with pytest.raises(flymc.InputError, match=r"^data, column 'visits', row 3: -1 is not a count"):
        flymc.fit("visits", table.assign(visits=np.where(np.arange(300) == 2, -1, table["visits"])), family="hurdle_poisson", **QUICK)
    with pytest.raises(flymc.InputError, match='fit it by family="truncated_poisson"'):
        flymc.fit("visits", table.assign(visits=table["visits"] + 1), family="hurdle_poisson", **QUICK)
    with pytest.raises(flymc.InputError, match="times: the family truncated_poisson has no times"):
        flymc.fit("visits", table, family="hurdle_poisson", **QUICK).predict(table, times=[1.0])


def test_a_plan_of_both():
    text = flymc.plan("visits", visits(300), family="hurdle_poisson")
    assert text.startswith("zero: whether visits is more than 0 (logistic)\nrows ")
    assert "\ncount: visits where it is more than 0 (truncated_poisson)\nrows " in text


def test_draws_are_side_by_side(fit):
    assert fit.names == [*(f"zero_{name}" for name in fit.zero.names), *(f"count_{name}" for name in fit.count.names)]
    draws = fit.draws
    assert draws.column_names == ["chain", "draw", *fit.names] and draws.num_rows == 600
    np.testing.assert_array_equal(draws["count_age"], fit.count.draws["age"])
    for place in ("chain", "draw"):
        np.testing.assert_array_equal(draws[place], fit.zero.draws[place])
    np.testing.assert_array_equal(fit.array(), np.concatenate([fit.zero.array(), fit.count.array()], axis=-1))
    # If one part has more draws, evenly spaced ones of it are taken.
    longer = flymc.HurdleFit(fit.zero.resample(draws=900, progress=False), fit.count)
    np.testing.assert_array_equal(longer.array()[:, :, 4:], fit.count.array())
    np.testing.assert_array_equal(longer.array()[:, :, :4], longer.zero.array()[:, ::3])


def test_log_likelihoods_are_sums_of_both(fit):
    """Beside SciPy, for rows with and without visits; the parts give their rows other numbers."""
    from scipy import stats

    table = visits()
    rows = [3999, 0, 17, *np.flatnonzero(table["visits"])[-3:]]
    some = table.iloc[rows]
    x = np.column_stack([np.ones(len(rows)), some["age"], some["kind"] == "full", some["age"] * (some["kind"] == "full")]).astype(float)
    eta, mu = fit.array()[..., :4] @ x.T, np.exp(fit.array()[..., 4:] @ x.T)
    y = some["visits"].to_numpy()
    assert (y == 0).any() and (y > 0).any()
    expected = np.where(y > 0, np.log(expit(eta)) + stats.poisson.logpmf(y, mu) - np.log(-np.expm1(-mu)), np.log(expit(-eta)))
    np.testing.assert_allclose(fit.log_likelihood(rows), expected.reshape(-1, len(rows)), rtol=1e-9)
    with pytest.raises(flymc.InputError, match="there is no row 4000"):
        fit.log_likelihood([4000])


def test_arviz_has_both_parts(fit):
    arviz = pytest.importorskip("arviz")
    data = fit.to_arviz(log_likelihood_rows=4000)
    for part, of in (("zero", fit.zero), ("count", fit.count)):
        assert data.posterior[part].dims == ("chain", "draw", "coefficient")
        np.testing.assert_array_equal(data.posterior[part], of.array())
    assert list(data.posterior["coefficient"].values) == fit.zero.names
    np.testing.assert_allclose(
        data.sample_stats["lp"], sum(of.to_arviz(0).sample_stats["lp"] for of in (fit.zero, fit.count)), rtol=1e-12)
    assert {"zero_bright", "count_acceptance_rate"} <= set(data.sample_stats) and "zero_lp" not in data.sample_stats
    assert "posterior_predictive" not in list(data.groups())
    assert float(arviz.loo(data, reff=1.0).elpd_loo) == pytest.approx(fit.loo(rows=4000).elpd, abs=0.05)
    assert "log_likelihood" not in list(fit.to_arviz(log_likelihood_rows=0).groups())


def test_both_parts_are_checked_and_written(fit, tmp_path):
    checks = fit.check(rows=500, draws=100)
    assert list(checks) == ["zero", "count"] and checks["count"].text == fit.count.check(rows=500, draws=100).text
    assert [path.name for path in fit.write_report(tmp_path / "visits.html")] == ["visits_zero.html", "visits_count.html"]
    assert fit.export(tmp_path / "draws.parquet") == [str(tmp_path / f"draws_{part}.parquet") for part in ("zero", "count")]
    pd.testing.assert_frame_equal(fit.laplace().loc["zero"], fit.zero.laplace())
    pd.testing.assert_frame_equal(fit.laplace_check().loc["count"], fit.count.laplace_check())
    assert set(fit.report) == {"zero", "count"}
    assert fit._repr_html_().startswith("<p>zero: whether visits is more than 0 (logistic)</p>")


def test_plots_name_parameters_by_part(fit):
    pytest.importorskip("arviz")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    assert fit.plot_trace() is not None
    assert fit.plot_forest(["zero_age", "count_age"]) is not None
    with pytest.raises(flymc.InputError, match="there is no parameter 'age'"):
        fit.plot_rank(["age"])


def test_both_parts_are_sampled_again(fit, tmp_path):
    again = fit.resample(prior=flymc.Normal(0, 0.01), seed=7, progress=False)
    assert isinstance(again, flymc.HurdleFit)
    assert np.abs(again.summary()["mean"].to_numpy()[[1, 5]]).max() < 0.05
    assert again.zero.settings["seed"] == ["7"] and again.count.settings["seed"] != ["7"]
    kept = fit.resample(seed=7, out=tmp_path / "kept", progress=False)
    assert all(report["anchor_queries"] == 0 for report in kept.report.values())
    loaded = flymc.load(tmp_path / "kept")
    np.testing.assert_array_equal(loaded.array(), kept.array())
    new = pd.DataFrame({"age": [0.5], "kind": ["full"]})
    pd.testing.assert_frame_equal(loaded.predict(new), kept.predict(new))


@pytest.mark.parametrize("out", [False, True])
def test_pickles_and_copies(out, tmp_path):
    import copy
    import pickle

    fit = flymc.fit("visits", visits(600), family="hurdle_poisson", out=tmp_path / "run" if out else None, **QUICK)
    assert copy.copy(fit) is fit and copy.deepcopy(fit) is fit
    again = pickle.loads(pickle.dumps(fit))
    np.testing.assert_array_equal(again.array(), fit.array())
    assert (again.path == fit.path) == out
    again.resample(draws=20, progress=False)  # from the folder of both
