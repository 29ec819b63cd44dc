"""Bayes classifiers: parameters and posteriors against scikit-learn's own classes, and against algebra."""

from __future__ import annotations

import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.discriminant_analysis
import sklearn.naive_bayes
import sklearn.neighbors
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from scipy.special import log_expit, logsumexp
from sklearn.base import clone
from sklearn.covariance import OAS
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.metrics import confusion_matrix

import quince
from quince.bayes._base import labels_of

ROOT = Path(__file__).resolve().parents[3]

CLOSE = {"rtol": 1e-8, "atol": 1e-8}
ASKED = ("predict_proba", "predict_log_proba", "predict_joint_log_proba")


def labels(rng, rows=300, classes=4):
    return np.concatenate([np.arange(classes), rng.integers(0, classes, rows - classes)])


def numbers(rng, y, columns=5):
    X = rng.normal(size=(len(y), columns)) @ rng.normal(size=(columns, columns)) + np.arange(columns)
    return X + rng.normal(size=(y.max() + 1, columns))[y]


def counts(rng, y, columns=6):
    return rng.poisson(rng.uniform(0.3, 3, size=(y.max() + 1, columns))[y]).astype(np.float64)


#: Class, the rows it takes, parameters for four classes, and attributes that must be those of scikit-learn.
OF_COUNTS = ("class_count_", "class_log_prior_", "feature_count_", "feature_log_prob_")
OF_CATEGORIES = ("class_count_", "class_log_prior_", "category_count_", "feature_log_prob_", "n_categories_")
OF_NUMBERS = ("class_count_", "class_prior_", "theta_", "var_", "epsilon_")
NAIVE = [
    ("GaussianNB", numbers, {}, OF_NUMBERS),
    ("GaussianNB", numbers, {"priors": [0.1, 0.2, 0.3, 0.4], "var_smoothing": 1e-6}, OF_NUMBERS),
    ("MultinomialNB", counts, {}, OF_COUNTS),
    ("MultinomialNB", counts, {"alpha": 0.1, "fit_prior": False}, OF_COUNTS),
    ("BernoulliNB", counts, {}, OF_COUNTS),
    ("BernoulliNB", counts, {"alpha": 2.5, "binarize": 1.0, "class_prior": [0.1, 0.2, 0.3, 0.4]}, OF_COUNTS),
    ("CategoricalNB", counts, {}, OF_CATEGORIES),
    ("CategoricalNB", counts, {"alpha": 0.5, "min_categories": 20, "fit_prior": False}, OF_CATEGORIES),
    ("CategoricalNB", counts, {"min_categories": [3, 30, 3, 12, 15, 3]}, OF_CATEGORIES),
]
naive = pytest.mark.parametrize(("name", "rows", "parameters", "attributes"), NAIVE, ids=lambda v: f"{v}"[:40])


def twins(name, parameters, module=sklearn.naive_bayes):
    return getattr(quince, name)(**parameters), getattr(module, name)(**parameters)


def assert_same(got, expected, **close):
    if isinstance(expected, list):
        assert len(got) == len(expected)
        for one, other in zip(got, expected):
            assert_same(one, other, **close)
    else:
        assert np.shape(got) == np.shape(expected)
        assert_allclose(got, expected, **close)


def assert_alike(ours, their, X, attributes, asked=ASKED):
    for name in attributes:
        assert_same(getattr(ours, name), getattr(their, name), **CLOSE)
    for question in asked:
        assert_allclose(getattr(ours, question)(X), getattr(their, question)(X), **CLOSE)
    assert_array_equal(ours.predict(X), their.predict(X))
    assert_array_equal(ours.classes_, their.classes_)


@naive
@pytest.mark.parametrize("weighted", [False, True])
def test_naive_bayes_is_that_of_scikit_learn(rng, name, rows, parameters, attributes, weighted):
    y = labels(rng)
    X, weights = rows(rng, y), rng.uniform(0.2, 3, len(y)) if weighted else None
    ours, their = twins(name, parameters)
    ours.fit(X, y, sample_weight=weights)
    their.fit(X, y, sample_weight=weights)
    if name == "GaussianNB" and weighted:
        # Theirs does not weigh what is added to variances.
        spread = np.average((X - np.average(X, axis=0, weights=weights)) ** 2, axis=0, weights=weights)
        epsilon = ours.var_smoothing * spread.max()
        their.var_ += epsilon - their.epsilon_
        their.epsilon_ = epsilon
    assert_alike(ours, their, X, attributes)


@naive
@pytest.mark.parametrize("weighted", [False, True])
def test_learning_in_pieces_is_learning_at_once(rng, name, rows, parameters, attributes, weighted):
    y = labels(rng)
    X, weights = rows(rng, y), rng.uniform(0.2, 3, len(y)) if weighted else np.ones(len(y))
    whole, pieces = twins(name, parameters)[0].fit(X, y, weights), twins(name, parameters)[0]
    for piece in (slice(0, 3), slice(3, 100), slice(100, 300)):  # the first has three of four classes
        pieces.partial_fit(X[piece], y[piece], classes=np.arange(4), sample_weight=weights[piece])
    assert_alike(pieces, whole, X, attributes)


@pytest.mark.parametrize("name", ["MultinomialNB", "BernoulliNB"])
def test_sparse_rows_say_what_dense_ones_do(rng, name):
    y = labels(rng)
    X = counts(rng, y)
    X[X < 2] = 0
    ours, their = twins(name, {})
    their.fit(X, y)
    for make in (sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix):
        ours.fit(make(X), y)
        assert_alike(ours, their, X, OF_COUNTS)
        assert_allclose(ours.predict_proba(make(X)), their.predict_proba(X), **CLOSE)
    # The first piece says how the model keeps its columns; later ones may come otherwise.
    for first, second in [(sparse.csr_matrix, np.asarray), (np.asarray, sparse.csr_matrix)]:
        pieces = getattr(quince, name)().partial_fit(first(X[:50]), y[:50], classes=np.arange(4))
        assert_alike(pieces.partial_fit(second(X[50:]), y[50:]), their, X, OF_COUNTS)


@naive
def test_float32_words_and_many_classes(rng, name, rows, parameters, attributes):
    y = labels(rng, 400, 40)
    X = rows(rng, y).astype(np.float32)
    parameters = {name: value for name, value in parameters.items() if "prior" not in name}
    words = np.array([f"class {k:02}" for k in range(40)])[y]
    ours, their = twins(name, parameters)
    assert_alike(ours.fit(X, words), their.fit(X.astype(np.float64), words), X.astype(np.float64), attributes)


