"""The groups of a fit: own coefficients, variance components, ArviZ, and plots."""

import json
import subprocess

import arviz
import flymc
import numpy as np
import pandas as pd
import pytest
from flymc import groups
from flymc._command import PROGRAM
from flymc.for_arviz import Effects, inference_data

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot

QUICK = {"chains": 2, "warmup": 100, "draws": 60, "seed": 7, "progress": False}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(2)
    n = 2000
    origin = np.minimum(rng.geometric(0.02, n), 60)
    z, u, v = rng.normal(size=n), rng.normal(size=61), rng.normal(size=61)
    eta = 0.3 * z + u[origin] + 0.5 * v[origin] * z
    return pd.DataFrame(
        {
            "y": (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int),
            "time": eta + rng.normal(size=n),
            "visits": rng.poisson(np.exp(0.3 * eta)),
            "z": z,
            "origin": origin,
            "carrier": rng.choice(["b", "a", "c", "d", "e"], n),
        }
    )


@pytest.fixture(scope="module")
def fit(table):
    return flymc.fit("y ~ z + (1 + z | origin) + (1 | carrier)", table, **QUICK)


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def test_own_coefficients_are_those_of_the_command(fit):
    own = fit.group_coefficients("carrier", interval=0.5)
    assert own["group"].to_pylist() == ["a", "b", "c", "d", "e"] and set(own["effect"].to_pylist()) == {"intercept"}
    said = subprocess.run(
        [PROGRAM, "groups", fit.path, "--coefficients", "--json", "--factor=carrier", "--interval=0.5"], capture_output=True
    )
    expected = json.loads(said.stdout)["effects"]
    assert own["lower"].to_pylist() == [one["lower"] for one in expected]
    data = fit.to_arviz().posterior
    values = data["1 | carrier"].sel(carrier="c") + data["theta"].sel(coefficient="intercept")
    np.testing.assert_allclose(own["mean"][2].as_py(), float(values.mean()), rtol=1e-6)
    with pytest.raises(flymc.InputError, match="did you mean 'origin'"):
        fit.group_coefficients("orign")


def test_variance_components_are_a_frame(fit, table):
    frame = fit.variance_components(interval=0.8)
    sd = fit.draws["sd(origin, intercept)"].to_numpy()
    other = fit.draws["sd(carrier)"].to_numpy()
    icc = sd**2 / (sd**2 + other**2 + np.pi**2 / 3)
    assert frame.loc["icc(origin)", "mean"] == pytest.approx(icc.mean())
    assert frame.loc["icc(origin)", "lower"] == pytest.approx(np.quantile(icc, 0.1))
    assert frame.loc["cor(origin, intercept, z)", "kind"] == "cor" and frame.loc["sd(carrier)", "factor"] == "carrier"
    assert "pi^2 / 3" in frame.attrs["remark"]
    counts = flymc.fit("visits ~ z + (1 | origin)", table, "poisson", **QUICK).variance_components()
    assert "icc" not in set(counts["kind"]) and "depends on its mean" in counts.attrs["remark"]


def test_the_report_has_the_groups_as_data(fit):
    terms = fit.report["groups"]["terms"]
    assert [(term["factor"], term["effects"]) for term in terms] == [("origin", ["intercept", "z"]), ("carrier", ["intercept"])]
    assert fit.report["groups"]["effects"]["all"] == fit.group_effects().num_rows
    assert "<p>groups: origin (60 groups), carrier (5 groups)</p>" in fit._repr_html_()


def test_arviz_has_the_effects(fit, tmp_path):
    data = fit.to_arviz()
    term = data.posterior["1 + z | origin"]
    assert term.dims == ("chain", "draw", "origin", "origin_effect") and term.dtype == np.float32
    assert data.posterior["1 | carrier"].dims == ("chain", "draw", "carrier")
    assert list(data.posterior["origin_effect"].values) == ["intercept", "z"]
    assert list(data.posterior["carrier"].values) == ["a", "b", "c", "d", "e"]
    frame = fit.group_effects().to_pandas().set_index(["group", "effect"])
    for group in ("1", "10", "2"):
        mean = float(term.sel(origin=group, origin_effect="z").mean())
        assert mean == pytest.approx(frame.loc[(group, "z"), "mean"], rel=1e-5)
    summary = arviz.summary(data, var_names=["1 | carrier"])
    assert list(summary.index) == [f"1 | carrier[{name}]" for name in "abcde"]
    assert arviz.plot_forest(data, var_names=["1 | carrier"]) is not None
    data.to_netcdf(str(tmp_path / "data.nc"))
    again = arviz.from_netcdf(str(tmp_path / "data.nc"))
    np.testing.assert_array_equal(again.posterior["1 + z | origin"], term)
    assert set(fit.to_arviz(effects=False).posterior) == {"theta"}


