"""Rows that the tests of Bayes classifiers learn from, and what is compared with scikit-learn."""

from __future__ import annotations

import numpy as np
import sklearn.naive_bayes
from numpy.testing import assert_allclose, assert_array_equal

import quince

CLOSE = {"rtol": 1e-8, "atol": 1e-8}
ASKED = ("predict_proba", "predict_log_proba", "predict_joint_log_proba")


def labels(rng, rows=300, classes=4):
    return np.concatenate([np.arange(classes), rng.integers(0, classes, rows - classes)])


def numbers(rng, y, columns=5):
    X = rng.normal(size=(len(y), columns)) @ rng.normal(size=(columns, columns)) + np.arange(columns)
    return X + rng.normal(size=(y.max() + 1, columns))[y]


def counts(rng, y, columns=6):
    return rng.poisson(rng.uniform(0.3, 3, size=(y.max() + 1, columns))[y]).astype(np.float64)


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
