"""Formulas: the columns are those of formulaic under the program's names, and new rows get the same ones."""

import json
import re

import flymc
import formulaic
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

FORMULAS = {
    "clicked ~ x + w": ["intercept", "x", "w"],
    "clicked ~ 0 + x": ["x"],
    "clicked ~ np.exp(x) + C(region)": ["intercept", "np.exp(x)", "region[north]", "region[west]"],
    "clicked ~ bs(x, df=4) + member": ["intercept", *(f"bs(x, df=4)[{j}]" for j in (1, 2, 3, 4)), "member"],
    "clicked ~ C(region, contr.sum):x + poly(w, 2) + scale(x)": None,
    "clicked ~ cc(w, df=3) + np.exp(x) + center(w):C(region)": None,
}


@pytest.mark.parametrize("formula", FORMULAS)
def test_columns_are_formulaics(formula, frame, quick, tmp_path):
    fit = flymc.fit(formula, frame, **quick)
    matrix = formulaic.Formula(formula).rhs.get_model_matrix(frame)
    spelled = [name.replace("C(region)", "region").replace("[T.", "[") for name in matrix.columns]
    assert fit.names == ["intercept" if name == "Intercept" else name for name in spelled]
    assert FORMULAS[formula] is None or fit.names == FORMULAS[formula]
    # New rows use the levels, knots and means of the table, also after saving: single rows have the same columns as in
    # it.
    theta = fit.array().reshape(-1, len(fit.names))
    expected = (1 / (1 + np.exp(-theta @ np.asarray(matrix, dtype=float)[:40].T))).mean(axis=0)
    fit.save(tmp_path / "run")
    for of in (
        fit,
        flymc.load(tmp_path / "run"),
        flymc.load(tmp_path / "run").resample(seed=3, draws=20, progress=False),
    ):
        predicted = of.predict(frame.iloc[:40].drop(columns="clicked"))["mean"]
        tolerance = 1e-9 if of.draws.num_rows == 300 else 0.2
        np.testing.assert_allclose(predicted, expected, rtol=tolerance)
    np.testing.assert_allclose(fit.predict(frame.iloc[[3]])["mean"], expected[[3]], rtol=1e-9)


def test_both_kinds_of_formulas_have_one_spelling_of_names_and_priors(frame, quick):
    terms = "C(region)*member + I(x**2) + w:region"
    streams = flymc.fit(f"clicked ~ {terms}", frame, **quick)
    other = flymc.fit(f"clicked ~ {terms} + bs(x, df=4)", frame, **quick)
    own = {frozenset(name.split(":")) for name in streams.names}
    assert own == {frozenset(name.split(":")) for name in other.names if "bs(" not in name}
    # Priors may name terms and columns in the program's way and in formulaic's.
    by = [{"region": 1e-4, "I(x^2)": 1e-4}, {"C(region)": 1e-4, "I(x ** 2)": 1e-4}, {"region[north]": 1e-4, "C(region)[T.west]": 1e-4, "I(x**2)": 1e-4}]
    fits = [
        flymc.fit(f"clicked ~ {terms} + bs(x, df=4)", frame, prior={name: flymc.Normal(0, sd) for name, sd in prior.items()}, **quick)
        for prior in by
    ]
    for fit in fits:
        assert fit.draws.equals(fits[0].draws)
        assert fit.summary().loc[["region[north]", "region[west]", "I(x^2)"], "mean"].abs().max() < 0.001


def test_runs_with_names_of_an_earlier_version_predict(frame, quick, tmp_path):
    """Earlier versions kept formulaic's names of the columns, and no others."""
    fit = flymc.fit("clicked ~ bs(x, df=4) + np.exp(w)", frame, out=tmp_path / "run", **quick)
    kept = tmp_path / "run" / "formula.json"
    value = json.loads(kept.read_text())
    assert value.pop("made") == fit.names[1:]
    kept.write_text(json.dumps(value))
    new = frame.iloc[:5]
    np.testing.assert_array_equal(flymc.load(tmp_path / "run").predict(new)["mean"], fit.predict(new)["mean"])