def test_many_effects_are_left_out_unless_they_are_asked_for(fit, monkeypatch):
    monkeypatch.setattr(groups, "MOST_NUMBERS", 100)
    with pytest.warns(UserWarning, match="120 draws of .* effects take .* effects=True includes them"):
        assert set(fit.to_arviz().posterior) == {"theta"}
    assert "1 | carrier" in fit.to_arviz(effects=True).posterior


def test_effects_that_were_removed_are_left_out(table, tmp_path):
    fit = flymc.fit("y ~ z + (1 | carrier)", table, out=tmp_path / "run", **QUICK)
    (tmp_path / "run" / "effects.arrow").unlink()
    with pytest.warns(UserWarning, match="left out: .*effects.arrow: the file of the groups' effects is missing"):
        assert set(fit.to_arviz().posterior) == {"theta"}
    with pytest.raises(flymc.InputError, match="is missing"):
        fit.to_arviz(effects=True)


def test_thinned_effects_are_a_group_with_draws_of_its_own():
    theta = np.random.default_rng(1).normal(size=(2, 12, 1))
    kept = np.arange(0, 12, 3)
    values = np.broadcast_to(kept, (2, 4))[..., None, None].astype(np.float32)
    one = Effects("1 | draw", "draw", ["a"], ["intercept"], kept, values)
    data = inference_data({"theta": theta}, ["x"], {}, None, "0", [one])
    assert set(data.posterior) == {"theta"}
    # A factor that has the name of another dimension does not take its place.
    assert data.effects["1 | draw"].dims == ("chain", "draw", "draw_")
    total = data.effects["1 | draw"].sel(draw_="a") + data.posterior["theta"].sel(coefficient="x")
    np.testing.assert_allclose(total, theta[:, ::3, 0] + kept)
    assert arviz.summary(data, group="effects").shape[0] == 1


def test_two_terms_of_one_factor_have_dimensions_of_their_own(table):
    data = flymc.fit("y ~ z + (1 | carrier) + (0 + z | carrier)", table, **QUICK).to_arviz().posterior
    assert data["1 | carrier"].dims == data["z | carrier"].dims == ("chain", "draw", "carrier")


def drawn(axes):
    return [label.get_text() for label in axes.get_yticklabels()]


def test_intervals_of_groups(fit):
    slopes = fit.plot_groups("origin")[1]
    effects = fit.group_effects("origin").to_pandas().query("effect == 'z'").sort_values("median")
    assert len(drawn(slopes)) == 40 < len(effects)
    assert "40 of 60 groups: the 10 lowest" in slopes.get_title().replace("\n", " ")
    few = fit.plot_groups("carrier", interval=0.5)
    assert len(few) == 1
    carriers = fit.group_effects("carrier").to_pandas().sort_values("median")
    assert drawn(few[0]) == list(carriers["group"])
    (wide, inner) = few[0].collections
    np.testing.assert_allclose([path[:, 0] for path in wide.get_segments()], [path[:, 0] for path in inner.get_segments()])
    np.testing.assert_allclose(few[0].lines[0].get_xdata(), carriers["median"], rtol=1e-6)
    assert len(fit.plot_groups()) == 3 and len(drawn(fit.plot_groups("origin", most=8)[0])) == 8
    with pytest.raises(flymc.InputError, match="most: give a number"):
        fit.plot_groups(most=0)


def test_pulls_are_ratios_of_variances(fit, table):
    axes = fit.plot_pull("carrier")[0]
    effects = fit.group_effects("carrier").to_pandas()
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), table["carrier"].value_counts().sort_index())
    between = (fit.draws["sd(carrier)"].to_numpy() ** 2).mean()
    np.testing.assert_allclose(axes.lines[0].get_ydata(), effects["sd"] ** 2 / between, rtol=1e-6)


def test_the_pull_of_normal_targets_is_the_weight_of_the_average_group():
    """Groups of 5 and of 500 rows, with a known residual scale: s^2 / (s^2 + sd^2), s^2 = sigma^2 / rows."""
    rng = np.random.default_rng(5)
    group = np.repeat(np.arange(80), np.where(np.arange(80) % 2, 500, 5))
    table = pd.DataFrame({"g": group, "y": rng.normal(0, 1, 80)[group] + rng.normal(0, 2, len(group))})
    fit = flymc.fit("y ~ (1 | g)", table, "gaussian", sigma=2.0, seed=1, progress=False)
    line = fit.plot_pull()[0].lines[0]
    between = (fit.draws["sd(g)"].to_numpy() ** 2).mean()
    for rows in (5, 500):
        pull = np.mean(line.get_ydata()[line.get_xdata() == rows])
        assert pull == pytest.approx((4 / rows) / (4 / rows + between), abs=0.05)
