"""A hurdle: two fits of one target, one of whether a count is more than 0, one of how large it is if so."""

from __future__ import annotations

import os
import pathlib
import tempfile
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
import pyarrow as pa

from . import _core, folders
from .auditing import Audit
from .checking import Check
from .fits import Fit, load_run
from .folders import Folder
from .for_arviz import LogLikelihood, inference_data
from .formulas import Design
from .posterior import STATISTICS
from .study import Study
from .watching import watch


class HurdleFit(Study):
    """Both fits of a hurdle. Made by `fit` with `family="hurdle_poisson"`, by `load` and by `resume`.

    The posteriors of the parts are independent, so a draw of one and a draw of the other are together a draw of both.
    The methods of this class are about both parts together; each part is a Fit with all methods of a Fit. Names of
    parameters have the part in front: `zero_x1` and `count_x1`.

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

    @property
    def _parts(self) -> dict[str, Fit]:
        return {"zero": self.zero, "count": self.count}

    @property
    def _runs(self) -> list[_core.Run]:
        return [fit._run for fit in self._parts.values()]

    @property
    def _design(self) -> Design | None:
        return self.zero._design

    def __repr__(self) -> str:
        return "\n".join(f"{fit._run.heading}\n{fit!r}" for fit in self._parts.values())

    def _repr_html_(self) -> str:
        from html import escape

        return "".join(f"<p>{escape(fit._run.heading)}</p>{fit._repr_html_()}" for fit in self._parts.values())

    def __reduce__(self) -> tuple[Any, ...]:
        if not self._is_temporary():
            return HurdleFit, (self.zero, self.count)
        with tempfile.TemporaryDirectory(prefix="flymc-") as folder:
            self.save(pathlib.Path(folder) / "run")
            return _of_files, (folders.packed(pathlib.Path(folder) / "run"),)

    def _is_temporary(self) -> bool:
        return any(fit._is_temporary() for fit in self._parts.values())

    @property
    def path(self) -> pathlib.Path:
        """The folder of both runs."""
        return self.zero.path.parent

    @property
    def settings(self) -> dict[str, list[str]]:
        """The settings of the part `zero`. Those of `count` differ in the family and the seed."""
        return self.zero.settings

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return self.zero.rows

    @property
    def names(self) -> list[str]:
        """The names of the parameters of both parts, with the part in front: `zero_x1`."""
        return [_name(part, name) for part, fit in self._parts.items() for name in fit.names]

    @property
    def report(self) -> dict[str, Any]:
        """The reports of both parts (`Fit.report`) by part, as `flymc summary --json` prints them."""
        return {part: fit.report for part, fit in self._parts.items()}

    @cached_property
    def draws(self) -> pa.Table:
        """The draws of both parts side by side, one row each: `chain`, `draw`, and the parameters by name.

        If one part has more draws than the other, evenly spaced ones of it are taken.
        """
        names, numbers = self._named_array(None)
        chains, draws, _ = numbers.shape
        places = {"chain": np.repeat(np.arange(chains), draws), "draw": np.tile(np.arange(draws), chains)}
        return pa.table(places | {name: numbers[..., i].ravel() for i, name in enumerate(names)})

    def array(self) -> np.ndarray:
        """The draws of both parts as (chain, draw, parameter)."""
        return self._named_array(None)[1]

    def _named_array(self, reference_class: Any) -> tuple[list[str], np.ndarray]:
        arrays = self._side_by_side(lambda fit: fit.array(reference_class))
        return self.names, np.concatenate(list(arrays.values()), axis=-1)

    def _parameters(self, reference_class: Any) -> list[dict[str, Any]]:
        return [
            {**parameter, "name": _name(part, parameter["name"])}
            for part, fit in self._parts.items()
            for parameter in fit._parameters(reference_class)
        ]

    def _side_by_side(self, take: Callable[[Fit], np.ndarray]) -> dict[str, np.ndarray]:
        """Returns (chain, draw, ...) of each part, with as many chains and draws as both have."""
        found = {part: take(fit) for part, fit in self._parts.items()}
        chains, draws = (min(numbers.shape[i] for numbers in found.values()) for i in (0, 1))
        return {
            part: numbers[:chains, np.arange(draws) * numbers.shape[1] // draws] for part, numbers in found.items()
        }

    def summary(self, interval: float = 0.9, *, ratios: bool = False) -> Any:
        """The summaries of both parts (`Fit.summary`), one below the other, by `part` and `parameter`.

        With `ratios`, the columns have the names of both: `odds_ratio` of being more than 0, `rate_ratio` of the counts.
        """
        return self._below(lambda fit: fit.summary(interval, ratios=ratios))

    def laplace_check(self) -> Any:
        """`Fit.laplace_check` of both parts, one below the other."""
        return self._below(Fit.laplace_check)

    def laplace(self) -> Any:
        """`Fit.laplace` of both parts, one below the other."""
        return self._below(Fit.laplace)

    def _below(self, frame_of: Callable[[Fit], Any]) -> Any:
        import pandas

        return pandas.concat({part: frame_of(fit) for part, fit in self._parts.items()}, names=["part"])

    def log_likelihood(self, rows: Sequence[int]) -> np.ndarray:
        """The log likelihood of some rows under each draw of both parts: a row per draw, as `draws` has them.

        It is the sum over the parts that a row is in. `rows` are numbers of the rows that were fitted, from 0, as in
        `Fit.log_likelihood` of `zero`.
        """
        of_rows = self._log_likelihood(rows)
        return of_rows.reshape(-1, of_rows.shape[-1])

    def _log_likelihood(self, rows: Sequence[int]) -> np.ndarray:
        rows = [int(row) for row in rows]
        ((places, counted),) = _core.rows_of_parts(self._runs, rows)
        asked = {"zero": rows, "count": counted}
        found = self._side_by_side(
            lambda fit: fit.log_likelihood(asked[fit._run.part]).reshape(*fit.array().shape[:2], -1)
        )
        total = found["zero"].copy()
        total[..., places] += found["count"]
        return total

    def origins(self, rows: Sequence[int] | np.ndarray) -> Any:
        """Where rows of the table (from 0, as `zero` has them) came from: `Fit.origins` of `zero`."""
        return self.zero.origins(rows)

    def to_arviz(self, log_likelihood_rows: int | None = None, seed: int = 0) -> Any:
        """For ArviZ: an InferenceData before ArviZ 1, a DataTree of the same groups since.

        The posterior is `zero(chain, draw, coefficient)` and `count(chain, draw, coefficient)`. `log_likelihood` has
        the sums over both parts for a random sample of at most `log_likelihood_rows` rows, which `Fit.to_arviz`
        describes; 0 leaves it out. It has no effects of groups; `zero.to_arviz()` and
        `count.to_arviz()` have them. Statistics of
        the sampler have the part in front, except `lp`, which is the sum. There are no predictive groups: a row with
        a count of 0 has no exposure in the run, so no count can be drawn for it.
        """
        posterior = self._side_by_side(Fit.array)
        statistics = {
            _name(part, name): values
            for name in STATISTICS
            for part, values in self._side_by_side(partial(Fit._statistic, name=name)).items()
        }
        statistics["lp"] = statistics.pop("zero_lp") + statistics.pop("count_lp")
        likelihood = None
        log_likelihood_rows = self.zero._rows_of_likelihood(log_likelihood_rows)
        if log_likelihood_rows > 0:
            all_rows, rows = self.zero._run.sample_rows(log_likelihood_rows, seed)
            target = self.settings["target"][0]
            likelihood = LogLikelihood(target, np.asarray(rows), self._log_likelihood(rows), all_rows)
        return inference_data(posterior, self.zero.names, statistics, likelihood, _core.version)

    def check(self, rows: int = 10_000, draws: int = 500, seed: int = 0) -> dict[str, Check]:
        """Predictive checks of each part: `Fit.check` of `zero` and of `count`."""
        return {part: fit.check(rows, draws, seed) for part, fit in self._parts.items()}

    def audit(self, draws: int | None = None, steps: int = 1, seed: int = 0) -> dict[str, Audit]:
        """Tests the draws of each part: `Fit.audit` of `zero` and of `count`."""
        return {part: fit.audit(draws, steps, seed) for part, fit in self._parts.items()}

    @classmethod
    def _of_runs(cls, runs: Sequence[_core.Run], keeps: Sequence[Any]) -> Self:
        zero, count = (Fit(run, keeps) for run in runs)
        return cls(zero, count)

    def _finished(self, runs: Sequence[_core.Run], keeps: Sequence[Any], progress: bool) -> HurdleFit:
        return complete(runs, keeps, progress)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Copies both runs to a folder, for `flymc.load` and for the command."""
        for part, fit in self._parts.items():
            fit.save(pathlib.Path(path) / part)

    def write_report(self, out: str | os.PathLike[str] | None = None, interval: float = 0.9) -> list[pathlib.Path]:
        """Writes a page for each part, as `Fit.write_report` does, and returns their paths.

        `out="visits.html"` makes `visits_zero.html` and `visits_count.html`. Without it the pages are in the folders of
        the parts.
        """
        return [
            fit.write_report(None if out is None else _file_of(part, out), interval) for part, fit in self._parts.items()
        ]

    def export(self, out: str | os.PathLike[str]) -> list[str]:
        """Writes the draws of each part, as `Fit.export` does. Returns the files' names.

        `out="draws.nc"` makes `draws_zero.nc` and `draws_count.nc`.
        """
        return [file for part, fit in self._parts.items() for file in fit.export(_file_of(part, out))]


def _name(part: str, parameter: str) -> str:
    return f"{part}_{parameter}"


def _file_of(part: str, out: str | os.PathLike[str]) -> str:
    """Returns the file for a part's share of what is written as `out`, as the command names it."""
    base, ending = os.path.splitext(os.fspath(out))
    return f"{base}_{part}{ending}"


def complete(runs: Sequence[_core.Run], keeps: Sequence[Any], progress: bool) -> HurdleFit:
    """Runs both parts to their ends. If Ctrl-C stops them, temporary runs are removed; runs in a folder of their own
    wait for `flymc.resume`."""
    for run in runs:
        if not watch(run, progress):
            raise KeyboardInterrupt
    return HurdleFit._of_runs(runs, keeps)


def load_parts(runs: Sequence[_core.Run]) -> HurdleFit:
    """Opens finished runs of both parts."""
    zero, count = (load_run(run.path) for run in runs)
    return HurdleFit(zero, count)


def _of_files(files: dict[str, bytes]) -> HurdleFit:
    """Returns the fit of a pickle that contains all files of its runs."""
    folder = Folder()
    folders.unpack(files, folder.path / "run")
    return HurdleFit._of_runs(_core.open_study(str(folder.path / "run")), [folder])
