"""Counts, successes of trials and other links: compared with statsmodels, and refusals of targets of another kind."""
import json

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import statsmodels.api as statsmodels
from command import flymc, predictions, refusal, spoilt, write


def claims(rows, seed=1, spread=0.0):
    """Claims of policies that ran for a part of a year, by age and region; one region is rare."""
    random = np.random.default_rng(seed)
    age, years = random.uniform(18, 80, rows), random.uniform(0.05, 1.0, rows)
    region = random.choice(["east", "north", "west"], rows, p=[0.6, 0.395, 0.005])
    rate = np.exp(-2.2 - 0.02 * (age - 40) + 0.3 * (region == "north") + 0.6 * (region == "west"))
    if spread:
        rate = rate * random.gamma(1 / spread, spread, rows)
    return {"age": age, "region": region, "years": years, "claims": random.poisson(rate * years)}


def estimates(table):
    """Estimates of statsmodels with the columns that a fit makes: intercept at age 0, slopes and levels."""
    x = np.column_stack([table["age"], table["region"] == "north", table["region"] == "west"]).astype(float)
    found = statsmodels.GLM(table["claims"], statsmodels.add_constant(x), statsmodels.families.Poisson(),
                            exposure=table["years"]).fit()
    return dict(zip(("intercept", "age", "region[north]", "region[west]"), zip(found.params, found.bse)))


def fit(table, *words, folder, out="run"):
    path = write(pyarrow.table(table), folder / "t.parquet")
    return json.loads(flymc("fit", path, "--target", "claims", "--family", "poisson", "--out", out, "--quiet", "--json",
                            *words, folder=folder))


def test_the_posterior_beside_statsmodels(tmp_path):
    table = claims(200_000)
    done = fit(table, "--exposure", "years", "--draws", 10000, folder=tmp_path)
    found = {p["name"]: p for p in done["parameters"]}
    for name, (estimate, error) in estimates(table).items():
        # The mean of a skewed posterior differs from its mode by some hundredths of a deviation.
        assert found[name]["mean"] == pytest.approx(estimate, abs=0.15 * error), name
        assert found[name]["sd"] == pytest.approx(error, rel=0.03), name
    assert done["warnings"] == []
    assert "exposure 'years'" in done["choices"]
    # An offset with the logarithm of the exposure gives the same fit.
    logs = {**{k: v for k, v in table.items() if k != "years"}, "log_years": np.log(table["years"])}
    by_offset = fit(logs, "--offset", "log_years", "--draws", 10000, folder=tmp_path, out="by_offset")
    assert [p["mean"] for p in by_offset["parameters"]] == pytest.approx([p["mean"] for p in done["parameters"]], rel=1e-9)
    # The default prior is centred at the rate per year.
    rate = np.sum(table["claims"]) / np.sum(table["years"])
    assert f"intercept normal({np.log(rate):.4g}, 2.5)" in done["choices"]


def test_predictions_follow_the_exposure(tmp_path):
    fit(claims(50_000), "--exposure", "years", folder=tmp_path)
    new = {"age": [40.0, 40.0], "region": ["east", "east"], "years": [1.0, 0.25]}
    write(pyarrow.table(new), tmp_path / "new.csv")

    year, quarter = predictions("mean", folder=tmp_path)
    assert quarter == pytest.approx([0.25 * v for v in year], rel=1e-12)
    assert year[0] == pytest.approx(np.exp(-2.2), rel=0.1)
    assert all(v == int(v) for row in predictions("target", folder=tmp_path) for v in row[1:])
    write(pyarrow.table({k: new[k] for k in ("age", "region")}), tmp_path / "without.csv")
    assert "years" in refusal("predict", "run", "without.csv", "--out", "none.csv", folder=tmp_path)


def test_counts_that_vary_more_are_noticed(tmp_path):
    """The variance is five times a Poisson's: intervals would be less than half as wide as they should be."""
    table = claims(20_000, seed=3)
    table["claims"] = np.random.default_rng(4).negative_binomial(1, 0.2, len(table["age"]))
    said = fit(table, "--exposure", "years", folder=tmp_path)["warnings"]
    assert any("times as much around their means as those of the poisson family do" in w for w in said), said
    tries = np.full(20_000, 12)
    p = np.random.default_rng(7).beta(2, 3, len(tries))
    hits = {"x": table["age"], "tries": tries, "hits": np.random.default_rng(8).binomial(tries, p)}
    path = write(pyarrow.table(hits), tmp_path / "hits.parquet")
    done = flymc("fit", path, "--target", "hits", "--family", "binomial", "--trials", "tries", "--out", "hits", folder=tmp_path)
    # A beta-binomial has 1 + (n - 1) / (a + b + 1) times a binomial's variance: 2.83.
    assert "targets vary 2.8 times as much around their means as those of the binomial family do" in done