def test_a_new_category_may_come_with_a_later_piece(rng):
    y = labels(rng)
    X, weights = counts(rng, y, 3), rng.uniform(0.5, 2, len(y))
    order = np.argsort(X.max(axis=1), kind="stable")  # every piece has larger numbers than those before
    X, y, weights = X[order], y[order], weights[order]
    X[5, 1] = np.nan
    whole, pieces = quince.CategoricalNB().fit(X, y, weights), quince.CategoricalNB()
    for piece in np.array_split(np.arange(len(y)), 7):
        pieces.partial_fit(X[piece], y[piece], classes=np.arange(4), sample_weight=weights[piece])
    assert_alike(pieces, whole, X, OF_CATEGORIES)
    assert not np.array_equal(quince.CategoricalNB().fit(X[:42], y[:42]).n_categories_, whole.n_categories_)


def test_a_missing_value_is_left_out(rng):
    y = labels(rng, 80, 2)
    X = numbers(rng, y, 3)
    X[rng.random(X.shape) < 0.2] = np.nan
    model = quince.GaussianNB(var_smoothing=0).fit(X, y)
    means = np.array([np.nanmean(X[y == k], axis=0) for k in range(2)])
    variances = np.array([np.nanvar(X[y == k], axis=0) for k in range(2)])
    assert_allclose(model.theta_, means, **CLOSE)
    assert_allclose(model.var_, variances, **CLOSE)
    of_cells = stats.norm.logpdf(X[:, None], means, np.sqrt(variances))
    joint = np.nansum(of_cells, axis=2) + np.log([(y == 0).mean(), (y == 1).mean()])
    assert_allclose(model.predict_joint_log_proba(X), joint, **CLOSE)

    codes = np.array([[0, np.nan], [1, 2], [0, 1], [np.nan, 0]])
    model = quince.CategoricalNB().fit(codes, [0, 0, 1, 1])
    # (1 + 1) / (2 + 2) and (1 + 1) / (1 + 2); 5 was never seen, and says nothing.
    likely = [[1, 1], [2 / 4, 2 / 3], [1 / 4, 2 / 5]]
    likely = np.array(likely) / np.sum(likely, axis=1, keepdims=True)
    assert_allclose(model.predict_proba([[np.nan, np.nan], [0, 5], [7, 1]]), likely, **CLOSE)
    for refusing in (quince.MultinomialNB(), quince.BernoulliNB()):
        with pytest.raises(ValueError, match="NaN"):
            refusing.fit(codes, [0, 0, 1, 1])


def test_poisson_is_what_the_formula_says(rng):
    y = labels(rng, 90, 3)
    X, weights = counts(rng, y, 4), rng.uniform(0.5, 2, 90)
    X[4, 2] = np.nan
    model = quince.PoissonNB(alpha=2.0).fit(X, y, weights)
    known = weights[:, None] * ~np.isnan(X)
    mean = np.nansum(known * X, axis=0) / known.sum(axis=0)
    rate = np.array([
        (np.nansum((known * X)[y == k], axis=0) + 2 * mean) / (known[y == k].sum(axis=0) + 2) for k in range(3)
    ])
    assert_allclose(model.rate_, rate, **CLOSE)
    prior = np.bincount(y, weights) / weights.sum()
    assert_allclose(np.exp(model.class_log_prior_), prior, **CLOSE)
    joint = np.nansum(stats.poisson.logpmf(X[:, None], rate), axis=2) + np.log(prior)
    assert_allclose(model.predict_log_proba(X), joint - logsumexp(joint, axis=1, keepdims=True), **CLOSE)
    pieces = quince.PoissonNB(alpha=2.0).partial_fit(X[:30], y[:30], classes=[0, 1, 2], sample_weight=weights[:30])
    pieces.partial_fit(X[30:], y[30:], sample_weight=weights[30:])
    assert_allclose(pieces.rate_, model.rate_, **CLOSE)
    assert_allclose(pieces.predict_proba(X), model.predict_proba(X), **CLOSE)


def test_an_alpha_that_is_too_small_is_set_with_a_warning(rng):
    y = labels(rng)
    X = counts(rng, y)
    for name in ("MultinomialNB", "BernoulliNB", "CategoricalNB"):
        ours, their = twins(name, {"alpha": 0, "force_alpha": False})
        with pytest.warns(UserWarning, match="alpha too small"):
            ours.fit(X, y)
        with pytest.warns(UserWarning, match="alpha too small"):
            their.fit(X, y)
        assert_alike(ours, their, X, ["class_count_", "feature_log_prob_"])


def test_wrong_rows_and_parameters_are_refused_with_a_sentence(rng):
    y = labels(rng, 20, 2)
    X = counts(rng, y)

    def refused(match, model, X=X, y=y):
        with pytest.raises(ValueError, match=match):
            model.fit(X, y)

    for name in ("MultinomialNB", "CategoricalNB", "PoissonNB"):
        refused("Negative values in data passed to " + name, getattr(quince, name)(), -1 - X)
    refused("not whole", quince.PoissonNB(), X + 0.5)
    refused("zeros and ones only", quince.BernoulliNB(binarize=None), X + 2)
    assert quince.BernoulliNB(binarize=None).fit(X > 1, y).score(X > 1, y) > 0
    refused("Number of priors must match", quince.GaussianNB(priors=[1.0]))
    refused("sum of the priors should be 1", quince.GaussianNB(priors=[0.2, 0.2]))
    refused("Priors must be non-negative", quince.GaussianNB(priors=[-1.0, 2.0]))
    refused("Number of priors must match", quince.MultinomialNB(class_prior=[0.2, 0.3, 0.5]))
    refused("at least zero", quince.BernoulliNB(class_prior=[-0.2, 1.2]))
    refused("is not there yet. Give one number", quince.MultinomialNB(alpha=np.arange(6.0)))
    refused("should contains `n_features`", quince.BernoulliNB(alpha=[1.0, 2.0]))
    refused("integral type", quince.CategoricalNB(min_categories=[1.5] * 6))
    refused("should have shape", quince.CategoricalNB(min_categories=[2, 3]))
    model = quince.GaussianNB()
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        model.partial_fit(X, y)
    model.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="is not the same as on last call to partial_fit"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"label\(s\) \[2\] in y do not exist in the initial classes"):
        model.partial_fit(X, y * 2)


LINEAR = [
    {},
    {"store_covariance": True},
    {"priors": [0.2, 0.3, 0.5], "store_covariance": True},
    {"n_components": 1},
    {"tol": 0.5},
    {"solver": "lsqr"},
    {"solver": "lsqr", "shrinkage": 0.3},
    {"solver": "lsqr", "shrinkage": "auto"},
    {"solver": "lsqr", "priors": [0.2, 0.3, 0.5], "shrinkage": 0.1},
    {"solver": "eigen"},
    {"solver": "eigen", "shrinkage": 0.3},
    {"solver": "eigen", "shrinkage": "auto", "priors": [0.2, 0.3, 0.5]},
    {"solver": "eigen", "covariance_estimator": OAS()},
]
QUADRATIC = [
    {},
    {"store_covariance": True},
    {"reg_param": 0.2, "store_covariance": True},
    {"priors": [0.2, 0.3, 0.5]},
    {"priors": [0.4, 0.6, 1.0]},
    {"solver": "eigen"},
    {"solver": "eigen", "shrinkage": 0.2, "store_covariance": True},
    {"solver": "eigen", "shrinkage": "auto"},
    {"solver": "eigen", "covariance_estimator": OAS()},
]
CENTROID = [
    {},
    {"shrink_threshold": 0.4},
    {"priors": "empirical"},
    {"priors": [0.2, 0.3, 0.5], "shrink_threshold": 0.2},
    {"metric": "manhattan"},
    {"metric": "manhattan", "priors": [0.2, 0.3, 0.5]},
]
#: Rows that are hard on a covariance.
HARD = ["easy", "constant", "collinear", "same within a class", "means in a line"]