STREAMED = {
    "clicked ~ x*w + C(region)": ["intercept", "x", "w", "region[north]", "region[west]", "x:w"],
    "clicked ~ region*x": ["intercept", "region[north]", "region[west]", "x", "region[north]:x", "region[west]:x"],
    "clicked ~ region + x:region": None,
    "clicked ~ 0 + region + x": None,
    "clicked ~ region*side": None,
    "clicked ~ region + region:side": None,
    "clicked ~ 0 + region:side": None,
    "clicked ~ 0 + region:side:x + w": None,
    "clicked ~ x + I(x**2) + exp(x):region": None,
    "clicked ~ (x + w + region)**2": None,
    "clicked ~ . - region - side + x:w": ["intercept", "x", "w", "member", "x:w"],
}


def ours(name):
    """Returns flymc's name for a column of formulaic."""
    name = "intercept" if name == "Intercept" else re.sub(r"C\((\w+)\)", r"\1", name).replace("[T.", "[").replace(" ** ", "^")
    return frozenset(name.split(":"))


@pytest.mark.parametrize("formula", STREAMED)
def test_formulas_that_stream_have_the_columns_of_formulaic(formula, frame, quick, tmp_path):
    frame = frame.assign(side=np.where(np.arange(len(frame)) % 5 < 2, "left", "right"))
    prior = {None: flymc.Normal(0, 2), **({"intercept": flymc.Flat()} if "0 +" not in formula else {})}
    fit = flymc.fit(formula, frame, prior=prior, **quick)
    text = formula if "." not in formula else "clicked ~ x + w + member + x:w"
    matrix = formulaic.Formula(text).rhs.get_model_matrix(frame)
    columns = {ours(name): np.asarray(matrix[name], dtype=float) for name in matrix.columns}
    assert {frozenset(name.split(":")) for name in fit.names} == set(columns)
    assert STREAMED[formula] is None or fit.names == STREAMED[formula]
    # The rows have these columns, and so do new rows, also in a run of the command.
    theta = fit.array().reshape(-1, len(fit.names))
    design = np.column_stack([columns[frozenset(name.split(":"))] for name in fit.names])
    expected = (1 / (1 + np.exp(-theta @ design[:40].T))).mean(axis=0)
    new = frame.iloc[:40].drop(columns="clicked")
    np.testing.assert_allclose(fit.predict(new)["mean"], expected, rtol=1e-9)
    # Files and streams have the same draws as the table.
    frame.to_parquet(tmp_path / "table.parquet")
    for data in (tmp_path / "table.parquet", pl.from_pandas(frame).lazy(), pa.Table.from_pandas(frame)):
        assert flymc.fit(formula, data, prior=prior, **quick).draws.equals(fit.draws)


def test_both_kinds_of_formulas_have_the_same_posterior(frame):
    how = {"prior": {None: flymc.Normal(0, 2), "intercept": flymc.Flat()}, "draws": 2000, "progress": False}
    own = flymc.fit("clicked ~ region*x", frame, **how).summary()
    other = flymc.fit("clicked ~ region*{x + 0}", frame, seed=2, **how).summary()
    other.index = [name.replace("x + 0", "x") for name in other.index]
    other = other.loc[own.index]
    z = (own["mean"] - other["mean"]) / np.hypot(own["mcse_mean"], other["mcse_mean"])
    assert z.abs().max() < 4.5  # for six z scores: exceeded in one of 25,000 tests
    np.testing.assert_allclose(own["sd"], other["sd"], rtol=0.12)


def test_the_draws_are_those_of_the_same_columns(frame, parquet, quick):
    by_formula = flymc.fit("clicked ~ x + w", frame, **quick)
    by_columns = flymc.fit("clicked", frame, columns=["x", "w"], **quick)
    assert by_formula.draws.equals(by_columns.draws)
    for data in (parquet, pl.from_pandas(frame), pl.from_pandas(frame).lazy()):
        assert flymc.fit("clicked ~ x + w", data, **quick).draws.equals(by_columns.draws)


