"""Imputed values: the same as scikit-learn's."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.impute
from conftest import ROOT
from preprocessing_data import close, with_missing
from scipy import sparse

import quince
from quince import _quince


@pytest.mark.parametrize("strategy", ["mean", "median", "most_frequent", "constant", np.nanmax], ids=str)
@pytest.mark.parametrize("add_indicator", [False, True])
@pytest.mark.parametrize("keep_empty_features", [False, True])
@pytest.mark.parametrize("data", ["float64", "float32", "rounded", "whole", "sparse", "frame"])
def test_imputed_values_are_those_of_scikit_learn(data, keep_empty_features, add_indicator, strategy, rng):
    X = with_missing(rng, 41, 5)
    parameters = {}
    if not callable(strategy):
        X[:, 3] = np.nan
    if data == "rounded":
        X = np.round(X / 3)
    elif data == "whole":
        X, parameters = np.nan_to_num(np.round(X), nan=-1).astype(np.int64), {"missing_values": -1}
    elif data == "float32":
        X = X.astype(np.float32)
    elif data == "sparse":
        X = sparse.csc_matrix(np.where(rng.random(X.shape) < 0.4, 0.0, X))
    elif data == "frame":
        X = pd.DataFrame(X, columns=list("abcde"))
    parameters |= {"strategy": strategy, "keep_empty_features": keep_empty_features, "add_indicator": add_indicator}
    ours, other = quince.SimpleImputer(**parameters), sklearn.impute.SimpleImputer(**parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, found = other.fit_transform(X), ours.fit_transform(X)
        tolerance = 1e-5 if data == "float32" else 1e-12
        close(found, expected, tolerance)
        assert ours.statistics_.dtype == other.statistics_.dtype
        mine, their = (np.asarray(one.statistics_, dtype=float) for one in (ours, other))
        np.testing.assert_allclose(mine, their, rtol=tolerance)
        assert list(ours.get_feature_names_out()) == list(other.get_feature_names_out())
        # With a column without a value that is kept, scikit-learn looks for a column too many.
        if add_indicator and data in ("float64", "rounded") and not keep_empty_features:
            close(ours.inverse_transform(found), other.inverse_transform(expected))


@pytest.mark.parametrize("strategy", ["most_frequent", "constant"])
@pytest.mark.parametrize("missing_values", [np.nan, None, "?"])
def test_missing_values_among_words_are_filled(missing_values, strategy):
    X = np.array([["a", "x"], ["b", missing_values], [missing_values, "y"], ["b", "y"]], dtype=object)
    parameters = {"strategy": strategy, "missing_values": missing_values}
    ours, other = quince.SimpleImputer(**parameters), sklearn.impute.SimpleImputer(**parameters)
    close(ours.fit_transform(X), other.fit_transform(X))
    parameters |= {"fill_value": "nobody"}
    ours, other = quince.SimpleImputer(**parameters), sklearn.impute.SimpleImputer(**parameters)
    close(ours.fit_transform(X), other.fit_transform(X))


#: Columns in which the most frequent value is not the only one, or not of the kind of the others.
WITH_TIES = {
    "words": ["b", "ä", "a", "b", "a", "ä", "c"],
    "no word": ["", "a", "a", "", "b"],
    # By UTF-16 the second would come first.
    "beyond the first plane": ["\ufffd", "\U0001f34e", "\U0001f34e", "\ufffd"],
    "numbers of several types": [2, 1.0, True, 2, 3, 0.5],
    "words and numbers": ["b", 1, "b", 1, "a"],
    "yes and no": [True, False, False, True],
    "halves of characters": ["\ud83c", "a", "\ud83c", "a"],
}


@pytest.mark.parametrize("column", WITH_TIES)
@pytest.mark.parametrize("missing_values", [np.nan, pd.NA, "?"], ids=str)
def test_the_smallest_of_equally_frequent_objects_is_imputed(column, missing_values):
    cells = WITH_TIES[column]
    X = np.array([[cell, "z"] for cell in [*cells, missing_values, missing_values, missing_values]], dtype=object)
    X[:2, 1] = missing_values
    parameters = {"strategy": "most_frequent", "missing_values": missing_values}
    ours, other = quince.SimpleImputer(**parameters), sklearn.impute.SimpleImputer(**parameters)
    close(ours.fit_transform(X), other.fit_transform(X))
    assert [type(value) for value in ours.statistics_] == [type(value) for value in other.statistics_]


def test_none_among_words_is_a_value_like_another():
    for cells in (["b", None, None, "b", "a"], [None, "a", None], ["a", None]):
        X = np.array([[cell] for cell in [*cells, np.nan]], dtype=object)
        ours, other = (of.SimpleImputer(strategy="most_frequent") for of in (quince, sklearn.impute))
        assert ours.fit_transform(X).tolist() == other.fit_transform(X).tolist()


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint64])
def test_the_smallest_of_equally_frequent_whole_numbers_is_imputed(dtype, rng):
    X = rng.integers(0, 9, size=(60, 12)).astype(dtype)
    if dtype != np.int8:
        # Beyond what float64 tells apart.
        X[:, :4] += dtype(2**53)
    parameters = {"strategy": "most_frequent", "missing_values": 3}
    ours, other = quince.SimpleImputer(**parameters), sklearn.impute.SimpleImputer(**parameters)
    close(ours.fit_transform(X), other.fit_transform(X))
    np.testing.assert_array_equal(ours.statistics_, other.statistics_)


def test_values_are_counted_by_the_extension(monkeypatch):
    seen = []

    def learn_categories(cells):
        seen.append(cells)
        return counted(cells)

    counted = _quince.learn_categories
    monkeypatch.setattr(_quince, "learn_categories", learn_categories)
    for X in (np.array([["a"], ["b"], ["b"]], dtype=object), np.array([[1], [2], [2]])):
        assert quince.SimpleImputer(strategy="most_frequent").fit(X).statistics_ == X[1]
    assert len(seen) == 2


def test_wrong_imputers_get_the_sentence_of_scikit_learn():
    wrong = [
        ({"strategy": "mean"}, [["a"], ["b"]]),
        ({"strategy": "constant", "fill_value": "x"}, [[1.0], [np.nan]]),
        ({"missing_values": "?"}, [[1.0], [2.0]]),
        ({"missing_values": 0}, sparse.csc_matrix([[1.0], [2.0]])),
        ({}, [[np.inf], [1.0]]),
    ]
    for parameters, X in wrong:
        with pytest.raises(ValueError) as theirs_said:
            sklearn.impute.SimpleImputer(**parameters).fit(X)
        with pytest.raises(ValueError) as said:
            quince.SimpleImputer(**parameters).fit(X)
        assert str(said.value) == str(theirs_said.value)
    with pytest.raises(ValueError, match="works only when"):
        quince.SimpleImputer().fit([[1.0]]).inverse_transform(np.array([[1.0]]))
    with pytest.warns(UserWarning, match="Skipping features without any observed values"):
        quince.SimpleImputer().fit_transform([[np.nan, 1.0], [np.nan, 2.0]])


@pytest.mark.parametrize(
    ("table", "columns"), [("vowels", ["f0", "f1", "f2", "f3"]), ("wine", None)], ids=["vowels", "wine"]
)
def test_about_two_thirds_of_held_out_whole_numbers_lie_within_a_standard_deviation(table, columns):
    frame = pd.read_csv(ROOT / "examples" / "data" / f"{table}.csv")
    X = frame[columns or frame.columns].to_numpy(float)
    whole = (X % 1 == 0).all(axis=0)
    learnt, (i, j) = np.arange(len(X)) % 2 == 0, np.indices(X.shape)
    imputer, within = quince.MixtureImputer().fit(X[learnt]), []
    for turn in range(10):
        held_out = ((7 * i + 3 * j + turn) % 10 == 0) & ~learnt[:, None]
        incomplete = np.where(held_out, np.nan, X)
        error = np.abs(imputer.transform(incomplete) - X)
        within += (error <= imputer.standard_deviation(incomplete))[held_out & whole].tolist()
    assert len(within) == (~learnt).sum() * whole.sum()
    # A normal error is within it with probability 0.683.
    assert 0.6 < np.mean(within) < 0.76


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("n_neighbors", [1, 3, 500])
@pytest.mark.parametrize("keep_empty_features", [False, True])
@pytest.mark.parametrize("add_indicator", [False, True])
def test_neighbours_impute_as_in_scikit_learn(add_indicator, keep_empty_features, n_neighbors, weights, rng):
    X = with_missing(rng, 120, 5)
    X[:, 2] = np.nan
    X[7] = np.nan
    fresh = with_missing(rng, 40, 5, 0.4)
    fresh[3] = np.nan
    parameters = {
        "weights": weights,
        "n_neighbors": n_neighbors,
        "keep_empty_features": keep_empty_features,
        "add_indicator": add_indicator,
    }
    ours, other = quince.KNNImputer(**parameters).fit(X), sklearn.impute.KNNImputer(**parameters).fit(X)
    # A row of the fit is at distance 0 from itself, but not by scikit-learn's rounding: only unknown rows are compared.
    close(ours.transform(fresh), other.transform(fresh), 1e-7, 1e-9)
    assert list(ours.get_feature_names_out()) == list(other.get_feature_names_out())
    if weights == "uniform":
        close(ours.transform(X), other.transform(X), 1e-9, 1e-9)


def test_neighbours_take_other_missing_values_and_single_precision(rng):
    X = with_missing(rng, 60, 4)
    whole = np.where(np.isnan(X), -1, X).astype(np.float32)
    parameters = {"missing_values": -1, "n_neighbors": 4}
    ours, other = quince.KNNImputer(**parameters), sklearn.impute.KNNImputer(**parameters)
    close(ours.fit_transform(whole), other.fit_transform(whole), 1e-4, 1e-4)
    before = X.copy()
    quince.KNNImputer(copy=False).fit_transform(X)
    np.testing.assert_array_equal(X, before)


def test_neighbours_take_no_function():
    for name in ("weights", "metric"):
        with pytest.raises(ValueError, match=f"{name} cannot be a function here"):
            quince.KNNImputer(**{name: lambda *parts: 1}).fit([[1.0], [np.nan]])
