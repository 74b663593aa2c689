"""Compares the predictions of `flymc plan` with the fit: passes, seconds, bytes.

    python3 bench/plan.py build/release/cli/flymc [--data DIR] [--tables synthetic,mnist,...] [--folder DIR] [--draws 1000]

Prints a line per table and quantity: planned, true, and planned over true. Without --data only the synthetic table.
Seconds need an idle processor. Memory is the process's own (RssAnon), without the rows that it maps; it is measured
fifty times a second.
"""
import argparse
import gzip
import json
import pathlib
import re
import subprocess
import tempfile
import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet

BUSIEST = "ORD DFW ATL LAX PHX STL DTW MSP LAS DEN BOS IAH CLT SFO EWR PHL LGA PIT MCO".split()


def numbers(data, name):
    with gzip.open(data / f"{name}.npy.gz") as file:
        return np.load(file)


def of_matrix(x, y):
    return pa.table({**{f"x{j}": x[:, j] for j in range(x.shape[1])}, "y": y})


def synthetic(_):
    random = np.random.default_rng(1)
    x = random.normal(size=(1_000_000, 50))
    eta = x @ random.normal(0, 0.2, 50)
    return of_matrix(x, (random.random(len(x)) < 1 / (1 + np.exp(-eta))).astype(np.int64)), []


def mnist(data):
    x, y = numbers(data, "mnist79/mnist79_train_pca50"), numbers(data, "mnist79/mnist79_train_labels")
    return of_matrix(x, y), []


def a9a(data):
    x, y = numbers(data, "a9a/a9a_train_x"), numbers(data, "a9a/a9a_train_y")
    _, different = np.unique(x, axis=1, return_index=True)
    return of_matrix(x[:, [j for j in sorted(different) if x[:, j].any()]], y), []


def covtype(data):
    x = numbers(data, "covtype/covtype_compact")
    columns = {f"x{j}": x[:, j] for j in range(10)}
    return pa.table({**columns, "area": x[:, 10].astype(str), "soil": x[:, 11].astype(str), "y": x[:, 12] == 2}), []


def flights(data):
    """The 57 columns of the data's own description, of 1,800,000 rows."""
    rows = np.arange(3_000_000) % 5 < 3
    day, minute, distance, origin, destination, y = (
        numbers(data, f"flights2001/flights2001_{name}")[rows]
        for name in ("day", "minute", "distance", "origin", "destination", "arrdelay"))
    airports = (data / "flights2001/flights2001_airports.txt").read_text().split()
    angle = 2 * np.pi * minute / 1440
    month = np.searchsorted([31, 59, 90, 120, 151], day, side="right")
    columns = {"miles": distance / 1000, "log": np.log(distance / 1000)}
    columns |= {f"{name}{h}": f(h * angle) for h in (1, 2, 3) for name, f in (("sin", np.sin), ("cos", np.cos))}
    columns |= {f"day{d}": (day % 7 == d).astype(np.int8) for d in range(1, 7)}
    columns |= {f"month{m}": (month == m).astype(np.int8) for m in range(1, 6)}
    for name, place in (("from", origin), ("to", destination)):
        columns |= {f"{name}{code}": (place == airports.index(code)).astype(np.int8) for code in BUSIEST}
    return pa.table({**columns, "y": y.astype(float)}), ["--family", "student_t", "--sigma", "14.35"]


def airports(data):
    """456 coefficients, nearly all of levels: 10 GiB of rows."""
    table = pa.parquet.read_table(data / "flights3m/flights-3m.parquet", columns=["delay", "distance", "origin", "destination"])
    late = pa.array(table["delay"].to_numpy() > 15)
    return table.drop_columns(["delay"]).append_column("y", late), []


TABLES = {f.__name__: f for f in (synthetic, mnist, a9a, covtype, flights, airports)}


class Fit:
    """A fit, its output, and the largest amount of memory of its own that it had."""

    def __init__(self, words, folder):
        began = time.perf_counter()
        process = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.memory = 0
        watch = threading.Thread(target=self.watch, args=(process,))
        watch.start()
        out, said = process.communicate()
        self.seconds = time.perf_counter() - began
        watch.join()
        if process.returncode != 0:
            raise SystemExit(said)
        self.report = json.loads(out)
        self.ingest, self.prepare = (float(re.search(rf"^{stage}:.*?, ([0-9.]+) s$", said, re.M | re.S)[1])
                                     for stage in ("ingest", "prepare"))

    def watch(self, process):
        while process.poll() is None:
            try:
                status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            except OSError:
                return
            if found := re.search(r"RssAnon:\s+(\d+) kB", status):
                self.memory = max(self.memory, 1024 * int(found[1]))
            time.sleep(0.02)


def compare(command, name, table, flags, folder, draws):
    pa.parquet.write_table(table, folder / "t.parquet")
    words = ["t.parquet", "--target", "y", "--draws", str(draws), "--json", *flags]
    began = time.perf_counter()
    plan = json.loads(subprocess.run([command, "plan", *words], cwd=folder, check=True, capture_output=True, text=True).stdout)
    took = time.perf_counter() - began
    fit = Fit([command, "fit", *words, "--out", "run", "--overwrite"], folder)
    rows, chains = fit.report["rows"], fit.report["chains"]
    true = {
        "setup_passes": (fit.report["anchor_queries"] + fit.report["bound_queries"]
                         + sum(c["start_queries"] for c in chains)) / rows,
        "sampling_passes": sum(c["warmup_queries"] + c["sampling_queries"] for c in chains) / rows,
        "ingest_seconds": fit.ingest,
        "prepare_seconds": fit.prepare,
        "sample_seconds": fit.seconds - fit.ingest - fit.prepare,
        "store_bytes": (folder / "run/rows.arrow").stat().st_size,
        "memory_bytes": fit.memory,
    }
    print(f"{name}: {rows} rows, {plan['coefficients']} of {len(fit.report['parameters'])} coefficients; "
          f"planned in {took:.1f} s\n  planned: {plan['choices']}\n  chosen:  {fit.report['choices'].splitlines()[0]}")
    for key, is_so in true.items():
        print(f"  {key:16} {plan[key]:12.4g} {is_so:12.4g} {plan[key] / is_so:8.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("--data", type=pathlib.Path, help="a folder with mnist79, a9a, covtype, flights2001 and flights3m")
    parser.add_argument("--tables", help=f"of {','.join(TABLES)}; the last takes 25 GiB of disk and is left out")
    parser.add_argument("--folder", help="where tables and runs are written for a while")
    parser.add_argument("--draws", type=int, default=1000)
    given = parser.parse_args()
    default = list(TABLES)[:-1] if given.data else ["synthetic"]
    for name in given.tables.split(",") if given.tables else default:
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            table, flags = TABLES[name](given.data)
            compare(str(pathlib.Path(given.command).resolve()), name, table, flags, pathlib.Path(folder), given.draws)


if __name__ == "__main__":
    main()