def test_text_files(frame, quick, tmp_path):
    plain = flymc.fit("clicked ~ x + C(region)", frame, **quick)
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "b.tsv", index=False, sep="\t")
    frame.to_csv(tmp_path / "c.csv.gz", index=False)
    frame.to_csv(tmp_path / "d.csv", index=False, sep=";")
    for name, settings in {"a.csv": {}, "b.tsv": {}, "c.csv.gz": {}, "d.csv": {"delimiter": ";"}}.items():
        fit = flymc.fit("clicked ~ x + C(region)", tmp_path / name, **settings, **quick)
        assert fit.draws.equals(plain.draws), name
        assert fit.predict(tmp_path / name, **settings)["mean"].notna().all()
    for formula in ("clicked ~ x", "clicked"):
        with pytest.raises(flymc.InputError, match="nowhere.csv: cannot be read .*; check the name"):
            flymc.fit(formula, tmp_path / "nowhere.csv", **quick)
    (tmp_path / "none.arrow").write_text("no table")
    with pytest.raises(flymc.InputError, match="none.arrow: cannot be read .*; the file may be"):
        flymc.fit("clicked ~ x", tmp_path / "none.arrow", **quick)
    with pytest.raises(flymc.InputError, match="no file matches this pattern"):
        flymc.fit("clicked ~ x", tmp_path / "*.parquet", **quick)


@pytest.mark.parametrize("formula", ["clicked ~ x + w", "clicked ~ np.add(x, 0) + w"])
def test_files_of_one_table(frame, quick, tmp_path, formula):
    """Files have the same checks, whether flymc or formulaic evaluates the formula."""
    frame.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(flymc.InputError, match="named twice"):
        flymc.fit(formula, [tmp_path / "a.parquet", tmp_path / "a.parquet"], **quick)
    frame.drop(columns="w").to_parquet(tmp_path / "b.parquet")
    with pytest.raises(flymc.InputError, match="b.parquet: has no column 'w'"):
        flymc.fit(formula, [tmp_path / "a.parquet", tmp_path / "b.parquet"], missing="drop", **quick)
    (tmp_path / "all" / "more").mkdir(parents=True)
    for name in ("all/a.parquet", "all/more/b.parquet"):
        frame.to_parquet(tmp_path / name)
    with pytest.raises(flymc.InputError, match="holds the folder 'more'"):
        flymc.fit(formula, tmp_path / "all", **quick)


@pytest.mark.parametrize(
    "term", ["I(x - x.mean())", "x.rank()", "np.where(x > np.median(x), 1, 0)", "I(x / x.std())", "I(x - min(x))"]
)
def test_columns_that_are_of_all_rows(frame, quick, tmp_path, term):
    """The formula is fitted; predictions are refused, because new rows would have another mean."""
    fit = flymc.fit(f"clicked ~ {term} + w", frame, **quick)
    fit.save(tmp_path / "run")
    for each in (fit, flymc.load(tmp_path / "run")):
        with pytest.raises(flymc.InputError, match="depends on which rows are there .* write center\\(x\\) or scale"):
            each.predict(frame[:5])


def test_columns_that_are_of_a_row(frame, quick):
    formula = "clicked ~ center(x) + bs(w, df=4) + poly(x, 2) + C(region, contr.sum) + np.where(x > 0, w, 0)"
    fit = flymc.fit(formula, frame, **quick)
    alone, among = fit.predict(frame[7:8]), fit.predict(frame)
    assert alone["mean"].iloc[0] == pytest.approx(among["mean"].iloc[7])


def test_targets(frame, quick):
    text = frame.assign(clicked=np.where(frame["clicked"] == 1, "yes", "no"))
    assert flymc.fit("clicked ~ x", text, **quick).draws.equals(flymc.fit("clicked ~ x", frame, **quick).draws)
    logged = flymc.fit("np.log(w**2) ~ x", frame, family="student_t", sigma=1, **quick)
    by_hand = flymc.fit("lw ~ x", frame.assign(lw=np.log(frame["w"] ** 2)), family="student_t", sigma=1, **quick)
    assert logged.draws.equals(by_hand.draws)


