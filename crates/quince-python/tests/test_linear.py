"""Coefficients, intercepts and predictions against scikit-learn's own classes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model as theirs
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.utils import compute_sample_weight

import quince

ROWS, COLUMNS = 120, 7


def data(rng, rows=ROWS, columns=COLUMNS, outputs=None):
    X = rng.normal(size=(rows, columns)) * np.linspace(0.5, 3, columns) + np.arange(columns)
    shape = (columns,) if outputs is None else (columns, outputs)
    y = X @ rng.normal(size=shape) + rng.normal(size=(rows, *shape[1:])) + 5
    return X, y


def layouts(X):
    """The same numbers in every place where an array may keep them."""
    wide = np.zeros((2 * len(X), 3 * X.shape[1]))
    wide[::2, ::3] = X
    padded = np.zeros(X.shape[0], dtype=[("flag", "u1"), ("x", X.dtype, X.shape[1:])])
    padded["x"] = X
    return {
        "rows": np.ascontiguousarray(X),
        "columns": np.asfortranarray(X),
        "strided": wide[::2, ::3],
        "backwards": np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
        "not aligned": padded["x"],
        "other endian": X.astype(X.dtype.newbyteorder()),
        "read-only": np.lib.stride_tricks.as_strided(X, X.shape, X.strides, writeable=False),
        "list": X.tolist(),
        "pandas": pd.DataFrame(X),
    }


PAIRS = [
    (quince.LinearRegression, theirs.LinearRegression, {}),
    (quince.LinearRegression, theirs.LinearRegression, {"fit_intercept": False}),
    (quince.Ridge, theirs.Ridge, {"alpha": 0.7}),
    (quince.Ridge, theirs.Ridge, {"alpha": 30.0, "fit_intercept": False}),
    (quince.Ridge, theirs.Ridge, {"alpha": 0}),
]
pairs = pytest.mark.parametrize(("ours", "their", "parameters"), PAIRS)


def assert_same(ours, their, X, tolerance=1e-8):
    assert_allclose(ours.coef_, their.coef_, rtol=tolerance, atol=tolerance)
    assert_allclose(ours.intercept_, their.intercept_, rtol=tolerance, atol=tolerance)
    assert_allclose(ours.predict(X), their.predict(X), rtol=tolerance, atol=10 * tolerance)
    assert np.shape(ours.coef_) == np.shape(their.coef_)
    assert np.shape(ours.intercept_) == np.shape(their.intercept_)
    assert ours.coef_.dtype == their.coef_.dtype
    assert np.asarray(ours.intercept_).dtype == np.asarray(their.intercept_).dtype
    assert ours.predict(X).dtype == their.predict(X).dtype
    assert ours.n_features_in_ == their.n_features_in_


@pairs
@pytest.mark.parametrize("outputs", [None, 1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_numbers_are_those_of_scikit_learn(rng, ours, their, parameters, outputs, weighted):
    X, y = data(rng, outputs=outputs)
    weights = rng.uniform(0, 3, ROWS).round() if weighted else None
    mine, other = (cls(**parameters).fit(X, y, weights) for cls in (ours, their))
    assert_same(mine, other, X)
    if isinstance(mine, quince.LinearRegression):
        assert mine.rank_ == other.rank_
        assert_allclose(mine.singular_, other.singular_, rtol=1e-8)


@pairs
@pytest.mark.parametrize("layout", layouts(np.zeros((2, 2))))
def test_every_layout_in_memory_gives_the_same_answer(rng, ours, their, parameters, layout):
    X, y = data(rng)
    mine, other = ours(**parameters).fit(layouts(X)[layout], y), their(**parameters).fit(X, y)
    assert_allclose(mine.coef_, other.coef_, rtol=1e-8)
    assert_allclose(mine.predict(layouts(X)[layout]), other.predict(X), rtol=1e-8)


@pairs
@pytest.mark.parametrize("order", ["C", "F"])
def test_single_precision_stays_single(rng, ours, their, parameters, order):
    X, y = data(rng)
    X32 = np.asarray(X, dtype=np.float32, order=order)
    mine, other = ours(**parameters).fit(X32, y), their(**parameters).fit(X32, y)
    assert mine.coef_.dtype == mine.predict(X32).dtype == np.float32
    assert_same(mine, other, X32, tolerance=2e-4)
    # We add up in double precision, so we are nearer to the answer of the same numbers in double precision.
    exact = their(**parameters).fit(X32.astype(np.float64), y)
    assert_allclose(mine.coef_, exact.coef_, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "make", [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.csc_array, sparse.coo_array]
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("wide", [False, True])
def test_sparse_features_give_the_answer_of_dense_ones(rng, make, dtype, intercept, wide):
    shape = (40, 90) if wide else (200, 30)
    dense = np.where(rng.uniform(size=shape) < 0.2, rng.normal(size=shape), 0.0).astype(dtype)
    y, weights = rng.normal(size=shape[0]), rng.uniform(0.1, 2, shape[0])
    tolerance = 1e-8 if dtype == np.float64 else 1e-3
    for cls, parameters in [(quince.Ridge, {"alpha": 0.3}), (quince.LinearRegression, {})]:
        mine = cls(fit_intercept=intercept, **parameters).fit(make(dense), y, weights)
        same = cls(fit_intercept=intercept, **parameters).fit(dense, y, weights)
        assert_allclose(mine.coef_, same.coef_, atol=tolerance)
        assert_allclose(mine.predict(make(dense)), same.predict(dense), atol=10 * tolerance)
        assert mine.coef_.dtype == mine.predict(make(dense)).dtype == dtype
        assert not hasattr(mine, "rank_") and not hasattr(mine, "singular_")
    their = theirs.Ridge(alpha=0.3, fit_intercept=intercept, tol=1e-12).fit(make(dense), y, weights)
    mine = quince.Ridge(alpha=0.3, fit_intercept=intercept).fit(make(dense), y, weights)
    assert_allclose(mine.coef_, their.coef_, atol=max(tolerance, 1e-7))
    assert mine.solver_ == their.solver_


def test_entries_of_a_sparse_matrix_in_any_order_and_twice_are_added(rng):
    rows, columns = np.array([0, 0, 0, 1, 2, 2]), np.array([2, 0, 2, 1, 1, 0])
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    twice = sparse.csr_matrix((values, columns, [0, 3, 4, 6]), shape=(3, 3))
    plain = sparse.coo_matrix((values, (rows, columns)), shape=(3, 3)).toarray()
    y = [1.0, 2.0, 4.0]
    assert_allclose(quince.Ridge().fit(twice, y).coef_, quince.Ridge().fit(plain, y).coef_)


@pairs
def test_more_columns_than_rows(rng, ours, their, parameters):
    X, y = data(rng, rows=12, columns=40)
    mine, other = ours(**parameters).fit(X, y), their(**parameters).fit(X, y)
    if parameters == {"alpha": 0}:  # scikit-learn solves a singular system here and warns
        other = theirs.LinearRegression().fit(X, y)
    assert_same(mine, other, X, tolerance=1e-7)
    if isinstance(mine, quince.LinearRegression):
        assert mine.rank_ == other.rank_
        assert_allclose(mine.singular_, other.singular_, atol=1e-8 * other.singular_[0])


@pytest.mark.parametrize("intercept", [True, False])
def test_columns_that_depend_on_each_other_have_the_smallest_coefficients(rng, intercept):
    X, y = data(rng)
    X = np.c_[X, X[:, 0] + X[:, 1], np.zeros(len(X)), np.ones(len(X))]
    mine = quince.LinearRegression(fit_intercept=intercept).fit(X, y)
    other = theirs.LinearRegression(fit_intercept=intercept).fit(X, y)
    assert_same(mine, other, X, tolerance=1e-7)
    assert mine.rank_ == other.rank_ == COLUMNS + (not intercept)
    assert_allclose(mine.singular_, other.singular_, atol=1e-8 * other.singular_[0])
    assert "the smallest coefficients" in mine.report_["remarks"][0]


def test_rows_that_nearly_depend_on_each_other_are_still_met_exactly(rng):
    X = rng.normal(size=(6, 20)) * 1e3
    X[1] = X[0] + 1e-2 * rng.normal(size=20)
    y = rng.normal(size=6)
    model = quince.LinearRegression(tol=1e-12).fit(X, y)
    assert model.rank_ == 5
    assert_allclose(model.predict(X), y, atol=1e-8)
    ridge, their = quince.Ridge(1e-6).fit(X, y), theirs.Ridge(1e-6, solver="svd").fit(X, y)
    assert_allclose(ridge.predict(X), their.predict(X), atol=1e-8)


@pytest.mark.parametrize("shape", [(900, 600), (600, 900)])
@pytest.mark.parametrize("tol", [1e-6, 1e-3, 1e-10])
def test_tol_holds_for_large_systems(rng, shape, tol):
    X = rng.normal(size=shape)
    X[0 if shape[1] > shape[0] else slice(None), slice(None) if shape[1] > shape[0] else 0] *= 1e-8
    X[:, 1] = X[:, 2]
    y = rng.normal(size=shape[0])
    mine, other = (cls(tol=tol).fit(X, y) for cls in (quince.LinearRegression, theirs.LinearRegression))
    assert mine.rank_ == other.rank_
    assert_allclose(mine.predict(X), other.predict(X), atol=1e-6)


@pytest.mark.parametrize("tol", [1e-6, 1e-10, 1e-3, 0.5])
def test_tol_leaves_out_small_directions_as_in_scikit_learn(rng, tol):
    X, y = data(rng)
    X[:, 0] *= 1e-8
    mine, other = quince.LinearRegression(tol=tol).fit(X, y), theirs.LinearRegression(tol=tol).fit(X, y)
    assert mine.rank_ == other.rank_
    assert_same(mine, other, X, tolerance=1e-6)
    assert_allclose(mine.singular_, other.singular_, rtol=1e-6)


@pytest.mark.parametrize("outputs", [None, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_positive_coefficients(rng, outputs, weighted):
    X, y = data(rng, outputs=outputs)
    weights = rng.uniform(0, 3, ROWS) if weighted else None
    mine = quince.LinearRegression(positive=True).fit(X, y, weights)
    other = theirs.LinearRegression(positive=True).fit(X, y, weights)
    assert (mine.coef_ >= 0).all() and (mine.coef_ == 0).any()
    assert_same(mine, other, X)
    assert not hasattr(mine, "rank_") and not hasattr(mine, "singular_")
    ridge = quince.Ridge(2.0, positive=True).fit(X, y, weights)
    assert ridge.solver_ == "lbfgs"
    assert_allclose(
        ridge.coef_, theirs.Ridge(2.0, positive=True, tol=1e-10).fit(X, y, weights).coef_, rtol=1e-4, atol=1e-4
    )
    assert_allclose(
        quince.Ridge(2.0, positive=True).fit(sparse.csr_array(X), y, weights).coef_, ridge.coef_, rtol=1e-6, atol=1e-9
    )


def test_one_alpha_for_each_target(rng):
    X, y = data(rng, outputs=3)
    for alpha in ([0.1, 10.0, 0.1], np.array([1.0, 2.0, 3.0])):
        assert_same(quince.Ridge(alpha).fit(X, y), theirs.Ridge(alpha).fit(X, y), X)
    with pytest.raises(ValueError, match="Number of targets and number of penalties do not correspond: 2 != 3"):
        quince.Ridge([1.0, 2.0]).fit(X, y)
    with pytest.raises(ValueError, match="alpha must be finite and at least 0"):
        quince.Ridge([1.0, -2.0, 1.0]).fit(X, y)


@pytest.mark.parametrize("solver", ["auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga"])
def test_every_solver_finds_the_answer(rng, solver):
    X, y = data(rng, outputs=2)
    mine = quince.Ridge(1.5, solver=solver).fit(X, y)
    exact, other = theirs.Ridge(1.5).fit(X, y), theirs.Ridge(1.5, solver=solver, max_iter=10_000).fit(X, y)
    assert_same(mine, exact, X)
    assert mine.solver_ == other.solver_
    assert (mine.n_iter_ is None) == (other.n_iter_ is None)
    assert np.shape(mine.n_iter_) == np.shape(other.n_iter_)


def test_solvers_that_cannot_are_refused_with_the_sentence_of_scikit_learn(rng):
    X, y = data(rng)
    for parameters in ({"solver": "lbfgs"}, {"solver": "svd", "positive": True}):
        with pytest.raises(ValueError) as their:
            theirs.Ridge(**parameters).fit(X, y)
        with pytest.raises(ValueError) as mine:
            quince.Ridge(**parameters).fit(X, y)
        assert str(mine.value) == str(their.value)


LABELS = {
    "two words": np.array(["no", "yes"]),
    "numbers": np.array([3, 10, 100]),
    "words that look like numbers": np.array(["10", "9", "8"]),
    "floats": np.array([0.0, 1.0, 2.0]),
    "booleans": np.array([False, True]),
    "objects": np.array(["b", "a", "c"], dtype=object),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("parameters", [{}, {"class_weight": "balanced"}, {"fit_intercept": False}, {"alpha": 9.0}])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_ridge_classifier_is_that_of_scikit_learn(rng, labels, parameters, weighted):
    X, _ = load_iris(return_X_y=True)
    y = labels[(X[:, 0] + rng.normal(size=150)).argsort().argsort() % len(labels) * (X[:, 2] > 3)]
    weights = rng.uniform(0, 2, 150) if weighted else None
    mine = quince.RidgeClassifier(**parameters).fit(X, y, weights)
    other = theirs.RidgeClassifier(**parameters).fit(X, y, weights)
    assert_allclose(mine.coef_, other.coef_, rtol=1e-7, atol=1e-9)
    assert_allclose(mine.decision_function(X), other.decision_function(X), atol=1e-8)
    assert np.shape(mine.coef_) == np.shape(other.coef_)
    assert np.shape(mine.intercept_) == np.shape(other.intercept_)
    assert (mine.classes_ == other.classes_).all() and mine.classes_.dtype == other.classes_.dtype
    predicted, expected = mine.predict(X), other.predict(X)
    assert (predicted == expected).all() and predicted.dtype == expected.dtype
    assert mine.score(X, y) == other.score(X, y)


def test_class_weights_by_label():
    X, y = load_iris(return_X_y=True)
    parameters = {"class_weight": {0: 1.0, 1: 5.0, 2: 0.5}}
    mine, other = quince.RidgeClassifier(**parameters).fit(X, y), theirs.RidgeClassifier(**parameters).fit(X, y)
    assert_allclose(mine.coef_, other.coef_, rtol=1e-8)


@pytest.mark.parametrize("class_weight", ["balanced", {"no": 0.7, "yes": 3.0}], ids=str)
def test_class_weights_are_a_saved_setting_with_the_bits_of_weights_of_rows(rng, class_weight):
    X, y = load_iris(return_X_y=True)
    X, y = X[:130], np.array(["no", "yes"])[(y[:130] == 1).astype(int)]
    for own in (None, rng.uniform(0, 2, len(y))):
        mine = quince.RidgeClassifier(class_weight=class_weight).fit(X, y, own)
        assert mine._fitted_model().settings["class_weights"] != "none"
        weights = compute_sample_weight(class_weight, y) * (1.0 if own is None else own)
        other = quince.RidgeClassifier().fit(X, y, weights)
        assert mine.coef_.tobytes() == other.coef_.tobytes() and mine.intercept_ == other.intercept_
    # A weight of zero is no setting, and leaves rows out.
    none, other = quince.RidgeClassifier(class_weight={"no": 0.0}), theirs.RidgeClassifier(class_weight={"no": 0.0})
    assert_allclose(none.fit(X, y).coef_, other.fit(X, y).coef_, atol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_array])
def test_several_labels_a_row(form):
    X, y = make_multilabel_classification(n_samples=80, n_classes=4, random_state=0)
    mine, other = quince.RidgeClassifier().fit(X, form(y)), theirs.RidgeClassifier().fit(X, form(y))
    assert_allclose(mine.coef_, other.coef_, rtol=1e-8)
    assert_allclose(mine.decision_function(X), other.decision_function(X))
    predicted, expected = mine.predict(X), other.predict(X)
    assert type(predicted) is type(expected) and predicted.dtype == expected.dtype
    assert abs(predicted - expected).sum() == 0
    assert mine.score(X, y) == other.score(X, y)


def test_one_class_only_is_predicted_for_all_rows(rng):
    X, _ = data(rng)
    mine, other = (cls().fit(X, np.full(ROWS, "a")) for cls in (quince.RidgeClassifier, theirs.RidgeClassifier))
    assert (mine.predict(X) == other.predict(X)).all()
    assert_allclose(mine.decision_function(X), other.decision_function(X), atol=1e-12)


def test_coefficients_that_the_user_sets_are_used(rng):
    X, _ = data(rng)
    known = quince.LinearRegression()
    known.coef_, known.intercept_ = np.arange(7.0), 3.0
    assert_allclose(known.predict(X), X @ np.arange(7.0) + 3)


def test_singular_values_are_worked_out_when_they_are_read(rng):
    X, y = data(rng)
    model = quince.LinearRegression().fit(X, y)
    assert "<style>" in model._repr_html_() and "singular_" not in vars(model)
    first = model.singular_
    assert model.singular_ is first and "singular_" in vars(model)
    assert_allclose(first, theirs.LinearRegression().fit(X, y).singular_)
    assert not hasattr(model.fit(sparse.csr_array(X), y), "singular_")
    assert not hasattr(quince.LinearRegression(), "singular_")


def test_names_of_features_are_kept_and_held_to(rng):
    X, y = data(rng, columns=3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = quince.Ridge().fit(frame, y)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["b", "a", "c"]])


def test_bad_data_gets_a_sentence(rng):
    X, y = data(rng)
    bad = X.copy()
    bad[3, 2] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        quince.Ridge().fit(bad, y)
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        quince.LinearRegression().fit(X, y, np.full(ROWS, -1.0))
    with pytest.raises(ValueError, match="the weight of row 1 is -1. Weights are numbers of at least zero."):
        quince.Ridge().fit(X, y, np.full(ROWS, -1.0))
    with pytest.raises(ValueError, match="n_jobs == 0 has no meaning"):
        quince.LinearRegression(n_jobs=0).fit(X, y)