def discriminant_rows(rng, kind, columns=5):
    y = labels(rng, 200, 3)
    X = numbers(rng, y, columns)
    if kind == "constant":
        X[:, 1] = 3.5
    elif kind == "collinear":
        X[:, -1] = X[:, 0] - 2 * X[:, 1]
    elif kind == "same within a class":
        X[:, 2] = y
    elif kind == "means in a line":
        X -= np.array([X[y == k].mean(axis=0) for k in range(3)])[y]
        X[:, 0] += y
    return X, y


def assert_discriminants_alike(ours, their, X, y):
    their.fit(X, y)
    ours.fit(X, y)
    for name in sorted(vars(their)):
        if not name.endswith("_") or name == "classes_":
            continue
        got, expected = getattr(ours, name), getattr(their, name)
        if name in ("scalings_", "rotations_"):  # a direction may point the other way
            got, expected = np.abs(got), np.abs(expected)
            if "eigen" in repr(their) and isinstance(their, sklearn.discriminant_analysis.LinearDiscriminantAnalysis):
                got, expected = got[:, : y.max()], expected[:, : y.max()]  # beyond, the means do not differ
        assert_same(got, expected, **CLOSE)
    questions = [q for q in ("decision_function", "predict_proba", "predict_log_proba") if hasattr(their, q)]
    assert_alike(ours, their, X, [], questions)


def is_defined(parameters, kind):
    """Whether scikit-learn's answer is more than rounding: 'eigen' divides by the plain covariance."""
    if kind == "easy" or parameters.get("solver") != "eigen":
        return True
    return "shrinkage" in parameters and kind != "means in a line"  # along which the second direction is any


PAIRS = [(parameters, kind) for parameters in LINEAR for kind in HARD if is_defined(parameters, kind)]


