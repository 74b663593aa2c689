"""scikit-learn's own checks, and that the estimators give the same results as the fits."""

import pathlib

import flymc
import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

SHORT = {"chains": 2, "warmup": 300, "draws": 200}


# Their tables are too small for a residual scale: fewer rows than columns, or a target that is one of the columns.
WITHOUT_SCALE = {
    check: "the target has no residual scale to draw, and that is said"
    for check in (
        "check_sample_weights_shape",
        "check_sample_weights_not_overwritten",
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
        "check_regressors_no_decision_function",
    )
}


@parametrize_with_checks(
    [flymc.FlyMCClassifier(**SHORT), flymc.FlyMCRegressor(**SHORT), flymc.FlyMCRegressor(sigma=1.0, **SHORT)],
    expected_failed_checks=lambda estimator: WITHOUT_SCALE if getattr(estimator, "sigma", 1.0) is None else {},
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_classifier_is_the_fit(frame):
    X, y = frame[["x", "w"]], np.where(frame["clicked"] == 1, "yes", "no")
    model = flymc.FlyMCClassifier(**SHORT).fit(X, y)
    fit = flymc.fit(None, (X.to_numpy(), frame["clicked"]), progress=False, **SHORT)
    np.testing.assert_array_equal(model.draws_[:, 0], fit.array().reshape(-1, 3))
    np.testing.assert_allclose(model.predict_proba(X[:20])[:, 1], fit.predict(X[:20].to_numpy())["mean"], rtol=1e-9)
    np.testing.assert_allclose(model.coef_[0], fit.summary()["mean"].iloc[1:], rtol=1e-9)
    assert list(model.summary_.index) == ["intercept", "x", "w"]
    assert model.score(X, y) > 0.6


def test_more_classes(frame):
    X = frame[["x", "w"]].to_numpy()
    model = flymc.FlyMCClassifier(**SHORT).fit(X, frame["region"])
    probability = model.predict_proba(X)
    assert probability.shape == (3000, 3) and model.coef_.shape == (3, 2)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    fit = flymc.fit(None, (X, frame["region"]), family="softmax", progress=False, **SHORT)
    predicted = fit.predict(X[:50])[[f"mean[{c}]" for c in model.classes_]]
    np.testing.assert_allclose(probability[:50], predicted, atol=1e-10)


def test_coefficients_of_classes_are_as_scikit_learns():
    """Rows sum to 0. Under the same normal prior scikit-learn finds the mode, which 20,000 rows have near the mean."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(20_000, 2))
    weight = np.exp(np.column_stack([0.3 - X[:, 0], X[:, 1], -0.5 + 0.5 * X[:, 0]]))
    chosen = (rng.random((len(X), 1)) > (weight / weight.sum(axis=1, keepdims=True)).cumsum(axis=1)).sum(axis=1)
    y = np.array(["a", "b", "c"])[chosen]
    model = flymc.FlyMCClassifier(prior=flymc.Normal(0, 2)).fit(X, y)
    theirs = LogisticRegression(C=4, tol=1e-8).fit(X, y)
    assert model.coef_.shape == theirs.coef_.shape and model.intercept_.shape == theirs.intercept_.shape
    np.testing.assert_allclose(model.draws_.sum(axis=1), 0, atol=1e-12)
    # 0.1 of a standard deviation, and the Monte Carlo error of 4,000 draws.
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=0.004)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_, atol=0.004)
    differences = np.column_stack([model.intercept_, model.coef_])[1:] - np.append(model.intercept_[0], model.coef_[0])
    np.testing.assert_allclose(model.summary_["mean"], differences.ravel(), atol=1e-12)


def test_in_a_pipeline(frame):
    model = make_pipeline(StandardScaler(), flymc.FlyMCClassifier(**SHORT))
    assert cross_val_score(model, frame[["x", "w"]], frame["clicked"], cv=3).mean() > 0.6


def test_regressor_resists_outliers():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(1000, 2))
    y = 100 + 3 * X[:, 0] - X[:, 1] + 0.5 * rng.standard_t(4, size=1000)
    y[:20] += 500
    model = flymc.FlyMCRegressor(**SHORT).fit(X, y)
    np.testing.assert_allclose(model.coef_, [3, -1], atol=0.15)
    assert abs(model.intercept_ - 100) < 0.15
    assert 0.4 < model.sigma_ < 0.65
    assert list(model.summary_.index) == ["intercept", "x0", "x1", "sigma"]
    assert model.summary_["mean"]["sigma"] == pytest.approx(model.sigma_, rel=1e-9)


def test_regressor_of_normal_residuals():
    """Compared with least squares; with a given scale, and with an unknown family."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(5000, 2))
    y = 100 + 3 * X[:, 0] - X[:, 1] + 2 * rng.normal(size=5000)
    model = flymc.FlyMCRegressor(family="gaussian", **SHORT).fit(X, y)
    theirs = LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=0.01)
    assert model.sigma_ == pytest.approx(np.std(y - theirs.predict(X)), rel=0.01)
    given = flymc.FlyMCRegressor(family="gaussian", sigma=2.0, **SHORT).fit(X, y)
    assert given.sigma_ == 2.0 and list(given.summary_.index) == ["intercept", "x0", "x1"]
    with pytest.raises(flymc.InputError, match="nu: only for the student_t family"):
        flymc.FlyMCRegressor(family="gaussian", nu=3.0).fit(X, y)


