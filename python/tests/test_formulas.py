"""Formulas: the columns are those of formulaic, names kept, and new rows get the same ones."""

import flymc
import formulaic
import numpy as np
import pandas as pd
import polars as pl
import pytest

FORMULAS = {
    "clicked ~ x + w": ["intercept", "x", "w"],
    "clicked ~ 0 + x": ["x"],
    "clicked ~ x*w + C(region)": ["intercept", "x", "w", "C(region)[T.north]", "C(region)[T.west]", "x:w"],
    "clicked ~ bs(x, df=4) + member": ["intercept", *(f"bs(x, df=4)[{j}]" for j in (1, 2, 3, 4)), "member"],
    "clicked ~ C(region, contr.sum):x + poly(w, 2) + scale(x)": None,
    "clicked ~ cc(w, df=3) + np.exp(x) + center(w):C(region)": None,
}


@pytest.mark.parametrize("formula", FORMULAS)
def test_columns_are_formulaics(formula, frame, quick, tmp_path):
    fit = flymc.fit(formula, frame, **quick)
    matrix = formulaic.Formula(formula).rhs.get_model_matrix(frame)
    assert fit.names == ["intercept" if name == "Intercept" else name for name in matrix.columns]
    assert FORMULAS[formula] is None or fit.names == FORMULAS[formula]
    # New rows by the levels, knots and means of the table, also after it was saved: rows alone are as in their table.
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
    with pytest.raises(flymc.InputError, match="there is no such file"):
        flymc.fit("clicked ~ x", tmp_path / "*.parquet", **quick)


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
    assert (fit.summary().loc[["C(region)[T.north]", "C(region)[T.west]"], "sd"] < 0.002).all()
    assert (
        fit.settings["prior"][0].endswith("x:w: flat; intercept: normal(0, 9)")
        or "x:w: flat" in fit.settings["prior"][0]
    )
    again = fit.resample(prior={"C(region)": flymc.Normal(0, 1)}, progress=False)
    assert (again.summary().loc[["C(region)[T.north]", "C(region)[T.west]"], "sd"] > 0.05).all()


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
    # A level that is missing is no level, and an index that repeats itself is no row number.
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
    with pytest.raises(flymc.InputError, match="formula 'clicked ~ x w': Missing operator"):
        flymc.fit("clicked ~ x w", frame, **quick)
    with pytest.raises(flymc.InputError, match="nothing_like_it"):
        flymc.fit("clicked ~ nothing_like_it", frame, **quick)
    with pytest.raises(ValueError, match="a formula says this itself"):
        flymc.fit("clicked ~ x", frame, columns=["w"], **quick)
    fit = flymc.fit("clicked ~ x + C(region)", frame, **quick)
    with pytest.raises(flymc.InputError, match="that the fit has not seen"):
        fit.predict(pd.DataFrame({"x": [1.0], "region": ["south"]}))
