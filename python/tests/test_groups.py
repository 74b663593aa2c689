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


@pytest.mark.parametrize("ask", ["predict", "loo", "check", "audit", "log_likelihood", "to_arviz", "bright_rows"])
def test_what_is_not_there_yet_is_refused(ask, fit, table):
    arguments = {"predict": [table[:5]], "log_likelihood": [[0]], "to_arviz": [10]}.get(ask, [])
    with pytest.raises(flymc.InputError, match=r"its model has groups, .*; `Fit.summary` and `Fit.export` do$"):
        getattr(fit, ask)(*arguments)


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