@pytest.mark.parametrize("change, words, said", [
    ({"claims": [0.5]}, [], "column 'claims', row 1: 0.5 does not fit the poisson family, which needs a count: 0, 1, 2, ..."),
    ({"claims": [-1]}, [], "which needs a count: 0, 1, 2, ..."),
    ({"years": [0.0]}, ["--exposure", "years"], "row 1: an exposure is more than 0, not 0"),
    ({"years": [-2.0]}, ["--exposure", "years"], "row 1: an exposure is more than 0, not -2"),
    ({"years": [5000.0]}, ["--offset", "years"], "--exposure"),
    ({}, ["--exposure", "yers"], "did you mean 'years'?"),
    ({}, ["--exposure", "claims"], "cannot be the exposure too"),
])
def test_what_is_refused(change, words, said, tmp_path):
    path = write(pyarrow.table(spoilt(claims(500, seed=5), change)), tmp_path / "t.parquet")
    assert said in refusal("fit", path, "--target", "claims", "--family", "poisson", "--out", "run", *words, folder=tmp_path)


@pytest.mark.parametrize("words, said", [
    (["--family", "poisson", "--exposure", "years", "--offset", "age"], "the logarithm of the exposure is the offset already"),
    (["--family", "poisson", "--bound", "anchored"], "of the poisson family everywhere; use --bound sharp"),
    (["--exposure", "years"], "only for counts and amounts (poisson"),
    (["--trials", "years"], "--trials: only for the binomial family"),
    (["--family", "binomial"], "--trials: the binomial family needs the column"),
    (["--family", "binomial", "--trials", "years", "--weights", "age"], "a row counts as many times as it has trials already"),
])
def test_what_does_not_go_together(words, said, tmp_path):
    path = write(pyarrow.table(claims(500, seed=5)), tmp_path / "t.parquet")
    assert said in flymc("fit", path, "--target", "claims", "--out", "run", *words, folder=tmp_path, expect=2, both=True)


def test_a_level_without_an_event(tmp_path):
    """The posterior is skewed: its mean is far from the mode, and the normal approximation is wrong about both."""
    rows = 3_000
    table = {"place": np.where(np.arange(rows) < 20, "quiet", "busy"),
             "claims": np.where(np.arange(rows) < 20, 0, np.arange(rows) % 3)}
    done = fit(table, "--reference", "place=busy", "--prior", "normal(0, 2.5)", folder=tmp_path)
    found = {p["name"]: p for p in done["parameters"]}
    # By quadrature with a known intercept: exp(-20 exp(a + b)) times the prior of b.
    b = np.linspace(-25, 5, 20_001)
    mass = np.exp(-20 * np.exp(found["intercept"]["mean"] + b) - 0.5 * (b / 2.5) ** 2)
    mean = np.sum(b * mass) / np.sum(mass)
    deviation = np.sqrt(np.sum((b - mean) ** 2 * mass) / np.sum(mass))
    quiet = found["place[quiet]"]
    assert quiet["mean"] == pytest.approx(mean, abs=4.5 * quiet["mcse_mean"])
    assert quiet["sd"] == pytest.approx(deviation, rel=0.08)


def throws(rows, seed=6):
    random = np.random.default_rng(seed)
    distance, player = random.uniform(1, 9, rows), random.choice(["ann", "bob", "cy"], rows)
    tries = random.integers(0, 30, rows)
    p = 1 / (1 + np.exp(-(1.5 - 0.4 * distance + 0.5 * (player == "bob"))))
    return {"distance": distance, "player": player, "tries": tries, "hits": random.binomial(tries, p)}