@pytest.mark.parametrize(("parameters", "kind"), PAIRS, ids=str)
def test_linear_discriminants_are_those_of_scikit_learn(rng, parameters, kind):
    X, y = discriminant_rows(rng, kind)
    ours, their = twins("LinearDiscriminantAnalysis", parameters, sklearn.discriminant_analysis)
    assert_discriminants_alike(ours, their, X, y)
    if parameters.get("solver") != "lsqr":
        assert_allclose(np.abs(ours.transform(X)), np.abs(their.transform(X)), **CLOSE)
    other = X.mean(axis=0) + 2 * rng.normal(size=X.shape)
    assert_allclose(ours._model.predict_proba(other), ours.predict_proba(other), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("least", [1e-1, 1e-2, 3e-3, 1e-3, 3e-4, 1e-5])
def test_a_direction_that_hardly_varies_is_as_exact_as_scikit_learn_has_it(rng, least):
    X, y = discriminant_rows(rng, "easy")
    X[:, -1] = X[:, 0] + X[:, 1] + least * rng.normal(size=len(X))
    ours, their = twins("LinearDiscriminantAnalysis", {}, sklearn.discriminant_analysis)
    their.fit(X, y)
    ours.fit(X, y)
    assert ours.scalings_.shape == their.scalings_.shape
    assert_allclose(ours.predict_log_proba(X), their.predict_log_proba(X), **CLOSE)
    assert_allclose(ours.coef_, their.coef_, rtol=1e-7)


@pytest.mark.parametrize("shape", [(30, 50, 3), (40, 39, 2), (90, 5, 20)], ids=str)
@pytest.mark.parametrize("scaled", [False, True])
def test_more_columns_than_rows_leave_a_model_that_says_the_same(rng, tmp_path, shape, scaled):
    rows, columns, classes = shape
    y = np.arange(rows) % classes
    X = numbers(rng, y, columns)
    other = X[rng.permutation(rows)] + 0.3 * rng.normal(size=X.shape) * X.std(axis=0)
    if scaled:
        units = 10.0 ** rng.integers(-6, 7, columns)
        X, other = X * units, other * units
    ours, their = twins("LinearDiscriminantAnalysis", {}, sklearn.discriminant_analysis)
    their.fit(X, y)
    ours.fit(X, y).save(tmp_path / "m.quince")
    expected = their.predict_log_proba(other)
    if classes == 2:
        # Theirs is ln(1 - p), which has few digits where p is nearly one.
        odds = their.decision_function(other)
        expected = np.maximum(np.column_stack([log_expit(-odds), log_expit(odds)]), expected.min())
    assert_allclose(ours.predict_log_proba(other), expected, **CLOSE)
    assert_allclose(ours.predict_proba(other), their.predict_proba(other), **CLOSE)
    assert_allclose(quince.Model.load(tmp_path / "m.quince").predict_proba(other), ours.predict_proba(other), **CLOSE)


@pytest.mark.parametrize("name", ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis", "NearestCentroid"])
def test_discriminants_take_float32_and_words(rng, name):
    X, y = discriminant_rows(rng, "easy")
    words = np.array(["c", "a", "b"])[y]
    module = sklearn.neighbors if name == "NearestCentroid" else sklearn.discriminant_analysis
    ours, their = twins(name, {}, module)
    single = X.astype(np.float32)
    ours.fit(single, words)
    their.fit(single.astype(np.float64), words)
    assert_array_equal(ours.classes_, ["a", "b", "c"])
    assert_array_equal(ours.predict(single), their.predict(single.astype(np.float64)))
    if name == "LinearDiscriminantAnalysis":
        assert ours.coef_.dtype == ours.transform(single).dtype == np.float32
        assert_allclose(ours.coef_, their.coef_, rtol=1e-6)  # as many digits as a float32 has
    else:
        assert_allclose(ours.predict_proba(single), their.predict_proba(single.astype(np.float64)), **CLOSE)


@pytest.mark.parametrize("parameters", QUADRATIC, ids=str)
def test_quadratic_discriminants_are_those_of_scikit_learn(rng, parameters):
    X, y = discriminant_rows(rng, "easy")
    ours, their = twins("QuadraticDiscriminantAnalysis", parameters, sklearn.discriminant_analysis)
    assert_discriminants_alike(ours, their, X, y)
    assert_allclose(ours._model.predict_proba(X), ours.predict_proba(X), **CLOSE)
    two = y < 2
    assert_discriminants_alike(ours.set_params(priors=None), their.set_params(priors=None), X[two], y[two])


def test_a_covariance_without_full_rank_is_drawn_to_one_or_refused(rng):
    for kind in ("constant", "collinear"):
        X, y = discriminant_rows(rng, kind)
        for parameters in ({"reg_param": 0.1}, {"solver": "eigen", "shrinkage": 0.1}):
            ours, their = twins("QuadraticDiscriminantAnalysis", parameters, sklearn.discriminant_analysis)
            assert_discriminants_alike(ours, their, X, y)
        for rows in (slice(None), np.r_[:10, np.flatnonzero(y == 1)]):
            sentences = []
            for model in twins("QuadraticDiscriminantAnalysis", {}, sklearn.discriminant_analysis):
                with pytest.raises(np.linalg.LinAlgError) as refused:
                    model.fit(X[rows], y[rows])
                sentences.append(str(refused.value))
            assert sentences[0] == sentences[1]


@pytest.mark.parametrize("parameters", CENTROID, ids=str)
@pytest.mark.parametrize("made", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_the_nearest_centroid_is_that_of_scikit_learn(rng, tmp_path, parameters, made):
    X, y = discriminant_rows(rng, "easy")
    X = np.where(X > 1, X, 0)
    ours, their = twins("NearestCentroid", parameters, sklearn.neighbors)
    if made is sparse.csr_matrix and "priors" in parameters:
        their.fit(X, y)  # theirs cannot divide sparse rows
        ours.fit(made(X), y)
        assert_array_equal(ours.predict(made(X)), their.predict(X))
        assert_allclose(ours.centroids_, their.centroids_, **CLOSE)
    else:
        their.fit(made(X), y)
        ours.fit(made(X), y)
        assert_array_equal(ours.predict(made(X)), their.predict(made(X)))
        for name in ("centroids_", "deviations_", "within_class_std_dev_", "class_prior_"):
            assert_allclose(getattr(ours, name), getattr(their, name), **CLOSE)
    ours.save(tmp_path / "m.quince")
    assert_array_equal(quince.Model.load(tmp_path / "m.quince").predict(X), ours.predict(X))
    if ours.metric == "euclidean":
        dense = their.fit(X, y)
        assert_allclose(ours.predict_proba(X), dense.predict_proba(X), **CLOSE)
        assert_allclose(ours.decision_function(X), dense.decision_function(X), **CLOSE)
    else:
        assert not hasattr(ours, "predict_proba") and not hasattr(their, "predict_proba")
        assert_array_equal(pickle.loads(pickle.dumps(ours)).predict(X), ours.predict(X))


def test_wrong_discriminants_are_refused_with_a_sentence(rng):
    X, y = discriminant_rows(rng, "easy")
    for cls in (quince.LinearDiscriminantAnalysis, quince.QuadraticDiscriminantAnalysis):
        with pytest.raises(NotImplementedError, match="shrinkage not supported with 'svd' solver"):
            cls(shrinkage=0.1).fit(X, y)
        with pytest.raises(ValueError, match="not supported with s"):
            cls(covariance_estimator=OAS()).fit(X, y)
        with pytest.raises(ValueError, match="Only one of the two can be set"):
            cls(solver="eigen", shrinkage=0.1, covariance_estimator=OAS()).fit(X, y)
    with pytest.raises(ValueError, match="2 priors for 3 classes"):
        quince.LinearDiscriminantAnalysis(priors=[0.5, 0.5]).fit(X, y)
    with pytest.raises(ValueError, match=r"priors cannot be .* Give 3 numbers"):
        quince.QuadraticDiscriminantAnalysis(priors=[0.5, 0.5]).fit(X, y)
    with pytest.raises(ValueError, match="non-negative"):
        quince.NearestCentroid(priors=[0.5, 1.5, -1.0]).fit(X, y)
    with pytest.raises(ValueError, match="n_components cannot be larger"):
        quince.LinearDiscriminantAnalysis(n_components=3).fit(X, y)
    with pytest.raises(NotImplementedError, match="transform not implemented for 'lsqr'"):
        quince.LinearDiscriminantAnalysis("lsqr").fit(X, y).transform(X)
    with pytest.warns(UserWarning, match="Renormalizing"):
        model = quince.LinearDiscriminantAnalysis(priors=[1.0, 2.0, 1.0]).fit(X, y)
    assert_allclose(model.priors_, [0.25, 0.5, 0.25])


def test_a_gaussian_classifier_is_all_that_lies_between(rng):
    X, y = discriminant_rows(rng, "easy")
    theirs = sklearn.discriminant_analysis

    def same(ours, their):
        ours, their = ours.fit(X, y), their.fit(X, y)
        assert_allclose(ours.predict_proba(X), their.predict_proba(X), **CLOSE)
        return ours

    full = same(quince.GaussianClassifier(calibrate=False, variance_floor=0), theirs.QuadraticDiscriminantAnalysis())
    assert_allclose(full.covariance_, [np.cov(X[y == k].T, ddof=0) for k in range(3)], **CLOSE)
    assert_allclose(full.means_, [X[y == k].mean(axis=0) for k in range(3)], **CLOSE)
    one = same(
        quince.GaussianClassifier(calibrate=False, shared="pooled", variance_floor=0),
        theirs.LinearDiscriminantAnalysis("lsqr"),
    )
    assert_allclose(one.covariance_, np.cov((X - one.means_[y]).T, ddof=0), **CLOSE)
    unbiased = quince.GaussianClassifier(calibrate=False, shared="pooled", variance_floor=0, unbiased=True).fit(X, y)
    assert_allclose(unbiased.covariance_, one.covariance_ * 200 / 197, **CLOSE)
    mean = quince.GaussianClassifier(calibrate=False, shared="mean", variance_floor=0).fit(X, y)
    assert_allclose(mean.covariance_, np.mean(full.covariance_, axis=0), **CLOSE)
    same(
        quince.GaussianClassifier(calibrate=False, covariance="diagonal", variance_floor=0),
        sklearn.naive_bayes.GaussianNB(var_smoothing=0),
    )
    shrunk = {"shrinkage": 0.3, "solver": "lsqr"}
    drawn = quince.GaussianClassifier(calibrate=False, shared="pooled", variance_floor=0, shrinkage=0.3)
    same(drawn, theirs.LinearDiscriminantAnalysis(**shrunk))
    same(
        quince.GaussianClassifier(calibrate=False, variance_floor=0, shrinkage=0.3, shrink_to="one", priors="equal"),
        theirs.QuadraticDiscriminantAnalysis(reg_param=0.3, priors=[1 / 3] * 3),
    )
    nearest = quince.GaussianClassifier(calibrate=False, covariance="nearest-mean").fit(X, y)
    assert_array_equal(nearest.predict(X), sklearn.neighbors.NearestCentroid().fit(X, y).predict(X))
    along = PCA(2).fit(X).transform(X)
    axes = quince.GaussianClassifier(calibrate=False, variance_floor=0, pca=2, priors=[0.2, 0.3, 0.5]).fit(X, y)
    their = theirs.QuadraticDiscriminantAnalysis(priors=[0.2, 0.3, 0.5]).fit(along, y)
    assert_allclose(axes.predict_proba(X), their.predict_proba(along), **CLOSE)
    pieces = quince.GaussianClassifier(calibrate=False, variance_floor=0)
    for piece in np.array_split(np.arange(200), 3):
        pieces.partial_fit(X[piece], y[piece], classes=[0, 1, 2])
    assert_allclose(pieces.predict_log_proba(X), full.predict_log_proba(X), **CLOSE)
    assert_allclose(pieces.covariance_, full.covariance_, **CLOSE)


FRAME = pd.DataFrame({
    "age": [20.0, 30.0, None, 60.0, 70.0, 65.0, 31.0, 58.0],
    "city": pd.Categorical(["Oslo", "Oslo", "Rome", "Rome", None, "Rome", "Oslo", "Rome"]),
    "visits": [0, 2, 1, 5, 7, 4, 0, 6],
    "member": [True, False, True, True, True, None, False, True],
    "a,b=c+d": [1.0, 2.0, 1.5, 1.7, 2.2, 1.1, 0.4, 3.0],
})
SIDE = np.array(["left", "left", "left", "right", "right", "right", "left", "right"])
FAMILY = {"age": "normal", "visits": "poisson", "a,b=c+d": "normal"}


def by_hand(frame):
    """ln P(class) + ln p(row | class) of FRAME's model, a column a class."""
    joint = np.full((len(frame), 2), np.log(0.5))
    for k, side in enumerate(("left", "right")):
        own = FRAME[side == SIDE]
        for column in ("age", "a,b=c+d"):
            added = 1e-9 * FRAME[column].var(ddof=0)
            normal = stats.norm(own[column].mean(), np.sqrt(own[column].var(ddof=0) + added))
            joint[:, k] += np.nan_to_num(normal.logpdf(frame[column].astype(float)))
        rate = (own["visits"].sum() + FRAME["visits"].mean()) / (len(own) + 1)
        joint[:, k] += stats.poisson.logpmf(frame["visits"], rate)
        for column, values in {"city": ["Oslo", "Rome"], "member": [True, False]}.items():
            known = own[column].notna().sum()
            chance = {value: ((own[column] == value).sum() + 1) / (known + 2) for value in values}
            joint[:, k] += [np.log(chance.get(value, 1.0)) for value in frame[column]]
    return joint


def test_a_frame_has_the_posterior_of_its_columns():
    model = quince.MixedNB(calibrate=False, family=FAMILY).fit(FRAME, SIDE)
    joint = by_hand(FRAME)
    assert_allclose(model.predict_joint_log_proba(FRAME), joint, rtol=1e-8)
    posterior = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    assert_allclose(model.predict_proba(FRAME), posterior, **CLOSE)
    assert_array_equal(model.predict(FRAME), SIDE)
    assert model.score(FRAME, SIDE) == 1.0
    assert model.n_features_in_ == 5 and list(model.feature_names_in_) == list(FRAME)
    assert_array_equal(model.class_count_, [4, 4])
    written = 'age=normal,visits=poisson,"a,b=c+d"=normal'
    assert quince.MixedNB(calibrate=False, family=written).fit(FRAME, SIDE)._model.settings == model._model.settings
    # Columns are found by name, and others may stand beside them.
    assert_array_equal(model.predict_proba(FRAME[list(FRAME)[::-1]].assign(more=1)), model.predict_proba(FRAME))


MAKES = {"polars": pl.from_pandas, "arrow": pa.Table.from_pandas, "quince": quince.Table}


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
def test_frames_of_every_make_are_taken(make):
    model = quince.MixedNB(calibrate=False, family=FAMILY).fit(FRAME, SIDE)
    other = quince.MixedNB(calibrate=False, family=FAMILY).fit(make(FRAME), SIDE)
    assert_array_equal(other.predict_proba(make(FRAME)), model.predict_proba(FRAME))
    assert list(other.feature_names_in_) == list(FRAME)


def test_a_frame_may_come_in_pieces_and_with_weights():
    weights = np.array([1, 2, 1, 1, 3, 1, 1, 2])
    again = np.repeat(np.arange(8), weights)
    heavy = quince.MixedNB(calibrate=False, family=FAMILY).fit(FRAME, SIDE, weights)
    often = quince.MixedNB(calibrate=False, family=FAMILY).fit(FRAME.iloc[again], SIDE[again])
    assert_allclose(heavy.predict_joint_log_proba(FRAME), often.predict_joint_log_proba(FRAME), rtol=1e-8)
    pieces = quince.MixedNB(calibrate=False, family=FAMILY).partial_fit(FRAME, SIDE, classes=["left", "right"])
    more = np.flatnonzero(weights > 1)
    pieces.partial_fit(FRAME.iloc[more], SIDE[more], sample_weight=weights[more] - 1)
    assert_allclose(pieces.predict_joint_log_proba(FRAME), heavy.predict_joint_log_proba(FRAME), rtol=1e-8)


def test_texts_are_counts_of_words():
    texts = ["good film good plot", "good fun", "bad film", "bad bad plot", "dull film", None]
    frame = quince.Table(pd.DataFrame({"review": texts}), kinds={"review": "text"})
    y = [1, 1, 0, 0, 0, 1]
    model = quince.MixedNB(calibrate=False).fit(frame, y)
    words = quince.CountVectorizer(min_df=2)  # a table leaves out words of a single row
    X = words.fit_transform(texts[:5]).toarray()
    their = sklearn.naive_bayes.MultinomialNB(class_prior=[0.5, 0.5]).fit(X, y[:5])
    assert_allclose(model.predict_proba(frame)[:5], their.predict_proba(X), **CLOSE)
    assert_allclose(model.predict_proba(frame)[5], [0.5, 0.5])  # a missing value is no evidence


def test_a_matrix_is_a_table_of_numbers(rng):
    y = labels(rng, 100, 2)
    X = numbers(rng, y, 3)
    their = sklearn.naive_bayes.GaussianNB(var_smoothing=0).fit(X, y)
    model = quince.MixedNB(calibrate=False, family="normal", variance_floor=0).fit(X, y)
    assert_allclose(model.predict_joint_log_proba(X), their.predict_joint_log_proba(X), **CLOSE)
    parts = quince.MixedNB(calibrate=False, family={(0, 2): "gaussian", "x1": "normal"}, variance_floor=0).fit(X, y)
    joint = np.log([(y == 0).mean(), (y == 1).mean()]) + np.array([
        stats.multivariate_normal(X[y == k][:, ::2].mean(axis=0), np.cov(X[y == k][:, ::2].T, ddof=0)).logpdf(X[:, ::2])
        + stats.norm(X[y == k][:, 1].mean(), X[y == k][:, 1].std()).logpdf(X[:, 1])
        for k in range(2)
    ]).T
    assert_allclose(parts.predict_joint_log_proba(X), joint, rtol=1e-6)  # to which 1e-9 of the variance is added
    C = counts(rng, y)
    words = quince.MixedNB(calibrate=False, alpha=0.5).fit(sparse.csr_matrix(C), y)
    expected = sklearn.naive_bayes.MultinomialNB(alpha=0.5).fit(C, y)
    assert_allclose(words.predict_proba(sparse.csr_matrix(C)), expected.predict_proba(C), **CLOSE)
    X[::7, 0] = np.nan
    plain = quince.GaussianNB(var_smoothing=0).fit(X, y)
    model.fit(X, y)
    assert_allclose(model.predict_proba(X), plain.predict_proba(X), **CLOSE)


def saved():
    yield quince.MixedNB(calibrate=False, family=FAMILY).fit(FRAME, SIDE), FRAME
    yield quince.MixedNB(calibrate=False, priors=[0.3, 0.7], n_jobs=1).fit(FRAME, SIDE), FRAME
    yield quince.GaussianClassifier(calibrate=False, shared="pooled").fit(FRAME, SIDE), FRAME
    yield quince.GaussianClassifier(calibrate=False).fit(*load_iris(return_X_y=True)), load_iris().data
    yield quince.PoissonNB().fit(FRAME[["visits"]], SIDE), FRAME[["visits"]]
    yield quince.MixedNB(calibrate=False, family={0: "histogram"}).fit(*load_iris(return_X_y=True)), load_iris().data


@pytest.mark.parametrize(("model", "rows"), list(saved()), ids=lambda v: f"{v!r}"[:40] if hasattr(v, "fit") else "")
def test_models_of_our_own_come_back(model, rows, tmp_path):
    model.save(tmp_path / "m.quince")
    opened = quince.load(tmp_path / "m.quince")
    for again in (opened, pickle.loads(pickle.dumps(model))):
        assert type(again) is type(model) and str(again.get_params()) == str(model.get_params())
        assert_array_equal(again.predict_joint_log_proba(rows), model.predict_joint_log_proba(rows))
        assert_array_equal(again.predict(rows), model.predict(rows))
        assert vars(again).keys() == vars(model).keys()
        again.partial_fit(rows, model.predict(rows))
        assert again.class_count_.sum() == 2 * model.class_count_.sum()
    plain = quince.Model.load(tmp_path / "m.quince")
    assert_array_equal(plain.predict_proba(rows), model.predict_proba(rows))
    opened.save(tmp_path / "again.quince")


def test_what_was_learnt_is_explained():
    model = quince.MixedNB(calibrate=False, family=FAMILY).fit(FRAME, SIDE)
    said = model.explain()
    titles = [table["title"] for table in said["tables"]]
    assert titles[0] == "Classes" and any("Poisson" in title for title in titles)
    of_row = model.explain(FRAME, row=4)
    assert "right" in of_row["sentences"][0]
    (table,) = of_row["tables"]
    odds = sum(values[0] for _, values in table["rows"])
    joint = model.predict_joint_log_proba(FRAME)
    assert_allclose(odds, joint[4, 1] - joint[4, 0], rtol=1e-8)
    assert_allclose(of_row["tables"][0]["rows"][0][1], [0.0])  # the priors are equal
    X, y = load_iris(return_X_y=True)
    flowers = quince.GaussianClassifier(calibrate=False).fit(X, y)
    assert flowers.explain(X, row=70) == flowers.explain(X[70:71])
    for row in (150, -1):
        with pytest.raises(ValueError, match=f"There is no row {row}"):
            flowers.explain(X, row=row)


def test_rows_are_made_up_as_the_model_believes():
    model = quince.MixedNB(calibrate=False, family=FAMILY).fit(FRAME, SIDE)
    drawn = model.sample(4000)
    assert list(drawn) == [*FRAME, "y"]
    assert set(drawn["y"]) == {"left", "right"} and set(drawn["city"]) == {"Oslo", "Rome"}
    left = drawn["y"] == "left"
    assert abs(left.mean() - 0.5) < 4 * 0.5 / np.sqrt(4000)
    own = FRAME["age"][SIDE == "left"]
    assert abs(drawn["age"][left].mean() - own.mean()) < 5 * own.std() / np.sqrt(left.sum())
    assert set(model.sample(50, label="right", random_state=7)["y"]) == {"right"}
    for state in (0, 5):
        one, other = model.sample(5, random_state=state), model.sample(5, random_state=state)
        assert all(np.array_equal(one[name], other[name]) for name in one)
    assert not np.array_equal(model.sample(5, random_state=1)["age"], model.sample(5, random_state=2)["age"])
    assert len(model.sample(3, random_state=np.random.RandomState(0))["age"]) == 3
    with pytest.raises(ValueError, match="no class 'up'"):
        model.sample(label="up")
    # A column may be called y, as the labels are; one that is always the same says nothing.
    frame = pd.DataFrame({"y": FRAME["age"], "one": 1.5})
    model = quince.MixedNB(calibrate=False, family="normal").fit(frame, SIDE)
    assert list(model.sample(2)) == ["y", "y_"] and model.sample(2)["y"].dtype == np.float64
    flat = quince.GaussianClassifier(calibrate=False).fit(np.c_[FRAME["visits"], np.ones(8)], SIDE)
    assert np.isnan(flat.sample(2)["x1"]).all()


def test_wrong_families_are_refused_with_a_sentence():
    def refused(match, **parameters):
        with pytest.raises(ValueError, match=match):
            quince.MixedNB(**parameters).fit(FRAME, SIDE)

    refused("cannot be 'nromal'. Did you mean 'normal'", family="nromal")
    refused("names 'agee', which is no column that is learnt from. Did you mean 'age'", family={"agee": "normal"})
    refused("of 'city' cannot be normal: it is a category", family={"city": "normal"})
    refused("which it cannot. Give another name", family={'a"b': "normal"})
    refused("3 for 2 classes", priors=[0.2, 0.3, 0.5])
    refused("add up to 0.75. Give numbers that add up to 1", priors=[0.25, 0.5])
    with pytest.raises(ValueError, match="requires y"):
        quince.MixedNB(calibrate=False).fit(FRAME, None)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        quince.MixedNB(calibrate=False).fit(FRAME, SIDE[:5])
    with pytest.raises(ValueError, match=r"quince\.read"):
        quince.MixedNB(calibrate=False).fit("data.csv", SIDE)
    model = quince.MixedNB(calibrate=False).fit(FRAME, SIDE)
    with pytest.raises(ValueError, match="learnt from a data frame, and X is a ndarray"):
        model.predict(np.zeros((2, 5)))
    with pytest.raises(ValueError, match="the column 'age' that the model was trained on is missing"):
        model.predict(FRAME.drop(columns="age"))
    with pytest.raises(TypeError, match="dense data is required"):
        quince.GaussianClassifier(calibrate=False).fit(sparse.eye_array(4).tocsr(), [0, 1, 0, 1])


def test_a_matrix_model_takes_the_numbers_of_a_frame():
    X, y = load_iris(return_X_y=True)
    model = quince.MixedNB(calibrate=False, family="normal").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that X has names
        answer = model.predict_proba(pd.DataFrame(X, columns=list("abcd")))
    assert_array_equal(answer, model.predict_proba(X))


@pytest.mark.parametrize(
    "labels",
    [
        np.array([127, -128, 0, 127, -128, 0] * 50, dtype=np.int8),
        np.array([2**64 - 1, 2**64 - 3, 2**64 - 1, 2**64 - 3, 2**64 - 3], dtype=np.uint64),
        np.array([5, -4, 5, 5, -4, 7, 7]),
        np.array([10**12, 3, 3, 10**12]),
        np.array([2.0, 1.0, 1.0, 2.0]),
        np.array(["b", "a", "b", "a"]),
        np.array([True, False, True, True]),
    ],
)
def test_labels_are_numbered_as_numpy_does(labels):
    classes, codes = labels_of(labels)
    expected, numbers = np.unique(labels, return_inverse=True)
    assert classes.dtype == expected.dtype
    assert_array_equal(classes, expected)
    assert_array_equal(codes, numbers)


@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_is_a_fit_without_the_row(weighted):
    X, y = load_iris(return_X_y=True)
    kinds = np.array(["short", "long"])[(X[:, 2] > 4).astype(int)]
    frame = pd.DataFrame({"sepal": X[:, 0], "petal": X[:, 3], "kind": kinds})
    frame.loc[3, "sepal"] = np.nan
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y)) if weighted else None
    for model in (
        quince.MixedNB(family={"sepal": "normal", "petal": "normal"}, variance_floor=0.0, calibrate=False),
        quince.GaussianClassifier(variance_floor=0.0, calibrate=False),
    ):
        found = model.leave_one_out(frame, y, sample_weight=weights)
        assert found.shape == (150, 3) and not hasattr(model, "classes_")
        for row in (0, 70, 149):
            rest = np.delete(np.arange(150), row)
            rest_weights = None if weights is None else weights[rest]
            alone = clone(model).fit(frame.iloc[rest], y[rest], sample_weight=rest_weights)
            assert_allclose(found[row], alone.predict_proba(frame.iloc[[row]])[0], atol=1e-9)


@pytest.fixture
def vowels():
    """The ledger's B11: two formants of men and women, ten vowels, and who spoke them."""
    table = pd.read_csv(ROOT / "examples/data/vowels.csv")
    table = table[table["type"] != "c"]
    return table[["f1", "f2"]].to_numpy(float), table["vowel"].to_numpy(str), table["speaker"].to_numpy()


def test_vowels_of_ten_speakers_are_confused_as_by_scikit_learn(vowels):
    X, y, speakers = vowels
    tested = np.isin(speakers, [*range(29, 34), *range(57, 62)])
    reference = sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis().fit(X[~tested], y[~tested])
    expected = confusion_matrix(y[tested], reference.predict(X[tested]))
    model = quince.GaussianClassifier(variance_floor=0.0, calibrate=False).fit(X[~tested], y[~tested])
    found = confusion_matrix(y[tested], model.predict(X[tested]))
    assert (found.sum(), np.trace(found)) == (200, 178)
    assert_array_equal(found, expected)


def test_vowels_of_random_speakers_are_told_apart_as_scikit_learn_does(vowels):
    X, y, speakers = vowels
    random, shares = np.random.default_rng(0), []
    for _ in range(20):
        tested = np.isin(speakers, random.choice(np.unique(speakers), size=10, replace=False))
        reference = sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis().fit(X[~tested], y[~tested])
        twin = quince.QuadraticDiscriminantAnalysis().fit(X[~tested], y[~tested])
        mixed = quince.GaussianClassifier(variance_floor=0.0, calibrate=False).fit(X[~tested], y[~tested])
        for model in (twin, mixed):
            assert_array_equal(model.predict(X[tested]), reference.predict(X[tested]))
            assert_allclose(model.predict_proba(X[tested]), reference.predict_proba(X[tested]), atol=1e-8)
        shares.append(twin.score(X[tested], y[tested]))
    assert 0.76 <= np.mean(shares) <= 0.84
    assert np.std(shares) <= 0.06


def test_boundaries_are_where_the_answer_changes():
    # The likelihood counts by less than one, and the classes are not alike.
    rng = np.random.default_rng(5)
    x = np.concatenate([rng.normal(0, 1, 900), rng.normal(0, 3, 100)])
    model = quince.GaussianClassifier().fit(x[:, None], np.repeat([0, 1], [900, 100]))
    sentence = next(words for words in model.explain()["sentences"] if "changes at" in words)
    grid = np.linspace(-12, 12, 240_001)
    said = model.predict(grid[:, None])
    changes = grid[1:][said[1:] != said[:-1]]
    told = [float(number) for number in re.findall(r"-?\d+\.\d+", sentence.split(":")[0])]
    assert_allclose(told, changes, atol=2e-3)


def test_priors_need_not_add_up_to_one(rng):
    y = labels(rng, 60, 3)
    X = counts(rng, y)
    given = [0.2, 3.0, 1.0]
    ours = quince.MultinomialNB(class_prior=given).fit(X, y)
    theirs = sklearn.naive_bayes.MultinomialNB(class_prior=given).fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), **CLOSE)


