"""Leave-one-out from a sample of rows against all rows, and comparisons of fits on the rows that both have."""

import sys
from functools import partial

import arviz
import flymc
import numpy as np
import pandas as pd
import pytest
import scipy.stats
from flymc import _core
from scipy.special import expit


def made(n: int, seed: int = 4) -> pd.DataFrame:
    """`x` and `z` explain `y`, `noise` does not."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(n, 3)), columns=["x", "z", "noise"])
    return table.assign(y=(rng.random(n) < expit(table["x"] + 0.3 * table["z"] - 1)).astype(int))


def places(fit, rows):
    return list(fit.origins(rows)[["file", "file_row"]].itertuples(index=False, name=None))


@pytest.fixture(scope="module")
def fits(frame, quick):
    """Fits of the same table, one of them with a column that has missing values."""
    table = frame[["x", "w", "clicked"]].copy()
    table.loc[table.index % 7 == 2, "w"] = np.nan
    quick = {**quick, "draws": 300}
    whole = flymc.fit("clicked", table[["x", "clicked"]], **quick)
    return whole, flymc.fit("clicked", table, missing="drop", **quick)


def test_of_all_rows_it_is_arvizs(fits):
    for fit in fits:
        loo, theirs = fit.loo(rows=5000), arviz.loo(fit.to_arviz(log_likelihood_rows=5000), pointwise=True)
        np.testing.assert_allclose(loo.sample["elpd"], theirs.loo_i, rtol=1e-10)
        np.testing.assert_allclose(loo.pareto_k, theirs.pareto_k, atol=1e-9)
        assert loo.good_k == theirs.good_k
        assert loo.rows == len(loo.sample) == fit.rows and loo.subsampling_se == 0
        np.testing.assert_allclose([loo.elpd, loo.se, loo.p_loo], [theirs.elpd_loo, theirs.se, theirs.p_loo], rtol=1e-8)


def test_a_sample_says_what_all_rows_do():
    """Everything is fixed: the table, the draws and the sample."""
    fit = flymc.fit("y", made(20_000), draws=150, chains=2, seed=7, progress=False)
    every, some = fit.loo(rows=20_000), fit.loo(rows=1000)
    assert abs(some.elpd - every.elpd) < 2 * some.subsampling_se
    # The sample alone would give elpd with a standard error of 20,000 sd / sqrt(1000), about 300.
    assert some.subsampling_se < 0.05 and some.se == pytest.approx(every.se, rel=1e-3)
    assert some.p_loo == pytest.approx(every.p_loo, rel=0.3) and every.p_loo == pytest.approx(4, abs=0.5)
    # The root mean square of the errors of 300 samples, which is accurate to 4 %, equals the standard error.
    exact = every.sample["elpd"].to_numpy()
    of = _core.loo_rows([""], [[fit._run]], 20_000, 0)
    z = []
    for seed in range(300):
        at = np.random.default_rng(seed).choice(20_000, 1000, replace=False)
        found = _core.difference_estimate(20_000, of.totals[0], of.squares[0, 0], of.proxies[at, 0], exact[at])
        z.append((found.value - exact.sum()) / found.subsampling_se)
    assert 0.8 < np.sqrt(np.mean(np.square(z))) < 1.25


def test_proxies_are_two_cumulants_of_the_log_likelihood(quick):
    """With weights and an offset, by hand."""
    table = made(2000).assign(known=0.2, times=np.arange(2000) % 3)
    fit = flymc.fit("y", table, columns=["x", "z"], weights="times", offset="known", **{**quick, "draws": 400})
    of = _core.loo_rows([""], [[fit._run]], 5000, 0)
    counted = table[table["times"] > 0]
    assert of.rows == len(counted) and of.sampled[0] == list(counted.index)
    theta = fit.array().reshape(-1, 3)
    X = np.column_stack([np.ones(len(counted)), counted["x"], counted["z"]])
    eta, h = X @ theta.mean(axis=0) + 0.2, np.einsum("ij,jk,ik->i", X, np.cov(theta.T), X)
    p, y, w = expit(eta), counted["y"], counted["times"]
    expected = w * np.where(y == 1, np.log(p), np.log1p(-p)) - (w * p * (1 - p) * h + (w * (y - p)) ** 2 * h) / 2
    np.testing.assert_allclose(of.proxies[:, 0], expected, rtol=1e-9)
    assert of.totals[0] == pytest.approx(expected.sum()) and of.squares[0, 0] == pytest.approx((expected**2).sum())
    loo = fit.loo(rows=5000)
    assert loo.rows == len(counted)
    theirs = arviz.loo(fit.to_arviz(log_likelihood_rows=5000))
    assert loo.elpd == pytest.approx(theirs.elpd_loo, rel=1e-10)
    # A row is left out with all of its weight: exp(w l) is averaged.
    assert np.abs(loo.sample["elpd"] - of.proxies[:, 0]).max() < 0.005


@pytest.mark.parametrize("family", ["softmax", "student_t"])
def test_other_families(family, frame, quick):
    target, settings = ("region", {}) if family == "softmax" else ("w", {"sigma": 3.0})
    fit = flymc.fit(target, frame[["x", "clicked", target]], family=family, **{**quick, "draws": 300}, **settings)
    every, some = fit.loo(rows=3000), fit.loo(rows=300)
    assert abs(some.elpd - every.elpd) < 4 * some.subsampling_se < 0.2
    wide = flymc.fit(target, frame[["x", target]], family=family, **{**quick, "draws": 300}, **settings)
    found = flymc.compare({"more": fit, "less": wide})
    assert found.rows == 3000 and found.table["subsampling_se_diff"].max() < 0.1


@pytest.mark.parametrize("family", ["gaussian", "student_t"])
def test_a_drawn_scale_is_in_the_likelihood(family, frame, quick):
    """The likelihoods of each row and draw are SciPy's, and so is the estimate of all rows from some of them."""
    density = scipy.stats.norm.logpdf if family == "gaussian" else partial(scipy.stats.t.logpdf, df=4)
    fit = flymc.fit("w", frame[["x", "clicked", "w"]], family=family, **{**quick, "draws": 300})
    assert fit.names == ["intercept", "x", "clicked", "sigma"]
    theta, rows = fit.array().reshape(-1, 4), [0, 5, 2999]
    for i, row in enumerate(rows):
        location = theta[:, 0] + theta[:, 1] * frame["x"][row] + theta[:, 2] * frame["clicked"][row]
        np.testing.assert_allclose(fit.log_likelihood(rows)[:, i], density(frame["w"][row], loc=location, scale=theta[:, 3]), rtol=1e-9)
    every, some = fit.loo(rows=3000), fit.loo(rows=300)
    assert abs(some.elpd - every.elpd) < 4 * some.subsampling_se < 0.2