def test_trials_are_rows_of_the_long_table(tmp_path):
    """Compared with statsmodels, and with a logistic regression of one row per trial: the same model and default
    prior."""
    table = throws(3_000)
    path = write(pyarrow.table(table), tmp_path / "t.parquet")
    words = ["--target", "hits", "--family", "binomial", "--trials", "tries", "--quiet", "--json"]
    done = json.loads(flymc("fit", path, *words, "--out", "run", folder=tmp_path))
    found = {p["name"]: p for p in done["parameters"]}
    x = statsmodels.add_constant(np.column_stack(
        [table["distance"], table["player"] == "bob", table["player"] == "cy"]).astype(float))
    targets = np.column_stack([table["hits"], table["tries"] - table["hits"]])
    some = table["tries"] > 0
    estimate = statsmodels.GLM(targets[some], x[some], statsmodels.families.Binomial()).fit()
    for name, mode, error in zip(("intercept", "distance", "player[bob]", "player[cy]"), estimate.params, estimate.bse):
        assert found[name]["mean"] == pytest.approx(mode, abs=0.15 * error), name
        assert found[name]["sd"] == pytest.approx(error, rel=0.06), name
    assert f"trials 'tries', which sum to {table['tries'].sum()}" in done["choices"] and done["warnings"] == []

    times = np.repeat(np.arange(len(some)), table["tries"])
    turn = np.concatenate([np.arange(n) for n in table["tries"]])
    long = {"distance": table["distance"][times], "player": table["player"][times], "hit": turn < table["hits"][times]}
    write(pyarrow.table(long), tmp_path / "long.parquet")
    other = json.loads(flymc("fit", "long.parquet", "--target", "hit", "--quiet", "--json", "--out", "long", folder=tmp_path))
    for one, two in zip(done["parameters"], other["parameters"]):
        assert one["mean"] == pytest.approx(two["mean"], abs=4.5 * np.hypot(one["mcse_mean"], two["mcse_mean"]))
    prior = [next(line for line in d["choices"].splitlines() if line.startswith("prior")) for d in (done, other)]
    assert prior[0] == prior[1]

    # Predictions are probabilities.
    write(pyarrow.table({"distance": [3.0], "player": ["bob"]}), tmp_path / "new.csv")
    flymc("predict", "run", "new.csv", "--out", "p.csv", folder=tmp_path)
    assert float((tmp_path / "p.csv").read_text().splitlines()[1].split(",")[1]) == pytest.approx(1 / (1 + np.exp(-0.8)), abs=0.03)
    assert "how many trials new rows have" in refusal("predict", "run", "new.csv", "--kind", "target", "--out", "q.csv", folder=tmp_path)


@pytest.mark.parametrize("hits, tries", [(3, 2), (-1, 2), (0.5, 2), (1, 2.5)])
def test_successes_that_are_none(hits, tries, tmp_path):
    table = throws(100)
    table = {**table, "hits": np.r_[hits, table["hits"][1:]], "tries": np.r_[tries, table["tries"][1:]]}
    path = write(pyarrow.table(table), tmp_path / "t.parquet")
    said = refusal("fit", path, "--target", "hits", "--family", "binomial", "--trials", "tries", "--out", "run", folder=tmp_path)
    assert "column 'hits', row 1: " in said and "no more than trials" in said


@pytest.mark.parametrize("family", ["probit", "cloglog"])
def test_other_links_beside_statsmodels(family, tmp_path):
    random = np.random.default_rng(9)
    x, here = random.normal(3, 2, 100_000), random.random(100_000) < 0.02
    link = {"probit": statsmodels.families.links.Probit, "cloglog": statsmodels.families.links.CLogLog}[family]()
    y = (random.random(len(x)) < link.inverse(-0.8 + 0.2 * (x - 3) + 0.5 * here)).astype(int)
    path = write(pyarrow.table({"x": x, "here": here, "y": y}), tmp_path / "t.parquet")
    done = json.loads(flymc("fit", path, "--target", "y", "--family", family, "--draws", 10000, "--out", "run",
                            "--quiet", "--json", folder=tmp_path))
    columns = statsmodels.add_constant(np.column_stack([x, here]).astype(float))
    estimate = statsmodels.GLM(y, columns, statsmodels.families.Binomial(link)).fit()
    for found, mode, error in zip(done["parameters"], estimate.params, estimate.bse):
        assert found["mean"] == pytest.approx(mode, abs=0.15 * error), found["name"]
        assert found["sd"] == pytest.approx(error, rel=0.03), found["name"]
    assert done["warnings"] == []
    write(pyarrow.table({"x": [3.0], "here": [False]}), tmp_path / "new.csv")
    flymc("predict", "run", "new.csv", "--out", "p.csv", folder=tmp_path)
    mean = float((tmp_path / "p.csv").read_text().splitlines()[1].split(",")[1])
    assert mean == pytest.approx(float(link.inverse(columns[0] * 0 @ estimate.params + estimate.params[0] + 3 * estimate.params[1])), abs=0.01)


