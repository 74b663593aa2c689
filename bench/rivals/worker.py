"""Runs one program on one table in a separate process: prints its cost and its results as JSON.

    python3 worker.py '{"rival": "glum", "table": {...}, "budget": 300, ...}'
"""
import importlib.metadata
import json
import os
import sys

import numpy as np

from stages import Stages
from tables import Table

PACKAGES = {"stan": "stanli"}


def summary(draws):
    """Summarises draws (chains x draws x coefficients) with ArviZ's estimators, which are used for all programs."""
    import arviz

    def ess(values, method):
        return arviz.ess(arviz.convert_to_dataset({"theta": values}), method=method)["theta"].values

    mean, sd = draws.mean(axis=(0, 1)), draws.std(axis=(0, 1), ddof=1)
    squares = (draws - mean) ** 2  # the error of sd is that of the variance over 2 sd
    return {
        "mean": mean, "sd": sd, "mcse_mean": sd / np.sqrt(ess(draws, "mean")),
        "mcse_sd": squares.std(axis=(0, 1)) / np.sqrt(ess(squares, "mean")) / (2 * sd),
        "ess_bulk": float(ess(draws, "bulk").min()), "ess_tail": float(ess(draws, "tail").min()),
        "chains": draws.shape[0], "draws": draws.shape[1]}


def measure(task):
    table, rival, stages = Table(**task["table"]), task["rival"], Stages()
    result = {"rival": rival, "table": table.name, "rows": table.rows, "columns": table.columns, "family": table.family,
              "load": os.getloadavg()[0]}
    if rival.startswith("flymc"):
        from by_flymc import flymc

        prior = "flat" if "flat" in rival else f"normal(0, {table.prior_sd})"
        draws, passes, report = flymc(table, task["flymc"], prior, task["run"], stages)
        result.update(summary(draws), kind="posterior", short=False, passes=passes, version=report["flymc"], warm_up=0)
        result.update(bright=float(np.mean([c["bright_mean"] for c in report["chains"]])), choices=report["choices"])
    elif rival in (estimates := __import__("estimates").ALL):
        estimate, penalty = estimates[rival](table, stages)
        result.update(kind="estimate", estimate=estimate, penalty=penalty)
    else:
        start = {name: np.array(values) for name, values in task["start"].items()}
        draws, passes, warm_up, short = __import__("samplers").ALL[rival](table, task["budget"], start, stages)
        result.update(summary(draws), kind="posterior", short=short, passes=passes, warm_up=warm_up)
    if "version" not in result:
        result["version"] = importlib.metadata.version(PACKAGES.get(rival, rival))
    stages.processor.pop("import", None), stages.wall.pop("import", None)  # choosing the lengths does not count either
    stages.processor.pop("choose", None), stages.wall.pop("choose", None)
    result.update(processor=stages.processor, wall=stages.wall)
    return result


if __name__ == "__main__":
    task = json.loads(sys.argv[1])
    try:
        answer = measure(task)
    except ModuleNotFoundError as error:
        answer = {"rival": task["rival"], "table": task["table"]["name"], "rows": task["table"]["rows"], "missing": f"not installed: {error}"}
    plain = lambda value: value.tolist() if hasattr(value, "tolist") else str(value)
    with open(task["answer"], "w") as file:
        json.dump(answer, file, default=plain)
