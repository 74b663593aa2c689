"""Plots of a fit's draws by ArviZ. By default they show a few parameters that need attention most."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from .columns import did_you_mean
from .for_arviz import plot

_SLOW, _FAR = 4, 40  # how many parameters are drawn by default


def _effective_draws(parameter: Mapping[str, Any]) -> float:
    return min(parameter["ess_bulk"] or 0.0, parameter["ess_tail"] or 0.0)  # null: not known


def _nearness_to_zero(parameter: Mapping[str, Any]) -> float:
    return -abs(parameter["median"] or 0.0) / (parameter["sd"] or 1.0)


class Plots:
    """The plots of a fit. They return the result of ArviZ's function and pass other arguments to it."""

    def _named_array(self, reference_class: Any) -> tuple[list[str], np.ndarray]:
        """Returns the names of the parameters, and their draws as (chain, draw, parameter)."""
        raise NotImplementedError

    def _parameters(self, reference_class: Any) -> list[dict[str, Any]]:
        """Returns the summary of each parameter."""
        raise NotImplementedError

    def plot_trace(self, names: Sequence[str] | None = None, *, reference_class: Any = None, **arviz: Any) -> Any:
        """Draws in their order, by chain: `arviz.plot_trace` of these parameters.

        Without `names` they are the four with the fewest effective draws, the worst first. For a softmax they are
        differences from `reference_class`, as in `summary`.
        """
        return _drawn(self, "trace", names, (_SLOW, _effective_draws), reference_class, arviz)

    def plot_rank(self, names: Sequence[str] | None = None, *, reference_class: Any = None, **arviz: Any) -> Any:
        """Ranks of each chain's draws among all: `arviz.plot_rank`, of the parameters that `plot_trace` draws.

        Where chains agree, the ranks of each are uniform.
        """
        return _drawn(self, "rank", names, (_SLOW, _effective_draws), reference_class, arviz)

    def plot_pair(self, names: Sequence[str] | None = None, *, reference_class: Any = None, **arviz: Any) -> Any:
        """Draws of each pair of parameters against each other: `arviz.plot_pair`, of the parameters that `plot_trace`
        draws."""
        return _drawn(self, "pair", names, (_SLOW, _effective_draws), reference_class, arviz)

    def plot_forest(self, names: Sequence[str] | None = None, *, reference_class: Any = None, **arviz: Any) -> Any:
        """Intervals below each other: `arviz.plot_forest` of these parameters, with the draws of all chains together.

        Without `names`, at most 40 parameters are shown: those that lie the most posterior standard deviations from 0,
        in the order of the summary.
        """
        arviz = {"combined": True, **arviz}
        return _drawn(self, "forest", names, (_FAR, _nearness_to_zero), reference_class, arviz)


def _drawn(
    fit: Plots,
    kind: str,
    names: Sequence[str] | None,
    of_many: tuple[int, Callable[[Mapping[str, Any]], float]],
    reference_class: Any,
    arviz: Mapping[str, Any],
) -> Any:
    known, draws = fit._named_array(reference_class)
    if names is None:
        most, order = of_many
        worst = sorted(fit._parameters(reference_class), key=order)[:most]
        names = [p["name"] for p in worst]
        if order is _nearness_to_zero:
            names = [name for name in known if name in names]
    names = [names] if isinstance(names, str) else list(names)
    for name in names:
        if name not in known:
            raise _core.InputError(f"names: there is no parameter '{name}'{did_you_mean(str(name), known)}")
    return plot(kind, draws[..., [known.index(name) for name in names]], names, arviz)