def test_more_coefficients_than_directions(quick):
    """With more than 128 coefficients the covariance is estimated from some of the draws."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4000, 150))
    fit = flymc.fit(None, (X, rng.random(4000) < expit(X[:, 0])), **{**quick, "draws": 400})
    of = _core.loo_rows([""], [[fit._run]], 300, 0)
    exact = fit.loo(rows=300).sample["elpd"].to_numpy()
    errors = exact - of.proxies[:, 0]
    plain = exact - np.log(np.exp(fit.log_likelihood(of.sampled[0])).mean(axis=0))
    assert errors.std() < 0.5 * plain.std() and abs(errors.mean()) < 0.3 * abs(plain.mean())


def test_fits_that_dropped_other_rows_sample_the_same(fits):
    whole, some = fits
    kept = set(places(some, range(some.rows)))
    of_whole, of_some = (set(places(fit, fit.loo(rows=400).sample["row"])) for fit in fits)
    assert of_whole & kept == of_whole & of_some and len(of_whole & of_some) > 300
    # ArviZ gets the same rows.
    rows = [fit.to_arviz(log_likelihood_rows=400).log_likelihood["row"].to_numpy() for fit in fits]
    assert set(places(whole, rows[0])) == of_whole and set(places(some, rows[1])) == of_some
    assert set(places(whole, whole.loo(rows=400, seed=1).sample["row"])) != of_whole
    found = flymc.compare({"whole": whole, "some": some}, rows=400)
    assert found.rows == some.rows == 2571 and found.table_rows == 3000 and found.sampled == 400
    assert "on 2571 rows that all fits have, of 3000 in the table; 400 sampled" in repr(found)


def test_a_comparison_is_that_of_all_rows(fits):
    """The differences are those of ArviZ's terms, row by row, over all common rows."""
    whole, some = fits
    found = flymc.compare({"whole": whole, "some": some}, rows=5000)
    numbers = dict(zip(places(whole, range(whole.rows)), range(whole.rows), strict=True))
    shared = [numbers[place] for place in places(some, range(some.rows))]
    terms = [arviz.loo(fit.to_arviz(5000), pointwise=True).loo_i.to_numpy() for fit in fits]
    difference = terms[0][shared] - terms[1]
    row = found.table.loc["whole"]
    assert found.table.index[0] == "some" and row["subsampling_se_diff"] == 0
    np.testing.assert_allclose(row["elpd_diff"], difference.sum(), rtol=1e-8)
    np.testing.assert_allclose(row["se_diff"], np.sqrt(len(difference) * difference.var()), rtol=1e-6)
    np.testing.assert_allclose(row["elpd"], terms[0][shared].sum(), rtol=1e-8)
    best = found.table.loc["some"]
    assert best["elpd_diff"] == best["se_diff"] == 0
    few = flymc.compare({"whole": whole, "some": some}, rows=300).table.loc["whole"]
    assert abs(few["elpd_diff"] - row["elpd_diff"]) < 4 * few["subsampling_se_diff"]
    assert few["se_diff"] == pytest.approx(row["se_diff"], rel=0.02)


