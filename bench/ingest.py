"""Times ingesting a table of numbers from Parquet, and for comparison a bare scan of the file and point estimates.

    python3 bench/ingest.py build/release/cli/flymc [--rows 1000000] [--columns 50] [--folder DIR] [--repeat 3]

In one run on all cores, in turns, the least seconds and processor seconds (user and system) of --repeat:

- a bare scan: every batch of the file decoded by Arrow, and dropped,
- flymc ingest: sums and levels of all columns, and the rows written,
- flymc fit with its defaults, the whole of it,
- scikit-learn's logistic regression from the same file, reading included, where it is installed.
"""
import argparse
import importlib.util
import pathlib
import resource
import subprocess
import tempfile
import time

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet


def make_table(rows, columns, path):
    random = np.random.default_rng(1)
    x = random.normal(size=(rows, columns))
    x[:, 1:] = 0.5 * x[:, :-1] + np.sqrt(0.75) * x[:, 1:]
    y = random.random(rows) < 1 / (1 + np.exp(-x @ random.normal(0, 0.3, columns)))
    pa.parquet.write_table(pa.table({**{f"x{j}": x[:, j] for j in range(columns)}, "y": y.astype(np.int64)}), path)


def scan(path):
    rows = sum(batch.num_rows for batch in pa.dataset.dataset(path).to_batches())
    assert rows > 0


def sklearn(path):
    import pandas
    from sklearn.linear_model import LogisticRegression

    frame = pandas.read_parquet(path)
    LogisticRegression(C=2.5**2).fit(frame.drop(columns="y"), frame["y"])


def processor_seconds():
    """The processor time of this process and of those that it waited for."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def seconds_of(action):
    began, processor_began = time.time(), processor_seconds()
    action()
    return time.time() - began, processor_seconds() - processor_began


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("flymc")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        folder = pathlib.Path(folder)
        path = folder / "table.parquet"
        make_table(arguments.rows, arguments.columns, path)
        flymc = lambda *words: subprocess.run([arguments.flymc, *words, path, "--target", "y", "--out", folder / words[0], "--overwrite",
                                               "--quiet"], check=True, capture_output=True)
        actions = {"bare scan": lambda: scan(path), "flymc ingest": lambda: flymc("ingest"),
                   "flymc fit": lambda: flymc("fit"), "sklearn": lambda: sklearn(path)}
        if importlib.util.find_spec("sklearn") is None:
            del actions["sklearn"]
        times = {name: [] for name in actions}
        for _ in range(arguments.repeat):
            for name, action in actions.items():
                times[name].append(seconds_of(action))
        least = {name: [min(column) for column in zip(*of)] for name, of in times.items()}
        for name, (seconds, processor) in least.items():
            print(f"{name:13} {seconds:6.2f} s  {seconds / least['bare scan'][0]:5.1f} times the bare scan;  processor "
                  f"{processor:6.2f} s  {processor / least['bare scan'][1]:5.1f} times")


if __name__ == "__main__":
    main()