def test_priors_per_term(frame, quick):
    prior = {
        None: flymc.Normal(0, 2.5),
        "C(region)": flymc.Normal(0, 0.001),
        "x:w": flymc.Flat(),
        "Intercept": flymc.Normal(0, 9),
    }
    fit = flymc.fit("clicked ~ x*w + C(region)", frame, prior=prior, **quick)
    assert (fit.summary().loc[["region[north]", "region[west]"], "sd"] < 0.002).all()
    assert (
        fit.settings["prior"][0].endswith("x:w: flat; intercept: normal(0, 9)")
        or "x:w: flat" in fit.settings["prior"][0]
    )
    again = fit.resample(prior={"C(region)": flymc.Normal(0, 1)}, progress=False)
    assert (again.summary().loc[["region[north]", "region[west]"], "sd"] > 0.05).all()


def test_missing_values(frame, quick):
    hole = frame.copy()
    hole.loc[[4, 9], "x"] = np.nan
    hole.loc[20, "clicked"] = None
    with pytest.raises(flymc.InputError):
        flymc.fit("clicked ~ x + w", hole, **quick)
    dropped = flymc.fit("clicked ~ x + w", hole, missing="drop", **quick)
    assert dropped.rows == len(frame) - 3
    predicted = dropped.predict(hole.iloc[:10], missing="drop")
    assert predicted["mean"].isna().tolist() == [i in (4, 9) for i in range(10)]
    with pytest.raises(flymc.InputError, match="row 5"):
        dropped.predict(hole.iloc[:10])
    # A missing level is not a level, and a repeating index does not give row numbers.
    levels = flymc.fit("clicked ~ x + C(region)", hole.set_index(hole.index % 7), missing="drop", **quick)
    assert levels.rows == len(frame) - 3
    new = frame.iloc[:6].copy()
    new.loc[2, "region"] = None
    assert levels.predict(new, missing="drop")["mean"].isna().tolist() == [i == 2 for i in range(6)]
    with pytest.raises(flymc.InputError, match="row 3"):
        levels.predict(new)
    np.testing.assert_array_equal(
        levels.predict(new, missing="drop")["mean"].drop(2), levels.predict(frame.iloc[[0, 1, 3, 4, 5]])["mean"]
    )
    with pytest.raises(flymc.InputError, match="region"):
        levels.predict(new[["x"]])


def test_bad_formulas(frame, quick):
    with pytest.raises(flymc.InputError, match="needs one target"):
        flymc.fit("~ x", frame, **quick)
    spaced = frame.rename(columns={"w": "of the week"})
    with pytest.raises(flymc.InputError, match="; put a name that has spaces in backquotes: `of the week`$"):
        flymc.fit("clicked ~ x + of the week", spaced)
    with pytest.raises(flymc.InputError, match="formula 'clicked ~ x w': Missing operator"):
        flymc.fit("clicked ~ x w", frame, **quick)
    assert flymc.fit("clicked ~ 1", frame, **quick).names == ["intercept"]
    with pytest.raises(flymc.InputError, match="nothing_like_it"):
        flymc.fit("clicked ~ nothing_like_it", frame, **quick)
    with pytest.raises(ValueError, match="a formula says this itself"):
        flymc.fit("clicked ~ x", frame, columns=["w"], **quick)
    fit = flymc.fit("clicked ~ x + C(region)", frame, **quick)
    with pytest.raises(flymc.InputError, match="row 1: the level 'south' did not occur when the model was fitted"):
        fit.predict(pd.DataFrame({"x": [1.0], "region": ["south"]}))
    fit = flymc.fit("clicked ~ np.exp(x) + C(region)", frame, **quick)
    with pytest.raises(flymc.InputError, match="that the fit has not seen"):
        fit.predict(pd.DataFrame({"x": [1.0], "region": ["south"]}))


