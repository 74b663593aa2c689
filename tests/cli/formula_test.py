"""Formulas: the draws equal those of a table with the finished columns, and the posterior that of formulaic's
design."""
import json

import numpy as np
import pandas
import pyarrow
import pyarrow.parquet
import pytest
from command import flymc, refusal, write

formulaic = pytest.importorskip("formulaic")


def flights(rows, seed=3, carriers=12):
    """Delays that depend on distance, hour, carrier and origin, with a slope of hour per carrier."""
    random = np.random.default_rng(seed)
    origin = random.choice(3, rows, p=[0.5, 0.3, 0.2])
    carrier = random.choice(carriers, rows, p=(w := 1 / np.arange(1, carriers + 1)) / w.sum())
    hour = random.integers(-6, 12, rows).astype(float)
    distance = np.exp(random.normal(1.5, 0.6, rows))
    weekend = random.random(rows) < 0.3
    eta = -0.7 + 0.1 * hour * (1 + 0.3 * np.sin(carrier)) - 0.3 * np.log(distance) + 0.3 * (origin == 1) * weekend
    late = (random.random(rows) < 1 / (1 + np.exp(-eta))).astype(np.int64)
    return pandas.DataFrame({
        "origin": np.array(["EWR", "JFK", "LGA"])[origin], "carrier": [f"c{c:02d}" for c in carrier], "hour": hour,
        "distance": distance, "weekend": weekend, "late": late,
    })


def design(frame, formula):
    """The columns that formulaic makes of a frame, renamed as flymc names them."""
    context = {"log": np.log}
    matrix = formulaic.Formula(formula).rhs.get_model_matrix(frame.assign(weekend=frame["weekend"].astype(float)), context=context)
    wide = pandas.DataFrame(np.asarray(matrix, float), columns=[str(name) for name in matrix.columns])
    wide = wide.rename(columns=lambda name: name.replace("[T.", "[").replace(" ** ", "^"))
    return wide.drop(columns="Intercept", errors="ignore")


def table_of(frame):
    return pyarrow.Table.from_pandas(frame, preserve_index=False)


def fit(path, name, *words, folder):
    return json.loads(flymc("fit", path, "--out", name, "--quiet", "--json", *words, folder=folder))


def draws_of(folder, name):
    return pyarrow.parquet.read_table(folder / name / "draws.parquet")


def test_numbers_give_the_draws_of_their_columns(tmp_path):
    frame = flights(3000)
    formula = "late ~ log(distance)*hour + I(hour^2)"
    wide = pandas.DataFrame({
        "log(distance)": np.log(frame["distance"]), "hour": frame["hour"], "I(hour^2)": frame["hour"] ** 2,
        "log(distance):hour": np.log(frame["distance"]) * frame["hour"], "late": frame["late"],
    })
    path, wide_path = write(table_of(frame), tmp_path / "a.parquet"), write(table_of(wide), tmp_path / "b.parquet")
    fit(path, "a", "--formula", formula, "--draws", 300, folder=tmp_path)
    fit(wide_path, "b", "--target", "late", "--draws", 300, folder=tmp_path)
    assert draws_of(tmp_path, "a").equals(draws_of(tmp_path, "b"))
    # A formula that lists columns gives the fit of these columns.
    fit(path, "c", "--formula", "late ~ hour + distance + origin", "--draws", 100, folder=tmp_path)
    fit(path, "d", "--target", "late", "--columns", "hour,distance,origin", "--draws", 100, folder=tmp_path)
    assert draws_of(tmp_path, "c").equals(draws_of(tmp_path, "d"))
    fit(path, "e", "--formula", "late ~ . - weekend - carrier", "--draws", 100, folder=tmp_path)
    fit(path, "f", "--target", "late", "--exclude", "weekend,carrier", "--draws", 100, folder=tmp_path)
    assert draws_of(tmp_path, "e").equals(draws_of(tmp_path, "f"))


