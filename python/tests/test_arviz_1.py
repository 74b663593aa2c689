"""ArviZ 1 on the draws of a fit. It needs a newer Python than the module may have, so it runs in a separate
environment."""

import json
import pathlib
import subprocess
import textwrap

import arviz
import flymc
import numpy as np
import pytest
from flymc import for_arviz

ROOT = pathlib.Path(__file__).parents[2]
PYTHON = ROOT / ".venv-arviz1" / "bin" / "python3"

# Only the file that uses ArviZ is imported there: it needs no runs, and therefore not the compiled module.
PROGRAM = """
    import importlib.util, json, sys, warnings

    import numpy as np

    warnings.simplefilter("error", FutureWarning)
    import arviz, matplotlib, matplotlib.pyplot, xarray

    warnings.simplefilter("error", arviz.MigrationWarning)
    matplotlib.use("Agg")
    source, file = sys.argv[1:]
    spec = importlib.util.spec_from_file_location("for_arviz", source)
    for_arviz = sys.modules["for_arviz"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(for_arviz)
    kept = np.load(file)
    likelihood = for_arviz.LogLikelihood("clicked", kept["rows"], kept["values"], 3000, kept["observed"], kept["drawn"])
    names = kept["names"].tolist()
    data = for_arviz.inference_data({"theta": kept["theta"]}, names, {"lp": kept["lp"]}, likelihood, "0")
    assert isinstance(data, xarray.DataTree)
    for plot in (arviz.plot_trace, arviz.plot_forest):
        assert plot(data) is not None
    for plot in (arviz.plot_ppc_dist, arviz.plot_loo_pit):
        assert plot(data) is not None
    for kind in ("trace", "rank", "pair", "forest"):
        assert for_arviz.plot(kind, kept["theta"][..., :3], names[:3], {}) is not None
        texts = {t.get_text() for t in matplotlib.pyplot.gcf().findobj(matplotlib.text.Text)}
        assert set(names[:3]) <= texts, (kind, texts)
    # Effects of groups, of every draw and of every fifth.
    for every in (1, 5):
        draws = np.arange(0, kept["theta"].shape[1], every)
        values = np.random.default_rng(1).normal(size=(kept["theta"].shape[0], len(draws), 3, 2)).astype(np.float32)
        own = for_arviz.Effects("1 + x | town", "town", ["a", "b", "c"], ["intercept", "x"], draws, values)
        with_effects = for_arviz.inference_data({"theta": kept["theta"]}, names, {"lp": kept["lp"]}, None, "0", [own])
        group = "posterior" if every == 1 else "effects"
        lines = arviz.summary(with_effects, var_names=["1 + x | town"], group=group)
        assert list(lines.index)[:3] == [f"1 + x | town[{at}]" for at in ("a, intercept", "a, x", "b, intercept")], lines.index
        assert arviz.plot_forest(with_effects, var_names=["1 + x | town"], coords={"town": ["a"]}, group=group) is not None
    summary = arviz.summary(data, round_to="none")
    loo = arviz.loo(data)
    by_row = arviz.loo(data, pointwise=True)
    print(json.dumps({"version": arviz.__version__, "groups": list(data.children), "parameters": list(summary.index),
                      "mean": summary["mean"].astype(float).tolist(), "rows": data.log_likelihood.attrs["sampled_rows"],
                      "elpd": float(loo.elpd), "se": float(loo.se), "terms": by_row.elpd_i.values.tolist(),
                      "pareto_k": by_row.pareto_k.values.tolist()}))
"""


@pytest.mark.skipif(not PYTHON.exists(), reason=".venv-arviz1 is missing; .ci/setup makes it if there is a Python 3.12")
def test_arviz_1(frame, quick, tmp_path):
    fit = flymc.fit("clicked", frame, **{**quick, "draws": 500})
    before = fit.to_arviz(log_likelihood_rows=200)
    likelihood = before.log_likelihood["clicked"]
    np.savez(
        tmp_path / "draws.npz",
        theta=fit.array(),
        names=np.array(fit.names),
        lp=before.sample_stats["lp"],
        rows=likelihood["row"],
        values=likelihood,
        observed=before.observed_data["clicked"],
        drawn=before.posterior_predictive["clicked"],
    )
    program = [PYTHON, "-c", textwrap.dedent(PROGRAM), for_arviz.__file__, tmp_path / "draws.npz"]
    done = subprocess.run(program, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["version"].startswith("1.")
    groups = ["posterior", "sample_stats", "log_likelihood", "posterior_predictive", "observed_data"]
    assert said["groups"] == groups and said["rows"] == 200
    assert said["parameters"] == [f"theta[{name}]" for name in fit.names]
    np.testing.assert_allclose(said["mean"], fit.summary()["mean"], rtol=1e-9)
    loo = arviz.loo(before)
    # ArviZ 1 divides the variance by one row less.
    np.testing.assert_allclose([said["elpd"], said["se"] * np.sqrt(199 / 200)], [loo.elpd_loo, loo.se], rtol=1e-5)
    ours = fit.loo(rows=200)
    np.testing.assert_allclose(said["terms"], ours.sample["elpd"], rtol=1e-5)
    # Tails are of other lengths: ArviZ 1 rounds down; flymc, R's loo and ArviZ before 1 round up.
    np.testing.assert_allclose(said["pareto_k"], ours.pareto_k, atol=0.1)


def test_the_other_arviz_is_below_1():
    """This environment has the ArviZ with InferenceData, so that both are tested."""
    assert arviz.__version__.startswith("0.")
