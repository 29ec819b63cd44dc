"""Naive Bayes: parameters and posteriors against scikit-learn's own classes, and against algebra."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.naive_bayes
from bayes_data import CLOSE, assert_alike, counts, labels, numbers, twins
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from scipy.special import logsumexp

import quince
from quince.bayes._base import labels_of

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
        variance = np.average((X - np.average(X, axis=0, weights=weights)) ** 2, axis=0, weights=weights)
        epsilon = ours.var_smoothing * variance.max()
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


def test_priors_need_not_add_up_to_one(rng):
    y = labels(rng, 60, 3)
    X = counts(rng, y)
    given = [0.2, 3.0, 1.0]
    ours = quince.MultinomialNB(class_prior=given).fit(X, y)
    theirs = sklearn.naive_bayes.MultinomialNB(class_prior=given).fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), **CLOSE)
