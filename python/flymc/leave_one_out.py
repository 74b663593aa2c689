"""Leave-one-out cross-validation of fits, from a sample of rows, and fits compared by it on the same rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, tables
from .for_arviz import LogLikelihood, inference_data, pointwise_loo

if TYPE_CHECKING:
    import pandas

    from .fits import Fit

_NUMBERS_AT_ONCE = 4_000_000  # log likelihoods, of rows times draws


@dataclass(frozen=True, repr=False)
class Loo:
    """How well a fit predicts rows that it has not seen: the sum over the table of log p(row | all other rows).

    Printed, it is a short table. Made by `Fit.loo`.
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
        """Of the sampled rows: above `good_k`, a row moves the posterior too much for its part to be trusted."""
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
    """Fits by how well they predict, the best first. Printed, it is a table. Made by `compare`."""

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


def loo(fit: Fit, rows: int = 1000, seed: int = 0) -> Loo:
    import pandas

    of, (part,) = _parts({"": fit}, rows, seed)
    elpd, se, subsampling_se = estimate(of.rows, of.totals[0], of.squares[0, 0], of.proxies[:, 0], part.elpd)
    sample = pandas.DataFrame({"row": of.sampled[0]})
    try:
        sample = sample.join(fit.origins(of.sampled[0]))
    except _core.InputError:  # of a run of an earlier version, which did not keep them
        pass
    sample = sample.assign(elpd=part.elpd, pareto_k=part.pareto_k)
    return Loo(elpd, se, subsampling_se, part.p_loo(of.rows), of.rows, part.good_k, sample)


def compare(fits: Mapping[str, Fit], rows: int = 1000, seed: int = 0) -> Comparison:
    """Compares fits of one table by leave-one-out cross-validation, on the same rows.

    Args:
        fits: The fits by name, two or more: of one target, with one weight per row. They may have other columns,
            families and priors, and may have dropped other rows: they are compared on the rows that all of them have.
        rows: How many of these rows are sampled. All proxies are from all rows; see `Fit.loo`.
        seed: Which.

    `elpd_diff` is how much worse than the best a fit predicts the table, and `se_diff` the standard error of this
    difference, from the differences row by row: what makes a row hard for both fits is not in it. What the subsample
    adds to it is in `subsampling_se_diff`. A difference below 4, or below two standard errors, is by a rule of thumb no
    reason to prefer a fit.

    >>> data = "examples/data/loans.csv"
    >>> small, large = (flymc.fit(f"defaulted ~ {x}", data, progress=False) for x in ("age", "age + income"))
    >>> found = flymc.compare({"age": small, "age and income": large})
    >>> list(found.table.index), bool((found.table["elpd_diff"] <= 0).all())
    (['age and income', 'age'], True)
    """
    from .fits import Fit

    if not isinstance(fits, Mapping) or not all(isinstance(fit, Fit) for fit in fits.values()):
        raise TypeError('compare: give a dictionary of fits by name, flymc.compare({"small": one, "large": other})')
    if len(fits) < 2:
        raise ValueError(f"compare: {len(fits)} fit; give two or more, or ask one for its own with Fit.loo()")
    import pandas

    of, parts = _parts(fits, rows, seed)
    own = [estimate(of.rows, of.totals[i], of.squares[i, i], of.proxies[:, i], p.elpd) for i, p in enumerate(parts)]
    best = int(np.argmax([elpd for elpd, _, _ in own]))
    found = []
    for i, part in enumerate(parts):
        difference, se, subsampling_se = estimate(
            of.rows,
            of.totals[i] - of.totals[best],
            0.0 if i == best else of.squares[i, best],
            of.proxies[:, i] - of.proxies[:, best],
            part.elpd - parts[best].elpd,
        )
        found.append(
            {
                "elpd_diff": difference,
                "se_diff": se,
                "subsampling_se_diff": subsampling_se,
                "elpd": own[i][0],
                "se": own[i][1],
                "p_loo": part.p_loo(of.rows),
            }
        )
    table = pandas.DataFrame(found, index=pandas.Index([str(name) for name in fits], name="fit"))
    table = table.sort_values("elpd_diff", ascending=False, kind="stable")
    report = next(iter(fits.values())).report
    return Comparison(table, of.rows, len(parts[0].elpd), report["rows"] + report["dropped"])


