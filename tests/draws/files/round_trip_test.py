"""Checks that DuckDB, ArviZ and R's posterior read flymc's files and compute the same means and diagnostics.

    round_trip_test.py PROGRAM     PROGRAM (round_trip.cpp) writes known draws into a folder

Exits with 77 (skipped) if a Python package is missing. Leaves R out, with a message, if Rscript or posterior is missing.
"""
import importlib.util
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

try:
    import arviz
    import duckdb
    import numpy
except ImportError as error:
    print(f"skipped: {error}; .ci/setup installs it")
    sys.exit(77)

MEAN = 1e-12  # relative: the order of summation differs
DIAGNOSTIC = 1e-3  # relative
R_SCRIPT = """
suppressPackageStartupMessages(library(posterior))
chains <- lapply(commandArgs(TRUE), function(path) read.csv(path, comment.char = "#", check.names = FALSE))
draws <- do.call(bind_draws, c(lapply(chains, as_draws_df), along = "chain"))
table <- summarise_draws(draws, "mean", "rhat", "ess_bulk", "ess_tail")
for (i in seq_len(nrow(table)))
  cat(sprintf("%s\\t%.17g\\t%.17g\\t%.17g\\t%.17g\\n", table$variable[i], table$mean[i], table$rhat[i],
              table$ess_bulk[i], table$ess_tail[i]))
"""
checks = 0


def expect(what, actual, expected, tolerance):
    global checks
    checks += 1
    if not math.isclose(actual, expected, rel_tol=tolerance, abs_tol=tolerance):
        sys.exit(f"{what}: {actual!r}, and flymc says {expected!r}")


def expect_same(what, actual, expected):
    global checks
    checks += 1
    if actual != expected:
        sys.exit(f"{what}: {actual!r}, and flymc wrote {expected!r}")


def expect_diagnosis(program, draws, ours):
    """`draws` is an array of chains by draws."""
    expect(f"{program}: mean of {ours['name']}", float(numpy.mean(draws)), ours["mean"], MEAN)
    expect(f"{program}: R-hat of {ours['name']}", float(arviz.rhat(draws)), ours["r_hat"], DIAGNOSTIC)
    for kind in ("bulk", "tail"):
        expect(f"{program}: {kind} ESS of {ours['name']}", float(arviz.ess(draws, method=kind)), ours["ess_" + kind],
               DIAGNOSTIC)


def check_parquet(folder, ours):
    table = duckdb.sql(f"SELECT * FROM read_parquet('{folder}/draws.parquet')")
    names = [entry["name"] for entry in ours["coefficients"]]
    expect_same("DuckDB: columns", table.columns, ["chain", "draw", *names, *STATISTICS])
    expect_same("DuckDB: types", [str(t) for t in table.types],
                ["INTEGER", "BIGINT", *["DOUBLE"] * len(names), "DOUBLE", "BIGINT", "BIGINT", "DOUBLE"])
    columns = table.fetchnumpy()
    expect_same("DuckDB: chains", columns["chain"].tolist(), [c for c in range(4) for _ in range(500)])
    expect_same("DuckDB: draws", columns["draw"].tolist(), list(range(500)) * 4)
    for entry in ours["coefficients"]:
        expect_diagnosis("DuckDB", columns[entry["name"]].reshape(4, 500), entry)
    for name, mean in ours["statistics"].items():
        expect(f"DuckDB: mean of {name}", float(numpy.mean(columns[name])), mean, MEAN)
    return columns