def test_without_a_prior_what_never_was_has_no_probability():
    X = sparse.csr_matrix([[2.0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 3, 0]])
    model = quince.MultinomialNB(alpha=0).fit(X, [0, 0, 1])
    with np.errstate(divide="ignore"):
        expected = np.log([[0.75, 0, 0.25, 0], [0, 0, 1, 0]])
    assert_allclose(model.feature_log_prob_, expected)
    # ... and says nothing of a row.
    assert_array_equal(model.predict([[1, 5, 0, 0], [0, 5, 1, 9]]), [0, 1])
    gap = quince.MixedNB(family="histogram", bins=10, alpha=0, calibrate=False)
    values = np.array([0.0, 0.11, 0.123, 0.2, 0.94, 0.95, 1.0, 0.987])[:, None]
    drawn = gap.fit(values, [0, 1] * 4).sample(500)
    column = next(iter(drawn.values()))
    assert ((column < 0.3) | (column > 0.7)).all()


def test_answers_are_numbers_even_where_nothing_is_possible():
    counts = quince.MixedNB(family="multinomial", alpha=0, calibrate=False).fit([[1, 0], [0, 1]], [0, 1])
    assert_allclose(counts.predict_proba([[1, np.nan]]).sum(axis=1), 1.0)
    huge = 1e17 + 16.0 * np.arange(12)[:, None]
    model = quince.MixedNB().fit(huge, [0, 1] * 6)
    assert_allclose(model.predict_proba(huge).sum(axis=1), 1.0)
    assert_allclose(pickle.loads(pickle.dumps(model)).predict_proba(huge), model.predict_proba(huge))
    constant = quince.MixedNB(family="histogram").fit(np.full((6, 1), 1e17), [0, 1] * 3)
    assert_allclose(pickle.loads(pickle.dumps(constant)).predict_proba([[1e17]]), [[0.5, 0.5]])
    none = quince.MixedNB(family="normal", priors=[1.0, 0.0], calibrate=False)
    none.partial_fit([[1.0], [2.0]], [1, 1], classes=[0, 1])
    assert_allclose(none.predict_proba([[1.5]]), [[0.0, 1.0]])
    with pytest.raises(ValueError, match="NaN"):
        quince.MixedNB().fit(sparse.csr_matrix([[1.0, 0], [0, 2]]), [0, 1]).predict(sparse.csr_matrix([[1.0, np.nan]]))


