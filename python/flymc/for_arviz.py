"""Draws as ArviZ takes them: an InferenceData before ArviZ 1, a DataTree of the same groups since; and plots of them.

It uses arrays only, no runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_NEEDED = "this needs ArviZ, which is not installed: pip install arviz"
_NEEDED_TO_DRAW = "this needs matplotlib, which is not installed: pip install matplotlib"


@dataclass
class LogLikelihood:
    """Log likelihoods of some rows of a table under each draw, (chain, draw, row), with observed and drawn targets."""

    target: str
    rows: np.ndarray
    values: np.ndarray
    all_rows: int
    observed: np.ndarray | None = None
    replicated: np.ndarray | None = None


@dataclass
class Effects:
    """Draws of the effects of a factor's groups, (chain, draw, group, effect)."""

    term: str  # as in the formula: 1 + age | hospital
    factor: str
    groups: Sequence[str]
    effects: Sequence[str]
    draws: np.ndarray  # the numbers of the draws that are kept
    values: np.ndarray


def inference_data(
    posterior: Mapping[str, np.ndarray],
    names: Sequence[str],
    statistics: Mapping[str, np.ndarray],
    log_likelihood: LogLikelihood | None,
    version: str,
    effects: Sequence[Effects] = (),
) -> Any:
    """Returns variables of the posterior, (chain, draw, coefficient) each, statistics of the sampler, the input of
    `loo`, and the effects of groups."""
    try:
        import arviz  # noqa: F401
        import xarray
    except ImportError as error:
        raise ImportError(_NEEDED) from error

    chains, draws, _ = next(iter(posterior.values())).shape
    coordinates = {"chain": np.arange(chains), "draw": np.arange(draws)}
    attributes = {"inference_library": "flymc", "inference_library_version": version}

    def dataset(variables: dict[str, Any], /, **extra: Any) -> Any:
        return xarray.Dataset(variables, coords={**coordinates, **extra}, attrs=attributes)

    groups = {
        "posterior": dataset(
            {name: (("chain", "draw", "coefficient"), values) for name, values in posterior.items()},
            coefficient=list(names),
        ),
        "sample_stats": dataset({name: (("chain", "draw"), values) for name, values in statistics.items()}),
    }
    if effects:
        variables, of_effects = _effect_variables(effects)
        if len(effects[0].draws) == draws:
            groups["posterior"] = groups["posterior"].assign_coords(of_effects).assign(variables)
        else:
            # One group has one coordinate of draws. ArviZ's functions take the group's name, and xarray aligns the two.
            groups["effects"] = dataset(variables, **of_effects, draw=effects[0].draws)
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
    return _in_groups(groups)


def _effect_variables(effects: Sequence[Effects]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns a variable for each term, and the coordinates of its dimensions: the groups, and a group's effects."""
    variables: dict[str, Any] = {}
    coordinates: dict[str, Any] = {}

    def dimension(name: str, labels: Sequence[str]) -> str:
        while name in ("chain", "draw", "coefficient", "row", "theta") or coordinates.get(name, labels) != labels:
            name += "_"
        coordinates[name] = labels
        return name

    for own in effects:
        of_group = dimension(own.factor, list(own.groups))
        if len(own.effects) == 1:
            variables[own.term] = (("chain", "draw", of_group), own.values[..., 0])
        else:
            dimensions = ("chain", "draw", of_group, dimension(f"{own.factor}_effect", list(own.effects)))
            variables[own.term] = (dimensions, own.values)
    return variables, coordinates


def plot(kind: str, theta: np.ndarray, names: Sequence[str], settings: Mapping[str, Any]) -> Any:
    """Draws these parameters, (chain, draw, parameter), by `arviz.plot_` of that kind, and returns its result."""
    try:
        import arviz
        import xarray
    except ImportError as error:
        raise ImportError(_NEEDED) from error
    if settings.get("backend") in (None, "matplotlib"):
        try:
            import matplotlib  # noqa: F401
        except ImportError as error:
            raise ImportError(_NEEDED_TO_DRAW) from error
    # One variable per parameter, so that its label is its name.
    draws = {name: (("chain", "draw"), theta[..., i]) for i, name in enumerate(names)}
    coordinates = {"chain": np.arange(theta.shape[0]), "draw": np.arange(theta.shape[1])}
    data = _in_groups({"posterior": xarray.Dataset(draws, coords=coordinates)})
    if _is_before_1(arviz):  # its own layout has overlapping titles, and an inch per line of a forest
        if kind == "trace":
            settings = {"backend_kwargs": {"layout": "constrained"}, **settings}
        if kind == "forest":
            settings = {"figsize": (7, 1 + 0.3 * len(names)), "textsize": 10, **settings}
    return getattr(arviz, f"plot_{kind}")(data, **settings)


def _in_groups(groups: dict[str, Any]) -> Any:
    import arviz
    import xarray

    return arviz.InferenceData(**groups) if _is_before_1(arviz) else xarray.DataTree.from_dict(groups)


def _is_before_1(arviz: Any) -> bool:
    # ArviZ 1 also provides the name, for DataTree and with a warning, but not in its `vars`.
    return "InferenceData" in vars(arviz)
