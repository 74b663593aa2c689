"""Ordered categories: compared with statsmodels and R's polr, predictions, and refusals."""
import json
import shutil
import subprocess

import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest
from command import flymc, refusal, write

RATINGS = ["poor", "fair", "good", "great"]
CUTS = [-1.2, 0.3, 2.1]


def guests(rows, seed=1):
    """Ratings of hotels by price, distance and kind, the last of three kinds rare."""
    random = np.random.default_rng(seed)
    price, distance = random.normal(120, 40, rows), random.exponential(2.0, rows)
    kind = random.choice(["hotel", "hostel", "boat"], rows, p=[0.7, 0.28, 0.02])
    eta = 0.01 * (price - 120) - 0.3 * distance + 0.5 * (kind == "hotel") - 0.8 * (kind == "boat") + random.logistic(size=rows)
    return {"price": price, "distance": distance, "kind": kind, "rating": np.array(RATINGS)[np.searchsorted(CUTS, eta)]}


def fit(table, *words, folder, out="run", target="rating"):
    path = write(pyarrow.table(table), folder / f"{out}.parquet")
    done = json.loads(flymc("fit", path, "--target", target, "--family", "ordinal", "--out", out, "--quiet", "--json", *words,
                            folder=folder))
    return {p["name"]: p for p in done["parameters"]}, done


ORDER = ("--order", ",".join(RATINGS))


def design(table):
    return np.column_stack([table["price"], table["distance"], table["kind"] == "hostel", table["kind"] == "hotel"]).astype(float)


NAMES = ["price", "distance", "kind[hostel]", "kind[hotel]"]
CUT_NAMES = ["cutpoint[poor|fair]", "cutpoint[fair|good]", "cutpoint[good|great]"]


def test_the_posterior_beside_the_maximum_of_the_likelihood(tmp_path):
    """Compared with statsmodels, at 100,000 rows and under flat priors."""
    ordinal_model = pytest.importorskip("statsmodels.miscmodels.ordinal_model")
    table = guests(100_000, seed=2)
    x = design(table)
    mean, size = x.mean(axis=0), x.std(axis=0)
    category = np.array([RATINGS.index(r) for r in table["rating"]])
    model = ordinal_model.OrderedModel(category, (x - mean) / size, distr="logit")
    best = model.fit(method="bfgs", disp=False, maxiter=500)
    covariance = np.asarray(best.cov_params())
    slopes = best.params[:4] / size
    # statsmodels has the first threshold and the logarithms of the distances.
    steps = np.exp(best.params[5:])
    cuts = best.params[4] + np.concatenate([[0.0], np.cumsum(steps)]) + slopes @ mean
    jacobian = np.zeros((7, 7))
    jacobian[:4, :4] = np.diag(1 / size)
    for k in range(3):
        jacobian[4 + k, :4] = mean / size
        jacobian[4 + k, 4] = 1.0
        jacobian[4 + k, 5:5 + k] = steps[:k]
    errors = np.sqrt(np.diag(jacobian @ covariance @ jacobian.T))
    found, done = fit(table, *ORDER, "--prior", "flat", "--draws", 10000, folder=tmp_path)
    assert list(found) == CUT_NAMES + NAMES
    for name, at, error in zip(NAMES + CUT_NAMES, np.concatenate([slopes, cuts]), errors):
        assert found[name]["mean"] == pytest.approx(at, abs=0.05 * error + 4.5 * found[name]["mcse_mean"]), name
        assert found[name]["sd"] == pytest.approx(error, rel=0.03), name
    assert done["warnings"] == []
    assert f"100000 rows of the table are kept as {100_000 + np.isin(table['rating'], ['fair', 'good']).sum()}, " in done["choices"]
    assert "prior flat, per unit of a column; that of cut points is at the means of the columns" in done["choices"]


