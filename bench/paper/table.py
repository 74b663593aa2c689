#!/usr/bin/env python3
"""Prints the tables of docs/paper.md, the paper's numbers beside ours, from what flymc_paper --json printed.

    table.py RESULT.json ...
"""
import json
import sys

# Table 1 of Maclaurin and Adams (2014): queries per iteration, effective samples per 1000 iterations, speed-up.
opv = {"regular MCMC": (18182764, 1.3, 1), "untuned FlyMC": (2753428, 1.1, 5.7), "MAP-tuned FlyMC": (575528, 1.2, 29)}
paper = {
    "mnist": {"regular MCMC": (12214, 3.7, 1), "untuned FlyMC": (6252, 1.3, 0.7), "MAP-tuned FlyMC": (207, 1.4, 22)},
    "cifar": {"regular MCMC": (18000, 8.0, 1), "untuned FlyMC": (8058, 4.2, 1.2), "MAP-tuned FlyMC": (654, 3.3, 11)},
    "cep": opv,
    "flights": opv,
}


def number(value):
    """Three digits, and no exponents."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def with_error(estimate):
    return f"{number(estimate['mean'])} ± {estimate['error']:.2g}"


results = [json.load(open(path)) for path in sys.argv[1:]]
print("| | | queries per iteration: paper | ours | ESS per 1000: paper | ours, mean | ours, least | speed-up: paper "
      "| ours, by mean ESS | by least ESS |")
print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
for result in results:
    for i, row in enumerate(result["algorithms"]):
        name = row["algorithm"]
        queries, ess, speedup = paper[result["experiment"]][name]
        ours = ["(1)", "(1)"] if i == 0 else [with_error(row["speedup_mean"]), with_error(row["speedup_least"])]
        cells = [result["experiment"] if i == 0 else "", name, number(queries),
                 number(row["queries_per_iteration"]["mean"]), f"{ess:g}", with_error(row["ess_mean"]),
                 with_error(row["ess_least"]), "(1)" if i == 0 else f"{speedup:g}", *ours]
        print("| " + " | ".join(cells) + " |")
print()
print("| | | bright rows | µs per iteration | wall-clock speed-up, by mean ESS | by least ESS "
      "| set-up: anchor and bound, passes | start and burn-in, passes per run |")
print("| --- | --- | --- | --- | --- | --- | --- | --- |")
for result in results:
    for i, row in enumerate(result["algorithms"]):
        ours = ["(1)", "(1)"] if i == 0 else [number(row["wall_speedup_mean"]["mean"]),
                                              number(row["wall_speedup_least"]["mean"])]
        cells = [result["experiment"] if i == 0 else "", row["algorithm"],
                 number(row["bright"]) if i else "", number(1e6 * row["seconds_per_iteration"]), *ours,
                 number(row["setup_passes"]), number(row["burn_in_passes_per_run"])]
        print("| " + " | ".join(cells) + " |")
print()
print("| | rows | prior scale | likelihood scale | runs | burn-in | iterations | agreement p |")
print("| --- | --- | --- | --- | --- | --- | --- | --- |")
for r in results:
    scale = "" if r["likelihood_scale"] is None else f"{r['likelihood_scale']:g}"
    print(f"| {r['experiment']} | {r['rows']:,} | {r['prior_scale']:g} | {scale} | {r['runs']} | {r['burn_in']:,} "
          f"| {r['iterations']:,} | {r['agreement_p']:.2g} |")
