"""Tests of a Fit: summaries, predictions, files, and going on."""

import json
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import textwrap

import arviz
import flymc
import matplotlib
import numpy as np
import pandas as pd
import pytest

matplotlib.use("Agg")
COMMAND = pathlib.Path(sysconfig.get_path("scripts")) / "flymc"


@pytest.fixture(scope="module")
def fit(frame):
    return flymc.fit("clicked", frame, chains=4, draws=500, progress=False)


def test_summary_is_the_commands(fit, tmp_path):
    fit.save(tmp_path / "run")
    said = subprocess.run([COMMAND, "summary", tmp_path / "run"], check=True, capture_output=True, text=True).stdout
    assert repr(fit) == said
    summary = fit.summary()
    assert list(summary.index) == ["intercept", "x", "w", "region[north]", "region[west]", "member"]
    draws = fit.array()
    assert draws.shape == (4, 500, 6)
    np.testing.assert_allclose(summary["mean"], draws.mean(axis=(0, 1)), rtol=1e-12)
    np.testing.assert_allclose(summary["sd"], draws.reshape(-1, 6).std(axis=0, ddof=1), rtol=1e-9)
    assert (summary["r_hat"] < 1.02).all()


def test_summary_of_any_interval(fit):
    draws = fit.array().reshape(-1, 6)
    for interval, lower, upper in ((0.9, "q5", "q95"), (0.95, "q2.5", "q97.5"), (0.5, "q25", "q75")):
        summary = fit.summary(interval=interval)
        assert list(summary.columns[:5]) == ["mean", "sd", "median", lower, upper]
        tail = (1 - interval) / 2
        np.testing.assert_allclose(summary[lower], np.quantile(draws, tail, axis=0), rtol=1e-9)
        np.testing.assert_allclose(summary[upper], np.quantile(draws, 1 - tail, axis=0), rtol=1e-9)
    ratios = fit.summary(interval=0.95, ratios=True)
    np.testing.assert_allclose(ratios["odds_ratio"], np.exp(ratios["median"]), rtol=1e-12)
    np.testing.assert_allclose(ratios["odds_ratio_q2.5"], np.exp(ratios["q2.5"]), rtol=1e-12)
    np.testing.assert_allclose(ratios["odds_ratio_q97.5"], np.exp(ratios["q97.5"]), rtol=1e-12)
    for interval in (0, 1, 2):
        with pytest.raises(flymc.InputError, match=f"interval must lie between 0 and 1, not {interval}"):
            fit.summary(interval=interval)


def test_summary_warns_as_the_command_does(fit):
    few = fit.resample(draws=10, progress=False)
    with pytest.warns(UserWarning, match="coefficients") as caught:
        few.summary()
    assert [str(warning.message) for warning in caught] == few.report["warnings"]
    assert all(f"warning: {warning.message}" in repr(few) for warning in caught)


def test_laplace_check(fit):
    check, summary, laplace = fit.laplace_check(), fit.summary(), fit.laplace()
    np.testing.assert_allclose(check["shift"], (summary["mean"] - laplace["mean"]) / laplace["sd"], atol=1e-9)
    np.testing.assert_allclose(check["sd_ratio"], summary["sd"] / laplace["sd"], rtol=1e-9)
    assert (check["shift"].abs() < 0.5).all()


def test_arviz(fit, tmp_path):
    data = fit.to_arviz(log_likelihood_rows=200)
    summary = arviz.summary(data, round_to="none")
    assert [f"theta[{name}]" for name in fit.names] == list(summary.index)
    np.testing.assert_allclose(summary["mean"], fit.summary()["mean"], rtol=1e-10)
    np.testing.assert_allclose(summary["r_hat"], fit.summary()["r_hat"], rtol=1e-6)
    assert arviz.plot_trace(data) is not None
    assert arviz.plot_forest(data) is not None
    loo = arviz.loo(data)
    assert loo.n_data_points == 200 and np.isfinite(loo.elpd_loo) and not loo.warning
    attributes = data.log_likelihood.attrs
    assert attributes["sampled_rows"] == 200 and attributes["rows"] == 3000
    assert "a random 200 of 3000 rows" in attributes["sample"]
    # With all rows it is loo itself, and near the estimate from the sample.
    everything = arviz.loo(fit.to_arviz(log_likelihood_rows=3000))
    assert abs(loo.elpd_loo * 15 - everything.elpd_loo) < 5 * loo.se * 15
    assert "log_likelihood" not in fit.to_arviz(log_likelihood_rows=0).groups()
    matplotlib.pyplot.close("all")