def test_a_model_whose_families_are_impossible_is_saved_all_the_same():
    X = np.random.default_rng(0).normal(size=(60, 1))
    model = quince.MixedNB(alpha=0).fit(X, [0, 1] * 30)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_rows_that_count_for_nothing_are_not_there():
    X = np.array([[1.0, 1], [1, 2], [1, 3], [1, 4], [5, 4]])
    y, weights = [0, 0, 1, 1, 1], [1.0, 1, 1, 1, 0]
    model = quince.GaussianClassifier(calibrate=False).fit(X, y, sample_weight=weights)
    alone = quince.GaussianClassifier(calibrate=False).fit(X[:4], y[:4])
    assert_allclose(model.predict_proba(X[:4]), alone.predict_proba(X[:4]), atol=1e-9)
    incomplete = np.array([[1.0, 2], [2, np.nan], [4, 1], [5, 3], [np.nan, 2], [3, 3]])
    labels, three = [0, 0, 0, 1, 1, 1], np.array([1.0, 1, 3, 1, 1, 1])
    weighed = quince.GaussianClassifier(calibrate=False).fit(incomplete, labels, sample_weight=three)
    repeated = np.repeat(np.arange(6), three.astype(int))
    again = quince.GaussianClassifier(calibrate=False).fit(incomplete[repeated], np.array(labels)[repeated])
    assert_allclose(weighed.predict_proba(X), again.predict_proba(X), atol=1e-9)


