"""Hurdle counts, two fits by one command: compared with statsmodels, predictions, leave-one-out, and refusals."""
import json
import re
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from command import flymc, predictions, refusal, write
from scipy import special, stats

QUICK = ("--chains", 2, "--draws", 400, "--warmup", 300, "--quiet")


def visits(rows, seed=1, most=3.0):
    """Visits to a doctor in half a year or more, by age and kind of insurance. One kind is rare, and many counts are
    0."""
    random = np.random.default_rng(seed)
    age, years = random.normal(45, 15, rows), random.uniform(0.5, most, rows)
    kind = random.choice(["basic", "full", "none"], rows, p=[0.6, 0.38, 0.02])
    some = random.random(rows) < special.expit(-0.4 + 0.03 * (age - 45) + 0.5 * (kind == "full"))
    mu = years * np.exp(0.1 + 0.01 * (age - 45) - 0.3 * (kind == "none"))
    count = stats.poisson.ppf(random.uniform(np.exp(-mu), 1.0), mu)
    return {"age": age, "kind": kind, "years": years, "visits": np.where(some, count, 0).astype(int)}


NAMES = ["intercept", "age", "kind[full]", "kind[none]"]


def design(table):
    return np.column_stack([np.ones(len(table["age"])), table["age"], table["kind"] == "full", table["kind"] == "none"]).astype(float)


def fit(table, *words, folder, out="run", file="t.parquet"):
    write(pa.table({name: pa.array(column, from_pandas=True) for name, column in table.items()}), folder / file)
    return json.loads(flymc("fit", file, "--target", "visits", "--family", "hurdle_poisson", "--out", out, "--json", "--quiet",
                            *words, folder=folder))


def draws_of(run):
    draws = pa.parquet.read_table(run / "draws.parquet")
    return np.stack([draws[name].to_numpy() for name in NAMES], axis=-1)


def log_likelihoods(table, run):
    """Log likelihoods of both parts by SciPy: a row per draw, a column per row of the table. Only counts have the
    offset."""
    x, y = design(table), table["visits"]
    eta = draws_of(run / "zero") @ x.T
    zero = np.where(y > 0, special.log_expit(eta), special.log_expit(-eta))
    mu = table["years"] * np.exp(draws_of(run / "count") @ x.T)
    count = stats.poisson.logpmf(y, mu) - np.log(-np.expm1(-mu))
    return zero, np.where(y > 0, count, 0.0)


@pytest.mark.parametrize("exposure", [True, False])
def test_both_parts_beside_statsmodels(exposure, tmp_path):
    """At 100,000 rows under flat priors. The zero part is compared with a logistic regression of statsmodels, because
    its hurdle models zeros by another Poisson. The count part is compared with its counts truncated at 0."""
    truncated = pytest.importorskip("statsmodels.discrete.truncated_model")
    import statsmodels.api as statsmodels
    table = visits(100_000, most=3.0 if exposure else 0.5)
    x, y = design(table), table["visits"]
    found = fit(table, *(("--exposure", "years") if exposure else ("--exclude", "years")), "--prior", "flat", "--draws", 8000,
                folder=tmp_path)
    assert list(found) == ["zero", "count"]
    scale = np.array([1.0, 40.0, 1.0, 1.0])  # for statsmodels' optimiser
    logit = statsmodels.Logit(y > 0, x / scale).fit(disp=0)
    if exposure:
        years = np.log(table["years"][y > 0])
        counts = truncated.TruncatedLFPoisson(y[y > 0], x[y > 0] / scale, offset=years).fit(disp=0, maxiter=200)
    else:
        counts = truncated.HurdleCountModel(y, x / scale).fit(disp=0, maxiter=200).results_count
    for part, theirs in (("zero", logit), ("count", counts)):
        ours = {p["name"]: p for p in found[part]["parameters"]}
        assert list(ours) == NAMES and found[part]["warnings"] == []
        for name, at, error in zip(NAMES, theirs.params / scale, theirs.bse / scale):
            assert ours[name]["mean"] == pytest.approx(at, abs=0.05 * error + 4.5 * ours[name]["mcse_mean"]), (part, name)
            assert ours[name]["sd"] == pytest.approx(error, rel=0.03), (part, name)
    assert found["zero"]["rows"] == 100_000 and found["count"]["rows"] == (y > 0).sum()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hurdle")
    fit(visits(6000), "--exposure", "years", *QUICK[:-1], folder=folder)
    return folder


