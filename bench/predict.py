"""Times predictions: fits a made-up table, then runs `predict` on the same rows by one or more commands.

    python3 bench/predict.py COMMAND [COMMAND ...] [--rows 300000] [--columns 9] [--draws 1000] [--family logistic]

Prints for each command the seconds (wall clock, and of all cores) and the largest difference from the first command's
predictions. The commands take turns, and the best of --times counts, so that other work on the machine affects all
alike.
"""
import argparse
import os
import pathlib
import subprocess
import tempfile
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet


def make_table(rows, columns, family, path):
    random = np.random.default_rng(1)
    x = random.normal(size=(rows, columns))
    eta = x @ random.normal(0, 0.5, columns) - 1.0
    if family == "logistic":
        y = (random.random(rows) < 1 / (1 + np.exp(-eta))).astype(np.int64)
    elif family == "softmax":
        y = np.argmax(np.outer(eta, [0.0, 0.5, 1.0]) + random.gumbel(size=(rows, 3)), axis=1)
    else:
        y = eta + random.standard_t(4, rows)
    pa.parquet.write_table(pa.table({**{f"x{j}": x[:, j] for j in range(columns)}, "y": y}), path)


def timed(command, folder):
    before = os.times()
    start = time.perf_counter()
    subprocess.run(command, check=True, cwd=folder, capture_output=True)
    wall, after = time.perf_counter() - start, os.times()
    return wall, after.children_user + after.children_system - before.children_user - before.children_system


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", nargs="+")
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--columns", type=int, default=9)
    parser.add_argument("--draws", type=int, default=1000, help="of each of 4 chains")
    parser.add_argument("--family", default="logistic")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--flags", default="", help="more flags for predict, as --flags='--kind target'")
    given = parser.parse_args()
    commands = [str(pathlib.Path(command).resolve()) for command in given.commands]
    with tempfile.TemporaryDirectory() as folder:
        make_table(given.rows, given.columns, given.family, pathlib.Path(folder) / "t.parquet")
        sigma = ["--sigma", "1"] if given.family == "student_t" else []
        seconds, _ = timed([commands[0], "fit", "t.parquet", "--target", "y", "--family", given.family, *sigma, "--draws",
                            str(given.draws), "--out", "run", "--quiet"], folder)
        print(f"fit of {given.rows} x {given.columns}: {seconds:.2f} s")
        best = [(np.inf, np.inf)] * len(commands)
        for _ in range(given.times):
            for i, command in enumerate(commands):
                words = [command, "predict", "run", "t.parquet", "--out", f"p{i}.parquet", *given.flags.split()]
                best[i] = tuple(map(min, best[i], timed(words, folder)))
        first = pa.parquet.read_table(pathlib.Path(folder) / "p0.parquet")
        for i, command in enumerate(commands):
            other = pa.parquet.read_table(pathlib.Path(folder) / f"p{i}.parquet")
            differences = [np.abs(first[name].to_numpy() - other[name].to_numpy()).max()
                           for name in first.column_names if pa.types.is_floating(first.schema.field(name).type)]
            print(f"{command}: {best[i][0]:.2f} s, {best[i][1]:.2f} s of all cores; {best[0][0] / best[i][0]:.1f} times as "
                  f"fast as the first, which differs by at most {max(differences):.1e}")


if __name__ == "__main__":
    main()