def test_a_dot_is_all_other_columns(frame, quick):
    every = flymc.fit("clicked ~ .", frame, **quick)
    assert every.names == ["intercept", "x", "w", "region[north]", "region[west]", "member"]
    assert every.draws.equals(flymc.fit("clicked ~ x + w + region + member", frame, **quick).draws)
    assert flymc.fit("clicked ~ . - region + x:w", frame, **quick).names == ["intercept", "x", "w", "member", "x:w"]
    # `.` does not include weights and offsets.
    counted = frame[["x", "clicked"]].assign(count=2, known=0.1)
    assert flymc.fit("clicked ~ .", counted, weights="count", offset="known", **quick).names == ["intercept", "x"]
    by_numbers = flymc.fit("clicked ~ .", frame[["x", "clicked"]], weights=counted["count"], **quick)
    assert by_numbers.names == ["intercept", "x"]


def test_names_of_any_kind_come_back(frame, quick, tmp_path):
    table = frame.rename(columns={"x": "my x", "w": "scale"})
    fit = flymc.fit("clicked ~ `my x` + scale + {np.exp(`my x`) + np.exp(2 * scale / 30)}:region", table, **quick)
    fit.save(tmp_path / "run")
    again = flymc.load(tmp_path / "run").predict(table[:20])
    pd.testing.assert_frame_equal(again, fit.predict(table[:20]))
    assert again["mean"].between(0, 1).all()


def test_a_bar_in_an_expression_is_no_group(frame, quick):
    table = frame.assign(a=frame["x"] > 0, b=frame["w"] > 10)
    assert flymc.fit("clicked ~ I(a|b)", table, **quick).names == ["intercept", "I(a | b)"]


def test_misspelt_names(frame, quick):
    for formula, name, meant in [
        ("clicked ~ regoin", "regoin", "region"),
        ("clicked ~ x + np.log(W)", "W", "w"),
        ("clicked ~ bs(membr, df=3)", "membr", "member"),
        ("clickd ~ x", "clickd", "clicked"),
    ]:
        with pytest.raises(flymc.InputError, match=f"there is no column '{name}'; did you mean '{meant}'"):
            flymc.fit(formula, frame, **quick)
    with pytest.raises(flymc.InputError, match="no column 'zebra'; there are 'x', 'w', 'region', 'member', 'clicked'"):
        flymc.fit("clicked ~ zebra", frame, **quick)
    with pytest.raises(flymc.InputError, match="there is no function 'scal'; did you mean 'scale'"):
        flymc.fit("clicked ~ scal(x)", frame, **quick)
    with pytest.raises(flymc.InputError, match="an offset is an argument of its own"):
        flymc.fit("clicked ~ x + offset(w)", frame, **quick)
    with pytest.raises(flymc.InputError, match="no column 'wheight' .*; did you mean 'weight'"):
        flymc.fit("clicked ~ x", frame.assign(weight=1.0), weights="wheight", **quick)
    # Names of functions and types are not columns.
    own = flymc.fit("clicked ~ abs(x) + np.round(w, 1) + member.astype(float)", frame, **quick)
    assert len(own.names) == 4 and own.predict(frame[:3])["mean"].notna().all()
    fit = flymc.fit("clicked ~ x + np.log(w**2)", frame, **quick)
    with pytest.raises(flymc.InputError, match="has no column 'w', which the formula of the fit needs; there are 'x'"):
        fit.predict(frame[["x"]])


def test_dates_in_formulas(frame, quick):
    start = pd.Timestamp("2024-01-01")
    dates = pd.Series(start + pd.to_timedelta(np.arange(len(frame)) % 700, unit="D"))
    table = frame.assign(
        when=dates,
        zoned=dates.dt.tz_localize("UTC"),
        day=dates.dt.date,
        took=dates - start,
        month=dates.dt.to_period("M"),
    )
    for name in ("when", "zoned", "day", "month"):
        for formula in (f"clicked ~ x + {name}", f"clicked ~ C({name})"):
            with pytest.raises(flymc.InputError, match=f"column '{name}' holds dates, .* days since"):
                flymc.fit(formula, table, **quick)
    with pytest.raises(flymc.InputError, match=r"column 'took' holds durations, .* put hours in its place"):
        flymc.fit("clicked ~ x + took", table, **quick)
    with pytest.raises(flymc.InputError, match="column 'when' holds dates"):  # the first day of new rows would differ
        flymc.fit("clicked ~ x + {(when - when.min()) / 1}", table, **quick)
    with pytest.raises(flymc.InputError, match="column 'when' holds dates, .* leave it out of the formula"):
        flymc.fit("clicked ~ .", table, **quick)
    # The advice of the message works, and dates that the formula does not name are ignored.
    days = table.assign(when=(pd.to_datetime(table["when"]) - start).dt.days)
    assert flymc.fit("clicked ~ x + when", days, **quick).names == ["intercept", "x", "when"]
    names = table.assign(when=pd.to_datetime(table["when"]).dt.month_name())
    assert len(flymc.fit("clicked ~ when", names, **quick).names) == 12
    of_month = flymc.fit("clicked ~ C(when.dt.month)", table, **quick)
    assert len(of_month.names) == 12 and of_month.predict(table[:5])["mean"].notna().all()


