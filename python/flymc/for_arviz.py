"""Draws as ArviZ takes them: an InferenceData before ArviZ 1, a DataTree of the same groups since. Knows of no run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_NEEDED = "this needs ArviZ, which is not installed: pip install arviz"


@dataclass
class LogLikelihood:
    """Of some rows of a table, under each draw: (chain, draw, row). And their targets, with those that each draw gives."""

    target: str
    rows: np.ndarray
    values: np.ndarray
    all_rows: int
    observed: np.ndarray | None = None
    replicated: np.ndarray | None = None


def inference_data(
    theta: np.ndarray,
    names: Sequence[str],
    statistics: Mapping[str, np.ndarray],
    log_likelihood: LogLikelihood | None,
    version: str,
) -> Any:
    """The draws of coefficients (chain, draw, coefficient), what belongs to the sampler, and what `loo` needs."""
    try:
        import arviz
        import xarray
    except ImportError as error:
        raise ImportError(_NEEDED) from error

    coordinates = {"chain": np.arange(theta.shape[0]), "draw": np.arange(theta.shape[1])}
    attributes = {"inference_library": "flymc", "inference_library_version": version}

    def dataset(variables: dict[str, Any], **extra: Any) -> Any:
        return xarray.Dataset(variables, coords={**coordinates, **extra}, attrs=attributes)

    groups = {
        "posterior": dataset({"theta": (("chain", "draw", "coefficient"), theta)}, coefficient=list(names)),
        "sample_stats": dataset({name: (("chain", "draw"), values) for name, values in statistics.items()}),
    }
    if (of := log_likelihood) is not None:

        def of_rows(values: np.ndarray) -> Any:
            group = dataset({of.target: (("chain", "draw", "row"), values)}, row=of.rows)
            group.attrs |= {"rows": of.all_rows, "sampled_rows": len(of.rows)}
            return group

        groups["log_likelihood"] = of_rows(of.values)
        if len(of.rows) < of.all_rows:
            groups["log_likelihood"].attrs["sample"] = (
                f"a random {len(of.rows)} of {of.all_rows} rows: what is summed over them, as elpd_loo, estimates "
                f"the table's after multiplication by {of.all_rows / len(of.rows):.6g}; Fit.loo() does better"
            )
        if of.observed is not None and of.replicated is not None:
            groups["posterior_predictive"] = of_rows(of.replicated)
            observed = xarray.Dataset({of.target: (("row",), of.observed)}, coords={"row": of.rows})
            groups["observed_data"] = observed.assign_attrs(groups["posterior_predictive"].attrs)
    # ArviZ 1 has the name too, for DataTree and with a warning, but not among its own.
    if "InferenceData" in vars(arviz):
        return arviz.InferenceData(**groups)
    return xarray.DataTree.from_dict(groups)
