"""Audits: tests whether the draws of a fit are from the posterior, by regular MCMC on all rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Audit:
    """The result of `Fit.audit`. It prints what the command `flymc audit` prints.

    If the draws have the posterior's distribution, an audit fails with probability `level`.
    """

    passed: bool  # whether nothing drifts
    p_value: float
    level: float
    rows: int
    draws: int  # how many were moved
    of_draws: int  # how many draws the fit has
    steps: int
    acceptance: float  # of the moves
    passes: float  # over the rows
    sees: float  # the error of a mean, in standard deviations, that such an audit finds with probability 0.9
    verdict: str
    findings: list[str]  # what drifts and in which direction, a sentence each
    advice: str
    log_posterior: dict[str, Any] = field(repr=False)  # its change, in nats
    parameters: list[dict[str, Any]] = field(repr=False)  # as `flymc audit --json` has them
    text: str = field(repr=False)

    def __repr__(self) -> str:
        return self.text

    @property
    def table(self) -> Any:
        """A row per parameter: `mean` is the change of its mean, in standard deviations of the draws; `variance` is the
        change of its mean squared distance from the mean of the draws, relative to their variance. Each has a standard
        error, and says whether it drifts."""
        import pandas

        rows = [
            {
                f"{of}{name}": parameter[of][key]
                for of in ("mean", "variance")
                for name, key in {"": "change", "_error": "error", "_drifts": "drifts"}.items()
            }
            for parameter in self.parameters
        ]
        return pandas.DataFrame(rows, index=pandas.Index([p["name"] for p in self.parameters], name="parameter"))


def audit_of(found: dict[str, Any], text: str) -> Audit:
    names = [name for name in Audit.__dataclass_fields__ if name != "text"]
    values = {name: found[name] for name in names}
    if values["sees"] is None:
        values["sees"] = float("inf")
    return Audit(**values, text=text)
