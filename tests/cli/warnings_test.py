"""Warnings if the rows leave a coefficient to the prior, and no warnings otherwise."""
import json

import numpy as np
import pyarrow
import pytest
from command import flymc, refusal, write

ROWS = 5_000
RANDOM = np.random.default_rng(3)
X, W = RANDOM.normal(size=(2, ROWS))
Y = (RANDOM.random(ROWS) < 1 / (1 + np.exp(-X))).astype(float)
GROUP = np.array(["a", "b", "c"])[RANDOM.integers(0, 3, ROWS)]
CLASS = np.array(["r", "s", "t"])[RANDOM.integers(0, 3, ROWS)]
# A level of seven rows, all of one class; and the same level with one row of the other class.
RARE = np.concatenate([["d"] * 7, GROUP[7:]])
ONE_SIDED = np.concatenate([np.ones(7), Y[7:]])
TWO_SIDED = np.concatenate([[0.0], ONE_SIDED[1:]])


def warnings(folder, *flags, **columns):
    table = write(pyarrow.table(columns), folder / "t.parquet")
    words = ["--target", "y", "--out", "run", "--overwrite", "--quiet", "--json", *flags]
    return json.loads(flymc("fit", table, *words, folder=folder))["warnings"]


@pytest.mark.parametrize("flags", [[], ["--prior", "laplace(0, 0.1)"], ["--prior", "student_t(4, 0, 2.5)"],
                                   ["--prior", "flat"]])
def test_an_ordinary_table_has_no_warnings(tmp_path, flags):
    assert warnings(tmp_path, *flags, x=X, w=W, g=GROUP, y=Y) == []
    # Columns with a correlation of 0.9999 are still identified by the rows.
    if not flags:
        assert warnings(tmp_path, x=X, s=X + 0.01 * W, y=Y) == []


@pytest.mark.parametrize("flags, y", [([], Y), (["--family", "softmax"], CLASS)])
def test_columns_that_depend_on_each_other_are_all_named(tmp_path, flags, y):
    (said,) = warnings(tmp_path, *flags, x=X, w=W, s=2 * X - W, v=RANDOM.normal(size=ROWS), t=X + W, y=y)
    assert "'s' is a combination of 'x', 'w', 't' is a combination of 'x', 'w'" in said and "--exclude" in said
    assert "'v'" not in said


def test_columns_that_repeat_others_are_all_named(tmp_path):
    table = write(pyarrow.table({"x": X, "w": W, "x2": X, "w2": W, "y": Y}), tmp_path / "t.parquet")
    said = refusal("fit", table, "--target", "y", "--out", "run", folder=tmp_path)
    assert "'x' and 'x2', 'w' and 'w2' are the same in every row" in said and "--exclude x2,w2" in said


@pytest.mark.parametrize("prior", ["default", "normal(0, 1)", "student_t(4, 0, 2.5)", "laplace(0, 1)"])
def test_a_level_of_one_class_is_named_under_any_prior(tmp_path, prior):
    (said,) = warnings(tmp_path, "--prior", prior, x=X, g=RARE, y=ONE_SIDED)
    assert "classes are separated: no row where 'g[d]' is 1 is of class '0'" in said and "--prior" in said
    assert warnings(tmp_path, "--prior", prior, x=X, g=RARE, y=TWO_SIDED) == []


def test_a_class_that_a_level_never_has(tmp_path):
    y = np.where(RARE == "d", "r", CLASS)
    (said,) = warnings(tmp_path, "--family", "softmax", x=X, g=RARE, y=y)
    assert "no row where 'g[d]' is 1 is of class 's'" in said


@pytest.mark.parametrize("family, spread", [("poisson", 1e6), ("negative_binomial", 4)])
def test_a_level_without_events(tmp_path, family, spread):
    """The likelihood has no maximum, as for a class that a level never has."""
    counts = RANDOM.negative_binomial(spread, spread / (spread + np.exp(0.5 + 0.3 * X)))
    (said,) = warnings(tmp_path, "--family", family, x=X, g=RARE, y=np.where(RARE == "d", 0, counts))
    assert "a coefficient has no end: no row where 'g[d]' is 1 has a target above 0" in said
    assert warnings(tmp_path, "--family", family, x=X, g=RARE, y=np.where(RARE == "d", counts % 2, counts)) == []


def test_no_event_at_all(tmp_path):
    (said,) = warnings(tmp_path, "--family", "poisson", x=X, y=0 * X.astype(int))
    assert "no row has a target above 0, so the rows do not limit the intercept on one side" in said


def test_a_level_of_successes_alone(tmp_path):
    """Grouped rows give the same warning as the rows of a logistic regression."""
    trials = RANDOM.integers(1, 9, ROWS)
    successes = RANDOM.binomial(trials, 1 / (1 + np.exp(-0.5 * X)))
    flags = ["--family", "binomial", "--trials", "n"]
    (said,) = warnings(tmp_path, *flags, x=X, g=RARE, n=trials, y=np.where(RARE == "d", trials, successes))
    assert "a coefficient has no end: no row where 'g[d]' is 1 has a failure" in said
    assert warnings(tmp_path, *flags, x=X, g=RARE, n=trials, y=successes) == []


def test_a_column_that_holds_the_target(tmp_path):
    """The advice must not be to widen the prior."""
    (said,) = warnings(tmp_path, x=X, w=W, y=(X > 0).astype(float))
    assert "the values of 'x' in class '1' lie beyond all of those in class '0'" in said
    overlap = (X + 0.05 * W > 0).astype(float)
    assert not any("separated" in said for said in warnings(tmp_path, x=X, y=overlap))


