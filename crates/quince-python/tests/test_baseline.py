"""Every answer of the baselines is that of scikit-learn's dummies, random ones included."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.dummy as theirs
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import quince

X = np.zeros((60, 2))
TARGETS = {
    "numbers": np.random.default_rng(1).integers(0, 4, 60),
    "words": np.random.default_rng(1).choice(["low", "middle", "high"], 60, p=[0.2, 0.5, 0.3]),
    "two columns": np.random.default_rng(1).integers(0, 3, (60, 2)),
    "one class": np.zeros(60, dtype=int),
}
CONSTANTS = {"numbers": 2, "words": "high", "two columns": [1, 2], "one class": 0}


def equal(mine, other):
    if isinstance(other, list):
        assert len(mine) == len(other)
        for one, their in zip(mine, other):
            equal(one, their)
    else:
        assert_array_equal(mine, other)
        assert np.asarray(mine).dtype == np.asarray(other).dtype


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("strategy", ["prior", "most_frequent", "stratified", "uniform", "constant"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_classifier_gives_the_answers_of_scikit_learn(target, strategy, weighted):
    y = TARGETS[target]
    weights = np.arange(60) % 5 if weighted else None
    constant = CONSTANTS[target] if strategy == "constant" else None
    mine, other = (
        cls(strategy=strategy, random_state=7, constant=constant).fit(X, y, weights)
        for cls in (quince.DummyClassifier, theirs.DummyClassifier)
    )
    for attribute in ("classes_", "n_classes_", "class_prior_", "n_outputs_", "sparse_output_", "n_features_in_"):
        equal(getattr(mine, attribute), getattr(other, attribute))
    if strategy in ("stratified", "uniform") and mine.n_outputs_ == 1:
        return  # what is drawn has a test of its own
    for rows in (X, X[:1]):
        equal(mine.predict(rows), other.predict(rows))
        equal(mine.predict_proba(rows), other.predict_proba(rows))
        with np.errstate(divide="ignore"):
            equal(mine.predict_log_proba(rows), other.predict_log_proba(rows))
    if mine.n_outputs_ == 1:
        assert mine.score(None, y) == other.score(None, y)


@pytest.mark.parametrize("strategy", ["stratified", "uniform"])
def test_labels_are_drawn_from_the_seed(strategy):
    """Not those that numpy draws for scikit-learn, but as many of each, and the same from a saved model."""
    y, rows = np.repeat(["a", "b", "c"], [10, 20, 30]), np.zeros((3000, 2))
    mine = quince.DummyClassifier(strategy=strategy, random_state=7).fit(np.zeros((60, 2)), y)
    labels = mine.predict(rows)
    assert_array_equal(mine.predict(rows), labels)
    assert (quince.DummyClassifier(strategy=strategy, random_state=8).fit(rows[:60], y).predict(rows) != labels).any()
    shares = np.array([1, 2, 3]) / 6 if strategy == "stratified" else np.full(3, 1 / 3)
    # Five standard deviations of a binomial share.
    assert (abs((labels[:, None] == mine.classes_).mean(axis=0) - shares) < 5 * np.sqrt(shares * (1 - shares) / 3000)).all()
    expected = (labels[:, None] == mine.classes_) if strategy == "stratified" else np.full((3000, 3), 1 / 3)
    assert_array_equal(mine.predict_proba(rows), expected)


@pytest.mark.parametrize("strategy", ["prior", "stratified", "constant"])
def test_sparse_targets(strategy):
    y = sparse.csc_array(TARGETS["two columns"])
    constant = [1, 2] if strategy == "constant" else None
    mine, other = (
        cls(strategy=strategy, random_state=3, constant=constant).fit(X, y)
        for cls in (quince.DummyClassifier, theirs.DummyClassifier)
    )
    assert mine.sparse_output_
    equal(mine.class_prior_, other.class_prior_)
    assert_array_equal(mine.predict(X).toarray(), other.predict(X).toarray())


def test_uniform_makes_sparse_targets_dense_and_says_so():
    with pytest.warns(UserWarning, match="converted to a numpy array"):
        quince.DummyClassifier(strategy="uniform").fit(X, sparse.csc_array(TARGETS["two columns"]))


NUMBERS = {
    "one": np.random.default_rng(2).normal(size=60),
    "whole": np.random.default_rng(2).integers(0, 9, 60),
    "single": np.random.default_rng(2).normal(size=60).astype(np.float32),
    "three": np.random.default_rng(2).normal(size=(60, 3)),
}
STRATEGIES = [
    {"strategy": "mean"},
    {"strategy": "median"},
    *({"strategy": "quantile", "quantile": q} for q in (0, 0.07, 0.3, 0.5, 0.81, 1)),
]


@pytest.mark.parametrize("target", NUMBERS)
@pytest.mark.parametrize("parameters", STRATEGIES, ids=str)
@pytest.mark.parametrize(
    "weights", [None, np.ones(60), np.arange(60) % 4, np.linspace(0, 1, 60)], ids=["no", "one", "some", "all"]
)
def test_the_regressor_gives_the_numbers_of_scikit_learn(target, parameters, weights):
    y = NUMBERS[target]
    mine, other = (cls(**parameters).fit(X, y, weights) for cls in (quince.DummyRegressor, theirs.DummyRegressor))
    assert_allclose(mine.constant_, other.constant_, rtol=1e-6 if y.dtype == np.float32 else 1e-13)
    assert mine.constant_.shape == other.constant_.shape
    predicted, expected = mine.predict(X), other.predict(X)
    assert predicted.shape == expected.shape
    assert_allclose(mine.predict(X, return_std=True)[1], 0)
    assert_allclose(mine.score(None, y, weights), other.score(None, y, weights), atol=1e-6)


@pytest.mark.parametrize(("target", "constant"), [("one", 3), ("one", 2.5), ("three", [1, 2, 3])])
def test_a_constant_is_predicted_as_it_is(target, constant):
    y = NUMBERS[target]
    parameters = {"strategy": "constant", "constant": constant}
    if np.ndim(constant) == 0 and target == "one":
        constant = [constant]
    parameters["constant"] = constant
    mine, other = (cls(**parameters).fit(X, y) for cls in (quince.DummyRegressor, theirs.DummyRegressor))
    equal(mine.constant_, other.constant_)
    equal(mine.predict(X), other.predict(X))


WRONG = [
    (quince.DummyClassifier, theirs.DummyClassifier, {"strategy": "constant"}),
    (quince.DummyClassifier, theirs.DummyClassifier, {"strategy": "constant", "constant": [1, 2]}),
    (quince.DummyClassifier, theirs.DummyClassifier, {"strategy": "constant", "constant": 77}),
    (quince.DummyRegressor, theirs.DummyRegressor, {"strategy": "constant"}),
    (quince.DummyRegressor, theirs.DummyRegressor, {"strategy": "quantile"}),
]


@pytest.mark.parametrize(("ours", "their", "parameters"), WRONG)
def test_what_cannot_be_predicted_gets_the_sentence_of_scikit_learn(ours, their, parameters):
    y = TARGETS["numbers"]
    with pytest.raises((ValueError, TypeError)) as expected:
        their(**parameters).fit(X, y)
    with pytest.raises(expected.type) as got:
        ours(**parameters).fit(X, y)
    assert str(got.value) == str(expected.value)


def test_features_are_never_looked_at():
    words = np.array([["a"], ["b"], [None]], dtype=object)
    assert quince.DummyRegressor().fit(words, [1.0, 2.0, 6.0]).predict(words).tolist() == [3.0, 3.0, 3.0]
    assert quince.DummyClassifier().fit(["any", "thing", "at all"], [0, 1, 1]).predict(["x"]) == [1]