def test_principal_axes_beyond_the_rank_are_left_out():
    rng = np.random.default_rng(1)
    x = rng.normal(size=200)
    X, y = np.stack([x, 3 * x, x / 7], axis=1), (x + rng.normal(size=200) > 0).astype(int)
    answers = [quince.GaussianClassifier(pca=count).fit(X, y).predict_proba(X) for count in (1, 2, 3)]
    assert_allclose(answers[1], answers[0], atol=1e-6)
    assert_allclose(answers[2], answers[0], atol=1e-6)


def test_leaving_out_a_far_row_of_a_window_keeps_what_is_left():
    X, y = np.array([[0.0], [1], [20], [40], [50], [51]]), np.array([0, 0, 0, 1, 1, 1])
    model = quince.MixedNB(family="window", bandwidth=1.0, calibrate=False)
    found = model.leave_one_out(X, y)
    for row in range(6):
        rest = np.delete(np.arange(6), row)
        alone = clone(model).fit(X[rest], y[rest]).predict_proba(X[[row]])[0]
        assert_allclose(found[row], alone, atol=1e-9)


def test_learning_on_refuses_what_learning_refuses():
    counts = quince.MixedNB(family="multinomial").partial_fit([[1.0, 2], [3, 0]], [0, 1], classes=[0, 1])
    for bad in ([[-5.0, 1]], [[np.nan, 1]]):
        with pytest.raises(ValueError, match="is not a count"):
            counts.partial_fit(bad, [0])
    window = quince.MixedNB(family="window").partial_fit([[1.0], [2], [3], [4]], [0, 1, 0, 1], classes=[0, 1])
    with pytest.raises(ValueError, match="kernel density"):
        window.partial_fit([[7.0]], [0])
    window.partial_fit([[3.0]], [1])
    later = quince.MixedNB(family="normal").partial_fit([[1.0], [2]], [0, 0], classes=[0, 1])
    assert any("no rows" in remark for remark in later.report_["remarks"])
    assert later.partial_fit([[3.0], [4]], [1, 1]).report_["remarks"] == []