def test_arviz_that_has_moved_on(fit, monkeypatch):
    """Without InferenceData, as in ArviZ 1: a DataTree of the same groups."""
    import xarray

    data = fit.to_arviz(log_likelihood_rows=10)
    monkeypatch.delattr(arviz, "InferenceData")
    tree = fit.to_arviz(log_likelihood_rows=10)
    assert isinstance(tree, xarray.DataTree)
    sampled = {"log_likelihood", "posterior_predictive", "observed_data"}
    assert set(tree.children) == {"posterior", "sample_stats"} | sampled == set(data.groups())
    np.testing.assert_array_equal(tree["posterior"]["theta"], data.posterior["theta"])


def test_log_likelihood_is_the_families(fit, frame):
    rows = [0, 17, 2999]
    theta = fit.array().reshape(-1, 6)
    X = np.column_stack(
        [np.ones(3), frame["x"].iloc[rows], frame["w"].iloc[rows], frame["region"].iloc[rows] == "north",
         frame["region"].iloc[rows] == "west", frame["member"].iloc[rows]]
    ).astype(float)  # fmt: skip
    eta = theta @ X.T
    sign = np.where(frame["clicked"].iloc[rows] == 1, 1.0, -1.0)
    np.testing.assert_allclose(fit.log_likelihood(rows), -np.log1p(np.exp(-sign * eta)), rtol=1e-10)


def test_predictions_are_those_of_the_draws(fit, frame, parquet):
    new = frame.iloc[:50].drop(columns="clicked").set_index(np.arange(100, 150))
    predicted = fit.predict(new, interval=0.8)
    assert list(predicted.index) == list(new.index)
    theta = fit.array().reshape(-1, 6)
    X = np.column_stack(
        [np.ones(50), new["x"], new["w"], new["region"] == "north", new["region"] == "west", new["member"]]
    )
    probability = 1 / (1 + np.exp(-theta @ X.astype(float).T))
    np.testing.assert_allclose(predicted["mean"], probability.mean(axis=0), rtol=1e-10)
    np.testing.assert_allclose(predicted["lower"], np.quantile(probability, 0.1, axis=0), rtol=1e-9)
    np.testing.assert_allclose(predicted["upper"], np.quantile(probability, 0.9, axis=0), rtol=1e-9)
    pd.testing.assert_frame_equal(
        fit.predict(parquet).iloc[:50].reset_index(drop=True), fit.predict(new).reset_index(drop=True)
    )
    with pytest.raises(flymc.InputError, match="south"):
        fit.predict(new.assign(region="south"))


def test_predictions_of_both_kinds(fit, frame):
    new = frame.iloc[:200].drop(columns="clicked")
    means = fit.predict(new)
    pd.testing.assert_frame_equal(fit.predict(new, kind="mean", threads=1), means)
    targets = fit.predict(new, interval=0.5, kind="target")
    np.testing.assert_array_equal(targets["mean"], means["mean"])
    np.testing.assert_array_equal(targets["lower"], (means["mean"] > 0.75).astype(float))
    np.testing.assert_array_equal(targets["upper"], (means["mean"] > 0.25).astype(float))
    few = fit.predict(new, draws=100)
    assert 0 < (few["mean"] - means["mean"]).abs().max() < 0.05
    pd.testing.assert_frame_equal(fit.predict(new, draws=10**9), means)
    with pytest.raises(flymc.InputError, match="^kind: 'median' is neither mean nor target"):
        fit.predict(new, kind="median")
    with pytest.raises(flymc.InputError, match="^draws must be 1 or more, not 0"):
        fit.predict(new, draws=0)


def test_predictions_from_arrays(frame, quick):
    X = frame[["x", "w"]].to_numpy()
    fit = flymc.fit(None, (X, frame["clicked"]), **quick)
    by_name = fit.predict(pd.DataFrame(X[:5], columns=["x1", "x2"]))
    pd.testing.assert_frame_equal(fit.predict(X[:5]), by_name)
    assert by_name["mean"].between(0, 1).all()
    by_formula = flymc.fit("y ~ x2", (X, frame["clicked"]), **quick)
    pd.testing.assert_frame_equal(by_formula.predict(X[:5]), by_formula.predict({"x2": X[:5, 1]}))


