"""flymc: the command with its defaults, four chains of 1000 draws, from the Parquet file to the report."""
import json
import subprocess

import numpy as np
import pyarrow.parquet


def command(flymc, table, prior, out):
    family = ["--family", "student_t", "--nu", table.nu, "--sigma", table.sigma] if table.family == "student_t" else []
    return [str(word) for word in [flymc, "fit", table.path, "--target", "y", "--prior", prior, "--threads", 2, "--out", out, "--overwrite", "--quiet", "--json", *family]]


def flymc(table, path, prior, out, stages):
    done = subprocess.run(command(path, table, prior, out), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    stages.end("whole")
    report = json.loads(done.stdout)
    drawn = pyarrow.parquet.read_table(f"{out}/draws.parquet")
    theta = np.column_stack([drawn[name].to_numpy() for name in report["coefficients"]])
    chains = len(report["chains"])
    order = np.lexsort((drawn["draw"].to_numpy(), drawn["chain"].to_numpy()))
    before = report["anchor_queries"] + report["bound_queries"] + sum(c["start_queries"] + c["warmup_queries"] for c in report["chains"])
    passes = before / table.rows, sum(c["sampling_queries"] for c in report["chains"]) / table.rows
    return theta[order].reshape(chains, -1, table.columns), passes, report