def test_slopes_without_an_intercept_give_the_draws_of_their_columns(tmp_path):
    """Without an intercept no feature is centred, so products computed by hand are the same features."""
    frame = flights(3000)
    wide = pandas.DataFrame({"distance": frame["distance"]})
    for origin in ("EWR", "JFK", "LGA"):
        wide[f"hour:origin[{origin}]"] = frame["hour"] * (frame["origin"] == origin)
    wide["late"] = frame["late"]
    path, wide_path = write(table_of(frame), tmp_path / "a.parquet"), write(table_of(wide), tmp_path / "b.parquet")
    fit(path, "a", "--formula", "late ~ 0 + distance + hour:origin", "--draws", 300, folder=tmp_path)
    fit(wide_path, "b", "--target", "late", "--no-intercept", "--draws", 300, folder=tmp_path)
    assert draws_of(tmp_path, "a").equals(draws_of(tmp_path, "b"))


@pytest.mark.parametrize("formula", [
    "late ~ carrier*hour + log(distance)",  # codes, and slopes of codes
    "late ~ carrier + origin*weekend + hour:carrier",
    "late ~ origin*carrier + hour",
])
def test_the_posterior_is_that_of_the_design(formula, tmp_path):
    frame = flights(20_000, carriers=8 if "origin*carrier" in formula else 12)
    wide = design(frame, formula)
    prior = ["--prior", "normal(0, 3); intercept: flat", "--draws", 2000, "--seed"]
    own = fit(write(table_of(frame), tmp_path / "own.parquet"), "own", "--formula", formula, *prior, 1, folder=tmp_path)
    wide_path = write(table_of(wide.assign(late=frame["late"])), tmp_path / "wide.parquet")
    other = fit(wide_path, "wide", "--target", "late", *prior, 2, folder=tmp_path)
    assert [p["name"] for p in own["parameters"]][0] == "intercept"
    others = {frozenset(p["name"].split(":")): p for p in other["parameters"]}
    assert len(others) == len(own["parameters"])
    z = []
    for p in own["parameters"]:
        q = others[frozenset(p["name"].split(":"))]
        z.append((p["mean"] - q["mean"]) / np.hypot(p["mcse_mean"], q["mcse_mean"]))
        assert p["sd"] == pytest.approx(q["sd"], rel=0.12)
    # About 25 standard normals: rms 1 +- 0.14, the largest beyond 4.7 in one of 10,000 tests.
    assert np.sqrt(np.mean(np.square(z))) < 1.6 and np.max(np.abs(z)) < 4.7

    # New rows are predicted with the same design.
    new = flights(200, seed=9, carriers=8)
    new_path = write(table_of(new.drop(columns="late")), tmp_path / "new.parquet")
    flymc("predict", "own", new_path, "--draws", 8000, "--out", "said.parquet", folder=tmp_path)
    said = pyarrow.parquet.read_table(tmp_path / "said.parquet")["mean"].to_numpy()
    both = pandas.concat([new, frame], ignore_index=True)  # the frame has all levels
    columns = design(both, formula)[:200]
    draws = draws_of(tmp_path, "own").to_pandas()
    names = {frozenset(name.split(":")): name for name in draws.columns}
    eta = draws["intercept"].to_numpy()[None, :] + sum(
        np.outer(columns[name], draws[names[frozenset(name.split(":"))]]) for name in columns
    )
    assert np.allclose(said, (1 / (1 + np.exp(-eta))).mean(axis=1), atol=1e-10)


def test_draws_are_the_same_from_every_format_on_any_threads_and_after_an_interruption(tmp_path):
    frame = flights(30_000)
    words = ["--formula", "late ~ carrier*hour + origin*weekend + log(distance)", "--draws", 200]
    for name, suffix, threads in (("a", ".parquet", 1), ("b", ".csv", 2), ("c", "", 2)):
        path = write(table_of(frame), tmp_path / f"table_{name}{suffix}")
        fit(path, name, *words, "--threads", threads, folder=tmp_path)
    assert draws_of(tmp_path, "b").equals(draws_of(tmp_path, "a")) and draws_of(tmp_path, "c").equals(draws_of(tmp_path, "a"))
    flymc("ingest", "table_a.parquet", *words, "--out", "parts", folder=tmp_path)
    flymc("resume", "parts", folder=tmp_path)
    assert draws_of(tmp_path, "parts").equals(draws_of(tmp_path, "a"))
    # From the settings of a run, and with another formula that replaces theirs.
    flymc("fit", "--config", "a/settings.toml", "--out", "again", "--quiet", folder=tmp_path)
    assert draws_of(tmp_path, "again").equals(draws_of(tmp_path, "a"))
    flymc("fit", "--config", "a/settings.toml", "--formula", "late ~ 0 + hour", "--out", "other", "--quiet", folder=tmp_path)
    names = draws_of(tmp_path, "other").column_names
    assert "hour" in names and "intercept" not in names
    flymc("report", "a", folder=tmp_path)
    flymc("check", "a", folder=tmp_path)
    flymc("loo", "a", folder=tmp_path)
    assert "coefficients" in flymc("plan", "table_a.parquet", *words, folder=tmp_path)


