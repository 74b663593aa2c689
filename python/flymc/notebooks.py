"""A fit in a notebook: its summary and warnings as a small piece of HTML."""

from __future__ import annotations

import html
import math
from typing import Any

MOST, FIRST, LAST, WORST = 40, 15, 5, 5  # lines of a long table, as in the command


def shown(parameters: list[dict[str, Any]]) -> list[int]:
    """Returns the lines to show: all of a short table, else the first, the last, and those with the fewest effective
    draws."""
    size = len(parameters)
    if size <= MOST:
        return list(range(size))
    between = range(FIRST, size - LAST)

    def ess(i: int) -> float:
        return min(parameters[i][name] or 0.0 for name in ("ess_bulk", "ess_tail"))

    return [*range(FIRST), *sorted(sorted(between, key=ess)[:WORST]), *range(size - LAST, size)]


def by_deviation(value: float | None, sd: float | None) -> str:
    """Returns the value as a text, rounded to three digits of the standard deviation."""
    if value is None:
        return "not known"
    if not sd:
        return f"{value:.4g}"
    digits = 2 - math.floor(math.log10(sd))
    return f"{value:.4g}" if digits > 8 else f"{value:.{max(0, digits)}f}"


def summary_html(report: dict[str, Any]) -> str:
    """Returns the HTML that a `Fit` shows in a notebook. Colours are the notebook's own."""
    interval = report["interval"]
    heads = ["mean", "sd", f"{50 * (1 - interval):.4g} %", "median", f"{50 * (1 + interval):.4g} %", "ESS bulk", "ESS tail", "R-hat"]
    lines, before = [], -1
    for i in shown(report["parameters"]):
        p = report["parameters"][i]
        if i != before + 1:
            lines.append(f"<tr><th>...</th><td colspan='{len(heads)}'>{i - before - 1} more</td></tr>")
        before = i
        cells = [by_deviation(p[name], p["sd"]) for name in ("mean", "sd", "lower", "median", "upper")]
        cells += ["not known" if p[name] is None else f"{p[name]:.0f}" for name in ("ess_bulk", "ess_tail")]
        cells.append("not known" if p["r_hat"] is None else f"{p['r_hat']:.3f}")
        name = f"<th style='text-align:left'>{html.escape(p['name'])}</th>"
        numbers = "".join(f"<td style='text-align:right'>{cell}</td>" for cell in cells)
        lines.append(f"<tr>{name}{numbers}</tr>")
    rows = report.get("table_rows", report["rows"])
    said = [f"{len(report['chains'])} chains of {report['draws']} draws from {rows} rows"]
    if "groups" in report:
        factors = {term["factor"]: term["groups"] for term in report["groups"]["terms"]}
        said.append("groups: " + ", ".join(f"{html.escape(name)} ({count} groups)" for name, count in factors.items()))
    said += [f"<strong>warning:</strong> {html.escape(warning)}" for warning in report["warnings"]]
    head = "".join(f"<th>{name}</th>" for name in ["", *heads])
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    return table + "".join(f"<p>{line}</p>" for line in said)