def estimate(
    rows: int, total: float, squares: float, proxies: np.ndarray, exact: np.ndarray
) -> tuple[float, float, float]:
    """The difference estimator (Magnusson and others 2020): a sum over all rows, and its two standard errors.

    Given are the sum and the sum of squares of a proxy of every row, and of the sampled rows the proxies and what they
    stand for. With e the error of a proxy, N rows and m of them sampled:

        sum = sum of proxies + N mean(e)                 without bias, whatever the proxies are
        subsampling_se^2 = N^2 (1 - m/N) var(e) / m      small, as proxies are good
        se^2 = N var(terms)

    The last is of all rows' terms, of which the sample says by how much their squares differ from those of proxies.

    >>> estimate(4, -10.0, 30.0, np.array([-1.0, -2.0, -3.0, -4.0]), np.array([-1.5, -2.0, -3.0, -4.0]))[::2]
    (-10.5, 0.0)
    """
    sampled = len(exact)
    errors = exact - proxies
    value = total + rows * errors.mean()
    variance = rows**2 * (1 - sampled / rows) * errors.var(ddof=1) / sampled if sampled < rows else 0.0
    # value^2 is too large for the square of the sum, on average by its variance.
    spread = squares + rows * (exact**2 - proxies**2).mean() - (value**2 - variance) / rows
    if spread <= 0:  # differences of few rows may say so; the sample by itself does not
        spread = rows * exact.var()
    return float(value), math.sqrt(spread), math.sqrt(variance)


@dataclass
class _Part:
    """Of the sampled rows of a fit."""

    elpd: np.ndarray  # log p(row | all other rows)
    seen: np.ndarray  # log p(row | all rows)
    pareto_k: np.ndarray
    good_k: float

    def p_loo(self, rows: int) -> float:
        return float(rows * (self.seen - self.elpd).mean())


def _parts(fits: Mapping[str, Fit], rows: int, seed: int) -> tuple[_core.LooRows, list[_Part]]:
    """What the pass over all rows says, and of each fit its sampled rows."""
    if rows < 2:
        raise _core.InputError(f"rows: {rows} can say nothing of how different rows are; sample 2 or more")
    if seed < 0:
        raise _core.InputError(f"seed: {seed} is negative; give 0 or more")
    with tables.named([file for fit in fits.values() for file in fit.settings["table"]]):
        of = _core.loo_rows([str(name) for name in fits], [fit._run for fit in fits.values()], rows, seed)
    if of.rows < 2:
        raise _core.InputError("the table has fewer than two rows with a weight; there is nothing to leave out")
    parts = [_part(fit, sampled) for fit, sampled in zip(fits.values(), of.sampled, strict=True)]
    for name, part in zip(fits, parts, strict=True):
        if bad := int((part.pareto_k > part.good_k).sum()):
            whose = f" of '{name}'" if name else ""
            warnings.warn(
                f"{bad} of {len(part.elpd)} sampled rows{whose} have a Pareto k above {part.good_k:.2f}: the posterior "
                "without such a row is too far from the one that was drawn from, and its part of elpd cannot be "
                "trusted; draw more (draws), or look at these rows (Fit.loo().sample) and at whether the model suits",
                stacklevel=4,
            )
    return of, parts


def _part(fit: Fit, rows: Sequence[int]) -> _Part:
    theta = fit.array()
    chains, draws, _ = theta.shape
    at_once = max(1, _NUMBERS_AT_ONCE // (chains * draws))
    found = []
    for first in range(0, len(rows), at_once):
        some = np.asarray(rows[first : first + at_once])
        values = fit.log_likelihood(some)
        likelihood = LogLikelihood(fit.settings["target"][0], some, values.reshape(chains, draws, -1), fit.rows)
        data = inference_data(theta, fit.names, {}, likelihood, _core.version)
        seen = np.logaddexp.reduce(values, axis=0) - math.log(chains * draws)
        found.append((*pointwise_loo(data), seen))
    elpd, pareto_k, seen = (np.concatenate(numbers) for numbers in zip(*found, strict=True))
    return _Part(elpd, seen, pareto_k, min(1 - 1 / math.log10(max(chains * draws, 2)), 0.7))
