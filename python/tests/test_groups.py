"""Formulas with effects of groups: the same draws as the command's, and refusals of what is not there yet."""

import re
import subprocess
import threading

import flymc
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from flymc import _core
from flymc._command import PROGRAM
from flymc.fits import conclude_or_raise
from flymc.settings import words

FORMULA = "y ~ x + z + (1 + z | origin) + (1 | carrier)"
QUICK = {"chains": 2, "warmup": 100, "draws": 60, "seed": 7, "progress": False}
NAMES = ["intercept", "x", "z", "sd(origin, intercept)", "sd(origin, z)", "cor(origin, intercept, z)", "sd(carrier)"]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(2)
    n = 1500
    origin = rng.integers(0, 12, n)
    x, z, u, v = rng.normal(size=n), rng.normal(size=n), rng.normal(size=12), rng.normal(size=12)
    eta = 0.5 * x + 0.3 * z + u[origin] + 0.5 * v[origin] * z
    return pd.DataFrame(
        {
            "y": (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int),
            "time": eta + rng.normal(size=n),
            "visits": rng.poisson(np.exp(0.3 * eta)),
            "x": x,
            "z": z,
            "origin": origin,
            "carrier": rng.choice(["b", "a", "c", "d"], n),
        }
    )


@pytest.fixture(scope="module")
def path(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "t.parquet"
    table.to_parquet(path)
    return path


@pytest.fixture(scope="module")
def of_command(path):
    out = path.parent / "run"
    flags = [f"--{name}={QUICK[name]}" for name in ("chains", "warmup", "draws", "seed")]
    subprocess.run([PROGRAM, "fit", path, "--formula", FORMULA, *flags, "--out", out, "--quiet"], check=True, capture_output=True)
    return flymc.load(out)


@pytest.fixture(scope="module")
def fit(table):
    return flymc.fit(FORMULA, table, **QUICK)


def test_draws_are_those_of_the_command(of_command, fit, table, path):
    assert fit.names == of_command.names == NAMES
    assert [p["kind"] for p in fit.report["parameters"]] == [*["coefficient"] * 3, "sd", "sd", "cor", "sd"]
    levels = pd.Categorical(table["carrier"], ["d", "c", "b", "a"], ordered=True)
    texts = table.assign(carrier=levels, origin=table["origin"].astype(str))
    for data in (path, pa.Table.from_pandas(table), texts):
        np.testing.assert_array_equal(flymc.fit(FORMULA, data, **QUICK).array(), of_command.array())
    np.testing.assert_array_equal(fit.array(), of_command.array())


@pytest.mark.parametrize(
    ("formula", "names"),
    [
        ("y ~ (1 | origin)", ["intercept", "sd(origin)"]),
        ("y ~ x + (x || origin)", ["intercept", "x", "sd(origin, intercept)", "sd(origin, x)"]),
        ("y ~ x + (0 + x | `origin`)", ["intercept", "x", "sd(origin, x)"]),
        ("y ~ 0 + x + (1 | origin/carrier)", ["x", "sd(origin)", "sd(origin:carrier)"]),
        ("y ~ . - time - visits - origin - carrier + (1 | origin:carrier)", ["intercept", "x", "z", "sd(origin:carrier)"]),
        ("y ~ C(carrier) + (1 | carrier)", ["intercept", "carrier[b]", "carrier[c]", "carrier[d]", "sd(carrier)"]),
    ],
)
def test_the_grammar_is_that_of_the_command(formula, names, table):
    assert flymc.fit(formula, table, **QUICK).names == names


def test_ratios_are_of_coefficients_alone(fit, table):
    ratios = fit.summary(ratios=True)["odds_ratio"]
    assert list(ratios.index[ratios.notna()]) == ["intercept", "x", "z"]
    times = flymc.fit("time ~ x + (1 | origin)", table, "gaussian", **QUICK)
    kinds = {p["name"]: p["kind"] for p in times.report["parameters"]}
    assert kinds == {"intercept": "coefficient", "x": "coefficient", "sigma": "scale", "sd(origin)": "sd"}


def test_priors_of_scales(table):
    prior = {None: flymc.Normal(0, 2), "sd": flymc.Exponential(2), "sd(origin, z)": flymc.HalfNormal(1), "cor(origin)": flymc.LKJ(2)}
    fit = flymc.fit("y ~ z + (z | origin)", table, prior=prior, **QUICK)
    assert fit.settings["prior"] == ["normal(0, 2); sd: exponential(2); sd(origin, z): half_normal(1); cor(origin): lkj(2)"]
    assert "sd(origin, intercept) exponential(2), sd(origin, z) half_normal(1), cor(origin) lkj(2)" in str(fit)
    again = fit.resample(prior={"sd(origin)": flymc.HalfStudentT(3, 1)}, progress=False)
    assert again.names == fit.names and "half_student_t(3, 1)" in str(again)


def test_fits_of_parts_have_groups(table):
    fit = flymc.fit("visits ~ x + (1 | origin)", table, "hurdle_poisson", **QUICK)
    assert fit.zero.names == fit.count.names == ["intercept", "x", "sd(origin)"]
    assert fit.to_arviz().posterior["count"].sizes["coefficient"] == 3


def test_draws_tables_and_pages_show_scales(fit, tmp_path):
    assert list(fit.to_arviz().posterior.coefficient.values) == NAMES
    assert "log_likelihood" not in fit.to_arviz()
    assert "sd(carrier)" in fit._repr_html_() and "sd(carrier)" in fit.draws.column_names
    page = fit.write_report(tmp_path / "report.html").read_text()
    plot, _, rest = page[page.index("Columns of numbers") :].partition("<table")
    assert re.findall(r'<span class="name">(.*?)</span>', plot) == ["x", "z", "", "odds ratio"]  # and both axes
    assert re.findall(r'<th scope="row">(.*?)</th>', rest.split("</table")[0]) == NAMES
    assert "There is none" in page  # the predictive check


@pytest.mark.parametrize("ask", ["loo", "check", "audit", "log_likelihood", "to_arviz", "bright_rows"])
def test_what_is_not_there_yet_is_refused(ask, fit, table):
    arguments = {"log_likelihood": [[0]], "to_arviz": [10]}.get(ask, [])
    with pytest.raises(flymc.InputError, match=r"its model has groups, .*; `Fit.summary` and `Fit.export` do$"):
        getattr(fit, ask)(*arguments)


def effects_of(folder):
    """The draws whose effects are kept, and the effects of origin (draw, group, effect) and carrier (draw, group)."""
    with pa.ipc.open_file(folder / "effects.arrow") as file:
        kept = file.read_all()
    origin, carrier = (np.array(kept[name].to_pylist()) for name in ("1 + z | origin", "1 | carrier"))
    return origin.reshape(len(origin), -1, 2), carrier


def test_predictions_have_effects_of_groups(fit, of_command, path, table):
    new = table[:50].drop(columns=["y", "time"])
    draws = of_command.draws
    b, x, z = (draws[name].to_numpy()[:, None] for name in ("intercept", "x", "z"))
    origin, carrier = effects_of(path.parent / "run")
    plain = b + x * new["x"].to_numpy() + z * new["z"].to_numpy()
    eta = plain + origin[:, new["origin"], 0] + origin[:, new["origin"], 1] * new["z"].to_numpy()
    eta = eta + carrier[:, [list("abcd").index(c) for c in new["carrier"]]]
    found = fit.predict(new, interval=0.8)
    means = 1 / (1 + np.exp(-eta))
    np.testing.assert_allclose(found["mean"], means.mean(0), rtol=1e-9)
    np.testing.assert_allclose(found[["lower", "upper"]], np.quantile(means, [0.1, 0.9], axis=0).T, rtol=1e-9)
    assert found.equals(of_command.predict(pa.Table.from_pandas(new), interval=0.8))
    assert found.equals(of_command.predict(path, interval=0.8)[:50])
    # Columns of other types do not matter, nor how the levels are kept.
    other = new.assign(carrier=new["carrier"].astype("category"), origin=new["origin"].astype(str), more=[[1]] * 50)
    assert found.equals(fit.predict(other, interval=0.8))
    without = fit.predict(new.drop(columns=["origin", "carrier"]), without_groups=True)
    np.testing.assert_allclose(without["mean"], (1 / (1 + np.exp(-plain))).mean(0), rtol=1e-9)
    assert without.equals(fit.predict(new.assign(origin=[[1]] * 50), without_groups=True))


def test_new_levels(fit, table):
    new = table[:20].assign(origin=99)
    with pytest.raises(flymc.InputError, match=r"column 'origin', row 1: the level '99' did not .* \(new_levels=\"uncertainty\"\)"):
        fit.predict(new)
    found = {how: fit.predict(new, new_levels=how) for how in ("uncertainty", "gaussian", "population")}
    for how in ("uncertainty", "gaussian"):
        wider = (found[how]["upper"] - found[how]["lower"]) / (found["population"]["upper"] - found["population"]["lower"])
        assert wider.mean() > 1.5
        pd.testing.assert_frame_equal(fit.predict(new[5:], new_levels=how), found[how][5:])
    assert not found["uncertainty"].equals(found["gaussian"])
    with pytest.raises(flymc.InputError, match="new_levels: 'old_levels' is neither uncertainty nor gaussian nor population"):
        fit.predict(new, new_levels="old_levels")
    with pytest.raises(flymc.InputError, match=r"new_levels: the effects of all groups are 0 \(without_groups\)"):
        fit.predict(new, new_levels="gaussian", without_groups=True)
    plain = flymc.fit("y ~ x", table, **QUICK)
    with pytest.raises(flymc.InputError, match="without_groups: the formula of this run has no groups"):
        plain.predict(new, without_groups=True)


def test_predictions_of_parts(table):
    fit = flymc.fit("visits ~ x + (1 | origin)", table, "hurdle_poisson", **QUICK)
    new = table[:10].assign(origin=[3] * 5 + [77] * 5)
    with pytest.raises(flymc.InputError, match="row 6: the level '77'"):
        fit.predict(new, kind="mean")
    found = fit.predict(new, kind="mean", new_levels="population")
    parts = [fit.zero.predict(new, kind="mean", new_levels="population"), fit.count.predict(new, kind="mean", new_levels="population")]
    assert np.abs(found["mean"] - parts[0]["mean"] * parts[1]["mean"]).max() < 0.02 * found["mean"].max()
    assert found["mean"][5:].equals(fit.predict(new[5:], kind="mean", without_groups=True)["mean"])


def test_there_is_no_laplace_approximation(fit):
    for ask in (fit.laplace, fit.laplace_check):
        with pytest.raises(flymc.InputError, match="or its model has groups"):
            ask()


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("y ~ x | origin", "effects of groups stand in parentheses by themselves"),
        ("y ~ x + (1 | orign)", "there is no column 'orign'.*did you mean 'origin'"),
        ("y ~ x + (z | origin)", "slopes of 'z', which has no coefficient of its own"),
        ("y ~ bs(x, df=4) + (1 | origin)", "no function 'bs': beside groups curves are fitted as columns of the table"),
        ("y ~ np.log(x) + (1 | origin)", "there is no function 'np.log'"),
        ("y ~ origin + (1 | origin)", r"write C\(origin\) there"),
    ],
)
def test_mistakes_are_named(formula, message, table, path):
    for data in (table, path):
        with pytest.raises(flymc.InputError, match=message):
            flymc.fit(formula, data, **QUICK)