def test_an_empty_line_of_one_column_is_a_row(frame, quick, tmp_path):
    fit = flymc.fit("clicked ~ bs(x, df=4)", frame, **quick)
    (tmp_path / "new.csv").write_text("x\n0.1\n\n0.3\n")
    with pytest.raises(flymc.InputError, match="column 'x', row 2: the value is missing"):
        fit.predict(tmp_path / "new.csv")
    assert fit.predict(tmp_path / "new.csv", missing="drop")["mean"].isna().tolist() == [False, True, False]


@pytest.mark.parametrize("term", ["w", "bs(w, df=4)", "cr(w, df=4)", "poly(w, 2)", "scale(w)", "np.log(w**2)", "x:w"])
def test_missing_values_are_named_as_the_table_has_them(term, frame, quick):
    hole = frame.copy()
    hole.loc[[6, 8], "w"] = np.nan
    said = "^data, column 'w', row 7: the value is missing; .*; rows in which a value is missing: 'w' in 2$"
    with pytest.raises(flymc.InputError, match=said):
        flymc.fit(f"clicked ~ x + {term}", hole, **quick)
    fit = flymc.fit(f"clicked ~ x + {term}", hole, missing="drop", **quick)
    assert fit.draws.equals(flymc.fit(f"clicked ~ x + {term}", hole.drop(index=[6, 8]), **quick).draws)
    assert fit.origins([5, 6, 7])["file_row"].tolist() == [6, 8, 10]
    with pytest.raises(flymc.InputError, match="^data, column 'w', row 7: the value is missing; fill it, or "):
        fit.predict(hole)
    assert fit.predict(hole[:10], missing="drop")["mean"].isna().tolist() == [i in (6, 8) for i in range(10)]


def test_what_a_formula_makes_of_a_value(frame, quick):
    table = frame.copy()
    table.loc[6, "w"] = -1.0
    table["w"] = table["w"].where(table.index == 6, 1 + table["w"] ** 2)
    with pytest.raises(flymc.InputError, match=r"data, column 'w', row 7: log\(w\) of -1 is no number; correct"):
        flymc.fit("clicked ~ log(w)", table, **quick)
    with pytest.raises(
        flymc.InputError, match=r"row 7: 'np.log\(w\)' is not a number where 'w' is -1.0; .*missing=\"drop"
    ):
        flymc.fit("clicked ~ np.log(w)", table, **quick)
    table.loc[6, "w"] = 0.0
    with pytest.raises(flymc.InputError, match=r"row 7: 'np.log\(np.abs\(w\)\)' is not finite where 'w' is 0.0"):
        flymc.fit("clicked ~ np.log(np.abs(w))", table, **quick)
    table.loc[6, "w"] = np.inf
    with pytest.raises(flymc.InputError, match="column 'w', row 7: inf is not a finite number"):
        flymc.fit("clicked ~ x + w", table, **quick)
    with pytest.raises(flymc.InputError, match="same value in every row .*; leave it out of the formula$"):
        flymc.fit("clicked ~ x + one", frame.assign(one=1.0), **quick)


