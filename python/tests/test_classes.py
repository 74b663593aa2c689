"""A softmax in Python: all draws are differences from a reference class, as in the command."""

import json
import pathlib
import pickle
import subprocess
import sysconfig

import arviz
import flymc
import numpy as np
import pandas as pd
import pytest
from pyarrow import parquet

COMMAND = pathlib.Path(sysconfig.get_path("scripts")) / "flymc"
CLASSES = ["east", "north", "west"]


@pytest.fixture(scope="module")
def fit(frame, quick, tmp_path_factory):
    out = tmp_path_factory.mktemp("classes") / "run"
    return flymc.fit("region", frame, family="softmax", out=out, **quick)


def command(*words):
    return subprocess.run([COMMAND, *words], check=True, capture_output=True, text=True).stdout


def test_differences_are_the_default(fit):
    columns = ["intercept", "x", "w", "member", "clicked"]
    assert fit.classes == CLASSES
    assert fit.names == [f"{column}[{other} - east]" for other in CLASSES[1:] for column in columns]
    assert fit.draws.column_names[2:-4] == fit.names == list(fit.summary().index)
    assert list(fit.laplace().index) == list(fit.laplace_check().index) == fit.names
    assert fit.array().shape == (2, 150, 10)
    # The coefficients themselves are in the run.
    own = parquet.read_table(fit.path / "draws.parquet")
    assert own.column_names[2:-4] == fit.report["coefficients"]
    np.testing.assert_array_equal(fit.draws["x[west - east]"], own["x[west]"].to_numpy() - own["x[east]"].to_numpy())
    assert fit.draws["bright__"].equals(own["bright__"])
    assert pickle.loads(pickle.dumps(fit)).draws.equals(fit.draws)


@pytest.mark.parametrize("reference", [None, *CLASSES])
def test_python_is_the_command(fit, tmp_path, reference):
    words = [] if reference is None else ["--reference-class", reference]
    said = json.loads(command("summary", fit.path, "--json", "--ratios", *words))
    summary = fit.summary(ratios=True, reference_class=reference)
    assert list(summary.index) == [p["name"] for p in said["parameters"]]
    assert summary["odds_ratio"].tolist() == [p["ratio"]["median"] for p in said["parameters"]]
    for column in ("mean", "sd", "ess_bulk", "ess_tail", "r_hat"):
        assert summary[column].tolist() == [p[column] for p in said["parameters"]], column
    check, laplace = fit.laplace_check(reference), fit.laplace(reference)
    assert check["shift"].tolist() == [p["laplace"]["shift"] for p in said["parameters"]]
    np.testing.assert_allclose(check["sd_ratio"], summary["sd"] / laplace["sd"], rtol=1e-9)
    np.testing.assert_allclose(check["shift"], (summary["mean"] - laplace["mean"]) / laplace["sd"], atol=1e-9)

    command("export", fit.path, "--out", tmp_path / "d.parquet", *words)
    draws = parquet.read_table(tmp_path / "d.parquet")
    for i, name in enumerate(summary.index):
        np.testing.assert_array_equal(fit.array(reference)[:, :, i].ravel(), draws[name])
    assert fit.export(tmp_path / "own.nc", reference_class=reference) == [str(tmp_path / "own.nc")]
    of_command, data = arviz.from_netcdf(tmp_path / "own.nc"), fit.to_arviz(50, reference_class=reference)
    assert data.posterior["theta"].equals(of_command.posterior["theta"])
    diagnosed = arviz.summary(data, round_to="none")
    assert list(diagnosed.index) == [f"theta[{name}]" for name in summary.index]
    np.testing.assert_allclose(diagnosed["r_hat"], summary["r_hat"], rtol=1e-6)
    np.testing.assert_allclose(diagnosed["ess_bulk"], summary["ess_bulk"], rtol=1e-3)
    assert np.isfinite(arviz.loo(data).elpd_loo)


def test_another_reference_changes_signs_and_differences(fit):
    assert np.array_equal(fit.array("east"), fit.array())
    to_north, to_west = np.split(fit.array(), 2, axis=-1)
    np.testing.assert_allclose(fit.array("west"), np.concatenate([-to_west, to_north - to_west], axis=-1), atol=1e-12)
    np.testing.assert_array_equal(fit.array("west")[:, :, :5], -to_west)
    first, west = fit.summary(), fit.summary(reference_class="west")
    for column in ("x", "member"):
        one, other = west.loc[f"{column}[east - west]"], first.loc[f"{column}[west - east]"]
        assert one["mean"] == pytest.approx(-other["mean"]) and one["sd"] == pytest.approx(other["sd"])
        assert one["q5"] == pytest.approx(-other["q95"]) and one["ess_bulk"] == pytest.approx(other["ess_bulk"])


@pytest.mark.parametrize("reference", CLASSES)
def test_differences_predict(fit, frame, reference):
    new = frame.drop(columns="region")[:50]
    predicted = fit.predict(new)
    X = np.column_stack([np.ones(50), new.to_numpy(dtype=float)])
    others = [c for c in CLASSES if c != reference]
    eta = fit.array(reference).reshape(-1, 2, 5) @ X.T
    weight = {reference: np.ones_like(eta[:, 0])} | {c: np.exp(eta[:, k]) for k, c in enumerate(others)}
    for c in CLASSES:
        probability = weight[c] / sum(weight.values())
        np.testing.assert_allclose(predicted[f"mean[{c}]"], probability.mean(axis=0), atol=1e-10)
        np.testing.assert_allclose(predicted[f"upper[{c}]"], np.quantile(probability, 0.95, axis=0), atol=1e-10)


def test_classes_that_are_numbers(frame, quick):
    table = pd.DataFrame({"x": frame["x"], "grade": np.arange(len(frame)) % 3})
    fit = flymc.fit("grade", table, family="softmax", **quick)
    for reference in (2, np.int64(2), "2"):
        assert list(fit.summary(reference_class=reference).index)[-1] == "x[1 - 2]"


def test_what_is_refused(fit, frame, quick, tmp_path):
    two = flymc.fit("clicked ~ x", frame, **quick)
    unknown = "^reference_class: 'nort' is no class of the target, which has 'east', 'north', 'west'; did you mean 'north'"
    for ask in (
        lambda of: of.summary(reference_class="nort"),
        lambda of: of.array("nort"),
        lambda of: of.laplace("nort"),
        lambda of: of.to_arviz(reference_class="nort"),
        lambda of: of.export(tmp_path / "draws.nc", reference_class="nort"),
    ):
        with pytest.raises(flymc.InputError, match=unknown):
            ask(fit)
        with pytest.raises(flymc.InputError, match="^reference_class: these coefficients are no differences"):
            ask(two)
