"""Ordered targets: the order of pandas and PyArrow, formulas, predictions."""

import arviz
import flymc
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.special import expit

RATINGS = ["poor", "fair", "good"]


def guests(rows=3000, seed=1):
    rng = np.random.default_rng(seed)
    price, kind = rng.normal(size=rows), rng.choice(["boat", "hotel"], rows)
    eta = 0.8 * price + 0.5 * (kind == "hotel") + rng.logistic(size=rows)
    rating = pd.Categorical.from_codes(np.searchsorted([-0.5, 1.2], eta), RATINGS, ordered=True)
    return pd.DataFrame({"price": price, "kind": kind, "rating": rating})


CUTS = ["cutpoint[poor|fair]", "cutpoint[fair|good]"]


@pytest.fixture(scope="module")
def fit():
    return flymc.fit("rating", guests(), family="ordinal", progress=False)


def test_the_order_is_that_of_the_category(fit):
    assert fit.names == [*CUTS, "price", "kind[hotel]"]
    assert fit.classes == RATINGS
    mean, sd = fit.summary()["mean"], fit.summary()["sd"]
    for name, truth in zip(fit.names, [-0.5, 1.2, 0.8, 0.5], strict=True):
        assert abs(mean[name] - truth) < 4.5 * sd[name], name
    draws = fit.draws.to_pandas()
    assert (draws[CUTS[0]] < draws[CUTS[1]]).all()


@pytest.mark.parametrize("of", ["arrow", "text", "formula", "numbers", "unused level", "dictionary", "polars", "arrays"])
def test_other_ways_to_say_the_same(fit, of):
    frame, how = guests(), {}
    if of == "arrow":
        data = pa.Table.from_pandas(frame)
    elif of == "text":
        data, how = frame.assign(rating=frame["rating"].astype(str)), {"order": RATINGS}
    elif of == "numbers":
        data = frame.assign(rating=frame["rating"].cat.codes * 10)
    elif of == "unused level":
        data = frame.assign(rating=frame["rating"].cat.set_categories(["awful", *RATINGS]))
    elif of == "dictionary":
        data = {name: frame[name] for name in frame.columns}
    elif of == "polars":
        polars = pytest.importorskip("polars")
        data = polars.from_pandas(frame.assign(rating=frame["rating"].astype(str))).with_columns(
            polars.col("rating").cast(polars.Enum(RATINGS)))
    elif of == "arrays":
        data = (frame[["price", "kind"]], frame["rating"])
    else:
        data = frame
    same = flymc.fit("rating ~ price + C(kind)" if of == "formula" else "rating", data, family="ordinal", progress=False, **how)
    np.testing.assert_allclose(same.summary()["mean"], fit.summary()["mean"], atol=1e-12 if of != "formula" else 0.02)


def test_predictions_are_probabilities_of_each_value(fit):
    new = pd.DataFrame({"price": [-3.0, 0.0, 3.0], "kind": ["boat", "hotel", "hotel"]})
    out = fit.predict(new)
    means = out[[f"mean[{r}]" for r in RATINGS]].to_numpy()
    np.testing.assert_allclose(means.sum(axis=1), 1.0)
    assert list(out["class"]) == ["poor", "fair", "good"]


def test_what_is_refused(fit):
    frame = guests(300)
    with pytest.raises(flymc.InputError, match="the order of the values of 'rating' is not known.*order"):
        flymc.fit("rating", frame.assign(rating=frame["rating"].astype(str)), family="ordinal", progress=False)
    with pytest.raises(flymc.InputError, match="only the ordinal family has ordered levels"):
        flymc.fit("rating", frame, family="softmax", order=RATINGS, progress=False)
    with pytest.raises(TypeError, match="order: give a list of levels"):
        flymc.fit("rating", frame, family="ordinal", order="poor,fair,good", progress=False)
    with pytest.raises(ValueError, match="formula: the cut points of an ordered target are its intercepts"):
        flymc.fit("rating ~ price - 1", frame, family="ordinal", progress=False)


def test_arviz_and_rows(fit):
    assert fit.rows == 3000
    of_rows = fit.to_arviz(log_likelihood_rows=5000)
    assert of_rows.log_likelihood["rating"].shape[-1] == 3000
    observed = [RATINGS.index(rating) for rating in guests()["rating"]]
    np.testing.assert_array_equal(of_rows.observed_data["rating"], observed)
    drawn = of_rows.posterior_predictive["rating"].to_numpy()
    assert set(np.unique(drawn)) == {0, 1, 2} and abs(drawn.mean() - np.mean(observed)) < 0.05


def test_log_likelihoods_and_leave_one_out_are_of_rows_of_the_table(fit):
    """Compared with the difference of two probabilities, and with ArviZ."""
    table = guests()
    draws = fit.draws.to_pandas()
    cuts = draws[[name for name in draws if name.startswith("cutpoint[")]].to_numpy()
    cuts = np.column_stack([np.full(len(cuts), -np.inf), cuts, np.full(len(cuts), np.inf)])
    slopes = [name for name in draws if name.startswith("kind[")]
    eta = np.outer(draws["price"], table["price"]) + sum(np.outer(draws[s], table["kind"].astype(str) == s[5:-1]) for s in slopes)
    category = np.array([RATINGS.index(rating) for rating in table["rating"]])
    value = np.log(expit(cuts[:, category + 1] - eta) - expit(cuts[:, category] - eta))
    np.testing.assert_allclose(fit.log_likelihood(range(3000)), value, rtol=1e-9, atol=1e-12)
    assert fit.origins([0, 17])["file_row"].tolist() == [1, 18]
    loo, theirs = fit.loo(rows=3000), arviz.loo(fit.to_arviz(log_likelihood_rows=3000), pointwise=True)
    np.testing.assert_allclose(loo.sample["elpd"], theirs.loo_i, rtol=1e-8)
    np.testing.assert_allclose([loo.elpd, loo.se, loo.p_loo], [theirs.elpd_loo, theirs.se, theirs.p_loo], rtol=1e-8)
    some = fit.loo(rows=300)
    assert abs(some.elpd - loo.elpd) < 4 * some.subsampling_se < 0.2
    assert set(fit.bright_rows(draws=20)["row"]) <= set(range(3000))
    with pytest.raises(flymc.InputError, match="there is no row 3000; the run has 3000"):
        fit.log_likelihood([3000])
