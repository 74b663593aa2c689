"""What `flymc plan` says beforehand, and what the fit then takes: passes, which depend on neither machine nor mood."""
import json

import pytest
from command import flymc, people, write


# By regular MCMC; by Newton's method on all rows; by a subsample.
@pytest.mark.parametrize("rows, chosen", [(600, "regular MCMC"), (20_000, "sharp bound"), (150_000, "sharp bound")])
def test_passes_are_those_of_the_fit(rows, chosen, tmp_path):
    words = [write(people(rows), tmp_path / "t.parquet"), "--target", "y", "--json"]
    plan = json.loads(flymc("plan", *words, folder=tmp_path))
    fit = json.loads(flymc("fit", *words, "--out", "run", "--quiet", folder=tmp_path))
    assert plan["rows"] == fit["rows"] == rows and plan["rows_are_exact"]
    assert plan["coefficients"] == len(fit["parameters"])
    assert fit["choices"].startswith(plan["choices"]) and plan["choices"].startswith(chosen)
    setup = fit["anchor_queries"] + fit["bound_queries"] + sum(c["start_queries"] for c in fit["chains"])
    assert 0.5 < plan["setup_passes"] / (setup / rows) < 2.0
    # A query in every fourth iteration is planned as one in each.
    sampling = sum(c["warmup_queries"] + c["sampling_queries"] for c in fit["chains"])
    assert 0.5 < plan["sampling_passes"] / (sampling / rows) < (2.0 if chosen == "regular MCMC" else 10.0)