def test_the_parts_are_runs(folder):
    """The zero part is the logistic regression of whether there is a visit, the count part the regression of positive
    counts."""
    table = visits(6000)
    y = table.pop("visits")
    write(pa.table(table | {"some": (y > 0).astype(int)}), folder / "some.parquet")
    flymc("fit", "some.parquet", "--target", "some", "--exclude", "years", "--out", "alone", *QUICK, folder=folder)
    np.testing.assert_array_equal(draws_of(folder / "run" / "zero"), draws_of(folder / "alone"))
    text = flymc("summary", "run", folder=folder)
    assert text.startswith("zero: whether visits is more than 0 (logistic)\nparameter ")
    assert "\n\ncount: visits where it is more than 0 (truncated_poisson)\nparameter " in text
    both = json.loads(flymc("summary", "run", "--json", folder=folder))
    assert both["count"] == json.loads(flymc("summary", "run/count", "--json", folder=folder))
    # The count part is standardised by all rows, like the zero part.
    assert "default" in both["count"]["choices"]
    for part in ("zero", "count"):
        assert "nothing looks wrong" in flymc("check", f"run/{part}", folder=folder)


def test_every_command_takes_the_folder_of_both(folder):
    """Each prints or writes for both parts what it does for a part alone."""
    said = flymc("check", "run", folder=folder)
    assert said == "zero: " + flymc("check", "run/zero", folder=folder) + "\ncount: " + flymc("check", "run/count", folder=folder)
    both = json.loads(flymc("check", "run", "--json", folder=folder))
    assert both == {part: json.loads(flymc("check", f"run/{part}", "--json", folder=folder)) for part in ("zero", "count")}
    assert flymc("report", "run", folder=folder) == "run/zero/report.html\nrun/count/report.html\n"
    assert flymc("report", "run", "--out", "visits.html", folder=folder) == "visits_zero.html\nvisits_count.html\n"
    for part, family in (("zero", "logistic"), ("count", "truncated_poisson")):
        page = (folder / f"visits_{part}.html").read_text()
        assert f"A {family} regression of visits" in page and ("Exposure, to which" in page) == (part == "count")
    assert flymc("export", "run", "--out", "draws.parquet", folder=folder) == "draws_zero.parquet\ndraws_count.parquet\n"
    for part in ("zero", "count"):
        np.testing.assert_array_equal(pa.parquet.read_table(folder / f"draws_{part}.parquet")["age"],
                                      pa.parquet.read_table(folder / "run" / part / "draws.parquet")["age"])
    assert flymc("export", "run", "--out", "draws.csv", folder=folder).split() == [
        f"draws_{part}_{chain}.csv" for part in ("zero", "count") for chain in (1, 2)]


def test_both_parts_are_sampled_again(folder):
    """With a seed, the parts have different random numbers, as in a fit with that seed; without one, those of the run."""
    flymc("sample", "run", "--seed", 12, "--prior", "normal(0, 1)", "--out", "seeded", "--quiet", folder=folder)
    text = [(folder / "seeded" / part / "settings.toml").read_text() for part in ("zero", "count")]
    seeds = [int(re.search(r"^seed = (\d+)", one, re.MULTILINE)[1]) for one in text]
    assert seeds[0] == 12 and seeds[1] == 12 ^ 0x687572646C650000
    assert all("prior = 'normal(0, 1)'" in one for one in text)
    zero, count = draws_of(folder / "seeded" / "zero"), draws_of(folder / "seeded" / "count")
    assert np.abs(np.corrcoef(np.hstack([zero, count]).T)[:4, 4:]).max() < 4.5 / np.sqrt(len(zero))
    flymc("sample", "run", "--out", "same", "--quiet", folder=folder)
    for part in ("zero", "count"):
        kept = [re.search(r"^seed = .*", (folder / run / part / "settings.toml").read_text(), re.MULTILINE)[0] for run in ("run", "same")]
        assert kept[0] == kept[1]
    assert "run/zero: there is a finished run here" in refusal("sample", "same", "--out", "run", folder=folder)