@pytest.mark.parametrize("name", ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis", "NearestCentroid"])
def test_rows_that_are_all_the_same_are_answered_or_refused_in_words(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            getattr(quince, name)().fit(np.ones((6, 2)), [0, 1] * 3)
        except ValueError as refusal:
            assert len(str(refusal)) > 20
        except np.linalg.LinAlgError as refusal:
            assert "rank" in str(refusal)


def test_a_frame_tells_what_is_not_learnt_from_and_numbers_may_be_names():
    frame = pd.DataFrame({0: [1.5, 2.5, 3.5, 4.5], "same": ["a"] * 4})
    frame.columns = frame.columns.astype(object)
    with pytest.warns(UserWarning, match="not learnt from: same"):
        quince.MixedNB().fit(frame.rename(columns=str), [0, 1, 0, 1])
    model = quince.MixedNB(family={0: "histogram"}).fit(pd.DataFrame({0: [1.5, 2.5, 3.5, 4.5]}), [0, 1, 0, 1])
    assert model.predict(pd.DataFrame({0: [2.0]})).shape == (1,)
    mixed = pd.DataFrame({"a": [1, "b", None, 2]})
    with pytest.raises(ValueError, match="Arrow cannot take"):
        quince.MixedNB().fit(mixed, [0, 1, 0, 1])


def test_a_row_that_is_not_there_cannot_be_explained():
    frame = pd.DataFrame({"a": [1.5, 2.5, 3.5, 4.5]})
    model = quince.MixedNB().fit(frame, [0, 1, 0, 1])._model
    for row in (-1, 4, 10**6):
        with pytest.raises(ValueError, match=f"there is no row {row}"):
            model.explain(frame, row)


def test_sparse_answers_take_no_threshold_below_what_is_not_there():
    with pytest.raises(ValueError, match="threshold"):
        quince.MixedNB(family="bernoulli", threshold=-1.0).fit(sparse.csr_matrix([[1.0, 0], [0, 1]]), [0, 1])


@pytest.mark.parametrize("family", [{(0, 1): "chain"}])
def test_what_cannot_be_held_is_refused(family):
    X = np.array([[0.0, 0], [1_000_000, 1_000_000], [1, 1], [2, 2]])
    with pytest.raises(ValueError, match="memory"):
        quince.MixedNB(family=family).fit(X, [0, 1, 0, 1])
