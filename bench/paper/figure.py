#!/usr/bin/env python3
"""Draws the figures of docs/paper.md as SVG from what flymc_paper printed; needs matplotlib.

    figure.py traces OUT.svg RESULT.json ...    log posterior and queries per iteration, a panel per experiment
    figure.py toy OUT.svg TOY.json              the toy chain
"""
import json
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "flymc", "svg.fonttype": "none", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator

# The paper's colours: blue for regular MCMC, green for untuned and orange for MAP-tuned FlyMC.
colours = {"regular MCMC": "#1f77b4", "untuned FlyMC": "#2ca02c", "MAP-tuned FlyMC": "#ff7f0e"}
metadata = {"Date": None, "Creator": None}  # the same results give the same file


def band(axes, trace, name, colour, label=None):
    """The mean over runs and one standard deviation around it. The axis may be logarithmic: the band stays above 0."""
    x, mean, sd = trace["iteration"], trace[name], trace[name + "_sd"]
    axes.plot(x, mean, color=colour, lw=1.3, label=label)
    low = [m - s for m, s in zip(mean, sd)]
    if axes.get_yscale() == "log":
        low = [max(v, 1e-3 * m) for v, m in zip(low, mean)]
    axes.fill_between(x, low, [m + s for m, s in zip(mean, sd)], color=colour, alpha=0.25, lw=0)


def draw_traces(out, paths):
    results = [json.load(open(path)) for path in paths]
    figure, axes = plt.subplots(2, len(results), figsize=(3.4 * len(results), 5.2), sharex="col", squeeze=False)
    for (top, bottom), result in zip(axes.T, results):
        bottom.set_yscale("log")
        for algorithm in result["algorithms"]:
            name, trace = algorithm["algorithm"], algorithm["trace"]
            band(top, trace, "log_posterior", colours[name], name)
            band(bottom, trace, "queries", colours[name])
        for panel in (top, bottom):
            panel.set_xscale("log")
            panel.axvline(result["burn_in"], color="0.6", lw=0.8, ls=":")
        top.set_title(f"{result['experiment']}, {result['rows']:,} rows\n{result['move']}", fontsize=9)
        top.yaxis.set_major_locator(MaxNLocator(5))
        bottom.set_xlabel("iteration")
    axes[0, 0].set_ylabel("log posterior, all rows")
    axes[1, 0].set_ylabel("queries per iteration")
    axes[0, 0].legend(frameon=False, fontsize=8, loc="lower right")
    figure.tight_layout()
    figure.savefig(out, metadata=metadata)


def draw_toy(out, path):
    toy = json.load(open(path))
    states = toy["states"]
    shown = [3, 4, len(states)]  # the paper shows iterations 3 and 4
    figure = plt.figure(figsize=(8.6, 6.4))
    grid = figure.add_gridspec(3, 3, height_ratios=[2.2, 1, 1.3])
    for column, iteration in enumerate(shown):
        panel = figure.add_subplot(grid[0, column])
        state = states[iteration - 1]
        bright = set(state["bright"])
        for row, (x1, x2, y) in enumerate(toy["points"]):
            colour, marker = (("#d62728", "s") if y else ("#1f77b4", "o"))
            panel.plot(x1, x2, marker, ms=6, mec=colour, mfc=colour if row in bright else "none", mew=1)
        bias, w1, w2 = state["theta"]
        reach = 5.0
        if abs(w2) > abs(w1):
            panel.plot([-reach, reach], [-(bias + w1 * v) / w2 for v in (-reach, reach)], color="0.2", lw=1.2)
        else:
            panel.plot([-(bias + w2 * v) / w1 for v in (-reach, reach)], [-reach, reach], color="0.2", lw=1.2)
        panel.set(xlim=(-4, 4), ylim=(-4, 4), aspect="equal", xticks=[], yticks=[])
        panel.set_title(f"iteration {iteration}: {len(bright)} of {len(toy['points'])} bright", fontsize=9)
    time = range(1, len(states) + 1)
    theta = figure.add_subplot(grid[1, :])
    for j, name in enumerate(["bias", "weight 1", "weight 2"]):
        theta.plot(time, [s["theta"][j] for s in states], lw=1.2, label=name)
    theta.legend(frameon=False, fontsize=8, ncol=3, loc="lower right")
    theta.set_ylabel("theta")
    z = figure.add_subplot(grid[2, :], sharex=theta)
    z.scatter([t for t, s in zip(time, states) for _ in s["bright"]], [r for s in states for r in s["bright"]], s=5,
              marker="s", color="0.15", lw=0)
    z.set(ylabel="row (bright: black)", xlabel="iteration", ylim=(-1, len(toy["points"])))
    figure.tight_layout()
    figure.savefig(out, metadata=metadata)


if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[1] not in ("traces", "toy"):
        sys.exit(__doc__)
    kind, out, *paths = sys.argv[1:]
    draw_traces(out, paths) if kind == "traces" else draw_toy(out, paths[0])