def test_a_plan_and_the_first_stage_are_of_both(folder):
    given = ("t.parquet", "--target", "visits", "--family", "hurdle_poisson", "--exposure", "years")
    text = flymc("plan", *given, folder=folder)
    assert text.startswith("zero: whether visits is more than 0 (logistic)\nrows          6000\n")
    assert "\n\ncount: visits where it is more than 0 (truncated_poisson)\nrows " in text
    plans = json.loads(flymc("plan", *given, "--json", folder=folder))
    assert list(plans) == ["zero", "count"] and plans["zero"]["rows"] == 6000
    assert plans["count"]["rows"] == (visits(6000)["visits"] > 0).sum()
    flymc("ingest", *given, *QUICK[:-1], "--quiet", "--out", "begun", folder=folder)
    assert not (folder / "begun" / "zero" / "report.json").exists() and (folder / "begun" / "count" / "rows.arrow").exists()
    flymc("resume", "begun", "--quiet", folder=folder)
    np.testing.assert_array_equal(draws_of(folder / "begun" / "count"), draws_of(folder / "run" / "count"))


def test_draws_of_the_parts_are_independent(folder):
    """At 800 draws, some of 16 correlations of independent draws exceeds 4.5 / sqrt(800) with probability 1e-4."""
    zero, count = draws_of(folder / "run" / "zero"), draws_of(folder / "run" / "count")
    between = np.corrcoef(np.hstack([zero, count]).T)[:4, 4:]
    assert np.abs(between).max() < 4.5 / np.sqrt(len(zero)), between


def test_predictions_are_of_both_parts(folder):
    new = {"age": [45.0, 45.0, 70.0], "kind": ["basic", "none", "full"], "years": [1.0, 2.0, 1.0]}
    write(pa.table(new), folder / "new.csv")
    found = np.array(predictions("mean", folder=folder))
    x = design({name: np.array(column) for name, column in new.items()})
    p = special.expit(draws_of(folder / "run" / "zero") @ x.T)
    mu = np.array(new["years"]) * np.exp(draws_of(folder / "run" / "count") @ x.T)
    means = p * mu / -np.expm1(-mu)
    np.testing.assert_allclose(found[:, 0], means.mean(axis=0), rtol=1e-8)
    np.testing.assert_allclose(found[:, 1:], np.quantile(means, [0.05, 0.95], axis=0).T, rtol=1e-8)
    # Quantiles of 800 new counts compared with those of the mixture, also if both parts were sampled with one seed.
    for part in ("zero", "count"):
        flymc("sample", f"run/{part}", "--seed", 7, "--out", f"again/{part}", "--quiet", folder=folder)
    for run in ("run", "again"):
        drawn = np.array(predictions("target", folder=folder, run=run))
        if run == "run":
            np.testing.assert_array_equal(drawn[:, 0], found[:, 0])
        for i in range(3):
            k = np.arange(200)
            cdf = np.where(k > 0, 1 - p[:, [i]] + p[:, [i]] * (stats.poisson.cdf(k, mu[:, [i]]) - np.exp(-mu[:, [i]])) / -np.expm1(-mu[:, [i]]), 1 - p[:, [i]]).mean(axis=0)
            assert np.searchsorted(cdf, 0.02) <= drawn[i, 1] <= np.searchsorted(cdf, 0.08)
            assert np.searchsorted(cdf, 0.92) <= drawn[i, 2] <= np.searchsorted(cdf, 0.98)
    write(pa.table({name: new[name] for name in ("age", "kind")}), folder / "without.csv")
    assert "years" in refusal("predict", "run", "without.csv", "--out", "none.csv", folder=folder)


