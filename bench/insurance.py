"""Times a fit of motor insurance claims, from Parquet to 400 effective draws of each coefficient, and glum's fit.

    python3 bench/insurance.py build/release/cli/flymc --data DIR [--folder DIR] [--only flymc,glum,amounts] [FLAGS ...]

The table is freMTPL2 (DIR/insurance): counts of claims with exposure, explained by eight columns as categories and the
logarithm of the density. There are 323 coefficients, ten of which are not multiplied by zero in a row, and some levels
have a handful of rows without a claim. In one run on all cores:

- flymc fit --family poisson until every ESS is 400: time by stage, lit and bright rows, effective draws per second of
  sampling (more FLAGS go to it),
- glum's ridge fit with the penalty that is the default prior, reading included,
- flymc fit of the claim amounts (gamma) by the same columns.
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

CATEGORIES = ["Area", "VehPower", "VehAge", "DrivAge", "BonusMalus", "VehBrand", "VehGas", "Region"]


def make_tables(data, folder):
    raw = pa.parquet.read_table(data / "insurance/insurance.parquet")
    text = lambda values: pc.cast(values, pa.string()).dictionary_encode()
    columns = {name: text(raw[name]) for name in CATEGORIES}
    columns["log_density"] = pc.ln(pc.cast(raw["Density"], pa.float64()))
    counts = pa.table({**columns, "exposure": raw["Exposure"], "claims": pc.cast(raw["ClaimNb"], pa.int64())})
    pa.parquet.write_table(counts, folder / "claims.parquet")
    amounts = pa.table({**columns, "amount": pc.cast(raw["ClaimAmountCut"], pa.float64())}).filter(
        pc.greater(pc.cast(raw["ClaimAmountCut"], pa.float64()), 0))
    pa.parquet.write_table(amounts, folder / "amounts.parquet")


def by_flymc(command, path, folder, *flags):
    began = time.time()
    done = subprocess.run([command, "fit", path, "--out", folder / "run", "--overwrite", "--json", "--draws", "100", "--target-ess", "400", *flags],
                          check=True, capture_output=True, text=True)
    seconds = time.time() - began
    report = json.loads(done.stdout)
    ess = min(min(p["ess_bulk"], p["ess_tail"]) for p in report["parameters"])
    sampling = max(c["sampling_seconds"] for c in report["chains"])
    queries = sum(c["sampling_queries"] for c in report["chains"])
    draws = report["draws"] * len(report["chains"])
    print(f"flymc      {seconds:7.2f} s  {len(report['parameters'])} parameters, {report['rows']} rows, {draws} draws, least ESS {ess:.0f} "
          f"({ess / draws:.3f} per draw, {ess / seconds:.1f} per second of the whole fit, {ess / sampling:.1f} of sampling), "
          f"bright {np.mean([c['bright_mean'] for c in report['chains']]):.1f}, sampling {queries / report['rows']:.1f} passes")
    for line in (report["choices"] + "\n" + done.stderr).splitlines():
        if line.strip():
            print("           " + line.strip())
    for warning in report["warnings"]:
        print("           warning: " + warning)


def by_glum(path):
    import pandas
    from glum import GeneralizedLinearRegressor

    began = time.time()
    frame = pandas.read_parquet(path)
    y, exposure = frame.pop("claims").to_numpy(float), frame.pop("exposure").to_numpy(float)
    for name in CATEGORIES:
        frame[name] = frame[name].astype("category")
    read = time.time() - began
    model = GeneralizedLinearRegressor(family="poisson", alpha=1 / (2.5**2 * exposure.sum()), l1_ratio=0, drop_first=True)
    model.fit(frame, y / exposure, sample_weight=exposure)
    print(f"glum       {time.time() - began:7.2f} s  of which reading {read:.2f}; {model.coef_.size + 1} coefficients, {model.n_iter_} iterations")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("flymc")
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--only", default="flymc,glum,amounts")
    arguments, flags = parser.parse_known_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        folder = pathlib.Path(folder)
        make_tables(arguments.data, folder)
        tasks = {
            "flymc": lambda: by_flymc(arguments.flymc, folder / "claims.parquet", folder, "--target", "claims", "--family", "poisson",
                                      "--exposure", "exposure", *flags),
            "glum": lambda: by_glum(folder / "claims.parquet"),
            "amounts": lambda: by_flymc(arguments.flymc, folder / "amounts.parquet", folder, "--target", "amount", "--family", "gamma"),
        }
        for name in arguments.only.split(","):
            try:
                tasks[name]()
            except ImportError as error:
                print(f"{name:10} not installed: {error}")


if __name__ == "__main__":
    main()
