"""Leave-one-out cross-validation of fits, from a sample of rows, and the comparison of fits on the same rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from . import _core, tables

if TYPE_CHECKING:
    import pandas

    from .fits import Fit
    from .hurdles import HurdleFit


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


@dataclass(frozen=True, repr=False)
class Comparison:
    """Fits by how well they predict, the best first. It prints as a table. Made by `compare`."""

    table: pandas.DataFrame
    """A row per fit: `elpd_diff` from the best, its `se_diff` and `subsampling_se_diff`; `elpd`, `se`, `p_loo`."""
    rows: int
    """How many rows are compared: those that all fits have."""
    sampled: int
    """How many of them were sampled."""
    table_rows: int
    """How many rows the table has, those that fits have dropped counted."""

    def __repr__(self) -> str:
        return (
            f"{self.table.round(2).to_string()}\n"
            f"on {self.rows} rows that all fits have, of {self.table_rows} in the table; {self.sampled} sampled"
        )


def loo(fit: Fit | HurdleFit, rows: int = 1000, seed: int = 0) -> Loo:
    import pandas

    of = _of({"": fit}, rows, seed)
    (run,) = of.runs
    sample = pandas.DataFrame({"row": run.rows})
    try:
        sample = sample.join(_parts(fit)[0].origins(run.rows))
    except _core.InputError:  # a run of an earlier version did not keep origins
        pass
    sample = sample.assign(elpd=run.terms, pareto_k=run.pareto_k)
    elpd = run.elpd
    return Loo(elpd.value, elpd.se, elpd.subsampling_se, run.p_loo, of.rows, run.good_k, sample)


def compare(fits: Mapping[str, Fit | HurdleFit], rows: int = 1000, seed: int = 0) -> Comparison:
    """Compares fits of one table by leave-one-out cross-validation, on the same rows.

    Args:
        fits: The fits by name, two or more: of one target, with one weight per row. They may have other columns,
            families and priors, and may have dropped other rows: they are compared on the rows that all of them have.
        rows: How many of these rows are sampled. Proxies are computed for all rows; see `Fit.loo`. seed: The seed of
        the sample.

    `elpd_diff` is how much worse than the best a fit predicts the table. `se_diff` is its standard error, from the
    differences row by row, so rows that are hard for both fits do not increase it. `subsampling_se_diff` is the
    additional standard error from sampling rows. As a rule of thumb, a difference below 4, or below two standard
    errors, is no reason to prefer a fit.

    >>> data = "examples/data/loans.csv"
    >>> small, large = (flymc.fit(f"defaulted ~ {x}", data, progress=False) for x in ("age", "age + income"))
    >>> found = flymc.compare({"age": small, "age and income": large})
    >>> list(found.table.index), bool((found.table["elpd_diff"] <= 0).all())
    (['age and income', 'age'], True)
    """
    from .fits import Fit
    from .hurdles import HurdleFit

    if not isinstance(fits, Mapping) or not all(isinstance(fit, Fit | HurdleFit) for fit in fits.values()):
        raise TypeError('compare: give a dictionary of fits by name, flymc.compare({"small": one, "large": other})')
    if len(fits) < 2:
        raise ValueError(f"compare: {len(fits)} fit; give two or more, or ask one for its own with Fit.loo()")
    import pandas

    of = _of(fits, rows, seed)
    found = [
        {
            "elpd_diff": run.difference.value,
            "se_diff": run.difference.se,
            "subsampling_se_diff": run.difference.subsampling_se,
            "elpd": run.elpd.value,
            "se": run.elpd.se,
            "p_loo": run.p_loo,
        }
        for run in of.runs
    ]
    table = pandas.DataFrame(found, index=pandas.Index([str(name) for name in fits], name="fit"))
    return Comparison(table.iloc[of.ranks], of.rows, len(of.runs[0].rows), of.table_rows)


def _parts(fit: Fit | HurdleFit) -> list[Fit]:
    """Returns both parts of a hurdle, or else the fit itself."""
    from .fits import Fit

    return [fit] if isinstance(fit, Fit) else [fit.zero, fit.count]


def _of(fits: Mapping[str, Fit | HurdleFit], rows: int, seed: int) -> _core.LeaveOneOut:
    runs = [[part._run for part in _parts(fit)] for fit in fits.values()]
    with tables.named([file for fit in fits.values() for file in _parts(fit)[0].settings["table"]]):
        of = _core.leave_one_out([str(name) for name in fits], runs, rows, seed)
    for reason in of.warnings:
        warnings.warn(reason, stacklevel=4)
    return of
