"""The comparison of fits of one table by leave-one-out, on the rows that all of them have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .leave_one_out import estimates
from .study import Study

if TYPE_CHECKING:
    import pandas


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


def compare(fits: Mapping[str, Study], rows: int = 1000, seed: int = 0) -> Comparison:
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
    if not isinstance(fits, Mapping) or not all(isinstance(fit, Study) for fit in fits.values()):
        raise TypeError('compare: give a dictionary of fits by name, flymc.compare({"small": one, "large": other})')
    if len(fits) < 2:
        raise ValueError(f"compare: {len(fits)} fit; give two or more, or ask one for its own with Fit.loo()")
    import pandas

    table = [file for fit in fits.values() for file in fit.settings["table"]]
    of = estimates({str(name): fit._runs for name, fit in fits.items()}, table, rows, seed)
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