def test_a_comparison_is_arvizs(quick):
    """Differences, standard errors and order are ArviZ's for all rows of one table."""
    table = made(3000)
    by = {name: flymc.fit(f"y ~ {name}", table, **{**quick, "draws": 300}) for name in ("x", "z", "x + z", "x + noise")}
    ours = flymc.compare(by, rows=3000).table
    theirs = arviz.compare({name: fit.to_arviz(log_likelihood_rows=3000) for name, fit in by.items()}, ic="loo")
    assert list(ours.index) == list(theirs.index)
    # ArviZ reports by how much the best is better, flymc by how much the others are worse.
    np.testing.assert_allclose(-ours["elpd_diff"], theirs["elpd_diff"], rtol=1e-8, atol=1e-10)
    for column, their in {"se_diff": "dse", "elpd": "elpd_loo", "se": "se", "p_loo": "p_loo"}.items():
        np.testing.assert_allclose(ours[column], theirs[their], rtol=1e-8, atol=1e-10)


def test_a_predictor_that_is_real_is_seen_and_noise_is_not(quick):
    table = made(8000)
    quick = {**quick, "draws": 300}
    by = {
        "x": flymc.fit("y", table, columns=["x"], **quick),
        "x and z": flymc.fit("y ~ x + z", table, **quick),
        "all": flymc.fit("y", table, **quick),
    }
    found = flymc.compare(by).table
    assert found.index[2] == "x"
    lost = found["elpd_diff"]["x"] - found["elpd_diff"]["x and z"]
    # log likelihoods at the modes differ by n mean(p (1 - p)) 0.3^2 / 2, about 60.
    assert -85 < lost < -35 and found["se_diff"]["x"] < -lost / 3
    assert abs(found["elpd_diff"]["all"] - found["elpd_diff"]["x and z"]) < 3
    again = flymc.compare(by).table
    pd.testing.assert_frame_equal(found, again)
    pd.testing.assert_frame_equal(found, flymc.compare(dict(reversed(by.items()))).table)


def test_several_files(quick, tmp_path):
    """A row is identified by the number of its file: names and folders do not matter, and a table in memory is one
    file."""
    table = made(900)
    table.loc[::11, "z"] = np.nan
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        for i in range(3):
            table[300 * i : 300 * (i + 1)].to_csv(tmp_path / folder / f"{folder}-{i}.csv", index=False)
    here = flymc.fit("y", tmp_path / "here", columns=["x"], **quick)
    there = flymc.fit("y", tmp_path / "there", columns=["x", "z"], missing="drop", **quick)
    found = flymc.compare({"here": here, "there": there}, rows=200)
    assert found.rows == there.rows == 900 - 82
    sample = here.loo(rows=200).sample
    assert sample["file"].str.endswith(("here-0.csv", "here-1.csv", "here-2.csv")).all()
    assert sample["file"].nunique() == 3 and sample["file_row"].max() <= 300
    of = _core.loo_rows(["", ""], [[here._run], [there._run]], 200, 0)
    one, other = (fit.origins(rows) for fit, rows in zip((here, there), of.sampled, strict=True))
    assert (one["file"].str[-6:] == other["file"].str[-6:]).all() and (one["file_row"] == other["file_row"]).all()
    # The whole table as one file, and from memory.
    table.to_csv(tmp_path / "one.csv", index=False)
    file = flymc.fit("y", tmp_path / "one.csv", columns=["x"], **quick)
    memory = flymc.fit("y ~ x + z", table, missing="drop", **quick)
    assert flymc.compare({"file": file, "memory": memory}).rows == 900 - 82
    with pytest.raises(flymc.InputError, match="'here' and 'memory' are fits of 3 and 1 files, .*a formula in Python"):
        flymc.compare({"here": here, "memory": memory})


