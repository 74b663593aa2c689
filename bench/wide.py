"""Times a table of categories from Parquet to 1000 effective draws, and point estimates from the same file.

    python3 bench/wide.py build/release/cli/flymc --data DIR [--gram build/release/bench/statistics/flymc_gram]
                          [--rows 3000000] [--folder DIR] [--only flymc,glum,sklearn,sandwich]

The table is flights3m (DIR/flights3m): late by more than 15 minutes or not, explained by origin, destination, hour, day
of week, month and log distance: 492 coefficients, seven of which are not multiplied by zero in a row. In one run on all
cores:

- flymc fit with --target-ess 1000, its stages, the bytes per row of its file, and lit and bright rows,
- glum's ridge fit and scikit-learn's sparse logistic regression (where they are installed), each with the reading of the
  file, with the penalty that is the default prior of flymc,
- with --gram, the time of one weighted sum of x x' over the rows of that run, and tabmat's `sandwich` of the same table.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet


def make_table(data, rows, path):
    raw = pa.parquet.read_table(data / "flights3m/flights-3m.parquet").slice(0, rows)
    date = raw["date"]
    text = lambda values: pc.cast(values, pa.string()).dictionary_encode()
    pa.parquet.write_table(
        pa.table({
            "origin": text(raw["origin"]),
            "destination": text(raw["destination"]),
            "hour": text(pc.hour(date)),
            "day": text(pc.day_of_week(date)),
            "month": text(pc.month(date)),
            "log_distance": pc.ln(pc.cast(raw["distance"], pa.float64())),
            "late": pc.cast(pc.greater(raw["delay"], 15), pa.int64()),
        }), path)


def by_flymc(command, path, folder):
    began = time.time()
    out = folder / "run"
    done = subprocess.run([command, "fit", path, "--target", "late", "--target-ess", "1000", "--draws", "1000", "--out", out,
                           "--overwrite", "--json", "--quiet"], check=True, capture_output=True, text=True)
    seconds = time.time() - began
    report = json.loads(done.stdout)
    size = (out / "rows.arrow").stat().st_size
    queries = report["anchor_queries"] + report["bound_queries"] + sum(
        c["start_queries"] + c["warmup_queries"] + c["sampling_queries"] for c in report["chains"])
    ess = min(p["ess_bulk"] for p in report["parameters"])
    print(f"flymc      {seconds:7.2f} s  {len(report['parameters'])} coefficients, least ESS {ess:.0f}, {size / report['rows']:.1f} bytes per row, "
          f"{queries / report['rows']:.2f} passes, bright {np.mean([c['bright_mean'] for c in report['chains']]):.1f}")
    print(f"           {report['choices']}")
    stages = {name: value for name, value in report.items() if name.endswith("seconds")}
    print("           " + ", ".join(f"{name} {value:.2f}" for name, value in stages.items() if isinstance(value, float)))
    return {p["name"]: (p["mean"], p["sd"]) for p in report["parameters"]}


def by_glum(path):
    import pandas
    from glum import GeneralizedLinearRegressor

    began = time.time()
    frame = pandas.read_parquet(path)
    y = frame.pop("late").to_numpy(float)
    for name in frame.columns[frame.dtypes == object]:
        frame[name] = frame[name].astype("category")
    read = time.time() - began
    # The penalty alpha |beta|^2 / 2 of the mean deviance per row: the default prior normal(0, 2.5) of a level.
    model = GeneralizedLinearRegressor(family="binomial", alpha=1 / (2.5**2 * len(y)), l1_ratio=0, drop_first=True).fit(frame, y)
    print(f"glum       {time.time() - began:7.2f} s  of which reading {read:.2f}; {model.coef_.size + 1} coefficients, {model.n_iter_} iterations")


def by_sklearn(path):
    import pandas
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    began = time.time()
    frame = pandas.read_parquet(path)
    y = frame.pop("late").to_numpy()
    read = time.time() - began
    texts = [name for name in frame.columns if name != "log_distance"]
    model = make_pipeline(make_column_transformer((OneHotEncoder(drop="first"), texts), (StandardScaler(), ["log_distance"])),
                          LogisticRegression(C=2.5**2, max_iter=1000))
    model.fit(frame, y)
    print(f"sklearn    {time.time() - began:7.2f} s  of which reading {read:.2f}; {model[-1].n_iter_[0]} iterations")


def sandwich(path, gram, folder):
    if gram and not (folder / "run/rows.arrow").exists():
        print("sandwich   of flymc: needs the run that --only flymc,sandwich makes")
    elif gram:
        print("sandwich   flymc,", subprocess.run([gram, folder / "run/rows.arrow"], check=True, capture_output=True, text=True).stdout.strip())
    import pandas
    import tabmat

    frame = pandas.read_parquet(path)
    frame.pop("late")
    for name in frame.columns[frame.dtypes == object]:
        frame[name] = frame[name].astype("category")
    x = tabmat.from_pandas(frame, drop_first=True)
    weight = np.random.default_rng(1).random(len(frame))
    times = []
    for _ in range(5):
        began = time.time()
        x.sandwich(weight)
        times.append(time.time() - began)
    print(f"sandwich   {min(times):7.3f} s  of tabmat, one matrix of {x.shape[1]} columns, best of 5")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("flymc")
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--gram", type=pathlib.Path)
    parser.add_argument("--only", default="flymc,glum,sklearn,sandwich")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        folder = pathlib.Path(folder)
        path = folder / "flights.parquet"
        make_table(arguments.data, arguments.rows, path)
        for name in arguments.only.split(","):
            try:
                {"flymc": lambda: by_flymc(arguments.flymc, path, folder), "glum": lambda: by_glum(path),
                 "sklearn": lambda: by_sklearn(path), "sandwich": lambda: sandwich(path, arguments.gram, folder)}[name]()
            except ImportError as error:
                print(f"{name:10} not installed: {error}")


if __name__ == "__main__":
    main()