@pytest.mark.parametrize("spline", ["bs", "cr", "cs", "cc"])
def test_splines_end_where_their_rows_do(spline, frame, quick, tmp_path):
    low, high = frame["w"].min(), frame["w"].max()
    fit = flymc.fit(f"clicked ~ {spline}(w, df=4)", frame, **quick)
    assert fit.predict({"w": [low, 10.0, high]})["mean"].notna().all()
    fit.save(tmp_path / "run")
    for of in (fit, flymc.load(tmp_path / "run")):
        with pytest.raises(flymc.InputError, match=rf"row 2: {spline}\(w\) is asked for at 99, outside .*1 such row\)"):
            of.predict({"w": [10.0, 99.0]})
    # The formula may say how the curve continues.
    clipped = flymc.fit(f"clicked ~ {spline}(w, df=4, extrapolation='clip')", frame, **quick)
    predicted = clipped.predict({"w": [high, 99.0]})["mean"]
    assert predicted[0] == predicted[1]
    wide = flymc.fit(f"clicked ~ {spline}(w, df=4, lower_bound=-50, upper_bound=99)", frame, **quick)
    assert wide.predict({"w": [99.0]})["mean"].notna().all()


def test_types_that_can_be_missing(frame, quick):
    plain = flymc.fit("clicked ~ x + region + member", frame, **quick)
    for table in (
        frame.astype({"region": "string", "member": "boolean", "x": "Float64", "clicked": "Int64"}),
        frame.convert_dtypes(dtype_backend="pyarrow"),
        frame.astype({"member": object}),
    ):
        fit = flymc.fit("clicked ~ x + region + member", table, **quick)
        assert fit.draws.equals(plain.draws)
        pd.testing.assert_frame_equal(fit.predict(table[:9]), plain.predict(frame[:9]))


def test_levels_without_rows_are_none(frame, quick):
    table = frame.assign(region=pd.Categorical(frame["region"], categories=["west", "south", "east", "north"]))
    fit = flymc.fit("clicked ~ x + region", table, **quick)
    assert fit.names == ["intercept", "x", "region[east]", "region[north]"]  # the first category is the reference
    with pytest.raises(flymc.InputError, match="the level 'south' did not occur"):
        fit.predict(table[:3].assign(region="south"))


def test_the_order_of_levels(frame, quick, tmp_path):
    """The first category is the reference if the categories have an order, and the first of texts otherwise."""
    order = ["west", "east", "north"]
    ordered = frame.assign(region=pd.Categorical(frame["region"], categories=order))
    ordered.to_parquet(tmp_path / "ordered.parquet")
    enum = pl.from_pandas(frame).with_columns(pl.col("region").cast(pl.Enum(order)))
    for table in (ordered, pa.Table.from_pandas(ordered), enum, enum.lazy()):
        assert flymc.fit("clicked ~ region", table, **quick).names[1:] == ["region[east]", "region[north]"]
    # Levels of a file are texts, as for the command.
    names = flymc.fit("clicked ~ region", tmp_path / "ordered.parquet", **quick).names
    assert names[1:] == ["region[north]", "region[west]"]
    named = flymc.fit("clicked ~ region", tmp_path / "ordered.parquet", reference={"region": "north"}, **quick)
    assert named.names[1:] == ["region[east]", "region[west]"]
    mixed = frame.sort_values("region", ascending=False)
    loose = pl.from_pandas(mixed).with_columns(pl.col("region").cast(pl.Categorical))
    for table in (mixed, loose, pa.table({**mixed, "region": pa.array(mixed["region"]).dictionary_encode()})):
        assert flymc.fit("clicked ~ region", table, **quick).names[1:] == ["region[north]", "region[west]"]


def test_names_of_rows_are_no_levels(frame, quick):
    table = frame.assign(name=[f"row {i}" for i in range(len(frame))], number=range(len(frame)))
    for formula in ("clicked ~ x + name", "clicked ~ . - number", "clicked ~ C(number)"):
        with pytest.raises(flymc.InputError, match="column 'n.*' (has more than 1000 levels|.* numbers of things)"):
            flymc.fit(formula, table, **quick)
    assert flymc.fit("clicked ~ x + number + name.str.len()", table, **quick).names[2] == "number"


