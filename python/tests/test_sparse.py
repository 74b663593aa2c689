"""Sparse matrices of SciPy give the same draws as dense ones."""

import flymc
import numpy as np
import pytest
from flymc import arrays
from scipy import sparse


@pytest.fixture(scope="module")
def matrix():
    rng = np.random.default_rng(5)
    X = sparse.random(4000, 12, density=0.15, random_state=7, format="csr")
    y = (rng.random(4000) < 1 / (1 + np.exp(-X @ np.linspace(-2, 2, 12)))).astype(int)
    return X, y


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix])
def test_the_draws_are_those_of_the_matrix(kind, matrix, quick):
    X, y = matrix
    dense = flymc.fit(None, (X.toarray(), y), **quick)
    fit = flymc.fit(None, (kind(X), y), **quick)
    assert fit.draws.equals(dense.draws)
    np.testing.assert_array_equal(fit.predict(kind(X)[:50] if kind is not sparse.coo_matrix else X[:50])["mean"],
                                  dense.predict(X[:50].toarray())["mean"])
    weights = np.arange(len(y)) % 3
    assert flymc.fit(None, (kind(X), y), weights=weights, **quick).draws.equals(
        flymc.fit(None, (X.toarray(), y), weights=weights, **quick).draws
    )


def test_rows_are_written_out_a_few_at_a_time(matrix):
    X, y = matrix
    wide = sparse.hstack([X] * 200).tocsr()
    batches = list(arrays.table_of_arrays(wide, y, None, "y"))
    assert len(batches) == 3 and sum(batch.num_rows for batch in batches) == 4000
    np.testing.assert_array_equal(batches[1].column(5).to_numpy(), X[1747:3494, 5].toarray()[:, 0])


def test_what_is_refused(matrix, quick, monkeypatch):
    X, y = matrix
    with pytest.raises(ValueError, match="X has 4000 rows and y has 3999"):
        flymc.fit(None, (X, y[1:]), **quick)
    with pytest.raises(ValueError, match="columns: 2 names for 12 columns"):
        flymc.fit(None, (X, y), columns=["a", "b"], **quick)
    with pytest.raises(ValueError, match="weights: there are 3999 for another number of rows"):
        flymc.fit(None, (X, y), weights=np.ones(3999), **quick)
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 1000}))
    with pytest.raises(ValueError, match="zeros are written out, .* give categories as columns of text"):
        flymc.fit(None, (X, y), **quick)


def test_estimators(matrix):
    X, y = matrix
    how = {"chains": 2, "warmup": 200, "draws": 150}
    own, dense = flymc.FlyMCClassifier(**how).fit(X, y), flymc.FlyMCClassifier(**how).fit(X.toarray(), y)
    np.testing.assert_array_equal(own.coef_, dense.coef_)
    np.testing.assert_array_equal(own.predict_proba(X[:20]), dense.predict_proba(X[:20].toarray()))
