"""Draws the head to head: seconds to 1000 effective draws, a panel per table.

    python3 bench/rivals/figure.py results.json docs/figures/rivals.svg
"""
import json
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

import cost
from agreement import STEP
from report import NAMES, by_table, entry

plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False,
                     "svg.hashsalt": "flymc", "font.family": "DejaVu Sans"})
ORANGE, BLUE, GREY = "#e08214", "#1f4e9c", "#8c8c8c"


def draw(cells, path):
    tables = by_table(cells)
    shown = [rival for rival in NAMES if any(rival in found and "kind" in found[rival] for found in tables.values())]
    across = min(3, len(tables))
    down = -(-len(tables) // across)
    figure, axes = plt.subplots(down, across, figsize=(3.1 * across + 1.2, 2.3 * down + 0.5), sharex=True, sharey=True, squeeze=False)
    for panel, (name, found) in zip(axes.flat, tables.items()):
        some = next(cell for cell in found.values() if "kind" in cell)
        panel.set_title(name if "synthetic" in name else f"{name}, {some['rows']:,}", loc="left", fontsize=9.5)
        for place, rival in enumerate(shown):
            cell = found.get(rival)
            if cell is None or "kind" not in cell:
                panel.text(0.02, place, "no figure", transform=panel.get_yaxis_transform(), color=GREY, fontsize=7.5, va="center")
                continue
            value, rough = cost.seconds(cell), cost.extrapolated(cell) or cell.get("step", 0.0) >= STEP
            colour = ORANGE if rival == "flymc" else GREY if cell["kind"] == "estimate" else BLUE
            panel.plot(value, place, marker="s" if cell["kind"] == "estimate" else "o", markersize=6.5, color=colour,
                       markerfacecolor="white" if rough else colour, markeredgewidth=1.4)
            panel.annotate(entry(cell, cost.seconds), (value, place), xytext=(7, 0), textcoords="offset points", va="center", fontsize=8)
        panel.set_xscale("log")
        panel.grid(axis="x", color="#e6e6e6", lw=0.7)
        panel.set_axisbelow(True)
    for panel in axes.flat[len(tables):]:
        panel.axis("off")
    axes[0][0].set_yticks(range(len(shown)), [NAMES[rival] for rival in shown])
    axes[0][0].set_ylim(len(shown) - 0.5, -0.6)
    low, high = axes[0][0].get_xlim()
    axes[0][0].set_xlim(low / 1.5, high * 6)
    mark = lambda marker, colour, face, label: plt.Line2D([], [], ls="", marker=marker, color=colour, markerfacecolor=face, markeredgewidth=1.4, label=label)
    figure.supxlabel("processor seconds, from a Parquet file to 1000 effective draws or to an estimate", fontsize=9)
    figure.tight_layout(rect=(0, 0.0, 1, 0.94))
    figure.legend(handles=[mark("o", ORANGE, ORANGE, "flymc"), mark("o", BLUE, BLUE, "exact posterior"), mark("o", BLUE, "white", "the same, extrapolated"),
                           mark("s", GREY, GREY, "point estimate only"), mark("s", GREY, "white", "†: more than 0.1 sd from the mode")],
                  loc="upper center", ncols=5, fontsize=8, columnspacing=1.2, handletextpad=0.2)
    figure.savefig(path, metadata={"Date": None} if str(path).endswith("svg") else None, dpi=110)


if __name__ == "__main__":
    draw(json.load(open(sys.argv[1]))["cells"], sys.argv[2])
