"""Plots of the effects of groups. They draw what the library has chosen and computed, as the report does."""

from __future__ import annotations

from typing import Any

_NEEDED = "this needs matplotlib, which is not installed: pip install matplotlib"


def _axes(width: float, height: float) -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(_NEEDED) from error
    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def _title(picture: dict[str, Any]) -> str:
    return f"{picture['factor']}: {picture['effect']}"


def draw_intervals(picture: dict[str, Any], interval: float) -> Any:
    """Draws a line for each group of a picture, the smallest effect at the bottom."""
    lines = picture["lines"]
    axes = _axes(7.0, 1.3 + 0.18 * len(lines))
    places = range(len(lines))
    for ends, width in ((("lower", "upper"), 1.2), (("inner_lower", "inner_upper"), 3.5)):
        axes.hlines(places, *([line[end] for line in lines] for end in ends), color="C0", linewidth=width)
    axes.plot([line["median"] for line in lines], places, "o", color="white", markeredgecolor="C0", markersize=5)
    axes.axvline(0.0, color="0.5", linewidth=0.8, linestyle="--")
    axes.set_yticks(places, [_shortened(line["group"]) for line in lines], fontsize=8)
    axes.set_ylim(-1, len(lines))
    axes.set_xlabel("effect: the difference from an average group")
    axes.figure.suptitle(_title(picture), fontsize=11)
    axes.set_title(_wrapped(picture["caption"]), fontsize=8)
    return axes


def draw_pulls(picture: dict[str, Any]) -> Any:
    """Draws a point for each group of a picture: its rows, and its pull."""
    points = picture["points"]
    axes = _axes(6.0, 4.0)
    axes.plot(
        [max(1, point["rows"]) for point in points],
        [point["pull"] for point in points],
        "o",
        color="C0",
        markersize=3 if len(points) > 100 else 5,
        alpha=0.7,
        linewidth=0,
    )
    axes.set_xscale("log")
    axes.set_ylim(0.0, max([1.0, *(1.02 * point["pull"] for point in points)]))
    axes.set_xlabel("rows of the group")
    axes.set_ylabel("pull to the average group")
    few = f" ({len(points)} of {picture['groups']} groups)" if len(points) < picture["groups"] else ""
    axes.set_title(f"{_title(picture)}{few}", fontsize=11)
    return axes


def _shortened(name: str) -> str:
    name = name.replace("$", r"\$")  # no formula
    return name if len(name) <= 30 else f"{name[:16]}...{name[-11:]}"


def _wrapped(caption: str) -> str:
    import textwrap

    return "\n".join(textwrap.wrap(caption, 90))
