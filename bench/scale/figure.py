#!/usr/bin/env python3
"""Cost against rows, from what bench/scale/run printed.

    bench/scale/run ... --rows 10000,100000,1000000,10000000,100000000 > scale.json
    bench/scale/figure.py scale.json docs/figures/scale.svg
"""
import json
import pathlib
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

source, target = sys.argv[1:]
cases = sorted((json.loads(line) for line in pathlib.Path(source).read_text().splitlines()), key=lambda case: case["rows"])
rows = [case["rows"] for case in cases]
plt.rcParams.update({"font.size": 9, "svg.hashsalt": "flymc", "font.family": "sans-serif"})
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), constrained_layout=True)
for key, label, mark in (("seconds_ingest", "ingest", "s"), ("seconds_prepare", "prepare (anchor and bound)", "o"),
                         ("seconds_chains", "chains (4 x 2000 iterations)", "^")):
    left.plot(rows, [max(case[key], 0.01) for case in cases], marker=mark, label=label)
left.plot(rows, [rows_of / 1e6 for rows_of in rows], color="0.7", linestyle="--", label="a microsecond per row")
left.set(xscale="log", yscale="log", xlabel="rows", ylabel="seconds", title="set-up grows with the table, sampling does not")
right.plot(rows, [case["queries_per_iteration"] for case in cases], marker="o", label="queries per iteration")
right.plot(rows, [case["bright_mean"] for case in cases], marker="s", label="bright rows, mean")
right.set(xscale="log", yscale="log", xlabel="rows", title="what an iteration looks at")
for axes in (left, right):
    axes.grid(True, which="major", color="0.9")
    axes.legend(frameon=False, fontsize=8)
figure.savefig(target, metadata={"Date": None})
