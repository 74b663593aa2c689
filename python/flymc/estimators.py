"""Estimators with the interface of scikit-learn: fit, predict, predict_proba, coef_, score."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from . import arrays, tables
from ._core import InputError, families_of_means, means
from .fits import Fit
from .fitting import fit
from .priors import Priors

BATCH = 1 << 22  # numbers in one product of rows and draws


class _Estimator(BaseEstimator):
    """The base of both estimators: settings, column names, and draws, kept in memory so that it can be pickled."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _sample(self, X: Any, y: np.ndarray, prior: Priors | None, **settings: Any) -> None:
        # The names of a data frame's columns, or scikit-learn's names for columns without names.
        names = [str(name) for name in getattr(self, "feature_names_in_", [f"x{j}" for j in range(X.shape[1])])]
        said = _with_labels(["intercept", *names], getattr(self, "classes_", []))
        if isinstance(prior, Mapping):
            numbers: dict[str | None, str | None] = {label: number for number, label in said.items()}
            prior = {numbers.get(term, term): of for term, of in prior.items()}
        target = "target"
        while target in names:
            target += "_"
        try:
            found = fit(
                target,
                (X, y),
                columns=names,
                prior=prior,
                chains=self.chains,
                warmup=self.warmup,
                draws=self.draws,
                target_ess=self.target_ess,
                seed=self.seed,
                threads=self.threads,
                progress=self.progress,
                **settings,
            )
        except InputError as error:
            raise InputError(_spoken(tables.left_out(str(error), "X"), said)) from None
        assert isinstance(found, Fit)  # the estimators fit no parts of a target
        theta = found.array().reshape(-1, len(found.names))
        if set(found.names[X.shape[1] + 1 :]) & {"sigma", "shape"}:  # a parameter besides coefficients
            setattr(self, found.names[-1] + "_", float(theta[:, -1].mean()))
            theta = theta[:, :-1]
        self.draws_ = theta.reshape(len(theta), -1, X.shape[1] + 1)  # draw, predictor, intercept and columns
        if found.report["differences"]:
            # The data determine only differences between classes. As in scikit-learn, coefficients sum to 0 over
            # classes.
            first = np.zeros((len(theta), 1, X.shape[1] + 1))
            self.draws_ = np.concatenate([first, self.draws_], axis=1)
            self.draws_ -= self.draws_.mean(axis=1, keepdims=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `summary_` gives them below
            self.summary_ = found.summary()
        self.summary_.index = self.summary_.index.map(lambda name: said.get(name, name))
        for reason in found.report["warnings"]:
            warnings.warn(_spoken(reason, said), stacklevel=3)
        mean = self.draws_.mean(axis=0)
        self.coef_, self.intercept_ = mean[:, 1:], mean[:, 0]

    def _predictors(self, X: Any):
        """Yields the linear predictors of one batch of rows after another under every draw: (row, draw, predictor)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64, accept_sparse="csr")
        size = max(1, BATCH // (self.draws_.shape[0] * self.draws_.shape[1]))
        for first in range(0, X.shape[0], size):
            rows = X[first : first + size]
            rows = rows.toarray() if arrays.is_sparse(X) else rows
            # A sum over columns in their order, not a matrix product: so a row has the same bits in any batch.
            eta = np.broadcast_to(self.draws_[:, :, 0], (len(rows), *self.draws_.shape[:2])).copy()
            for j in range(rows.shape[1]):
                eta += rows[:, j, None, None] * self.draws_[:, :, j + 1]
            yield eta


def _with_labels(names: Sequence[str], classes: Sequence[Any]) -> dict[str, str]:
    """Maps names of a softmax's coefficients and differences from class numbers, as in the fit, to class labels.

    >>> _with_labels(["age"], ["a", "b", "c"])["age[2 - 0]"]
    'age[c - a]'
    """
    if len(classes) < 3:
        return {}
    said = {f"{name}[{number}]": f"{name}[{label}]" for number, label in enumerate(classes) for name in names}
    for number, label in enumerate(classes):
        said |= {f"{name}[{number} - 0]": f"{name}[{label} - {classes[0]}]" for name in names}
    return said


def _spoken(text: str, said: Mapping[str, str]) -> str:
    return re.sub("'([^']*)'", lambda name: f"'{said.get(name[1], name[1])}'", text)


class FlyMCClassifier(ClassifierMixin, _Estimator):
    """Logistic regression for two classes, softmax for more; probabilities are means over the posterior.

    The prior is per unit of a column, and the intercept's at the means of the columns; `None` is the default, scaled by
    the columns.

    For more than two classes, `coef_`, `intercept_` and `draws_` have a row per class, and these sum to 0 over the
    classes, as in scikit-learn's multinomial `coef_`. `summary_` has their differences from the first class, which the
    data determine.

    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(2000, 2))
    >>> y = np.where(rng.random(2000) < 1 / (1 + np.exp(-2 * X[:, 0])), "yes", "no")
    >>> model = flymc.FlyMCClassifier().fit(X, y)
    >>> model.predict([[3.0, 0.0], [-3.0, 0.0]]).tolist()
    ['yes', 'no']
    """

    def __init__(
        self,
        *,
        prior: Priors | None = None,
        chains: int = 4,
        warmup: int = 1000,
        draws: int | str = "auto",
        target_ess: float = 0.0,
        seed: int = 1,
        threads: int = 0,
        progress: bool = False,
    ):
        self.prior = prior
        self.chains = chains
        self.warmup = warmup
        self.draws = draws
        self.target_ess = target_ess
        self.seed = seed
        self.threads = threads
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> FlyMCClassifier:
        """Draws from the posterior. A row counts as many times as its weight says."""
        X, y = validate_data(self, X, y, dtype=np.float64, accept_sparse="csr", ensure_min_samples=2)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y has one class only ({self.classes_[0]}); a classifier needs two")
        weights = _weights(sample_weight, X)
        family = "logistic" if len(self.classes_) == 2 else "softmax"
        self._sample(X, codes, weights=weights, family=family, prior=self.prior)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """The posterior mean of each class's probability."""
        parts = []
        for eta in self._predictors(X):
            if eta.shape[2] == 1:
                positive = (1 / (1 + np.exp(-eta[:, :, 0]))).mean(axis=1)
                parts.append(np.stack([1 - positive, positive], axis=1))
            else:
                weight = np.exp(eta - eta.max(axis=2, keepdims=True))
                parts.append((weight / weight.sum(axis=2, keepdims=True)).mean(axis=1))
        return np.concatenate(parts)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class."""
        probability = self.predict_proba(X)  # raises an error if there was no fit
        return self.classes_[probability.argmax(axis=1)]


class FlyMCRegressor(RegressorMixin, _Estimator):
    """Regression with Student-t residuals of `nu` degrees of freedom (4 by default): outliers pull less than with least squares.

    `family="gaussian"` is linear regression with normal residuals. The residuals' scale is drawn with the coefficients,
    unless it is known and given as `sigma`; `sigma_` is its posterior mean. `"poisson"`, `"negative_binomial"` and
    `"truncated_poisson"` are for counts and `"gamma"` for positive amounts: exp(X @ coef_ + intercept_) is the mean
    (for `"truncated_poisson"` before truncation), and `shape_` is the posterior mean of a shape. The prior `None` is
    the default, scaled by y and by the columns.

    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(2000, 1))
    >>> y = 3.0 + 2.0 * X[:, 0] + rng.standard_t(4, size=2000)
    >>> model = flymc.FlyMCRegressor().fit(X, y)
    >>> model.coef_.round(1).tolist(), round(float(model.intercept_), 1)
    ([2.0], 3.0)
    """

    def __init__(
        self,
        *,
        family: str = "student_t",
        nu: float | None = None,
        sigma: float | None = None,
        prior: Priors | None = None,
        chains: int = 4,
        warmup: int = 1000,
        draws: int | str = "auto",
        target_ess: float = 0.0,
        seed: int = 1,
        threads: int = 0,
        progress: bool = False,
    ):
        self.family = family
        self.nu = nu
        self.sigma = sigma
        self.prior = prior
        self.chains = chains
        self.warmup = warmup
        self.draws = draws
        self.target_ess = target_ess
        self.seed = seed
        self.threads = threads
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> FlyMCRegressor:
        """Draws from the posterior. A row counts as many times as its weight says."""
        if self.family not in families_of_means():
            names = ", ".join(families_of_means())
            raise ValueError(f"family: {self.family!r} is not for regressors, which take {names}; flymc.fit takes every family")
        self.family_ = self.family
        for name in ("sigma_", "shape_"):  # left from an earlier fit
            self.__dict__.pop(name, None)
        X, y = validate_data(self, X, y, dtype=np.float64, accept_sparse="csr", y_numeric=True, ensure_min_samples=2)
        y = y.astype(np.float64)
        settings: dict[str, Any] = {"family": self.family, "sigma": self.sigma, "prior": self.prior}
        if self.nu is not None:
            settings["nu"] = self.nu
        if self.sigma is not None:
            self.sigma_ = self.sigma
        self._sample(X, y, weights=_weights(sample_weight, X), **settings)
        self.coef_, self.intercept_ = self.coef_[0], self.intercept_[0]
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The posterior mean of the target's mean (for `student_t`, of its location)."""
        by_row = (means(self.family_, eta.ravel()).reshape(eta.shape[:2]) for eta in self._predictors(X))
        return np.concatenate([of_draws.mean(axis=1) for of_draws in by_row])


def _weights(sample_weight: Any, X: np.ndarray) -> np.ndarray | None:
    """Returns the weights as numbers, or None if there are none."""
    if sample_weight is None:
        return None
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not weights.any():
        raise ValueError("sample_weight: all weights are 0; some row must count")
    return weights