def test_resample_touches_no_row(fit):
    near = fit.resample(prior=flymc.Normal(0, 2), draws=300, progress=False)
    assert near.report["anchor_queries"] == near.report["bound_queries"] == 0
    # A prior that moves the posterior away needs another set-up.
    sparse = fit.resample(prior=flymc.Laplace(0, 0.01), draws=300, progress=False)
    assert sparse.report["bound_queries"] > 0
    assert abs(sparse.summary().loc["member", "mean"]) < abs(fit.summary().loc["member", "mean"])
    assert sparse.draws.num_rows == 1200
    again = fit.resample(prior=flymc.Laplace(0, 0.01), draws=300, progress=False)
    assert again.draws.equals(sparse.draws)
    # Another prior per term, and a third fit from that one.
    tight = sparse.resample(prior={None: flymc.Normal(0, 2.5), "region": flymc.Normal(0, 0.001)}, progress=False)
    assert (tight.summary().loc[["region[north]", "region[west]"], "sd"] < 0.002).all()
    assert tight.summary().loc["x", "mean"] > 0.5


def test_priors_per_term_may_differ_in_kind(frame, quick):
    prior = {
        None: flymc.Normal(0, 2.5),
        "intercept": flymc.Flat(),
        "x": flymc.Laplace(0, 0.02),
        "member": flymc.StudentT(3, 0, 1),
    }
    fit = flymc.fit("clicked", frame, prior=prior, **quick)
    assert fit.settings["prior"] == ["normal(0, 2.5); intercept: flat; x: laplace(0, 0.02); member: student_t(3, 0, 1)"]
    plain = flymc.fit("clicked", frame, **quick)
    assert fit.summary().loc["x", "mean"] < plain.summary().loc["x", "mean"] - 0.01
    with pytest.raises(flymc.InputError, match="'regoin' is the name of no coefficient"):
        flymc.fit("clicked", frame, prior={"regoin": flymc.Flat()}, **quick)


def test_a_run_is_shared_with_the_command(frame, parquet, quick, tmp_path):
    fit = flymc.fit("clicked", frame, out=tmp_path / "run", **quick)
    assert fit.path == tmp_path / "run"
    said = json.loads(
        subprocess.run([COMMAND, "summary", "--json", tmp_path / "run"], check=True, capture_output=True).stdout
    )
    said["warnings"] = [text.replace("--draws ", "draws=") for text in said["warnings"]]
    assert said == fit.report
    sampled = ["sample", tmp_path / "run", "--seed", "5", "--quiet", "--out", tmp_path / "again"]
    subprocess.run([COMMAND, *sampled], check=True, capture_output=True)
    assert flymc.load(tmp_path / "again").draws.equals(fit.resample(seed=5, progress=False).draws)
    # A saved copy of a run that reads the rows of another run has its own rows.
    flymc.load(tmp_path / "again").save(tmp_path / "alone")
    subprocess.run(["rm", "-r", tmp_path / "run", tmp_path / "again"], check=True)
    alone = flymc.load(tmp_path / "alone")
    assert alone.predict(parquet).shape == (3000, 3)
    assert alone.resample(seed=9, progress=False).draws.num_rows == 300
    with pytest.raises(flymc.InputError, match="there is a finished run here.* replace it with overwrite=True"):
        flymc.fit("clicked", frame, out=tmp_path / "alone", **quick)
    replaced = flymc.fit("clicked", frame, out=tmp_path / "alone", overwrite=True, **{**quick, "seed": 11})
    assert replaced.settings["seed"] == ["11"]
    with pytest.raises(flymc.InputError, match="cannot be replaced by one that is sampled from it"):
        replaced.resample(out=tmp_path / "alone", overwrite=True)


def test_a_reference_is_named(frame, quick):
    fit = flymc.fit("clicked", frame, reference={"region": "west"}, **quick)
    assert "region[west]" not in fit.names and "region[east]" in fit.names
    with pytest.raises(flymc.InputError, match="reference: column 'region' has no level 'wset'; did you mean 'west'"):
        flymc.fit("clicked", frame, reference={"region": "wset"}, **quick)
    with pytest.raises(ValueError, match=r"write C\(region, contr.treatment\('west'\)\) in it"):
        flymc.fit("clicked ~ np.exp(x) + C(region)", frame, reference={"region": "west"}, **quick)
    by_formula = flymc.fit("clicked ~ C(region)", frame, reference={"region": "west"}, **quick)
    assert by_formula.names == ["intercept", "region[east]", "region[north]"]
    with pytest.raises(TypeError, match="reference: give levels by column"):
        flymc.fit("clicked", frame, reference="west", **quick)