def test_no_event_at_all(tmp_path):
    """The posterior is the prior times exp(-n exp(a)), by quadrature. Chains that begin far out on the wrong side
    return."""
    for width in (2.5, 25.0):
        done = fit({"x": np.arange(2_000) % 2, "claims": np.zeros(2_000, int)}, "--columns", "x", "--prior", f"normal(0, {width})",
                   "--draws", 4000, folder=tmp_path, out=f"run{width}")
        a, b = np.meshgrid(np.linspace(-8 * width - 12, 2, 1_201), np.linspace(-6 * width, 6 * width, 1_201), indexing="ij")
        log = -1_000 * np.exp(a) - 1_000 * np.exp(a + b) - 0.5 * (a**2 + b**2) / width**2
        mass = np.exp(log - log.max())
        for found, values in zip(done["parameters"], (a, b)):
            mean = np.sum(values * mass) / np.sum(mass)
            assert found["mean"] == pytest.approx(mean, abs=4.5 * found["mcse_mean"]), (width, found["name"])


def test_counts_without_zeros_beside_statsmodels(tmp_path):
    """The count part of a hurdle model, under a flat prior."""
    truncated = pytest.importorskip("statsmodels.discrete.truncated_model")
    random = np.random.default_rng(21)
    rows = 150_000
    age, region = random.normal(40, 10, rows), random.choice(["a", "b", "c"], rows, p=[0.6, 0.38, 0.02])
    years = random.uniform(0.5, 2.0, rows)
    rate = years * np.exp(-0.3 + 0.02 * (age - 40) + 0.3 * (region == "b") - 0.4 * (region == "c"))
    claims = random.poisson(rate)
    some = claims > 0
    x = np.column_stack([np.ones(rows), age - 40, region == "b", region == "c"]).astype(float)[some]
    best = truncated.TruncatedLFPoisson(claims[some], x, offset=np.log(years[some])).fit(disp=False, method="newton")
    table = pyarrow.table({"age": age[some] - 40, "region": region[some], "years": years[some], "claims": claims[some]})
    path = write(table, tmp_path / "positive.parquet")
    done = json.loads(flymc("fit", path, "--target", "claims", "--family", "truncated_poisson", "--exposure", "years", "--prior",
                            "flat", "--draws", 10000, "--out", "run", "--quiet", "--json", folder=tmp_path))
    found = {p["name"]: p for p in done["parameters"]}
    for name, mean, error in zip(("intercept", "age", "region[b]", "region[c]"), best.params, best.bse):
        assert found[name]["mean"] == pytest.approx(mean, abs=0.05 * error + 4.5 * found[name]["mcse_mean"]), name
        assert found[name]["sd"] == pytest.approx(error, rel=0.03), name
    assert done["warnings"] == []
    # Predicted means are means of counts that are not 0.
    flymc("predict", "run", path, "--kind", "mean", "--out", "new.parquet", folder=tmp_path)
    new = pyarrow.parquet.read_table(tmp_path / "new.parquet")["mean"].to_numpy()
    mu = np.exp(x @ best.params) * years[some]
    np.testing.assert_allclose(new, mu / -np.expm1(-mu), rtol=0.03)
    assert new.mean() == pytest.approx(claims[some].mean(), rel=0.005)


def test_zeros_are_refused_where_there_are_none(tmp_path):
    path = write(pyarrow.table({"x": np.arange(50.0), "n": np.arange(50) % 3}), tmp_path / "table.parquet")
    said = refusal("fit", path, "--target", "n", "--family", "truncated_poisson", "--out", "run", folder=tmp_path)
    assert "row 1: 0 does not fit the truncated_poisson family, which needs a count without zeros: 1, 2, 3, ..." in said
