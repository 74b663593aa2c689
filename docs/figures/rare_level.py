"""Draws rare_level.svg, the figure of the README: the posterior of a rare level, and its normal approximation.

The table is made here: a million loans for four purposes. Only 100 are for boats, and one of these 100 was not paid back. Needs the
Python package, numpy, pandas and matplotlib, and some ten seconds:

    python3 docs/figures/rare_level.py                 # beside this file, and prints the numbers that the README quotes
    python3 docs/figures/rare_level.py --png FILE      # 400 pixels wide, to look at
"""
import argparse
import pathlib

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import flymc

ROWS, BOATS, DEFAULTS = 1_000_000, 100, 1
INK, DRAWS, NORMAL, PAPER = "#24292f", "#f0a500", "#1f4e9c", "#fffdf7"  # opaque paper: the same on a light and on a dark page

plt.rcParams.update({"font.size": 17, "font.family": "DejaVu Sans", "svg.hashsalt": "flymc", "text.color": INK,
                     "axes.edgecolor": INK, "axes.labelcolor": INK, "xtick.color": INK, "figure.facecolor": PAPER,
                     "axes.facecolor": PAPER})


def loans():
    rng = np.random.default_rng(5)
    table = pd.DataFrame({"age": rng.normal(42, 12, ROWS).round(), "income": rng.lognormal(10.5, 0.5, ROWS).round(-2),
                          "purpose": rng.choice(["car", "house", "education"], ROWS, p=[0.5, 0.4, 0.1])})
    eta = -3 - 0.02 * (table["age"] - 42) - 0.3 * (np.log(table["income"]) - 10.5) + 0.3 * (table["purpose"] == "education")
    table["defaulted"] = (rng.random(ROWS) < 1 / (1 + np.exp(-eta))).astype(int)
    boats = rng.choice(ROWS, BOATS, replace=False)
    table.loc[boats, ["purpose", "defaulted"]] = "boat", 0
    table.loc[boats[:DEFAULTS], "defaulted"] = 1
    return table


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--png", type=pathlib.Path)
    png = arguments.parse_args().png

    fit = flymc.fit("defaulted", loans(), reference={"purpose": "house"}, draws=20_000, progress=False)
    name = "purpose[boat]"
    draws, (mean, sd) = fit.array()[:, :, fit.names.index(name)].ravel(), fit.laplace().loc[name]
    normal = lambda x: np.exp(-0.5 * ((x - mean) / sd) ** 2) / (sd * np.sqrt(2 * np.pi))
    ends = np.quantile(draws, [0.025, 0.975])
    from_normal = np.random.default_rng(1).normal(mean, sd, 1_000_000)
    print("95 % interval: posterior {:.2f} to {:.2f}, normal {:.2f} to {:.2f}".format(*ends, mean - 1.96 * sd, mean + 1.96 * sd))
    print(f"above 0: posterior {(draws > 0).mean():.2%}, normal {(from_normal > 0).mean():.2%}")
    print(fit)

    figure, axis = plt.subplots(figsize=(8, 4.1))
    figure.subplots_adjust(left=0.02, right=0.98, bottom=0.2, top=0.98)
    heights, edges = np.histogram(draws, bins=np.arange(-7, 2.01, 0.1), density=True)
    axis.stairs(heights, edges, fill=True, color=DRAWS, alpha=0.85)
    grid = np.linspace(-5.2, 2.2, 200)
    axis.plot(grid, normal(grid), color=NORMAL, linewidth=3)
    axis.plot([0, 0], [0, 0.33], color=INK, linewidth=1.2, linestyle=(0, (4, 3)))
    axis.text(-2.75, 0.285, "posterior,\ndrawn by flymc", color="#9a6700", ha="right", va="center", weight="bold")
    axis.text(-0.5, 0.44, "normal\napproximation", color=NORMAL, ha="left", va="center", weight="bold")
    axis.text(0.12, 0.265, "same risk as\nhouse loans", ha="left", va="center", fontsize=15)
    axis.set(xlim=(-5.5, 2.2), ylim=(0, 0.53), yticks=[], xlabel="log odds ratio of default, boat against house loans")
    for side in ("left", "right", "top"):
        axis.spines[side].set_visible(False)
    figure.savefig(pathlib.Path(__file__).with_suffix(".svg"), metadata={"Date": None})
    if png:
        figure.savefig(png, dpi=50)


main()