def test_ranges_of_pandas_cut(frame, quick):
    table = frame[["x", "clicked"]].assign(band=pd.cut(frame["w"], [-50, 5, 10, 50]))
    for formula in ("clicked", "clicked ~ x + band"):
        fit = flymc.fit(formula, table, **quick)
        assert len(fit.names) == 4 and fit.predict(table[:5])["mean"].notna().all()


def test_numbers_are_double_whatever_their_type(quick):
    """In NumPy, products, powers and differences of small integers wrap around, and ^ of integers is an exclusive
    or."""
    random = np.random.default_rng(5)
    income = random.integers(20_000, 90_000, 400)
    frame = pd.DataFrame(
        {"x": random.normal(size=400), "income": income.astype("int32"), "kind": random.integers(1, 4, 400).astype("int8"), "y": random.integers(0, 2, 400)}
    )
    plain = frame.astype({"income": float})
    for term in ("I(income**2)", "I(income^2)", "income:income2"):
        wide, narrow = plain.assign(income2=plain["income"]), frame.assign(income2=frame["income"])
        fit = flymc.fit(f"y ~ bs(x, df=4) + {term}", narrow, **quick)
        np.testing.assert_array_equal(fit.array(), flymc.fit(f"y ~ bs(x, df=4) + {term.replace('^', '**')}", wide, **quick).array())
    assert "kind[2]" in flymc.fit("y ~ bs(x, df=4) + C(kind)", frame, **quick).names  # and not [2.0]
    with pytest.raises(flymc.InputError, match="np.power"):
        flymc.fit("y ~ bs(x, df=4) + exp10(x)", frame, **quick)


def test_files_are_read_as_the_program_reads_them(quick, tmp_path):
    random = np.random.default_rng(6)
    region = random.choice(["east", "west"], 300)
    frame = pd.DataFrame({"x": random.normal(size=300), "region": region, "kind": pd.Categorical(random.choice([1, 2, 10], 300)), "y": random.integers(0, 2, 300)})
    frame.to_parquet(tmp_path / "t.parquet")
    names = flymc.fit("y ~ bs(x, df=4) + kind", tmp_path / "t.parquet", **quick).names
    assert names == flymc.fit("y ~ bs(x, df=4) + kind", frame, **quick).names and "kind[10]" in names
    frame.loc[7, "region"] = ""
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(flymc.InputError, match="missing"):
        flymc.fit("y ~ bs(x, df=4) + region", tmp_path / "t.csv", **quick)
    dropped = flymc.fit("y ~ bs(x, df=4) + region", tmp_path / "t.csv", missing="drop", **quick)
    assert [name for name in dropped.names if "region" in name] == ["region[west]"]


def test_a_prior_by_the_name_of_a_column_with_a_hyphen(quick):
    random = np.random.default_rng(7)
    frame = pd.DataFrame({"age": random.normal(size=500), "age-sq": random.normal(size=500), "y": random.integers(0, 2, 500)})
    prior = {"age": flymc.Normal(0, 5), "age-sq": flymc.Normal(0, 1e-4)}
    for of in (prior, {"age": prior["age"], "`age-sq`": prior["age-sq"]}):
        sd = flymc.fit("y ~ age + `age-sq`", frame, prior=of, **quick).summary()["sd"]
        assert sd["age"] > 0.01 and sd["age-sq"] < 0.001


def test_columns_of_a_frame_are_chosen(quick):
    random = np.random.default_rng(8)
    X, y = pd.DataFrame(random.normal(size=(300, 3)), columns=["age", "income", "leak"]), random.integers(0, 2, 300)
    assert flymc.fit(None, (X, y), columns=["age"], **quick).names == ["intercept", "age"]
    with pytest.raises(flymc.InputError, match="'agee'"):
        flymc.fit(None, (X, y), columns=["agee"], **quick)
    with pytest.raises(ValueError, match="'a' is there twice"):
        flymc.fit(None, (X.to_numpy(), y), columns=["a", "a", "b"], **quick)
    gaps = np.ma.masked_array(X.to_numpy(), mask=np.arange(900).reshape(300, 3) == 4)
    with pytest.raises(flymc.InputError, match="missing"):
        flymc.fit(None, (gaps, y), **quick)