def test_a_damaged_report_is_refused_and_made_again(frame, quick, tmp_path):
    run = tmp_path / "run"
    summary = str(flymc.fit("clicked", frame[["x", "clicked"]], out=run, **quick))
    report = run / "report.json"
    text = report.read_text()
    report.write_text(text.replace('"rows": 3000', '"rows": 3001'))
    with pytest.raises(flymc.InputError, match=r"delete it, and `flymc\.resume\(.*\)` writes it again"):
        flymc.load(run)
    report.unlink()
    assert str(flymc.resume(run, progress=False)) == summary

    def facts(of):
        """The report without the time of the set-up, which only the process that made it knows."""
        mutable = ("ingest_seconds", "prepare_seconds", "checksum")
        return {name: value for name, value in json.loads(of).items() if name not in mutable}

    assert facts(report.read_text()) == facts(text)


def test_damaged_draws_are_refused_and_drawn_again(frame, quick, tmp_path):
    run = tmp_path / "run"
    fit = flymc.fit("clicked ~ x + w", frame, out=run, **quick)
    drawn = fit.draws
    draws = run / "draws.parquet"
    draws.write_bytes(draws.read_bytes()[:500])
    remedy = r"draws.parquet: .*; delete it and the folder `chains` .*, and `flymc\.resume\(.*\)` draws them again$"
    with pytest.raises(flymc.InputError, match=remedy):
        flymc.load(run)
    draws.unlink()
    shutil.rmtree(run / "chains")
    assert flymc.resume(run, progress=False).draws.equals(drawn)
    (run / "formula.json").write_text("{")
    with pytest.raises(flymc.InputError, match=r"formula.json: it was damaged, .* fit again"):
        flymc.load(run).predict(frame)
    with pytest.raises(flymc.InputError, match="there is no run here"):  # other errors are not changed
        flymc.load(tmp_path / "nowhere")


def test_a_temporary_run_goes_with_its_fit(frame, quick):
    fit = flymc.fit("clicked", frame, **quick)
    path = fit.path
    sampled = fit.resample(seed=2, progress=False)
    del fit
    assert path.exists()  # the other run uses its rows
    assert sampled.predict(frame).shape == (3000, 3)
    del sampled
    assert not path.exists()


@pytest.mark.parametrize("family", ["softmax", "student_t"])
def test_other_families(family, frame, quick):
    target = {"softmax": "region", "student_t": "w"}[family]
    scale = {"nu": 30, "sigma": 3} if family == "student_t" else {}
    fit = flymc.fit(target, frame, family=family, **scale, **quick)
    predicted = fit.predict(frame.drop(columns=target), interval=0.9)
    if family == "softmax":
        assert fit.classes == ["east", "north", "west"]
        assert set(predicted["class"]) <= set(fit.classes)
        np.testing.assert_allclose(predicted[[f"mean[{c}]" for c in fit.classes]].sum(axis=1), 1.0)
    else:
        # The standard error of the share is 0.0055.
        assert 0.87 < frame["w"].between(predicted["lower"], predicted["upper"]).mean() < 0.93
        pd.testing.assert_frame_equal(fit.predict(frame.drop(columns=target), kind="target"), predicted)
        means = fit.predict(frame.drop(columns=target), kind="mean")
        assert ((means["upper"] - means["lower"]) < 0.2 * (predicted["upper"] - predicted["lower"])).all()
        with pytest.raises(flymc.InputError, match="^ratios: exp of a coefficient of the family student_t is no ratio"):
            fit.summary(ratios=True)
    loo = arviz.loo(fit.to_arviz(log_likelihood_rows=100))
    assert np.isfinite(loo.elpd_loo)


def test_bright_rows(fit):
    bright = fit.bright_rows(draws=100)
    assert list(bright.columns) == ["draw", "row", "file", "file_row"]
    assert bright["draw"].between(0, 99).all() and bright["row"].between(0, 2999).all()
    pd.testing.assert_frame_equal(bright, fit.bright_rows(draws=100))


