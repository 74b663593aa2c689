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
    with pytest.raises(flymc.InputError, match="hurdle_poisson is two fits"):
        flymc.plan("visits", table, family="hurdle_poisson")
