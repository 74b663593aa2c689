"""Leave-one-out and comparisons by the command: compared with ArviZ, a sample with all rows, and refusals."""
import json
import math
import shutil
import subprocess
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from command import COMMAND, flymc, people, refusal, write

QUICK = ("--chains", 2, "--draws", 300, "--warmup", 200, "--quiet")


def fit(folder, out, *words, table="t.parquet", target="y"):
    flymc("fit", table, "--target", target, "--out", out, *QUICK, *words, folder=folder)
    return out


def loo(folder, *words):
    return json.loads(flymc("loo", *words, "--json", folder=folder))


def compare(folder, *words):
    return json.loads(flymc("compare", *words, "--json", folder=folder))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("loo")
    write(people(4000), folder / "t.parquet")
    fit(folder, "small", "--columns", "age,smoker")
    fit(folder, "large", "--columns", "age,smoker,region")
    return folder


def usage(*words, folder):
    done = subprocess.run([COMMAND, *map(str, words)], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 2, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stderr


def test_the_printed_form(folder):
    found, text = loo(folder, "large"), flymc("loo", "large", folder=folder)
    assert text == (
        f"elpd_loo {found['elpd']:.1f}, standard error {found['se']:.1f}, of the subsample {found['subsampling_se']:.2g}\n"
        f"p_loo    {found['p_loo']:.1f}\n"
        "1000 of 4000 rows sampled; Pareto k above 0.64: none\n"
    )
    assert found["sampled"] == len(found["sample"]) == 1000 and found["rows"] == 4000 and found["warnings"] == []
    rows = [row["row"] for row in found["sample"]]
    assert rows == sorted(set(rows)) and all(row["file_row"] == row["row"] + 1 for row in found["sample"])
    lines = flymc("compare", "small", "large", folder=folder).splitlines()
    assert lines[0].split() == ["run", "elpd_diff", "se_diff", "subsampling_se_diff", "elpd", "se", "p_loo"]
    assert lines[1].split()[:4] == ["large", "0.00", "0.00", "0"] and lines[2].startswith("small ")
    assert lines[3:] == ["on 4000 rows that all runs have, of 4000 in the table; 1000 sampled"]
    assert len({len(line) for line in lines[:3]}) == 1


def test_it_is_arvizs(folder):
    """All rows: the likelihood computed from the draws, PSIS and the comparison by ArviZ."""
    arviz = pytest.importorskip("arviz")
    table = pa.parquet.read_table(folder / "t.parquet").to_pydict()
    y, region = np.array(table["y"]), np.array(table["region"])
    data = {}
    for run in ("small", "large"):
        draws = pa.parquet.read_table(folder / run / "draws.parquet")
        names = [name for name in draws.column_names if name not in ("chain", "draw") and not name.endswith("__")]
        theta = np.stack([draws[name].to_numpy() for name in names], axis=-1)
        columns = {"intercept": np.ones(4000), "age": np.array(table["age"]), "smoker": np.array(table["smoker"], float)}
        columns |= {name: (region == name[7:-1]).astype(float) for name in names if name.startswith("region[")}
        eta = theta @ np.stack([columns[name] for name in names])
        likelihood = -np.logaddexp(0.0, np.where(y == 1, -eta, eta))
        data[run] = arviz.from_dict(posterior={"theta": theta.reshape(2, 300, -1)}, log_likelihood={"y": likelihood.reshape(2, 300, -1)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas warns ArviZ
        theirs = arviz.compare(data, ic="loo")
    found = compare(folder, "small", "large", "--rows", 4000)
    assert [run["run"] for run in found["runs"]] == list(theirs.index) == ["large", "small"]
    for ours, (_, row) in zip(found["runs"], theirs.iterrows()):
        np.testing.assert_allclose(
            [-ours["elpd_diff"], ours["se_diff"], ours["elpd"], ours["se"], ours["p_loo"]],
            row[["elpd_diff", "dse", "elpd_loo", "se", "p_loo"]].to_numpy(float), rtol=1e-7, atol=1e-12)
        assert ours["subsampling_se"] == ours["subsampling_se_diff"] == 0
    terms = arviz.loo(data["large"], pointwise=True)
    all_rows = loo(folder, "large", "--rows", 10**9)  # more than the table has: all rows
    np.testing.assert_allclose([row["elpd"] for row in all_rows["sample"]], terms.loo_i, rtol=1e-8)
    np.testing.assert_allclose([row["pareto_k"] for row in all_rows["sample"]], terms.pareto_k, atol=1e-7)
    assert all_rows["good_k"] == pytest.approx(terms.good_k) and all_rows["sampled"] == 4000


def test_a_sample_says_what_all_rows_do(tmp_path):
    """30 samples of 1000 of 20,000 rows. Their estimates differ from that of all rows as their standard errors say: the
    mean square of 30 normal z lies outside these limits with probability 1e-4."""
    write(people(20_000, seed=3), tmp_path / "t.parquet")
    for out, columns in (("small", "age"), ("large", "age,smoker,region")):
        fit(tmp_path, out, "--columns", columns)
    every = compare(tmp_path, "small", "large", "--rows", 20_000)
    assert every["sampled"] == every["rows"] == 20_000
    z = []
    for seed in range(30):
        some = compare(tmp_path, "small", "large", "--seed", seed)
        assert some["sampled"] == 1000
        for all_rows, sampled in zip(every["runs"], some["runs"]):
            assert all_rows["run"] == sampled["run"] and 0 < sampled["subsampling_se"] < 0.05
            assert sampled["se"] == pytest.approx(all_rows["se"], rel=1e-3)
            assert sampled["se_diff"] == pytest.approx(all_rows["se_diff"], rel=1e-2)
        z.append([(b[key] - a[key]) / b[error] for a, b, key, error in (
            (every["runs"][0], some["runs"][0], "elpd", "subsampling_se"),
            (every["runs"][1], some["runs"][1], "elpd", "subsampling_se"),
            (every["runs"][1], some["runs"][1], "elpd_diff", "subsampling_se_diff"))])
    mean_square = np.square(z).mean(axis=0)
    assert np.all((0.3 < mean_square) & (mean_square < 2.3)), mean_square
    assert np.mean(np.abs(z) < 2) > 0.85
    alone = loo(tmp_path, "large", "--seed", 29)
    assert alone["elpd"] == some["runs"][0]["elpd"] and alone["se"] == some["runs"][0]["se"]


def test_seeds_choose_rows(folder):
    one, again, other = (loo(folder, "small", "--rows", 50, "--seed", seed) for seed in (0, 0, 7))
    rows = [[row["row"] for row in found["sample"]] for found in (one, other)]
    assert one == again and rows[0] != rows[1] and len(rows[1]) == 50
    assert abs(one["elpd"] - other["elpd"]) < 5 * (one["subsampling_se"] + other["subsampling_se"])


def test_rows_that_were_dropped(folder, tmp_path):
    """Runs are compared on the rows that both kept."""
    table = people(4000)
    holes = np.array(table["income"].to_pylist())
    holes[::5] = np.nan
    write(table.set_column(1, "income", pa.array(holes, from_pandas=True)), tmp_path / "t.parquet")
    fit(tmp_path, "all", "--columns", "age")
    fit(tmp_path, "some", "--columns", "age,income", "--missing", "drop")
    found = compare(tmp_path, "all", "some", "--rows", 500)
    assert found["rows"] == 3200 and found["table_rows"] == 4000 and found["sampled"] == 500
    assert "on 3200 rows that all runs have, of 4000 in the table; 500 sampled" in flymc(
        "compare", "all", "some", "--rows", 500, folder=tmp_path)


def test_rows_that_move_the_posterior(tmp_path):
    table = people(1500)
    level = ["common"] * 1500
    level[:8] = [f"rare{i}" for i in range(8)]
    write(table.append_column("level", pa.array(level)), tmp_path / "t.csv")
    fit(tmp_path, "run", "--columns", "age,level", "--prior", "normal(0, 10)", table="t.csv")
    text = flymc("loo", "run", "--rows", 1500, folder=tmp_path)
    bad = loo(tmp_path, "run", "--rows", 1500)["above_good_k"]
    assert bad > 5 and f"Pareto k above 0.64: {bad}\n" in text
    assert text.count("t.csv, row ") == 5 and f"  ... and {bad - 5} more\n" in text
    assert f"warning: {bad} of 1500 sampled rows have a Pareto k above 0.64" in text
    assert "draw more (--draws), or look at these rows (`flymc loo run --json`)" in text
    fit(tmp_path, "other", "--columns", "age", table="t.csv")
    text = flymc("compare", "run", "other", "--rows", 1500, folder=tmp_path)
    assert f"warning: {bad} of 1500 sampled rows of 'run' have a Pareto k above 0.64" in text


def test_what_cannot_be_compared(folder, tmp_path):
    write(people(3900), tmp_path / "short.parquet")
    fit(tmp_path, "short", table="short.parquet")
    said = refusal("compare", folder / "small", "short", folder=tmp_path)
    assert "small' and 'short' are fits of different tables, of 4000 and 3900 rows" in said and "--missing drop" in said
    turned = people(4000).take(list(range(3999, -1, -1)))
    write(turned, tmp_path / "turned.parquet")
    fit(tmp_path, "turned", table="turned.parquet")
    assert "the target is '" in refusal("compare", folder / "small", "turned", folder=tmp_path)
    fit(folder, "number", "--columns", "smoker", "--family", "gaussian", target="age")
    assert "of one the target is a number, of the other a class" in refusal("compare", "small", "number", folder=folder)


def test_one_run_is_not_enough(folder):
    said = usage("compare", "small", folder=folder)
    assert "name a second run to compare 'small' with; `flymc loo small` is for one" in said
    assert "name two runs or more" in usage("compare", folder=folder)
    assert "which run to use" in usage("loo", folder=folder)
    assert "one word too many" in usage("loo", "small", "large", folder=folder)


def test_the_same_run_twice(folder):
    assert "'small' is named twice; compare different runs" in refusal("compare", "small", "large", "small", folder=folder)
    assert "'small' and './small/' are the same run" in refusal("compare", "small", "./small/", folder=folder)


def test_what_is_no_finished_run(folder, tmp_path):
    for words in (("loo", "nowhere"), ("compare", "small", "nowhere")):
        assert "nowhere: there is no run here" in refusal(*words, folder=folder)
    (folder / "empty").mkdir()
    assert "empty: there is no run here" in refusal("compare", "small", "empty", folder=folder)
    flymc("ingest", "t.parquet", "--target", "y", "--out", "begun", *QUICK[-1:], folder=folder)
    for words in (("loo", "begun"), ("compare", "small", "begun"), ("compare", "begun", "small")):
        said = refusal(*words, folder=folder)
        assert "begun: the run is not finished; `flymc resume begun` goes on with it" in said and "prior" not in said
    shutil.copytree(folder / "small", folder / "bare")
    (folder / "bare" / "rows.arrow").unlink()
    assert "bare: its rows were removed" in refusal("loo", "bare", folder=folder)
    shutil.copytree(folder / "small", folder / "damaged")
    with open(folder / "damaged" / "draws.parquet", "r+b") as file:
        file.seek(5000)
        file.write(b"\0" * 500)
    for words in (("loo", "damaged"), ("compare", "small", "damaged")):
        assert "damaged/draws.parquet" in refusal(*words, folder=folder)


def test_flags_that_say_nothing(folder):
    for command in (("loo", "small"), ("compare", "small", "large")):
        assert "--rows: 1 can say nothing of how different rows are; sample 2 or more" in usage(*command, "--rows", 1, folder=folder)
        assert "--rows: -5 can say nothing" in usage(*command, "--rows", -5, folder=folder)
        assert "--rows: 'many' is not a number" in usage(*command, "--rows", "many", folder=folder)
        assert "--seed: -1 is negative; give 0 or more" in usage(*command, "--seed", -1, folder=folder)


def stars(rows, seed=1):
    """Ratings from 1 to 5 by two columns; the second has missing values, and the fourth rating is rare. Also a count of
    each rating and a known offset."""
    random = np.random.default_rng(seed)
    x, z = random.normal(size=rows), random.normal(3, 2, size=rows)
    times, known = random.integers(0, 4, size=rows), random.normal(scale=0.3, size=rows)
    latent = 0.8 * x - 0.4 * z + known + random.logistic(size=rows)
    z[random.random(rows) < 0.1] = np.nan
    return {"x": x, "z": z, "times": times, "known": known, "stars": 1 + np.digitize(latent, [-2.5, -1.5, 0.2, 0.3])}


def write_files(table, folder, pieces=3):
    folder.mkdir()
    for i, rows in enumerate(np.array_split(np.arange(len(table["stars"])), pieces)):
        pa.parquet.write_table(pa.table({name: pa.array(column[rows], from_pandas=True) for name, column in table.items()}),
                               folder / f"{i}.parquet")


def draws_of(run):
    """Cut points, with one below and one above all others, and slopes: a row per draw."""
    draws = pa.parquet.read_table(run / "draws.parquet")
    cuts = np.stack([draws[name].to_numpy() for name in draws.column_names if name.startswith("cutpoint[")], axis=-1)
    end = np.full((len(cuts), 1), np.inf)
    return np.hstack([-end, cuts, end]), {name: draws[name].to_numpy() for name in ("x", "z") if name in draws.column_names}


def log_probability(cuts, eta, category):
    """For each draw and row, as the logarithm of a difference of two probabilities."""
    with np.errstate(over="ignore"):
        below = [1 / (1 + np.exp(eta - cuts[:, category + k])) for k in (0, 1)]
    return np.log(below[1] - below[0])


def test_ordered_targets_are_arvizs(tmp_path):
    """Results are for rows of the table, some of which the store has as two: with weights, an offset, dropped rows and
    several files; and the sampled rows agree with all rows."""
    arviz = pytest.importorskip("arviz")
    table = stars(20_000)
    write_files(table, tmp_path / "t")
    words = ("--family", "ordinal", "--weights", "times", "--offset", "known", "--missing", "drop")
    fit(tmp_path, "small", "--columns", "x", *words, table="t", target="stars")
    fit(tmp_path, "large", "--columns", "x,z", *words, table="t", target="stars")
    kept = ~np.isnan(table["z"])
    counted = kept & (table["times"] > 0)
    data = {}
    for run in ("small", "large"):
        cuts, slopes = draws_of(tmp_path / run)
        eta = table["known"][counted] + sum(np.outer(slope, table[name][counted]) for name, slope in slopes.items())
        value = table["times"][counted] * log_probability(cuts, eta, table["stars"][counted] - 1)
        theta = np.column_stack([cuts[:, 1:-1], *slopes.values()])
        data[run] = arviz.from_dict(posterior={"theta": theta.reshape(2, 300, -1)}, log_likelihood={"y": value.reshape(2, 300, -1)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas warns ArviZ
        theirs, terms = arviz.compare(data, ic="loo", scale="log"), arviz.loo(data["large"], pointwise=True)
    every = compare(tmp_path, "small", "large", "--rows", 20_000)
    assert every["rows"] == every["sampled"] == counted.sum() and every["table_rows"] == 20_000
    assert [run["run"] for run in every["runs"]] == list(theirs.index) == ["large", "small"]
    for ours, (_, row) in zip(every["runs"], theirs.iterrows()):
        np.testing.assert_allclose(
            [-ours["elpd_diff"], ours["se_diff"], ours["elpd"], ours["se"], ours["p_loo"]],
            row[["elpd_diff", "dse", "elpd_loo", "se", "p_loo"]].to_numpy(float), rtol=1e-7, atol=1e-10)
    found = loo(tmp_path, "large", "--rows", 20_000)
    np.testing.assert_allclose([row["elpd"] for row in found["sample"]], terms.loo_i, rtol=1e-8)
    # The rows' origins; their numbers in the run count the kept rows.
    at = np.flatnonzero(counted)
    assert [row["row"] for row in found["sample"]] == list(np.cumsum(kept)[at] - 1)
    starts = [rows[0] for rows in np.array_split(np.arange(20_000), 3)]
    number = np.searchsorted(starts, at, side="right") - 1
    assert [(row["file"][-9:], row["file_row"]) for row in found["sample"]] == [
        (f"{i}.parquet", row - starts[i] + 1) for i, row in zip(number, at)]
    # Samples of 1000: estimates differ from that of all rows as their standard errors say (false-alarm rate 1e-4).
    z = []
    for seed in range(30):
        some = compare(tmp_path, "small", "large", "--seed", seed)
        for all_rows, sampled in zip(every["runs"], some["runs"]):
            assert 0 < sampled["subsampling_se"] < 0.1
            assert sampled["se"] == pytest.approx(all_rows["se"], rel=1e-3)
        z.append([(b[key] - a[key]) / b[error] for a, b, key, error in (
            (every["runs"][0], some["runs"][0], "elpd", "subsampling_se"),
            (every["runs"][1], some["runs"][1], "elpd_diff", "subsampling_se_diff"))])
    mean_square = np.square(z).mean(axis=0)
    assert np.all((0.3 < mean_square) & (mean_square < 2.3)), mean_square


def test_an_ordered_row_that_is_left_out(tmp_path):
    """Compares with new draws from the posterior without a row: 60 rows, in which that row gets another weight."""
    random = np.random.default_rng(5)
    x = random.normal(size=60)
    table = {"x": x, "times": np.ones(60), "stars": np.digitize(x + random.logistic(size=60), [-0.7, 0.7])}
    long = ("--target", "stars", "--family", "ordinal", "--weights", "times", "--chains", 2, "--draws", 4000, "--quiet")
    write(pa.table(table), tmp_path / "t.parquet")
    flymc("fit", "t.parquet", "--out", "run", *long, folder=tmp_path)
    found = {row["row"]: row for row in loo(tmp_path, "run", "--rows", 60)["sample"]}
    hard = sorted(found, key=lambda row: found[row]["elpd"])
    for row in (hard[0], hard[20], next(row for row in hard if table["stars"][row] == 1)):
        write(pa.table(table | {"times": np.where(np.arange(60) == row, 0.0, 1.0)}), tmp_path / "without.parquet")
        flymc("fit", "without.parquet", "--out", "without", "--overwrite", *long, folder=tmp_path)
        cuts, slopes = draws_of(tmp_path / "without")
        each = np.exp(log_probability(cuts, np.outer(slopes["x"], [x[row]]), table["stars"][[row]]))[:, 0]
        error = each.std() / each.mean() / np.sqrt(len(each) / 10)  # assumes that a tenth of the draws are independent
        assert found[row]["elpd"] == pytest.approx(np.log(each.mean()), abs=5 * error + 1e-3), row


def test_ordered_or_not(tmp_path):
    """An ordinal fit compared with a softmax of the same classes, on the rows that both kept."""
    table = stars(3000)
    write_files(table, tmp_path / "t", pieces=1)
    fit(tmp_path, "ordinal", "--family", "ordinal", "--columns", "x,z", "--missing", "drop", table="t", target="stars")
    fit(tmp_path, "softmax", "--family", "softmax", "--columns", "x", table="t", target="stars")
    found = compare(tmp_path, "ordinal", "softmax")
    assert [run["run"] for run in found["runs"]] == ["ordinal", "softmax"] and found["rows"] == np.sum(~np.isnan(table["z"]))
    alone = loo(tmp_path, "ordinal")
    assert alone["elpd"] == pytest.approx(found["runs"][0]["elpd"], abs=5 * alone["subsampling_se"])
    table["stars"] = table["stars"][::-1].copy()
    write_files(table, tmp_path / "turned", pieces=1)
    fit(tmp_path, "turned_fit", "--family", "ordinal", "--columns", "x", table="turned", target="stars")
    assert "the target is '" in refusal("compare", "ordinal", "turned_fit", folder=tmp_path)


def test_densities_of_times_and_successes_are_those_of_the_target(tmp_path):
    """A log-normal density of a time is a Gaussian of its logarithm divided by the time; k of m have (m over k)
    orders."""
    random = np.random.default_rng(31)
    x, m = random.normal(size=800), random.integers(1, 40, 800)
    t = np.exp(8 + 0.3 * x + 0.5 * random.normal(size=800))
    k = random.binomial(m, 1 / (1 + np.exp(-0.4 - 0.5 * x)))
    write(pa.table({"x": x, "t": t, "log": np.log(t), "other": t[::-1].copy(), "k": k, "m": m}), tmp_path / "t.parquet")
    for out, target, family in (("lognormal", "t", "lognormal"), ("gaussian", "log", "gaussian"), ("gamma", "t", "gamma"),
                                ("weibull", "t", "weibull"), ("turned", "other", "lognormal")):
        fit(tmp_path, out, "--columns", "x", "--family", family, target=target)
    fit(tmp_path, "binomial", "--columns", "x", "--family", "binomial", "--trials", "m", target="k")
    every = ("--rows", 800)
    lognormal, gaussian = loo(tmp_path, "lognormal", *every), loo(tmp_path, "gaussian", *every)
    assert lognormal["elpd"] == pytest.approx(gaussian["elpd"] - np.log(t).sum(), abs=0.5)
    of_rows = {row["row"]: row["elpd"] for row in gaussian["sample"]}
    for row in lognormal["sample"]:
        assert row["elpd"] == pytest.approx(of_rows[row["row"]] - np.log(t[row["row"]]), abs=0.1)

    eta = np.array([[p["mean"] for p in json.loads(flymc("summary", "binomial", "--json", folder=tmp_path))["parameters"]]])
    eta = eta[0, 0] + eta[0, 1] * x
    log_choose = np.array([math.lgamma(a + 1) - math.lgamma(b + 1) - math.lgamma(a - b + 1) for a, b in zip(m, k)])
    at_mean = np.sum(log_choose + k * eta - m * np.logaddexp(0, eta))
    found = loo(tmp_path, "binomial", *every)
    assert found["elpd"] == pytest.approx(at_mean - 2, abs=1)  # two coefficients, p_loo about 2
    # A sample of the rows includes the constants of all of them.
    assert loo(tmp_path, "lognormal", "--rows", 100)["elpd"] == pytest.approx(lognormal["elpd"], abs=2)

    # Compares densities of one amount by families with different scales, and refuses another target.
    found = compare(tmp_path, "gamma", "lognormal", "weibull")
    assert found["runs"][0]["run"] == "lognormal" and found["runs"][0]["elpd"] == pytest.approx(lognormal["elpd"], abs=0.5)
    said = refusal("compare", "lognormal", "turned", folder=tmp_path)
    assert "row 1: the target is " in said and "in 'lognormal' and" in said


def test_probabilities_are_not_compared_with_densities(tmp_path):
    random = np.random.default_rng(32)
    x = random.normal(size=500)
    write(pa.table({"x": x, "y": random.poisson(np.exp(0.3 * x)), "seen": (x > 0).astype(int)}), tmp_path / "t.parquet")
    fit(tmp_path, "poisson", "--columns", "x", "--family", "poisson")
    fit(tmp_path, "student_t", "--columns", "x", "--family", "student_t")
    said = refusal("compare", "poisson", "student_t", folder=tmp_path)
    assert "'poisson' gives counts a probability, 'student_t' gives numbers a density" in said
    write(pa.table({"x": x, "y": np.exp(x + random.normal(size=500)), "seen": (x > 0).astype(int)}), tmp_path / "times.parquet")
    fit(tmp_path, "all", "--columns", "x", "--family", "weibull", table="times.parquet")
    fit(tmp_path, "some", "--columns", "x", "--family", "weibull", "--event", "seen", table="times.parquet")
    assert "in 'some' the event was not seen (--event)" in refusal("compare", "all", "some", folder=tmp_path)
