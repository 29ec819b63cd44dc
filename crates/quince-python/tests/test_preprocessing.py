"""What all classes that prepare features have in common: threads, pickles, clones, parameters and pipelines."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from preprocessing_data import close, with_missing
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import quince

CLASSES = [
    quince.StandardScaler,
    quince.OneHotEncoder,
    quince.OrdinalEncoder,
    quince.SimpleImputer,
    quince.KNNImputer,
    quince.PolynomialFeatures,
]


def test_one_thread_and_two_give_the_same_bits(rng):
    X, incomplete = rng.normal(size=(3000, 9)), with_missing(rng, 400, 6)
    thin = sparse.random(2000, 50, density=0.1, format="csr", random_state=0)
    answers = []
    for threads in (1, 2):
        with quince.set_threads(threads):
            products = quince.PolynomialFeatures(3).fit_transform(X)
            sparse_products = quince.PolynomialFeatures(2).fit_transform(thin)
            filled = quince.KNNImputer(weights="distance").fit_transform(incomplete)
        answers.append((products, sparse_products.data, sparse_products.indices, filled))
    for one, two in zip(*answers, strict=True):
        assert np.array_equal(one, two)


@pytest.mark.parametrize("make", CLASSES, ids=lambda cls: cls.__name__)
def test_it_is_pickled_and_cloned(make, rng):
    X = np.round(rng.normal(size=(30, 3)) * 2)
    fitted = make().fit(X)
    again = pickle.loads(pickle.dumps(fitted))
    close(again.transform(X), fitted.transform(X))
    assert list(again.get_feature_names_out()) == list(fitted.get_feature_names_out())
    with pytest.raises(NotFittedError):
        clone(fitted).transform(X)


@pytest.mark.parametrize("make", CLASSES, ids=lambda cls: cls.__name__)
def test_a_fit_that_failed_forgets_the_one_before(make):
    estimator = make().fit([[1.0], [2.0]])
    with pytest.raises(ValueError):
        estimator.fit([[np.inf], [2.0]])
    with pytest.raises(NotFittedError):
        estimator.transform([[1.0]])


@pytest.mark.parametrize("make", [*CLASSES, quince.TableEncoder], ids=lambda cls: cls.__name__)
def test_every_parameter_is_documented(make):
    assert all(f"    {parameter} : " in make.__doc__ for parameter in make().get_params())


@pytest.mark.parametrize("make", CLASSES, ids=lambda cls: cls.__name__)
def test_a_parameter_that_is_not_there_is_refused(make):
    with pytest.raises(TypeError, match="unexpected keyword"):
        make(nonsense=1)


def test_they_work_in_a_pipeline(rng):
    X = with_missing(rng, 200, 3)
    y = np.nan_to_num(X[:, 0]) > 5
    steps = [quince.KNNImputer(), quince.PolynomialFeatures(2), quince.StandardScaler(), quince.RidgeClassifier()]
    assert make_pipeline(*steps).fit(X, y).score(X, y) > 0.6
    frame = quince.StandardScaler().set_output(transform="pandas").fit_transform(pd.DataFrame(X, columns=list("abc")))
    assert list(frame.columns) == list("abc")