def test_classes_are_known_by_name(frame, quick):
    table = frame[["x", "w", "clicked"]].assign(clicked=np.where(frame["clicked"] == 1, "yes", "no"))
    yes = flymc.fit("clicked", table, **quick)
    no = flymc.fit("clicked", table, positive="no", **quick)
    softmax = flymc.fit("clicked", table, family="softmax", **quick)
    found = flymc.compare({"yes": yes, "no": no, "softmax": softmax}).table
    assert found["elpd_diff"].min() > -1


def test_what_cannot_be_compared(frame, quick):
    table = frame[["x", "w", "clicked"]]
    fit = flymc.fit("clicked", table, **quick)

    def refused(other, said, error=flymc.InputError):
        with pytest.raises(error, match=said):
            flymc.compare({"one": fit, "other": other})

    short = flymc.fit("clicked", table[:2900], **quick)
    refused(short, "'one' and 'other' are fits of different tables, of 3000 and 2900 rows .*missing=\"drop\"")
    turned = flymc.fit("clicked", table[::-1], **quick)
    refused(turned, r"^data, row \d+: the target is '[01]' in 'one' and '[01]' in 'other'; compare fits of one table")
    refused(flymc.fit("w", table, family="student_t", sigma=3, **quick), "target is a number, of the other a class")
    weighted = flymc.fit("clicked", table, weights=1 + np.arange(3000) % 2, **quick)
    refused(weighted, "^data, row 2: the weight is 1 in 'one' and 2 in 'other'")
    log = flymc.fit("np.log(w**2) ~ x", table, family="student_t", sigma=3, **quick)
    number = flymc.fit("w ~ x", table, family="student_t", sigma=3, **quick)
    with pytest.raises(flymc.InputError, match="^data, row 1: the target is .*its logarithm is another"):
        flymc.compare({"w": number, "log": log})
    halves = []
    for half in (0, 1):
        holes = table.copy()
        holes.loc[holes.index % 2 == half, "w"] = np.nan
        halves.append(flymc.fit("clicked", holes, missing="drop", **quick))
    with pytest.raises(flymc.InputError, match="the fits have 0 rows in common"):
        flymc.compare({"even": halves[0], "odd": halves[1]})
    refused("fit", "give a dictionary of fits by name", TypeError)
    with pytest.raises(TypeError, match="give a dictionary"):
        flymc.compare([fit, fit])
    with pytest.raises(ValueError, match="1 fit; give two or more"):
        flymc.compare({"one": fit})
    for settings, said in [({"rows": 1}, "rows: 1 can say nothing"), ({"seed": -1}, "seed: -1 is negative")]:
        with pytest.raises(flymc.InputError, match=said):
            fit.loo(**settings)


def test_rows_that_move_the_posterior_are_told(quick):
    """A level of one row: without this row, only the prior informs its coefficient."""
    table = made(1500)[["x", "y"]].assign(level="a")
    table.loc[:7, "level"] = [f"b{i}" for i in range(8)]
    fit = flymc.fit("y", table, prior=flymc.Normal(0, 10), **{**quick, "draws": 1000})
    with pytest.warns(UserWarning, match=r"\d of 1500 sampled rows have a Pareto k above 0.70: .*Fit.loo\(\).sample"):
        loo = fit.loo(rows=1500)
    bad = loo.sample[loo.sample["pareto_k"] > loo.good_k]
    assert len(bad) > 0 and bad["file_row"].max() <= 8
    assert f"Pareto k above 0.70: {len(bad)}" in repr(loo)
    assert fit.loo(rows=100, seed=3).rows == 1500


def test_without_arviz(fits, monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz", None)
    assert np.isfinite(fits[0].loo().elpd)
    with pytest.raises(ImportError, match="pip install arviz"):
        fits[0].to_arviz()
