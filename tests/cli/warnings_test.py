"""What is said where the rows leave a coefficient to the prior, and that nothing is said where they do not."""
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
# A level of seven rows, all of one class; and the same with one row of the other.
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
    # A correlation of 0.9999 is hard to tell apart, and the rows do.
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


def test_a_column_that_holds_the_target(tmp_path):
    """The advice is not to widen the prior."""
    (said,) = warnings(tmp_path, x=X, w=W, y=(X > 0).astype(float))
    assert "the values of 'x' in class '1' lie beyond all of those in class '0'" in said
    overlap = (X + 0.05 * W > 0).astype(float)
    assert not any("separated" in said for said in warnings(tmp_path, x=X, y=overlap))


def test_a_posterior_that_is_the_prior(tmp_path):
    (said,) = warnings(tmp_path, "--prior", "default; w: normal(0, 0.005)", x=X, w=W, g=GROUP, y=Y)
    assert "the posterior of 'w' is nearly the prior (1 of 5 coefficients)" in said and "--prior" in said
    # The rows know w to 0.03: a prior of the same width is no longer all there is.
    assert warnings(tmp_path, "--prior", "default; w: normal(0, 0.03)", x=X, w=W, g=GROUP, y=Y) == []


def test_a_shape_that_counts_do_not_have(tmp_path):
    """A Poisson's counts say no more than that the shape is large. No column could be left out for that."""
    said = warnings(tmp_path, "--family", "negative_binomial", x=X, y=RANDOM.poisson(np.exp(1 + 0.3 * X)))
    assert any("the posterior of 'shape' is nearly the prior: " in text and "choose a family that has no 'shape'" in text for text in said)
    assert not any("leave out" in text for text in said)


def test_a_scale_that_residuals_do_not_have(tmp_path):
    y = 10 + 3 * X + 2 * RANDOM.standard_t(4, ROWS)
    flags = ["--family", "student_t", "--sigma"]
    (said,) = warnings(tmp_path, *flags, "0.5", x=X, y=y)
    assert "the scale of the residuals does not fit" in said
    assert warnings(tmp_path, *flags, "2", x=X, y=y) == []


def test_an_intercept_separates_nothing(tmp_path):
    """A narrow prior pulls hard at it, and it is 1 in all rows of all classes."""
    rare = (RANDOM.random(ROWS) < 0.01).astype(float)
    said = warnings(tmp_path, "--prior", "default; intercept: normal(0, 0.02)", x=X, y=rare)
    assert any("the prior strains against the data: 'intercept'" in text for text in said)
    assert not any("separated" in text for text in said)