def test_leave_one_out_is_the_sum_of_both(folder):
    """All rows compared with ArviZ, part by part; sampled rows compared with all rows; and other models of the same
    counts."""
    arviz = pytest.importorskip("arviz")
    table = visits(6000)
    zero, count = log_likelihoods(table, folder / "run")
    found = json.loads(flymc("loo", "run", "--rows", 6000, "--json", folder=folder))
    terms = np.zeros(6000)
    for value, rows in ((zero, np.arange(6000)), (count, np.flatnonzero(table["visits"]))):
        of = arviz.from_dict(posterior={"x": np.zeros((2, 400)) + np.arange(400)}, log_likelihood={"y": value[:, rows].reshape(2, 400, -1)})
        terms[rows] += arviz.loo(of, pointwise=True, reff=1.0).loo_i.to_numpy()
    assert found["rows"] == found["sampled"] == 6000
    np.testing.assert_allclose([row["elpd"] for row in found["sample"]], terms, rtol=1e-3, atol=1e-4)
    assert found["elpd"] == pytest.approx(terms.sum(), abs=0.05)
    assert found["se"] == pytest.approx(np.sqrt(6000 * terms.var()), rel=1e-3)
    assert 6.5 < found["p_loo"] < 9.5  # eight coefficients
    parts = [json.loads(flymc("loo", f"run/{part}", "--rows", 6000, "--json", folder=folder)) for part in ("zero", "count")]
    assert found["elpd"] == pytest.approx(sum(part["elpd"] for part in parts), rel=1e-12)
    assert found["p_loo"] == pytest.approx(sum(part["p_loo"] for part in parts), rel=1e-9)
    z = []
    for seed in range(30):
        some = json.loads(flymc("loo", "run", "--seed", seed, "--json", folder=folder))
        assert some["sampled"] == 1000 and 0 < some["subsampling_se"] < 0.1
        z.append((some["elpd"] - found["elpd"]) / some["subsampling_se"])
    assert 0.3 < np.mean(np.square(z)) < 2.3  # 30 normal z; false-alarm rate 1e-4
    for family in ("poisson", "negative_binomial"):
        flymc("fit", "t.parquet", "--target", "visits", "--family", family, "--exposure", "years", "--out", family, *QUICK, folder=folder)
    ranks = json.loads(flymc("compare", "poisson", "run", "negative_binomial", "--json", folder=folder))
    assert [run["run"] for run in ranks["runs"]] == ["run", "negative_binomial", "poisson"]
    assert ranks["runs"][0]["elpd"] == pytest.approx(found["elpd"], abs=0.5) and ranks["table_rows"] == 6000


def test_weights_offsets_and_missing_values(tmp_path):
    """A row of weight k counts as k rows. A row with a missing value, even of the exposure, is in neither part."""
    table = visits(3000, seed=4)
    times = np.random.default_rng(5).integers(0, 3, 3000)
    again = {name: np.repeat(column, times) for name, column in table.items()}
    holes = table["years"].copy()
    holes[::10] = np.nan
    fit(again, "--exposure", "years", *QUICK[:-1], folder=tmp_path, out="long", file="long.parquet")
    fit(table | {"times": times}, "--exposure", "years", "--weights", "times", *QUICK[:-1], folder=tmp_path, out="weighted")
    for part in ("zero", "count"):
        one, other = (json.loads(flymc("summary", f"{run}/{part}", "--json", folder=tmp_path)) for run in ("long", "weighted"))
        for a, b in zip(one["parameters"], other["parameters"]):
            assert a["mean"] == pytest.approx(b["mean"], abs=0.25 * a["sd"]) and a["sd"] == pytest.approx(b["sd"], rel=0.2)
    found = fit(table | {"years": holes}, "--exposure", "years", "--missing", "drop", *QUICK[:-1], folder=tmp_path, out="holes")
    kept = ~np.isnan(holes)
    assert found["zero"]["rows"] == kept.sum() and found["count"]["rows"] == (table["visits"][kept] > 0).sum()
    sample = json.loads(flymc("loo", "holes", "--rows", 3000, "--json", folder=tmp_path))["sample"]
    assert [row["file_row"] for row in sample] == list(np.flatnonzero(kept) + 1)
    # An offset applies to the counts alone: the zero part is the same without it.
    table["known"] = np.log(table.pop("years"))
    fit(table, "--offset", "known", *QUICK[:-1], folder=tmp_path, out="offset")
    fit(table, "--exclude", "known", *QUICK[:-1], folder=tmp_path, out="none")
    np.testing.assert_array_equal(draws_of(tmp_path / "offset" / "zero"), draws_of(tmp_path / "none" / "zero"))
    assert np.abs(draws_of(tmp_path / "offset" / "count") - draws_of(tmp_path / "none" / "count")).max() > 0.01


def test_a_level_that_never_comes_with_a_count(tmp_path):
    """Both parts have the columns of the whole table. The level's coefficient in the count part has its prior as
    posterior, and the level can be predicted."""
    table = visits(3000, seed=6)
    table["visits"][table["kind"] == "none"] = 0
    found = fit(table, "--exclude", "years", *QUICK[:-1], folder=tmp_path)
    sd = {p["name"]: p["sd"] for p in found["count"]["parameters"]}["kind[none]"]
    assert sd == pytest.approx(2.5, rel=0.15)
    write(pa.table({"age": [40.0], "kind": ["none"]}), tmp_path / "new.csv")
    assert predictions("mean", folder=tmp_path)[0][0] >= 0.0


