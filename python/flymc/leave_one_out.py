"""Leave-one-out cross-validation of runs, from a sample of rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from . import _core, tables

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False)
class Loo:
    """How well a fit predicts rows that it has not seen: the sum over the table of log p(row | all other rows).

    It prints as a short table. Made by `Fit.loo`.
    """

    elpd: float
    """The sum itself, of all rows of the table: the larger, the better."""
    se: float
    """Its standard error, by how different rows are: of another table of as many rows from the same source."""
    subsampling_se: float
    """What is not known of the sum for this table because only some rows were sampled; 0 if all were."""
    p_loo: float
    """The effective number of coefficients: how much better rows are predicted that have been seen."""
    rows: int
    """How many rows the sum is of: those of the fit, without those of weight 0."""
    good_k: float
    """The Pareto k up to which as many draws can tell what leaving a row out says."""
    sample: pandas.DataFrame
    """The sampled rows: `row`, `file`, `file_row`, its part `elpd` of the sum, and `pareto_k`."""

    @property
    def pareto_k(self) -> np.ndarray:
        """The Pareto k of each sampled row. Above `good_k`, the term of a row cannot be trusted, because the row moves
        the posterior too much."""
        return self.sample["pareto_k"].to_numpy()

    def __repr__(self) -> str:
        bad = int((self.pareto_k > self.good_k).sum())
        return (
            f"elpd_loo {self.elpd:.1f}, standard error {self.se:.1f}, of the subsample {self.subsampling_se:.2g}\n"
            f"p_loo    {self.p_loo:.1f}\n"
            f"{len(self.sample)} of {self.rows} rows sampled; "
            f"Pareto k above {self.good_k:.2f}: {bad if bad else 'none'}"
        )


def loo_of(
    runs: list[_core.Run],
    table: Sequence[str],
    origins: Callable[[Sequence[int]], pandas.DataFrame],
    rows: int,
    seed: int,
) -> Loo:
    """Leave-one-out of the runs of a study. `origins` gives the places of its rows."""
    import pandas

    of = estimates({"": runs}, table, rows, seed)
    (run,) = of.runs
    sample = pandas.DataFrame({"row": run.rows})
    try:
        sample = sample.join(origins(run.rows))
    except _core.InputError:  # a run of an earlier version did not keep origins
        pass
    sample = sample.assign(elpd=run.terms, pareto_k=run.pareto_k)
    elpd = run.elpd
    return Loo(elpd.value, elpd.se, elpd.subsampling_se, run.p_loo, of.rows, run.good_k, sample)


def estimates(runs: Mapping[str, list[_core.Run]], table: Sequence[str], rows: int, seed: int) -> _core.LeaveOneOut:
    """Leave-one-out of studies by name, each of them the runs that it has; `table` are the files of all."""
    with tables.named(list(table)):
        of = _core.leave_one_out(list(runs), list(runs.values()), rows, seed)
    for reason in of.warnings:
        warnings.warn(reason, stacklevel=4)
    return of