def test_exports(fit, tmp_path):
    assert fit.export(tmp_path / "draws.nc") == [str(tmp_path / "draws.nc")]
    assert fit.export(tmp_path / "draws.csv") == [str(tmp_path / f"draws_{chain}.csv") for chain in (1, 2, 3, 4)]
    with pytest.raises(flymc.InputError, match="draws are exported as .nc .*; name such a file with out$"):
        fit.export(tmp_path / "draws.xlsx")
    of_command = arviz.from_netcdf(tmp_path / "draws.nc")
    np.testing.assert_array_equal(of_command.posterior["theta"], fit.to_arviz(0).posterior["theta"])


# A run in a separate process, which gets Ctrl-C once both chains have draws on the disk.
INTERRUPTED = """
    import json, os, pathlib, signal, sys, threading, time, warnings
    import flymc

    table, out = sys.argv[1:]

    def interrupt():
        while len({part.name[:9] for part in pathlib.Path(out).glob("parts/*.parquet")}) < 2:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    settings = dict(chains=2, warmup=200, draws=4000000, seed=7, threads=2, checkpoint_seconds=0.1, progress=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = flymc.fit("clicked", table, out=out, **settings)
    chains, draws, _ = fit.array().shape
    print(json.dumps({"chains": chains, "draws": draws, "warning": str(caught[0].message),
                      "first": fit.array()[0, :50].tolist(), "chain": fit.draws["chain"][0].as_py(),
                      "predicted": len(fit.predict(table))}))
"""