def test_a_run_goes_on(folder, tmp_path):
    """After the draws of the second part are deleted, resuming gives the same draws."""
    shutil.copytree(folder / "run", tmp_path / "run")
    before = draws_of(tmp_path / "run" / "count")
    for name in ("report.json", "draws.parquet"):
        (tmp_path / "run" / "count" / name).unlink()
    shutil.rmtree(tmp_path / "run" / "count" / "chains")
    assert "count: the run is not finished" in refusal("loo", "run", folder=tmp_path)
    flymc("resume", "run", "--quiet", folder=tmp_path)
    np.testing.assert_array_equal(draws_of(tmp_path / "run" / "count"), before)


def test_what_is_refused(tmp_path):
    table = visits(300)
    words = ("fit", "t.csv", "--target", "visits", "--family", "hurdle_poisson", "--out", "bad", "--quiet")

    def refused(changed, *more):
        write(pa.table(changed), tmp_path / "t.csv")
        return refusal(*words, *more, folder=tmp_path)

    negative, broken = (np.array(table["visits"], float) for _ in range(2))
    negative[7], broken[3] = -1, 2.5
    assert "column 'visits', row 8: -1 is not a count" in refused(table | {"visits": negative})
    assert "column 'visits', row 4: 2.5 is not a count" in refused(table | {"visits": broken})
    assert "is more than 0 in every row, so whether it is needs no fit; fit it by --family truncated_poisson" in refused(
        table | {"visits": table["visits"] + 1})
    assert "nothing to explain" in refused(table | {"visits": 0 * table["visits"]})
    assert "holds text, and a count is a number" in refused(table | {"visits": np.where(table["visits"] > 0, "yes", "no")})
    write(pa.table(table), tmp_path / "t.csv")
    for more, said in ((("--positive", "1"), "only the logistic"), (("--trials", "age"), "only for the binomial"),
                       (("--bound", "anchored"), "no quadratic stays below the likelihood of the truncated_poisson family")):
        assert said in flymc(*words, *more, folder=tmp_path, expect=2, both=True)


def test_one_folder_one_fit(tmp_path):
    table = visits(500)
    fit(table, "--exclude", "years", *QUICK[:-1], folder=tmp_path)
    again = ("fit", "t.parquet", "--target", "visits", "--family", "hurdle_poisson", "--out", "run", *QUICK)
    assert "run/zero: there is a finished run here; name another folder with --out, or replace it with --overwrite" in refusal(
        *again, folder=tmp_path)
    before = draws_of(tmp_path / "run" / "count")
    flymc(*again, "--overwrite", "--seed", 5, "--exclude", "years", folder=tmp_path)
    assert np.abs(draws_of(tmp_path / "run" / "count") - before).max() > 0
    said = refusal("fit", "t.parquet", "--target", "visits", "--family", "poisson", "--out", "run", *QUICK, folder=tmp_path)
    assert "run: this folder holds other files" in said
    flymc("fit", "t.parquet", "--target", "visits", "--family", "poisson", "--out", "one", *QUICK, folder=tmp_path)
    said = refusal(*again[:-len(QUICK) - 1], "one", *QUICK, folder=tmp_path)
    assert "one: there is a finished run here" in said


def terms_of(run):
    with pa.ipc.open_file(run / "rows.arrow") as rows:
        return json.loads(rows.schema.metadata[b"encoding"])["terms"]


@pytest.mark.parametrize("weights", [[], ["--weights", "weight"]])
def test_both_parts_have_the_terms_of_a_formula(weights, tmp_path):
    """The terms are shifted and scaled by all rows, as single columns are."""
    table = visits(3000)
    table["weight"] = np.arange(3000) % 3 + 0.5
    write(pa.table(table), tmp_path / "t.parquet")
    flymc("fit", "t.parquet", "--formula", "visits ~ kind*I(age^2)", "--family", "hurdle_poisson", "--out", "run", *weights, *QUICK,
          folder=tmp_path)
    zero, count = (terms_of(tmp_path / "run" / part) for part in ("zero", "count"))
    assert zero == count
    [square] = [term for term in zero if term["name"] == "I(age^2)"]
    weight = table["weight"] if weights else np.ones(3000)
    assert square["shift"] == pytest.approx([np.average(table["age"] ** 2, weights=weight)])
