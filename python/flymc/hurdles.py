"""A hurdle: two fits of one target, one of whether a count is more than 0, one of how large it is if so."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Sequence
from functools import partial
from typing import Any

from . import _core, leave_one_out
from .auditing import Audit
from .fits import Fit, load_run
from .leave_one_out import Loo
from .watching import watch


class HurdleFit:
    """Both fits of a hurdle. Made by `fit` with `family="hurdle_poisson"`, by `load` and by `resume`.

    The posteriors of the parts are independent, so a draw of one and a draw of the other are together a draw of both.
    The methods of this class are about both parts together; each part is a Fit with all methods of a Fit.

    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=5000)
    >>> y = rng.poisson(np.exp(0.5 + 0.3 * x)) * (rng.random(5000) < 0.6)
    >>> fit = flymc.fit(None, (x[:, None], y), family="hurdle_poisson", progress=False)
    >>> list(fit.summary().index)
    [('zero', 'intercept'), ('zero', 'x1'), ('count', 'intercept'), ('count', 'x1')]
    """

    def __init__(self, zero: Fit, count: Fit):
        self.zero = zero
        """Whether the target is more than 0: a logistic regression of all rows."""
        self.count = count
        """How large it is where it is: a Poisson regression that is truncated at 0, of the rows where it is."""

    def __repr__(self) -> str:
        target = self.zero.settings["target"][0]
        return (
            f"zero: whether {target} is more than 0 ({self.zero.settings['family'][0]})\n{self.zero!r}\n"
            f"count: {target} where it is more than 0 ({self.count.settings['family'][0]})\n{self.count!r}"
        )

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return self.zero.rows

    def summary(self, interval: float = 0.9, *, ratios: bool = False) -> Any:
        """The summaries of both parts (`Fit.summary`), one below the other, by `part` and `parameter`.

        With `ratios`, the columns have the names of both: `odds_ratio` of being more than 0, `rate_ratio` of the counts.
        """
        import pandas

        parts = {"zero": self.zero, "count": self.count}
        return pandas.concat({name: fit.summary(interval, ratios=ratios) for name, fit in parts.items()}, names=["part"])

    def predict(
        self,
        new: Any,
        interval: float = 0.9,
        *,
        kind: str | None = None,
        draws: int = 4000,
        threads: int = 0,
        missing: str = "error",
        delimiter: str = "",
    ) -> Any:
        """The mean count, P(more than 0) times the mean of counts above 0, and an interval for each row of a new table.

        Arguments are those of `Fit.predict`: the interval is for new counts, or with `kind="mean"` for their mean.
        """
        by = partial(self.count._run.predict_hurdle, self.zero._run)
        return self.count._predict_by(by, new, interval, kind, (), draws, threads, missing, delimiter)

    def loo(self, rows: int = 1000, seed: int = 0) -> Loo:
        """How well new rows are predicted, zeros and counts: see `Fit.loo`. The elpd of a row is the sum over both
        parts."""
        return leave_one_out.loo(self, rows, seed)

    def audit(self, draws: int | None = None, steps: int = 1, seed: int = 0) -> dict[str, Audit]:
        """Tests the draws of each part: `Fit.audit` of `zero` and of `count`."""
        return {name: fit.audit(draws, steps, seed) for name, fit in {"zero": self.zero, "count": self.count}.items()}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Copies both runs to a folder, for `flymc.load` and for the command."""
        self.zero.save(pathlib.Path(path) / "zero")
        self.count.save(pathlib.Path(path) / "count")


def complete(runs: Sequence[_core.Run], keeps: Sequence[Any], progress: bool) -> HurdleFit:
    """Runs both parts to their ends. If Ctrl-C stops them, temporary runs are removed; runs in a folder of their own
    wait for `flymc.resume`."""
    for run in runs:
        if not watch(run, progress):
            raise KeyboardInterrupt
    zero, count = (Fit(run, keeps) for run in runs)
    return HurdleFit(zero, count)


def load(path: str | os.PathLike[str]) -> HurdleFit:
    return HurdleFit(load_run(pathlib.Path(path) / "zero"), load_run(pathlib.Path(path) / "count"))


def resume(path: str | os.PathLike[str], progress: bool) -> HurdleFit:
    return complete([_core.Run(str(pathlib.Path(path) / part)) for part in ("zero", "count")], [], progress)
