"""The groups of a run's model, such as those of `(1 + age | hospital)`: effects, coefficients, variances, and plots."""

from __future__ import annotations

import json
import pathlib
import tempfile
import warnings
from typing import Any

import numpy as np
import pyarrow as pa

from . import _core
from .for_arviz import Effects
from .group_plots import draw_intervals, draw_pulls

MOST_NUMBERS = 2**26  # of draws of effects that `to_arviz` has by default: a quarter of a gibibyte


class Groups:
    """The groups of a fit. A base class of `Fit`. See docs/groups.md."""

    _report: dict[str, Any]

    @property
    def _run(self) -> _core.Run:
        raise NotImplementedError

    @property
    def _has_groups(self) -> bool:
        return any(parameter["kind"] == "sd" for parameter in self._report["parameters"])

    def group_effects(self, factor: str | None = None, interval: float = 0.9) -> pa.Table:
        """The effects of single groups, such as those of `(1 + age | hospital)`: a row for each effect of each group.

        An effect is the difference of a group from an average one. The columns are `factor`, `group`, `effect`, `mean`,
        `sd`, `median`, `lower`, `upper`, `mcse_mean`, `ess_bulk`, `ess_tail` and `r_hat`. With `factor` they are those of
        its groups alone.
        """
        return self._group_table(factor, interval, coefficients=False)

    def group_coefficients(self, factor: str | None = None, interval: float = 0.9) -> pa.Table:
        """Each group's own coefficients: the average group's coefficient plus the effect of the group, draw by draw.

        The columns are those of `group_effects`; `effect` is the name of the coefficient.
        """
        return self._group_table(factor, interval, coefficients=True)

    def _group_table(self, factor: str | None, interval: float, coefficients: bool) -> pa.Table:
        from pyarrow import parquet

        with tempfile.TemporaryDirectory(prefix="flymc-") as folder:
            out = pathlib.Path(folder) / "effects.parquet"
            self._run.write_group_effects(str(out), factor or "", float(interval), coefficients)
            return parquet.read_table(out)

    def variance_components(self, interval: float = 0.9) -> Any:
        """How much groups differ: a data frame with a row for each number of the covariance of their effects.

        `kind` is `sd`, `var` (variance), `cor`, `cov` (covariance) or `icc`, the intraclass correlation of a factor: the share of its
        intercepts in the variance of a row whose columns of slopes are 0. The residual variance in it is sigma^2, or that
        of the latent number behind the target (logistic: pi^2 / 3, probit: 1). `attrs["remark"]` says which it is, or why
        there is no `icc`, as for a Poisson regression.
        """
        import pandas

        found = json.loads(self._run.variance_components(float(interval)))
        index = pandas.Index([own.pop("name") for own in found["components"]], name="component")
        frame = pandas.DataFrame(found["components"], index=index).drop(columns="effects")
        numbers = frame.columns.drop(["kind", "factor"])
        frame[numbers] = frame[numbers].astype(float)
        frame.attrs["remark"] = found["remark"]
        return frame

    def plot_groups(self, factor: str | None = None, *, interval: float = 0.9, most: int = 40) -> list[Any]:
        """Draws the effects of groups in their order, with 50 % and wider intervals: a caterpillar plot.

        If there are more than `most` groups, a quarter of the lines are those with the smallest effects, a quarter those
        with the largest, and the others are spread evenly; the title says so. Returns the axes: one for each effect of
        each factor, or of this factor.
        """
        return [draw_intervals(picture, interval) for picture in self._pictures(factor, interval, most)]

    def plot_pull(self, factor: str | None = None) -> list[Any]:
        """Draws by how much each group's effect is pulled to the average group, against its number of rows.

        The pull is the square of (posterior standard deviation of the effect / standard deviation among groups): 0 if the
        effect is that of the group's rows alone, and 1 if it is that of an average group. This is exact for
        normal targets with known scales, and an approximation otherwise. If there are more than 1000 groups, 1000 of them are drawn. Returns the axes, as `plot_groups`.
        """
        return [draw_pulls(picture) for picture in self._pictures(factor, 0.9, 1)]

    def _pictures(self, factor: str | None, interval: float, most: int) -> list[dict[str, Any]]:
        if most < 1:
            raise _core.InputError(f"most: give a number of groups above 0, not {most}")
        return json.loads(self._run.group_pictures(factor or "", float(interval), int(most)))

    def _effects(self, asked: bool | None) -> list[Effects]:
        """Returns the draws of all effects, for `to_arviz`. None: unless they are too many."""
        if asked is False or not self._has_groups:
            return []
        path = pathlib.Path(self._run.path) / "effects.arrow"
        kept = self._report["groups"]["effects"] if "groups" in self._report else {"all": 0, "draws": 0}
        if asked is None and kept["all"] * kept["draws"] > MOST_NUMBERS:
            warnings.warn(
                f"the effects of groups are left out: {kept['draws']} draws of {kept['all']} effects take "
                f"{kept['all'] * kept['draws'] * 4 / 2**30:.2g} GiB; effects=True includes them",
                stacklevel=3,
            )
            return []
        try:
            terms = self._run.group_names()
        except _core.InputError as error:  # its rows, which name the groups, or its effects were removed
            if asked:
                raise
            warnings.warn(f"the effects of groups are left out: {error}", stacklevel=3)
            return []
        with pa.memory_map(str(path)) as file:
            table = pa.ipc.open_file(file).read_all()
            chains = len(self._report["chains"])
            draws = table["draw"].to_numpy().reshape(chains, -1)[0]
            out = []
            for term, factor, effects, groups in terms:
                numbers = np.concatenate([chunk.flatten().to_numpy() for chunk in table[term].chunks])
                shape = (chains, len(draws), len(groups), len(effects))
                out.append(Effects(term, factor, groups, effects, draws, numbers.reshape(shape)))
        return out
