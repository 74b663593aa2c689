"""Leave-one-out and comparisons by the command: beside ArviZ, a sample beside all rows, and what is refused."""
import json
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
    """Of all rows: the likelihood from the draws by hand, PSIS and the comparison by ArviZ."""
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
        warnings.simplefilter("ignore")  # of pandas to ArviZ
        theirs = arviz.compare(data, ic="loo")
    found = compare(folder, "small", "large", "--rows", 4000)
    assert [run["run"] for run in found["runs"]] == list(theirs.index) == ["large", "small"]
    for ours, (_, row) in zip(found["runs"], theirs.iterrows()):
        np.testing.assert_allclose(
            [-ours["elpd_diff"], ours["se_diff"], ours["elpd"], ours["se"], ours["p_loo"]],
            row[["elpd_diff", "dse", "elpd_loo", "se", "p_loo"]].to_numpy(float), rtol=1e-7, atol=1e-12)
        assert ours["subsampling_se"] == ours["subsampling_se_diff"] == 0
    terms = arviz.loo(data["large"], pointwise=True)
    all_rows = loo(folder, "large", "--rows", 10**9)  # more than there are: all
    np.testing.assert_allclose([row["elpd"] for row in all_rows["sample"]], terms.loo_i, rtol=1e-8)
    np.testing.assert_allclose([row["pareto_k"] for row in all_rows["sample"]], terms.pareto_k, atol=1e-7)
    assert all_rows["good_k"] == pytest.approx(terms.good_k) and all_rows["sampled"] == 4000


def test_a_sample_says_what_all_rows_do(tmp_path):
    """20,000 rows, of which 30 samples of 1000 are taken. Estimates are as far from that of all rows as their standard errors
    say: the mean square of 30 normal z lies in these limits but for 1e-4."""
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
    """Runs are compared on the rows that both have."""
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
        assert "begun: the run is not finished; `flymc resume begun` goes on with it" in refusal(*words, folder=folder)
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


def test_ordered_targets_are_refused(tmp_path):
    random = np.random.default_rng(1)
    x = random.normal(size=2000)
    write(pa.table({"x": x, "stars": np.digitize(x + random.logistic(size=2000), [-1, 0, 1])}), tmp_path / "t.parquet")
    fit(tmp_path, "run", "--family", "ordinal", target="stars")
    assert "leave-one-out and log-likelihoods of single rows are not there yet for ordered targets" in refusal(
        "loo", "run", folder=tmp_path)
    shutil.copytree(tmp_path / "run", tmp_path / "copy")
    assert "flymc: 'run': leave-one-out and" in refusal("compare", "run", "copy", folder=tmp_path)