def test_beside_polr(tmp_path):
    if shutil.which("Rscript") is None or subprocess.run(["Rscript", "-e", "library(MASS)"], capture_output=True).returncode:
        pytest.skip("R with MASS is not installed")
    table = guests(100_000, seed=4)
    pyarrow.csv.write_csv(pyarrow.table(table), tmp_path / "table.csv")
    script = """
      library(MASS)
      t <- read.csv("table.csv", stringsAsFactors = TRUE)
      t$rating <- factor(t$rating, levels = c("poor", "fair", "good", "great"), ordered = TRUE)
      t$price <- t$price - 120
      m <- polr(rating ~ price + distance + kind, t, Hess = TRUE)
      write.table(coef(summary(m))[, 1:2], "out.txt", col.names = FALSE, quote = FALSE, sep = ",")
    """
    done = subprocess.run(["Rscript", "-e", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    theirs = {line.split(",")[0]: tuple(map(float, line.split(",")[1:])) for line in (tmp_path / "out.txt").read_text().split()}
    found, _ = fit({**table, "price": table["price"] - 120}, *ORDER, "--prior", "flat", "--draws", 10000, folder=tmp_path)
    names = dict(zip(["price", "distance", "kindhostel", "kindhotel", "poor|fair", "fair|good", "good|great"], NAMES + CUT_NAMES))
    assert set(theirs) == set(names)
    for name, (mean, error) in theirs.items():
        mine = found[names[name]]
        assert mine["mean"] == pytest.approx(mean, abs=0.05 * error + 4.5 * mine["mcse_mean"]), name
        assert mine["sd"] == pytest.approx(error, rel=0.03), name


def test_numbers_are_ordered_by_size_and_text_as_it_is_told(tmp_path):
    table = guests(3000, seed=5)
    stars = np.array([RATINGS.index(r) for r in table["rating"]]) * 5 + 5  # 5, 10, 15, 20: not in alphabetical order
    by_text, _ = fit(table, *ORDER, folder=tmp_path, out="text")
    by_number, _ = fit({**table, "rating": stars}, folder=tmp_path, out="number")
    assert list(by_number)[:3] == ["cutpoint[5|10]", "cutpoint[10|15]", "cutpoint[15|20]"]
    assert [p["mean"] for p in by_text.values()] == [p["mean"] for p in by_number.values()]
    spaced, _ = fit(table, "--order", ", ".join(RATINGS), folder=tmp_path, out="spaced")
    assert spaced == by_text
    # In reverse order all signs change.
    reverse, _ = fit(table, "--order", ",".join(RATINGS[::-1]), folder=tmp_path, out="reverse")
    for a, b in [("price", "price"), ("distance", "distance"), ("cutpoint[poor|fair]", "cutpoint[fair|poor]")]:
        assert by_text[a]["mean"] == pytest.approx(-reverse[b]["mean"], abs=0.2 * by_text[a]["sd"])


def test_weights_count_rows(tmp_path):
    table = guests(2000, seed=6)
    twice = {name: np.concatenate([column, column]) for name, column in table.items()}
    whole, _ = fit(twice, *ORDER, folder=tmp_path, out="twice")
    weighed, done = fit({**table, "times": np.full(2000, 2.0)}, *ORDER, "--weights", "times", folder=tmp_path, out="weighed")
    for name in whole:
        assert weighed[name]["mean"] == pytest.approx(whole[name]["mean"], abs=0.2 * whole[name]["sd"]), name
        assert weighed[name]["sd"] == pytest.approx(whole[name]["sd"], rel=0.15), name
    assert "weights 'times', which sum to 4000" in done["choices"]


def test_probabilities_are_those_of_the_draws(tmp_path):
    table = guests(2000, seed=7)
    fit(table, *ORDER, folder=tmp_path)
    flymc("export", "run", "--out", "draws.parquet", folder=tmp_path)
    flymc("predict", "run", tmp_path / "run.parquet", "--draws", 4000, "--out", "new.csv", folder=tmp_path)
    flymc("export", "run", "--out", "draws.nc", folder=tmp_path)
    assert b"observed_data" not in (tmp_path / "draws.nc").read_bytes()  # store targets are sides of cut points
    draws = pyarrow.parquet.read_table(tmp_path / "draws.parquet").to_pandas()
    new = pyarrow.csv.read_csv(tmp_path / "new.csv").to_pandas()
    eta = design(table)[:20] @ draws[NAMES].to_numpy().T
    below = [np.zeros_like(eta), *(1 / (1 + np.exp(eta - draws[name].to_numpy())) for name in CUT_NAMES), np.ones_like(eta)]
    for k, rating in enumerate(RATINGS):
        probability = below[k + 1] - below[k]
        np.testing.assert_allclose(new[f"mean[{rating}]"][:20], probability.mean(axis=1), rtol=1e-9)
        np.testing.assert_allclose(new[f"lower[{rating}]"][:20], np.quantile(probability, 0.05, axis=1), rtol=1e-9)
        np.testing.assert_allclose(new[f"upper[{rating}]"][:20], np.quantile(probability, 0.95, axis=1), rtol=1e-9)
    means = new[[f"mean[{r}]" for r in RATINGS]].to_numpy()
    np.testing.assert_allclose(means.sum(axis=1), 1.0, rtol=1e-12)
    assert list(new["class"]) == [RATINGS[k] for k in means.argmax(axis=1)]
    # On average, predicted probabilities equal the shares of the ratings.
    shares = [np.mean(table["rating"] == r) for r in RATINGS]
    np.testing.assert_allclose(means.mean(axis=0), shares, atol=0.02)


def test_a_thin_category_and_a_level_of_one(tmp_path):
    """Three rows of the highest category, and a level whose rows are all of the lowest."""
    random = np.random.default_rng(8)
    rating = np.concatenate([np.full(3, 2), random.integers(0, 2, 2000)])
    kind = np.where(np.arange(2003) > 1960, "boat", "hotel")
    rating[kind == "boat"] = 0
    found, done = fit({"kind": kind, "rating": rating, "x": random.normal(size=2003)}, "--reference", "kind=hotel",
                      folder=tmp_path)
    assert found["cutpoint[1|2]"]["mean"] == pytest.approx(np.log(1960 / 3), abs=1.0)
    assert found["kind[boat]"]["median"] < -2
    assert any("separated: no row where 'kind[boat]' is 1 is of class 'above 0'" in w for w in done["warnings"]), done["warnings"]


def test_plan_and_resume(tmp_path):
    table = guests(20_000, seed=9)
    path = write(pyarrow.table(table), tmp_path / "table.parquet")
    plan = json.loads(flymc("plan", path, "--target", "rating", "--family", "ordinal", *ORDER, "--json", folder=tmp_path))
    assert plan["rows"] == 20_000
    _, done = fit(table, *ORDER, folder=tmp_path)
    again = json.loads(flymc("summary", "run", "--json", folder=tmp_path))
    assert again["parameters"] == done["parameters"]
    flymc("sample", "run", "--prior", "normal(0, 1)", "--out", "other", "--quiet", folder=tmp_path)
    assert "on 20000 rows that all runs have, of 20000 in the table" in flymc("compare", "run", "other", folder=tmp_path)


@pytest.mark.parametrize("change,words,says", [
    ({}, (), ["the order of the values of 'rating' is not known: 'fair', 'good', 'great', 'poor'", "--order"]),
    ({}, ("--order", "poor,fair,good"), ["also has the value 'great'", "--order"]),
    ({}, ("--order", "poor,fair,fair,good,great"), ["'fair' is named twice"]),
    ({"rating": np.arange(300) % 2}, (), ["has two values, '0', '1', which need no order", "--family logistic"]),
    ({"rating": np.zeros(300)}, (), ["is '0' in every row"]),
    ({"rating": np.arange(300)}, (), ["has 300 classes, and ordinal takes at most 100"]),
    ({"w": (np.array(guests(300)["rating"]) != "fair").astype(float)}, (*ORDER, "--weights", "w"), ["the rows where 'rating' is 'fair' weigh 0 in all, which is nothing"]),
    ({"w": np.where(np.array(guests(300)["rating"]) == "fair", 0.001, 1.0)}, (*ORDER, "--weights", "w"), ["less than one row"]),
    ({"rating": np.arange(300) % 3}, ("--order", "0,1"), ["also has the value '2'"]),
    ({}, ("--order", "Poor,fair,goood,great"), ["also has the values 'good', 'poor', and does not have 'Poor', 'goood'"]),
])
def test_what_is_refused(change, words, says, tmp_path):
    path = write(pyarrow.table({**guests(300), **change}), tmp_path / "table.parquet")
    said = refusal("fit", path, "--target", "rating", "--family", "ordinal", *words, "--out", "run", folder=tmp_path)
    for part in says:
        assert part in said, said


@pytest.mark.parametrize("words,says", [
    (("--family", "softmax", *ORDER), ["--order: only the ordinal family has ordered levels"]),
    (("--family", "ordinal", *ORDER, "--no-intercept"), ["--no-intercept", "cut points are the intercepts"]),
    (("--family", "ordinal", *ORDER, "--positive", "good"), ["--positive: only the"]),
])
def test_settings_that_do_not_go_together(words, says, tmp_path):
    path = write(pyarrow.table(guests(300)), tmp_path / "table.parquet")
    said = flymc("fit", path, "--target", "rating", *words, "--out", "run", folder=tmp_path, expect=2, both=True)
    for part in says:
        assert part in said, said