def test_ctrl_c_leaves_a_fit_of_what_was_drawn(parquet, tmp_path):
    program = [sys.executable, "-c", textwrap.dedent(INTERRUPTED), str(parquet), str(tmp_path / "run")]
    done = subprocess.run(program, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    # If one chain is much ahead of the other, only that one is kept; which one depends on the machine.
    assert said["chains"] in (1, 2) and 50 < said["draws"] < 4000000
    assert f"stopped: {said['draws']} of 4000000 draws of {said['chains']} of 2 chains" in said["warning"]
    assert said["predicted"] == 3000
    whole = flymc.fit("clicked", parquet, chains=2, warmup=200, draws=50, seed=7, progress=False)
    assert whole.array()[said["chain"]].tolist() == said["first"]


def test_a_stopped_fit_goes_on_to_the_same_draws(parquet, tmp_path):
    """Stopped as Ctrl-C stops it, from another thread."""
    import threading

    from flymc import _core
    from flymc.fits import conclude_or_raise
    from flymc.settings import words

    settings = {"target": "clicked", "chains": 2, "warmup": 200, "draws": 20000, "seed": 7, "threads": 1}
    (run,) = _core.create_study(str(tmp_path / "run"), words({**settings, "table": [str(parquet)]}))

    def stop_when_it_samples():
        while not any(not warming and done > 100 for _, warming, done, *_ in run.progress()):
            pass
        run.stop()

    thread = threading.Thread(target=stop_when_it_samples)
    thread.start()
    assert not run.complete()
    thread.join()
    with pytest.warns(UserWarning, match="of 20000 draws of 1 of 2 chains"):
        stopped = conclude_or_raise(run, [])
    assert stopped.array().shape[0] == 1
    whole = flymc.fit("clicked", parquet, progress=False, **{k: v for k, v in settings.items() if k != "target"})
    assert stopped.resume(progress=False).draws.equals(whole.draws)
    assert flymc.load(tmp_path / "run").draws.equals(whole.draws)


def test_weights_are_repeated_rows(frame, quick):
    counts = np.arange(len(frame)) % 3
    table = frame[["x", "w", "clicked"]].assign(count=counts)
    by_name = flymc.fit("clicked", table, weights="count", **quick)
    assert by_name.names == ["intercept", "x", "w"]
    by_numbers = flymc.fit("clicked", table.drop(columns="count"), weights=counts, **quick)
    by_formula = flymc.fit("clicked ~ x + w", table, weights="count", **quick)
    for other in (by_numbers, by_formula):
        np.testing.assert_array_equal(by_name.array(), other.array())
    repeated = flymc.fit("clicked", frame[["x", "w", "clicked"]].loc[frame.index.repeat(counts)], **quick)
    one, other = by_name.summary(), repeated.summary()
    error = np.hypot(one["mcse_mean"], other["mcse_mean"])
    assert (abs(one["mean"] - other["mean"]) < 4.5 * error).all()
    np.testing.assert_allclose(one["sd"], other["sd"], rtol=0.25)
    # They differ from those of unweighted rows.
    plain = flymc.fit("clicked", frame[["x", "w", "clicked"]], **quick).summary()
    assert (abs(one["mean"] - plain["mean"]) > 4.5 * error).any()
    with pytest.raises(ValueError, match="weights: 5 for 3000 rows"):
        flymc.fit("clicked", frame, weights=[1.0] * 5, **quick)
    with pytest.raises(ValueError, match="weights: of files, name the column"):
        flymc.fit("clicked", "table.csv", weights=[1.0] * 5, **quick)


def test_counts_and_trials(quick):
    random = np.random.default_rng(5)
    age, years, tries = random.normal(40, 10, 4000), random.uniform(0.1, 2, 4000), random.integers(0, 9, 4000)
    table = pd.DataFrame({"age": age, "years": years, "claims": random.poisson(years * np.exp(0.02 * (age - 40)))})
    by_name = flymc.fit("claims", table, family="poisson", exposure="years", **quick)
    by_formula = flymc.fit("claims ~ age", table, family="poisson", exposure="years", **quick)
    for fit in (by_name, by_formula):
        assert fit.summary().loc["age", "mean"] == pytest.approx(0.02, abs=0.01)
        new = pd.DataFrame({"age": [40.0, 40.0], "years": [1.0, 2.0]})
        one, two = fit.predict(new, kind="mean")["mean"]
        assert two == pytest.approx(2 * one) and one == pytest.approx(1.0, abs=0.1)
    hits = table.assign(tries=tries, hits=random.binomial(tries, 0.7)).drop(columns=["claims", "years"])
    fit = flymc.fit("hits ~ age", hits, family="binomial", trials="tries", **quick)
    assert fit.predict({"age": [40.0]})["mean"][0] == pytest.approx(0.7, abs=0.02)
    with pytest.raises(flymc.InputError, match="exposure: only for counts"):
        flymc.fit("claims", table, exposure="years", **quick)
    with pytest.raises(TypeError, match="exposure: name a column"):
        flymc.fit("claims", table, family="poisson", exposure=years, **quick)


def test_drawn_scales(quick):
    """By name and by formula; the scale is among the draws, and predictions have its width."""
    random = np.random.default_rng(6)
    table = pd.DataFrame({"age": random.normal(40, 10, 4000)})
    table["income"] = 2000 + 30 * table["age"] + 500 * random.normal(size=4000)
    for fit in (flymc.fit("income", table, family="gaussian", **quick), flymc.fit("income ~ age", table, family="gaussian", **quick)):
        assert fit.names[-1] == "sigma"
        assert fit.summary().loc["sigma", "mean"] == pytest.approx(500, rel=0.05)
        found = fit.predict({"age": [40.0]}).iloc[0]
        assert found["upper"] - found["lower"] == pytest.approx(2 * 1.645 * 500, rel=0.1)
        assert "sigma" in str(fit.to_arviz().posterior)
    prior = {None: flymc.Normal(0, 1000), "sigma": flymc.Normal(0, 5)}
    assert flymc.fit("income", table, family="gaussian", prior=prior, **quick).summary().loc["sigma", "mean"] < 450


def test_times_until_an_event(quick):
    random = np.random.default_rng(7)
    age = random.normal(60, 10, 4000)
    time, until = np.exp(2 - 0.03 * (age - 60)) * random.exponential(size=4000), random.uniform(1, 20, 4000)
    table = pd.DataFrame({"age": age, "died": time <= until, "years": np.minimum(time, until)})
    for fit in (flymc.fit("years", table, family="weibull", event="died", **quick),
                flymc.fit("years ~ age", table, family="weibull", event="died", **quick)):
        assert fit.summary().loc["age", "mean"] == pytest.approx(-0.03, abs=0.01)
        assert fit.summary().loc["sigma", "mean"] == pytest.approx(1, rel=0.06)
        curve = fit.predict({"age": [60.0]}, times=[1, 5, 10]).iloc[0]
        for t in (1, 5, 10):
            assert curve[f"survival[{t}]"] == pytest.approx(np.exp(-t / np.exp(2)), abs=0.03)
            assert curve[f"lower[{t}]"] < curve[f"survival[{t}]"] < curve[f"upper[{t}]"]
    with pytest.raises(flymc.InputError, match="event: only for times until an event"):
        flymc.fit("years", table, family="gaussian", event="died", **quick)
    with pytest.raises(TypeError, match="event: name a column"):
        flymc.fit("years", table, family="weibull", event=table["died"], **quick)


def test_weights_say_what_they_are(frame, quick):
    table = frame[["x", "clicked"]].assign(w=0.5 + 100.0 * np.arange(len(frame)))
    fit = flymc.fit("clicked", table, weights="w", **quick)
    assert "weights 'w', which sum to 449851500" in str(fit)
    assert any("times the number of rows" in warning for warning in fit.report["warnings"])
    counted = flymc.fit("clicked", table.assign(w=100), weights="w", **quick)
    assert not any("times the number of rows" in warning for warning in counted.report["warnings"])
    with pytest.raises(ValueError, match="they are the column 'w'"):
        flymc.fit("clicked", table, weights=table["w"], **quick)
    with pytest.raises(ValueError, match="another index"):
        flymc.fit("clicked", frame[["x", "clicked"]], weights=table["w"].sample(frac=1.0), **quick)
    for arrays, weights in [
        ((frame[["x"]], frame["clicked"]), table["w"].sample(frac=1.0)),
        ((frame[["x"]], frame["clicked"].sample(frac=1.0)), None),
        ((frame[["x"]].to_numpy(), frame["clicked"]), table["w"].sample(frac=1.0)),
    ]:
        with pytest.raises(ValueError, match="another index than that of [Xy]; .* or give an array"):
            flymc.fit(None, arrays, weights=weights, **quick)
    with pytest.raises(ValueError, match="3000 x 1 for 3000 rows"):
        flymc.fit("clicked", frame[["x", "clicked"]], weights=np.ones((3000, 1)), **quick)
    with pytest.raises(flymc.InputError, match="cannot be both the weights and the offset"):
        flymc.fit("clicked", table, weights="w", offset="w", **quick)
    with pytest.raises(TypeError, match="offset: name a column"):
        flymc.fit("clicked", frame[["x", "clicked"]], offset=table["w"], **quick)
    with pytest.raises(flymc.InputError, match="weights: name a column"):
        flymc.fit("clicked", table, weights="", **quick)


def test_columns_of_tables_in_memory_are_checked(frame, quick):
    table = frame[["x", "w", "clicked"]]
    assert flymc.fit("clicked", table, exclude="w", **quick).names == ["intercept", "x"]
    assert flymc.fit("clicked", table, columns="x", **quick).names == ["intercept", "x"]
    with pytest.raises(flymc.InputError, match="no column 'ww' \\(to exclude\\)"):
        flymc.fit("clicked", table, exclude=["ww"], **quick)


def test_rows_find_their_way_home(frame, quick, tmp_path):
    table = frame[["x", "clicked"]].copy()
    table.loc[table.index % 10 == 4, "x"] = np.nan
    fit = flymc.fit("clicked", table, missing="drop", **quick)
    kept = np.flatnonzero(table["x"].notna())
    found = fit.origins(range(fit.rows))
    assert (found["file"] == "data").all()
    np.testing.assert_array_equal(found["file_row"], kept + 1)
    bright = fit.bright_rows(draws=50)
    assert list(bright.columns) == ["draw", "row", "file", "file_row"]
    np.testing.assert_array_equal(bright["file_row"], kept[bright["row"]] + 1)


def test_offset(frame, quick):
    table = frame[["x", "w", "clicked"]].assign(known=0.5 * frame["x"])
    plain = flymc.fit("clicked", frame[["x", "w", "clicked"]], prior=flymc.Flat(), **quick)
    for formula in ("clicked", "clicked ~ x + w"):
        fit = flymc.fit(formula, table, offset="known", prior=flymc.Flat(), **quick)
        assert fit.names == ["intercept", "x", "w"]
        # The coefficient is the remainder of the effect that the offset does not explain.
        one, other = fit.summary().loc["x"], plain.summary().loc["x"]
        assert abs(one["mean"] + 0.5 - other["mean"]) < 4.5 * np.hypot(one["mcse_mean"], other["mcse_mean"])
        np.testing.assert_allclose(fit.predict(table[:50])["mean"], plain.predict(table[:50])["mean"], atol=0.01)
        with pytest.raises(flymc.InputError, match="known"):
            fit.predict(table[["x", "w"]][:5])
