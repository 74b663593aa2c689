"""scikit-learn's own checks, and that the estimators are the fits they stand for."""

import pathlib

import flymc
import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

SHORT = {"chains": 2, "warmup": 300, "draws": 200}


@parametrize_with_checks([flymc.FlyMCClassifier(**SHORT), flymc.FlyMCRegressor(**SHORT)])
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


def test_one_class_is_refused(frame):
    with pytest.raises(ValueError, match="one class only"):
        flymc.FlyMCClassifier().fit(frame[["x"]], np.ones(len(frame)))


def test_sample_weight(frame):
    X, y = frame[["x", "w"]].to_numpy(), frame["clicked"].to_numpy()
    weight = np.arange(len(y)) % 3
    model = flymc.FlyMCClassifier(**SHORT).fit(X, y, sample_weight=weight)
    fit = flymc.fit(None, (X, y), weights=weight, progress=False, **SHORT)
    np.testing.assert_array_equal(model.draws_[:, 0], fit.array().reshape(-1, 3))
    # Residuals of the rows that count decide about the scale.
    rng = np.random.default_rng(4)
    y = X[:, 0] + np.where(weight > 0, 0.5, 5.0) * rng.standard_t(4, size=len(y))
    assert 0.4 < flymc.FlyMCRegressor(**SHORT).fit(X, y, sample_weight=weight).sigma_ < 0.6
    # The scale of the weights does not matter to it, and rows of weight 0 do not matter at all.
    sigma = flymc.FlyMCRegressor(**SHORT).fit(X, y, sample_weight=weight).sigma_
    small = weight / weight.sum()
    assert flymc.estimators._residual_scale(X, y, small, 4.0) == pytest.approx(sigma, rel=1e-3)
    far = np.where(weight == 0, 1e4, X[:, 0])
    moved = flymc.FlyMCClassifier(**SHORT).fit(np.column_stack([far, X[:, 1]]), frame["clicked"], sample_weight=weight)
    np.testing.assert_allclose(moved.coef_, model.coef_, rtol=0.1, atol=0.02)
    with pytest.raises(ValueError, match="[Nn]egative"):
        flymc.FlyMCClassifier(**SHORT).fit(X, frame["clicked"], sample_weight=-weight)


def test_names_of_columns_and_classes(frame):
    X = frame[["x", "w"]].rename(columns={"x": "age", "w": "target"})  # any name will do
    model = flymc.FlyMCClassifier(prior={"age[west]": flymc.Normal(1, 1e-4)}, **SHORT).fit(X, frame["region"])
    differences = [f"[{other} - east]" for other in ("north", "west")]
    assert list(model.summary_.index) == [name + of for of in differences for name in ("intercept", "age", "target")]
    assert abs(model.coef_[2, 0] - 1) < 0.01
    # Of two classes a coefficient is for the second; columns without a name are numbered.
    two = flymc.FlyMCClassifier(**SHORT).fit(X.to_numpy(), frame["member"])
    assert list(two.summary_.index) == ["intercept", "x0", "x1"]
    with pytest.raises(ValueError, match="'agee' is the name of no coefficient; .*'age.east.'"):
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
