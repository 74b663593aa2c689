"""Compares the cost of flymc.fit and of the command on the same million rows of 20 columns, after ingest.

    python python/bench/cost.py [ROWS]

Both are timed from the last write to rows.arrow to the end: anchor, bound, warm-up, sampling and the summary. The times
are the best of three; the draws are compared first.
"""

import pathlib
import subprocess
import sys
import sysconfig
import tempfile
import time

import flymc
import numpy as np
import pyarrow as pa
import pyarrow.parquet

COMMAND = pathlib.Path(sysconfig.get_path("scripts")) / "flymc"


def main() -> None:
    rows, columns = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000, 20
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    y = rng.random(rows) < 1 / (1 + np.exp(1 - X @ rng.normal(0.0, 0.3, size=columns)))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        table = pa.table({f"x{j + 1}": np.ascontiguousarray(X[:, j]) for j in range(columns)} | {"y": y})
        pa.parquet.write_table(table, folder / "table.parquet")
        ways = {
            "flymc.fit": lambda out: str(flymc.fit(None, (X, y), out=out)),
            "the command": lambda out: subprocess.run(
                [COMMAND, "fit", folder / "table.parquet", "--target", "y", "--out", out],
                check=True,
                capture_output=True,
            ),
        }
        best: dict[str, float] = {}
        for turn in range(3):
            for way, run in ways.items():
                out = folder / f"{way} {turn}"
                began = time.time()
                run(out)
                ended = time.time()
                ingested = (out / "rows.arrow").stat().st_mtime
                print(f"{way}: ingest {ingested - began:.2f} s, all else {ended - ingested:.2f} s")
                best[way] = min(best.get(way, np.inf), ended - ingested)
            one, other = (flymc.load(folder / f"{way} {turn}").draws for way in ways)
            assert one.equals(other)
        print(f"the same draws; {best['flymc.fit'] / best['the command']:.2f} times the command's time")


if __name__ == "__main__":
    main()
