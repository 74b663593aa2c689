"""A run's draws in every format: ArviZ, R's posterior and DuckDB compute the numbers of `flymc summary`."""
import json
import shutil
import subprocess

import arviz
import duckdb
import numpy as np
import pytest
from command import flymc, people, write


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("round_trip")
    flymc("fit", write(people(20_000), folder / "t.csv"), "--target", "y", "--chains", 4, "--draws", 700, "--warmup", 500,
          "--out", "run", folder=folder)
    for name in ("draws.nc", "draws.csv", "draws.parquet"):
        flymc("export", "run", "--out", name, folder=folder)
    summary = json.loads(flymc("summary", "run", "--json", folder=folder))
    assert summary["rows"] == 20_000 and len(summary["parameters"]) == 8
    return folder, {p["name"]: p for p in summary["parameters"]}


def close(value, expected, tolerance):
    assert abs(value - expected) <= tolerance * max(1.0, abs(expected)), (value, expected)


def compare_with_arviz(posterior, name, expected):
    """`posterior` is an array of chain x draw."""
    values = np.asarray(posterior)
    assert values.shape == (4, 700)
    close(values.mean(), expected["mean"], 1e-12)
    close(float(arviz.rhat(values)), expected["r_hat"], 1e-3)
    close(float(arviz.ess(values, method="bulk")), expected["ess_bulk"], 1e-3)
    close(float(arviz.ess(values, method="tail")), expected["ess_tail"], 1e-3)


def test_netcdf_in_arviz(run):
    folder, parameters = run
    data = arviz.from_netcdf(folder / "draws.nc")
    assert list(data.posterior.coords["coefficient"].values) == list(parameters)
    for name, expected in parameters.items():
        compare_with_arviz(data.posterior["theta"].sel(coefficient=name), name, expected)
    assert data.posterior.attrs["inference_library"] == "flymc"
    assert data.sample_stats["lp"].shape == (4, 700)
    assert data.observed_data["y"].shape == (20_000,)
    table = arviz.summary(data)
    assert list(table.index) == [f"theta[{name}]" for name in parameters]


def test_stan_csv_in_arviz(run):
    folder, parameters = run
    data = arviz.from_cmdstan([str(folder / f"draws_{c}.csv") for c in (1, 2, 3, 4)])
    for name, expected in parameters.items():
        compare_with_arviz(data.posterior[name], name, expected)


def test_stan_csv_in_r(run):
    if not shutil.which("Rscript"):
        pytest.skip("Rscript is not installed")
    folder, parameters = run
    script = """
        suppressMessages(library(posterior))
        chains <- lapply(1:4, function(c) {
          d <- read.csv(sprintf("draws_%d.csv", c), comment.char = "#", check.names = FALSE)
          as.matrix(d[, !grepl("__$", names(d))])
        })
        draws <- as_draws_array(aperm(simplify2array(chains), c(1, 3, 2)))
        s <- summarise_draws(draws, "mean", "rhat", "ess_bulk", "ess_tail")
        options(digits = 17)
        numbers <- sapply(as.data.frame(s)[, -1], as.numeric)
        write.table(data.frame(s$variable, numbers), "r.tsv", sep = "\\t", quote = FALSE, row.names = FALSE)
    """
    done = subprocess.run(["Rscript", "-e", script], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = [line.split("\t") for line in (folder / "r.tsv").read_text().splitlines()[1:]]
    assert [line[0] for line in lines] == list(parameters)
    for name, mean, rhat, bulk, tail in lines:
        close(float(mean), parameters[name]["mean"], 1e-12)
        close(float(rhat), parameters[name]["r_hat"], 1e-3)
        close(float(bulk), parameters[name]["ess_bulk"], 1e-3)
        close(float(tail), parameters[name]["ess_tail"], 1e-3)


@pytest.mark.parametrize("path", ["run/draws.parquet", "draws.parquet"])
def test_parquet_in_duckdb(run, path):
    folder, parameters = run
    for name, expected in parameters.items():
        mean, count = duckdb.sql(f"""select fsum("{name}") / count(*), count(*) from '{folder / path}'""").fetchall()[0]
        assert count == 2800
        close(mean, expected["mean"], 1e-12)
