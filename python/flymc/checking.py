"""Predictive checks: whether the rows of a fit look like those that its model draws."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Check:
    """The result of `Fit.check`. It prints what the command `flymc check` prints.

    Every number is a mean over a group of rows: observed, expected by the model, and with a band. If the model is right,
    all bands hold at once with probability `level` or more.
    """

    passed: bool  # whether all numbers lie inside their bands
    p_value: float  # the share of tables, drawn ones and this one, that deviate as much as this one
    level: float
    rows: int  # of the table
    sampled_rows: int
    draws: int  # tables that were drawn
    verdict: str
    assurance: str  # a sentence on how certain the result is
    findings: list[str]  # the numbers that are furthest outside, a sentence each
    parts: list[dict[str, Any]] = field(repr=False)  # as `flymc check --json` has them
    text: str = field(repr=False)

    def __repr__(self) -> str:
        return self.text

    @property
    def table(self) -> Any:
        """All groups as a data frame: `kind`, `column`, `class`, `group`, `from`, `to`, `rows`, `observed`, `expected`,
        `lower`, `upper` and whether it is `outside` of its band."""
        import pandas

        lines = [
            {"kind": part["kind"], "column": part.get("column"), "class": part.get("class"), **group}
            for part in self.parts
            for group in part["groups"]
        ]
        return pandas.DataFrame(lines)


def check_of(found: dict[str, Any], text: str) -> Check:
    names = ("passed", "p_value", "level", "rows", "sampled_rows", "draws", "verdict", "assurance", "findings", "parts")
    return Check(**{name: found[name] for name in names}, text=text)