def test_one_class_is_refused(frame):
    with pytest.raises(ValueError, match="one class only"):
        flymc.FlyMCClassifier().fit(frame[["x"]], np.ones(len(frame)))


def test_sample_weight(frame):
    X, y = frame[["x", "w"]].to_numpy(), frame["clicked"].to_numpy()
    weight = np.arange(len(y)) % 3
    model = flymc.FlyMCClassifier(**SHORT).fit(X, y, sample_weight=weight)
    fit = flymc.fit(None, (X, y), weights=weight, progress=False, **SHORT)
    np.testing.assert_array_equal(model.draws_[:, 0], fit.array().reshape(-1, 3))
    # Only residuals of rows with positive weight determine the scale.
    rng = np.random.default_rng(4)
    y = X[:, 0] + np.where(weight > 0, 0.5, 5.0) * rng.standard_t(4, size=len(y))
    assert 0.4 < flymc.FlyMCRegressor(**SHORT).fit(X, y, sample_weight=weight).sigma_ < 0.6
    far = np.where(weight == 0, 1e4, X[:, 0])
    moved = flymc.FlyMCClassifier(**SHORT).fit(np.column_stack([far, X[:, 1]]), frame["clicked"], sample_weight=weight)
    np.testing.assert_allclose(moved.coef_, model.coef_, rtol=0.1, atol=0.02)
    with pytest.raises(ValueError, match="[Nn]egative"):
        flymc.FlyMCClassifier(**SHORT).fit(X, frame["clicked"], sample_weight=-weight)


def test_names_of_columns_and_classes(frame):
    X = frame[["x", "w"]].rename(columns={"x": "age", "w": "target"})  # any name works
    prior = {"age[west]": flymc.Normal(1, 1e-4), "age[east]": flymc.Normal(0, 1e-4)}
    model = flymc.FlyMCClassifier(prior=prior, **SHORT).fit(X, frame["region"])
    differences = [f"[{other} - east]" for other in ("north", "west")]
    assert list(model.summary_.index) == [name + of for of in differences for name in ("intercept", "age", "target")]
    assert abs(model.summary_.loc["age[west - east]", "mean"] - 1) < 0.01
    # With two classes, coefficients are for the second; columns without a name are numbered.
    two = flymc.FlyMCClassifier(**SHORT).fit(X.to_numpy(), frame["member"])
    assert list(two.summary_.index) == ["intercept", "x0", "x1"]
    with pytest.raises(ValueError, match="'agee' is the name of no coefficient; did you mean 'age'"):
        flymc.FlyMCClassifier(prior={"agee": flymc.Normal(0, 1)}, **SHORT).fit(X, frame["region"])
    with pytest.raises(ValueError, match="'one' has the same value in every row .*; leave it out of X$"):
        flymc.FlyMCRegressor(**SHORT).fit(X.assign(one=1.0), frame["w"])


def test_warnings_name_classes(frame):
    with pytest.warns(UserWarning, match=r"coefficients\)") as caught:
        flymc.FlyMCClassifier(chains=2, warmup=100, draws=5).fit(frame[["x", "w"]], frame["region"])
    said = " ".join(str(warning.message) for warning in caught)
    assert " - east]'" in said and " - 0]" not in said
    assert {pathlib.Path(warning.filename).name for warning in caught} == {"test_estimators.py"}


def test_estimators_pickle(frame):
    import pickle

    model = flymc.FlyMCClassifier(**SHORT).fit(frame[["x"]], frame["clicked"])
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(frame[["x"]]), model.predict_proba(frame[["x"]]))


@pytest.mark.parametrize("family", ["poisson", "negative_binomial", "gamma", "truncated_poisson"])
def test_means_of_other_families(family):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 2))
    mu = np.exp(1.0 + 0.4 * X[:, 0] - 0.2 * X[:, 1])
    y = mu * rng.gamma(3.0, 1 / 3.0, 3000) if family == "gamma" else rng.poisson(mu).astype(float)
    if family == "truncated_poisson":
        X, y = X[y > 0], y[y > 0]
    model = flymc.FlyMCRegressor(family=family, **SHORT).fit(X, y)
    assert model.coef_ == pytest.approx([0.4, -0.2], abs=0.06)
    assert hasattr(model, "shape_") == (family in ["negative_binomial", "gamma"])
    # The same predictions as by the fit, from the same draws; settings that are changed later have no effect.
    model.set_params(family="gaussian")
    theirs = flymc.fit("target", (X, y), family=family, columns=["x0", "x1"], progress=False, **SHORT)
    assert model.predict(X[:50]) == pytest.approx(theirs.predict(X[:50], kind="mean")["mean"], rel=1e-9)


def test_nothing_of_an_earlier_fit_stays():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(500, 1)), rng.poisson(3.0, 500).astype(float)
    model = flymc.FlyMCRegressor(family="negative_binomial", **SHORT).fit(X, y)
    assert hasattr(model, "shape_")
    model.set_params(family="gaussian").fit(X, y)
    assert hasattr(model, "sigma_") and not hasattr(model, "shape_")
    assert not hasattr(model.set_params(family="poisson").fit(X, y), "sigma_")


def test_families_that_are_not_for_regressors(frame):
    for family in ["logistic", "weibull", "binomial", "posson"]:
        with pytest.raises(ValueError, match=f"family: '{family}' is not for regressors, which take gaussian, student_t, poisson"):
            flymc.FlyMCRegressor(family=family).fit([[1.0], [2.0]], [0.0, 1.0])