def check_netcdf(folder, ours, columns, engine):
    program = f"ArviZ, NetCDF by {engine}"
    data = arviz.InferenceData.from_netcdf(str(folder / "draws.nc"), engine=engine)
    expect_same(f"{program}: groups", sorted(data.groups()), ["observed_data", "posterior", "sample_stats"])
    theta = data.posterior["theta"]
    expect_same(f"{program}: dimensions", theta.dims, ("chain", "draw", "coefficient"))
    expect_same(f"{program}: names", theta.coefficient.values.tolist(), [e["name"] for e in ours["coefficients"]])
    expect_same(f"{program}: chains", theta.chain.values.tolist(), [0, 1, 2, 3])
    expect_same(f"{program}: draws", theta.draw.values.tolist(), list(range(500)))
    summary = arviz.summary(data, round_to="none")
    for entry in ours["coefficients"]:
        draws = theta.sel(coefficient=entry["name"]).values
        expect_same(f"{program}: bits of {entry['name']}", draws.tobytes(), columns[entry["name"]].tobytes())
        expect_diagnosis(program, draws, entry)
        expect(f"{program}: summary", summary.loc[f"theta[{entry['name']}]", "mean"], entry["mean"], MEAN)
    for theirs, name in zip(("lp", "bright", "queries", "acceptance_rate"), STATISTICS):
        expect(f"{program}: mean of {theirs}", float(data.sample_stats[theirs].mean()), ours["statistics"][name], MEAN)
    expect_same(f"{program}: target", data.observed_data["clicked"].values.tolist(), [1.0, 0.0, 1.5])
    for group in data.groups():
        attributes = data[group].attrs
        for name, value in {"inference_library": "flymc", "creation_library": "flymc", "seed": "1",
                            "creation_library_language": "C++", "größe": "ünïcode"}.items():
            expect_same(f"{program}: {name} of {group}", attributes.get(name), value)
        for name in ("created_at", "inference_library_version", "creation_library_version"):
            expect_same(f"{program}: {group} has {name}", bool(attributes.get(name)), True)
    expect_same(f"{program}: sampling_time", float(data.posterior.attrs["sampling_time"]), 1.5)
    expect_same(f"{program}: tuning_steps", int(data.sample_stats.attrs["tuning_steps"]), 100)


def check_stan_csv(paths, ours, columns):
    data = arviz.from_cmdstan(posterior=paths)
    expect_same("ArviZ, Stan CSV: variables", sorted(data.posterior.data_vars),
                sorted(entry["stan_name"] for entry in ours["coefficients"]))
    for entry in ours["coefficients"]:
        draws = data.posterior[entry["stan_name"]].values
        expect_same(f"ArviZ, Stan CSV: bits of {entry['name']}", draws.tobytes(), columns[entry["name"]].tobytes())
        expect_diagnosis("ArviZ, Stan CSV", draws, entry)
    for theirs, name in zip(("lp", "bright", "queries", "acceptance_rate"), STATISTICS):
        expect(f"ArviZ, Stan CSV: mean of {theirs}", float(data.sample_stats[theirs].mean()), ours["statistics"][name],
               MEAN)
    expect_same("ArviZ, Stan CSV: seed", data.posterior.attrs["seed"], ["1"] * 4)


def check_r(paths, ours):
    if shutil.which("Rscript") is None:
        print("R was left out: there is no Rscript; .ci/setup installs it")
        return
    if subprocess.run(["Rscript", "-e", "library(posterior)"], capture_output=True).returncode != 0:
        print("R was left out: it has no package 'posterior'; .ci/setup installs it")
        return
    with tempfile.NamedTemporaryFile("w", suffix=".R") as script:
        script.write(R_SCRIPT)
        script.flush()
        lines = subprocess.run(["Rscript", "--encoding=UTF-8", script.name, *paths], check=True, capture_output=True,
                               text=True, encoding="UTF-8", env={**os.environ, "LC_ALL": "C.UTF-8"}).stdout
    table = {name: [math.nan if value == "NA" else float(value) for value in values] for name, *values in
             (line.split("\t") for line in lines.splitlines())}
    for entry in ours["coefficients"]:
        mean, r_hat, bulk, tail = table[entry["stan_name"]]
        expect(f"R: mean of {entry['name']}", mean, entry["mean"], MEAN)
        expect(f"R: R-hat of {entry['name']}", r_hat, entry["r_hat"], DIAGNOSTIC)
        expect(f"R: bulk ESS of {entry['name']}", bulk, entry["ess_bulk"], DIAGNOSTIC)
        expect(f"R: tail ESS of {entry['name']}", tail, entry["ess_tail"], DIAGNOSTIC)
    expect("R: mean of lp__", table["lp__"][0], ours["statistics"]["log_density__"], MEAN)


STATISTICS = ["log_density__", "bright__", "queries__", "acceptance__"]

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([sys.argv[1], str(folder)], check=True)
        ours = json.loads((folder / "ours.json").read_text(encoding="UTF-8"))
        columns = check_parquet(folder, ours)
        check_netcdf(folder, ours, columns, "netcdf4")
        if importlib.util.find_spec("h5py"):  # ArviZ prefers h5py if it is installed
            check_netcdf(folder, ours, columns, "h5netcdf")
        paths = [str(folder / f"stan_{chain}.csv") for chain in range(1, 5)]
        check_stan_csv(paths, ours, columns)
        check_r(paths, ours)
    print(f"{checks} comparisons hold")
