"""Shared by the tests of the flymc command: the command itself, and a table to try it on."""
import gzip
import os
import pathlib
import shutil
import subprocess

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

COMMAND = os.environ.get("FLYMC", "flymc")


def flymc(*arguments, folder, expect=0, both=False):
    """Runs the command in a folder; returns its standard output, and with `both` also standard error."""
    done = subprocess.run([COMMAND, *map(str, arguments)], cwd=folder, capture_output=True, text=True)
    assert done.returncode == expect, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr if both else done.stdout


def refusal(*arguments, folder):
    """Standard error of a command that must be refused with exit code 1."""
    done = subprocess.run([COMMAND, *map(str, arguments)], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 1, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stderr


def predictions(kind, folder, run="run", table="new.csv"):
    """Mean, lower and upper of each row of a table."""
    flymc("predict", run, table, "--kind", kind, "--out", f"{kind}.csv", folder=folder)
    return [[float(v) for v in line.split(",")[1:]] for line in (folder / f"{kind}.csv").read_text().splitlines()[1:]]


def people(rows, seed=1):
    """Two numbers, a boolean, a text of five levels and a 0/1 target."""
    random = np.random.default_rng(seed)
    age = random.normal(45, 12, rows).round(1)
    income = np.exp(random.normal(10, 0.5, rows)).round(2)
    smoker = random.random(rows) < 0.2
    region = np.array(["north", "south", "east", "west", "mid"])[random.choice(5, rows, p=[0.3, 0.3, 0.2, 0.15, 0.05])]
    effect = np.select([region == r for r in ("north", "south", "east")], [0.2, -0.3, 0.5], 0.0)
    eta = -1 + 0.03 * (age - 45) + 0.6 * smoker - 1e-5 * income + effect
    y = (random.random(rows) < 1 / (1 + np.exp(-eta))).astype(np.int64)
    return pa.table({"age": age, "income": income, "smoker": smoker, "region": region, "y": y})


def spoilt(table, change):
    """The columns as numbers, with the first cells of some of them replaced."""
    out = dict(table)
    for name, cells in change.items():
        out[name] = np.concatenate([np.asarray(cells, float), np.asarray(table[name], float)[len(cells):]])
    return out


def write(table, path):
    """Writes the format of the path's extension; without an extension, a folder of ten Parquet files."""
    path = pathlib.Path(path)
    if path.suffix == ".parquet":
        pa.parquet.write_table(table, path)
    elif path.suffix == ".feather":
        pa.feather.write_feather(table, path)
    elif path.suffix == ".csv":
        pa.csv.write_csv(table, path)
    elif path.suffix == ".gz":
        plain = path.with_suffix("")
        write(table, plain)
        with open(plain, "rb") as source, gzip.open(path, "wb") as target:
            shutil.copyfileobj(source, target)
        plain.unlink()
    else:
        path.mkdir()
        step = -(-table.num_rows // 10)
        for i in range(10):
            pa.parquet.write_table(table.slice(i * step, step), path / f"part-{i}.parquet")
    return path.name