def test_rows_without_a_group(table):
    holes = table.assign(carrier=table["carrier"].where(table.index >= 5))
    with pytest.raises(flymc.InputError, match="column 'carrier', row 1: the value is missing"):
        flymc.fit("y ~ x + (1 | carrier)", holes, **QUICK)
    assert flymc.fit("y ~ x + (1 | carrier)", holes, missing="drop", **QUICK).report["dropped"] == 5


def test_a_stopped_fit_has_what_was_drawn_and_goes_on(path, tmp_path):
    settings = {"formula": FORMULA, "chains": 2, "warmup": 100, "draws": 3000, "seed": 7, "threads": 1}
    (run,) = _core.create_study(str(tmp_path / "run"), words({**settings, "table": [str(path)]}))

    def stop_when_it_samples():
        while not any(not warming and done > 100 for _, warming, done, *_ in run.progress()):
            pass
        run.stop()

    thread = threading.Thread(target=stop_when_it_samples)
    thread.start()
    assert not run.complete()
    thread.join()
    with pytest.warns(UserWarning, match="of 3000 draws of 1 of 2 chains"):
        stopped = conclude_or_raise(run, [])
    whole = flymc.fit(data=path, progress=False, **settings)
    assert stopped.names == whole.names == NAMES
    np.testing.assert_array_equal(stopped.array()[0], whole.array()[0, : stopped.array().shape[1]])
    assert [p["kind"] for p in stopped.report["parameters"]] == [p["kind"] for p in whole.report["parameters"]]
    for spent in ("anchor_queries", "bound_queries"):
        assert stopped.report[spent] == whole.report[spent] > 0
    assert stopped.resume(progress=False).draws.equals(whole.draws)


def test_effects_of_single_groups(fit, of_command):
    effects = fit.group_effects()
    assert effects.equals(of_command.group_effects())
    assert effects.num_rows == 2 * 12 + 4
    assert effects.column_names[:6] == ["factor", "group", "effect", "mean", "sd", "median"]
    carriers = fit.group_effects("carrier", interval=0.5)
    assert carriers["group"].to_pylist() == ["a", "b", "c", "d"]
    wide = effects.filter([False] * 24 + [True] * 4)
    assert all(a > b for a, b in zip(carriers["lower"].to_pylist(), wide["lower"].to_pylist(), strict=True))
    with pytest.raises(flymc.InputError, match="did you mean 'origin'"):
        fit.group_effects("orign")
