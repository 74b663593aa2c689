"""Predictive checks, audits, the input of ArviZ's checks, the report, and a fit in a notebook."""

import html

import arviz
import flymc
import matplotlib
import numpy as np
import pandas as pd
import pytest

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def fit(frame, quick):
    return flymc.fit("clicked", frame, **quick)


@pytest.fixture(scope="module")
def counts():
    """A Poisson fit of counts that vary more than a Poisson's: the model is wrong."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=4000)
    return pd.DataFrame({"x": x, "n": rng.poisson(np.exp(0.3 + 0.4 * x) * rng.gamma(2, 0.5, 4000))})


def test_check(fit, counts, quick):
    """The right model passes with at least one of three seeds; all three raise an alarm with probability 1.3e-4 at
    most."""
    checks = [fit.check(rows=2000, draws=200, seed=seed) for seed in range(3)]
    assert any(check.passed for check in checks)
    check = checks[0]
    assert (check.rows, check.sampled_rows, check.draws, check.level) == (3000, 2000, 200, 0.95)
    assert str(check).startswith("predictive check: 2000 of 3000 rows, 200 tables drawn from the posterior")
    table = check.table
    assert set(table["kind"]) == {"calibration", "column_means"} and set(table["column"].dropna()) == {"x", "w"}
    assert check.passed == (not table["outside"].any())
    wrong = flymc.fit("n", counts, family="poisson", **quick).check()
    assert not wrong.passed and wrong.p_value < 0.01 and wrong.findings
    with pytest.raises(flymc.InputError, match="rows must be from 50 to 1000000, not 3"):
        fit.check(rows=3)


def test_audit(fit):
    """Right draws fail in one of a thousand audits, and hardly ever in three with different moves and numbers of
    draws."""
    audits = [fit.audit(draws=50 + 10 * seed, seed=seed) for seed in range(3)]
    assert any(audit.passed for audit in audits)
    audit = audits[0]
    assert (audit.rows, audit.draws, audit.steps, audit.level) == (3000, 50, 1, 0.001)
    assert str(audit).startswith("audit: 50 of ") and audit.verdict in str(audit)
    assert list(audit.table.index) == list(fit.summary().index)
    assert list(audit.table.columns) == ["mean", "mean_error", "mean_drifts", "variance", "variance_error", "variance_drifts"]
    assert audit.passed == (not audit.findings)
    with pytest.raises(flymc.InputError, match="draws must be from 20 to 100000, not 3"):
        fit.audit(draws=3)


@pytest.mark.parametrize("target, family", [("clicked", "logistic"), ("n", "poisson"), ("x", "gaussian"), ("region", "softmax")])
def test_replicated_targets_for_arviz(frame, counts, quick, target, family):
    table = counts if target == "n" else frame.drop(columns="clicked") if target == "x" else frame
    data = flymc.fit(target, table, family=family, **quick).to_arviz(log_likelihood_rows=300)
    observed, drawn = data.observed_data[target], data.posterior_predictive[target]
    assert drawn.dims == ("chain", "draw", "row") and drawn.shape == (2, 150, 300)
    values = table[target].to_numpy()[observed["row"].to_numpy()]
    if target == "region":
        values = np.searchsorted(["east", "north", "west"], values)
    np.testing.assert_allclose(observed, values, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(observed["row"], data.log_likelihood["row"])
    assert arviz.plot_ppc(data, num_pp_samples=10) is not None
    if family != "softmax":
        assert arviz.plot_loo_pit(data, y=target) is not None
    # Their mean is the table's, within five of the errors of 300 rows.
    spread = float(drawn.std()) / np.sqrt(300)
    assert abs(float(drawn.mean()) - float(observed.mean())) < 5 * spread


def test_a_fit_with_events_has_no_observed_times(quick):
    rng = np.random.default_rng(6)
    time = np.exp(rng.normal(size=1500))
    frame = pd.DataFrame({"x": rng.normal(size=1500), "t": np.minimum(time, 2), "seen": (time < 2).astype(int)})
    fit = flymc.fit("t", frame, family="lognormal", event="seen", **quick)
    assert set(fit.to_arviz(50).groups()) == {"posterior", "sample_stats", "log_likelihood"}
    assert "drawn at random among those of longer times" in str(fit.check())


def test_write_report(fit, tmp_path):
    path = fit.write_report(tmp_path / "page.html", interval=0.5)
    text = path.read_text()
    assert path == tmp_path / "page.html" and "25 %" in text and text.startswith("<!DOCTYPE html>")
    assert fit.write_report() == fit.path / "report.html"
    with pytest.raises(flymc.InputError, match="name such a file with out"):
        fit.write_report(tmp_path / "page.pdf")


def test_a_notebook_shows_the_summary(fit, frame, quick):
    text = fit._repr_html_()
    for name in fit.names:
        assert f">{html.escape(name)}</th>" in text
    assert "2 chains of 150 draws from 3000 rows" in text and "warning:" in text  # about few effective draws
    renamed = frame.rename(columns={"x": "<b>x</b>"})
    assert "&lt;b&gt;x&lt;/b&gt;" in flymc.fit("clicked", renamed, **quick)._repr_html_()
    wide = {f"x{i}": np.random.default_rng(i).normal(size=1000) for i in range(60)}
    wide["y"] = np.random.default_rng(99).integers(0, 2, 1000)
    assert flymc.fit("y", pd.DataFrame(wide), **quick)._repr_html_().count("<tr>") < 40