def test_a_prior_of_a_term_is_one_of_all_its_levels(tmp_path):
    path = write(table_of(flights(5000)), tmp_path / "a.parquet")
    found = fit(path, "a", "--formula", "late ~ origin*hour", "--prior", "default; origin:hour: normal(0, 0.0001)", "--draws", 100,
                folder=tmp_path)
    sds = {p["name"]: p["sd"] for p in found["parameters"]}
    assert sds["origin[JFK]:hour"] < 0.0002 and sds["origin[LGA]:hour"] < 0.0002 and sds["origin[JFK]"] > 0.01
    # A prior for a column does not apply to its products, whichever column comes first.
    for formula, product in (("late ~ origin*hour", "origin[JFK]:hour"), ("late ~ hour*origin", "hour:origin[JFK]")):
        found = fit(path, "b", "--formula", formula, "--prior", "default; origin: normal(0, 0.0001); hour: normal(0, 0.0001)",
                    "--draws", 100, "--overwrite", folder=tmp_path)
        sds = {p["name"]: p["sd"] for p in found["parameters"]}
        assert sds["origin[JFK]"] < 0.0002 and sds["hour"] < 0.0002 and sds[product] > 0.001


def test_what_is_refused(tmp_path):
    frame = flights(500)
    path = write(table_of(frame), tmp_path / "a.csv")

    def said(*words, code=1):
        return flymc("fit", path, *words, "--out", "run", "--quiet", folder=tmp_path, expect=code, both=True)

    assert "--target: the formula names the target, 'late'" in said("--formula", "late ~ hour", "--target", "hour", code=2)
    assert "--columns: the formula names the columns" in said("--formula", "late ~ hour", "--columns", "hour", code=2)
    assert "write 'late ~ . - hour'" in said("--formula", "late ~ .", "--exclude", "hour", code=2)
    assert "write '0 +' after the ~" in said("--formula", "late ~ hour", "--no-intercept", code=2)
    assert "at 'bs(hour)' (character 8): there is no function 'bs'" in said("--formula", "late ~ bs(hour)", code=2)
    assert "cut points" in said("--formula", "late ~ 0 + hour", "--family", "ordinal", code=2)
    assert "there is no column 'hours' (a feature); did you mean 'hour'" in said("--formula", "late ~ hours")
    assert "a.csv, column 'hour', row " in (text := said("--formula", "late ~ log(hour)")) and "is no number" in text
    assert "log(origin) takes a column of numbers" in said("--formula", "late ~ log(origin)")
    frame.loc[3, "hour"] = np.nan
    path = write(table_of(frame), tmp_path / "a.csv")
    assert "column 'hour', row 4: the value is missing" in (text := said("--formula", "late ~ origin:hour"))
    assert "leave the column out of the formula" in text and "--exclude" not in text
    fit(path, "dropped", "--formula", "late ~ origin*hour", "--missing", "drop", "--draws", 50, folder=tmp_path)
    assert json.loads((tmp_path / "dropped/report.json").read_text())["rows"] == 499
    new = frame.drop(columns="late").fillna(1.0).assign(origin="ORD")
    write(table_of(new), tmp_path / "new.csv")
    assert "the level 'ORD' did not occur" in refusal("predict", "dropped", "new.csv", "--out", "p.csv", folder=tmp_path)