@pytest.mark.parametrize("family", ["logistic", "probit", "cloglog"])
def test_separation_under_every_link(tmp_path, family):
    (said,) = warnings(tmp_path, "--family", family, x=X, w=W, y=(X > 1).astype(float))
    assert "the values of 'x' in class '1' lie beyond all of those in class '0'" in said
    (said,) = warnings(tmp_path, "--family", family, x=X, g=GROUP, y=np.where(GROUP == "b", 0, Y))
    assert "no row where 'g[b]' is 1 is of class '1'" in said


def test_separation_far_from_the_mean(tmp_path):
    x = np.concatenate([X, [6.5, 7.0, 7.2, 7.3, 7.5, 8.0]])
    (said,) = warnings(tmp_path, x=x, y=(x >= 7).astype(float))
    assert "the values of 'x' in class '1' lie beyond" in said


def test_ordered_and_many_classes_that_a_column_tells(tmp_path):
    """A wider prior would only give a larger estimate, not a better one."""
    y = np.clip(np.floor(X), -1, 1).astype(int)
    (said,) = warnings(tmp_path, "--family", "ordinal", x=X, w=W, y=y)
    assert "the values of 'x' rise or fall with the classes" in said and "widen" not in said
    (said,) = warnings(tmp_path, "--family", "softmax", x=X, w=W, y=np.array(["c", "a", "b"])[y])
    assert "lie beyond all of those in other classes" in said and "widen" not in said
    overlap = np.clip(np.floor(X + 0.3 * W), -1, 1).astype(int)
    for family in ("ordinal", "softmax"):
        assert not any("separated" in said for said in warnings(tmp_path, "--family", family, x=X, w=W, y=overlap))


@pytest.mark.parametrize("family", ["weibull", "lognormal", "loglogistic"])
def test_a_level_in_which_no_event_was_seen(tmp_path, family):
    time = np.exp(0.3 * X + 0.5 * np.log(RANDOM.exponential(size=ROWS)))
    seen = np.where(GROUP == "b", 0, time < 2)
    flags = ["--family", family, "--event", "seen"]
    (said,) = warnings(tmp_path, *flags, x=X, g=GROUP, seen=seen, y=np.minimum(time, 2))
    assert "a coefficient has no end: no row where 'g[b]' is 1 has an event that was seen" in said
    assert warnings(tmp_path, *flags, x=X, g=GROUP, seen=(time < 2).astype(int), y=np.minimum(time, 2)) == []


def test_tables_without_a_bound_are_looked_at_too(tmp_path):
    """With many rows the anchor is a subsample's mode, unless regular MCMC continues from there to the mode of all
    rows."""
    rows = 45_000
    random = np.random.default_rng(5)
    x, g = random.normal(size=rows), np.where(np.arange(rows) % 9 == 0, "d", "a")
    y = np.where(g == "d", 1, random.random(rows) < 0.4).astype(int)
    said = warnings(tmp_path, "--regular", "--chains", "1", "--draws", "20", x=x, g=g, y=y)
    assert any("classes are separated: no row where 'g[d]' is 1 is of class '0'" in text for text in said)


def test_a_prior_with_long_tails_that_gives_way(tmp_path):
    """The posterior is as wide as the prior, but far from it, so the rows identify it."""
    said = warnings(tmp_path, "--prior", "default; x: student_t(3, 0, 0.02)", x=X, w=W, y=Y)
    assert not any("nearly the prior" in text for text in said)


def test_a_posterior_that_is_the_prior(tmp_path):
    (said,) = warnings(tmp_path, "--prior", "default; w: normal(0, 0.005)", x=X, w=W, g=GROUP, y=Y)
    assert "the posterior of 'w' is nearly the prior (1 of 5 coefficients)" in said and "--prior" in said
    # The rows determine w to 0.03, so a prior of the same width is not all the information.
    assert warnings(tmp_path, "--prior", "default; w: normal(0, 0.03)", x=X, w=W, g=GROUP, y=Y) == []


def test_a_shape_that_counts_do_not_have(tmp_path):
    """A Poisson's counts only show that the shape is large. The advice must not be to leave out a column."""
    said = warnings(tmp_path, "--family", "negative_binomial", x=X, y=RANDOM.poisson(np.exp(1 + 0.3 * X)))
    assert any("the posterior of 'shape' is nearly the prior: " in text and "choose a family that has no 'shape'" in text for text in said)
    assert not any("leave out" in text for text in said)


def test_a_shape_that_amounts_fix(tmp_path):
    """The posterior of the shape is wider than its prior around 0, but determines the shape to 4 %: no warning."""
    y = np.exp(1 + 0.3 * X) * RANDOM.gamma(1000, 1 / 1000, ROWS)
    assert warnings(tmp_path, "--family", "gamma", "--columns", "x", x=X[:1250], y=y[:1250]) == []


def test_a_scale_that_residuals_do_not_have(tmp_path):
    y = 10 + 3 * X + 2 * RANDOM.standard_t(4, ROWS)
    flags = ["--family", "student_t", "--sigma"]
    (said,) = warnings(tmp_path, *flags, "0.5", x=X, y=y)
    assert "the scale of the residuals does not fit" in said
    assert warnings(tmp_path, *flags, "2", x=X, y=y) == []


def test_an_intercept_separates_nothing(tmp_path):
    """A narrow prior pulls the intercept away from the rows, but a column of ones cannot separate classes."""
    rare = (RANDOM.random(ROWS) < 0.01).astype(float)
    said = warnings(tmp_path, "--prior", "default; intercept: normal(0, 0.02)", x=X, y=rare)
    assert any("the prior strains against the data: 'intercept'" in text for text in said)
    assert not any("separated" in text for text in said)
