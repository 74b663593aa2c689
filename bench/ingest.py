"""Times the way of a table of numbers from Parquet to rows, beside a bare scan of the file and point estimates from it.

    python3 bench/ingest.py build/release/cli/flymc [--rows 1000000] [--columns 50] [--folder DIR] [--repeat 3]

In one run on all cores, the fastest of --repeat:

- a bare scan: every batch of the file decoded by Arrow, and dropped,
- flymc ingest: two scans, sums and levels of all columns, and the rows written,
- flymc fit with its defaults, the whole of it,
- scikit-learn's logistic regression from the same file, reading included, where it is installed.
"""
import argparse
import pathlib
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


def fastest(action, repeat):
    times = []
    for _ in range(repeat):
        began = time.time()
        action()
        times.append(time.time() - began)
    return min(times)


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
        bare = None
        for name, action in {"bare scan": lambda: scan(path), "flymc ingest": lambda: flymc("ingest"),
                             "flymc fit": lambda: flymc("fit"), "sklearn": lambda: sklearn(path)}.items():
            try:
                seconds = fastest(action, arguments.repeat)
            except ImportError as error:
                print(f"{name:13} not installed: {error}")
                continue
            bare = bare or seconds
            print(f"{name:13} {seconds:6.2f} s  {seconds / bare:5.1f} times the bare scan")


if __name__ == "__main__":
    main()
