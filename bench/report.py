"""Measures how long the report of a large run takes, and how large its page is.

    python3 bench/report.py build/release/cli/flymc [--rows 1000000] [--folder DIR]

The table is made up: claims or none, explained by a postcode of 300 levels, a product of 150, a month, an age, an income
and 40 other columns of numbers, so that a logistic regression has 502 coefficients. Rare levels are as rare as Zipf's law
makes them.
"""
import argparse
import pathlib
import resource
import subprocess
import tempfile
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet


def make_table(rows, path):
    random = np.random.default_rng(1)
    columns, eta = {}, np.full(rows, -1.5)
    for name, levels in {"postcode": 300, "product": 150, "month": 12}.items():
        share = 1 / np.arange(1, levels + 1) ** 0.7
        codes = random.choice(levels, rows, p=share / share.sum())
        names = pa.array([f"{name} {i:03d}" for i in range(levels)])
        columns[name] = pa.DictionaryArray.from_arrays(codes.astype(np.int32), names)
        eta += random.normal(0, 0.3, levels)[codes]
    columns["age"] = random.normal(45, 12, rows)
    columns["income"] = np.exp(random.normal(10, 0.5, rows))
    eta += 0.02 * (columns["age"] - 45) - 0.2 * (np.log(columns["income"]) - 10)
    for i in range(40):
        x = random.normal(size=rows)
        columns[f"x{i:02d}"] = x
        eta += random.normal(0, 0.05) * x
    columns["claim"] = (random.random(rows) < 1 / (1 + np.exp(-eta))).astype(np.int64)
    pa.parquet.write_table(pa.table(columns), path)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("command")
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--folder", type=pathlib.Path)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or pathlib.Path(temporary)
        table, run, page = folder / "claims.parquet", folder / "run", folder / "report.html"
        make_table(given.rows, table)
        for name, words in {
            "fit": ["fit", table, "--target", "claim", "--out", run, "--overwrite", "--quiet"],
            "report": ["report", run, "--out", page],
        }.items():
            before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
            subprocess.run([given.command, *words], check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            print(f"{name:6} {time.time() - began:6.1f} s, {after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime:6.1f} s of processors")
        print(f"{page.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
