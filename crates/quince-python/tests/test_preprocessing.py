"""Scaled numbers, coded categories, imputed values and polynomial features: the same answers as scikit-learn's."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.impute
import sklearn.preprocessing as theirs
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


def close(ours, other, rtol=1e-12, atol=1e-12):
    assert sparse.issparse(ours) == sparse.issparse(other)
    assert ours.dtype == other.dtype
    assert ours.shape == other.shape
    if sparse.issparse(ours):
        assert ours.format == other.format
        ours, other = ours.toarray(), other.toarray()
    if ours.dtype.kind in "OUS":
        for mine, their in zip(ours.ravel().tolist(), other.ravel().tolist(), strict=True):
            assert mine == their or (mine != mine and their != their)
    else:
        np.testing.assert_allclose(ours, other, rtol=rtol, atol=atol)


def with_missing(rng, rows, columns, share=0.2):
    X = rng.normal(size=(rows, columns)) * np.arange(1, columns + 1) + 10
    X[rng.random(X.shape) < share] = np.nan
    return X


# --- StandardScaler


def same_scaler(ours, other, rtol=1e-10):
    for name in ("mean_", "var_", "scale_"):
        mine, their = getattr(ours, name), getattr(other, name)
        assert (mine is None) == (their is None), name
        if mine is not None:
            assert mine.dtype == their.dtype
            np.testing.assert_allclose(mine, their, rtol=rtol, atol=1e-12, err_msg=name)
    np.testing.assert_allclose(ours.n_samples_seen_, other.n_samples_seen_, rtol=1e-6)
    assert np.shape(ours.n_samples_seen_) == np.shape(other.n_samples_seen_)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("parameters", [{}, {"with_mean": False}, {"with_std": False}], ids=str)
def test_scaled_numbers_are_those_of_scikit_learn(parameters, order, weighted, dtype, missing, rng):
    X = with_missing(rng, 300, 7, 0.2 if missing else 0).astype(dtype)
    X[:, 2] = 5
    X = np.asarray(X, order=order)
    weights = rng.random(300) if weighted else None
    ours, other = quince.StandardScaler(**parameters), theirs.StandardScaler(**parameters)
    ours.fit(X, sample_weight=weights)
    other.fit(X, sample_weight=weights)
    tolerance = 1e-10 if dtype is np.float64 else 1e-5
    same_scaler(ours, other, tolerance)
    close(ours.transform(X), other.transform(X), tolerance, tolerance)
    again = ours.transform(X)
    close(ours.inverse_transform(again), other.inverse_transform(other.transform(X)), 1e-5, 1e-5)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("parameters", [{}, {"with_std": False}, {"with_mean": False, "with_std": False}], ids=str)
def test_a_scaler_learns_in_parts(parameters, missing, weighted, rng):
    X = with_missing(rng, 200, 5, 0.2 if missing else 0)
    X[:50, 1] = 3.0
    weights = rng.random(200)
    ours, other = quince.StandardScaler(**parameters), theirs.StandardScaler(**parameters)
    for part in np.array_split(np.arange(200), 4):
        weight = weights[part] if weighted and parameters != {"with_mean": False, "with_std": False} else None
        ours.partial_fit(X[part], sample_weight=weight)
        other.partial_fit(X[part], sample_weight=weight)
        same_scaler(ours, other)


def test_a_column_that_begins_without_a_value_is_learnt_later(rng):
    """scikit-learn's has NaN for its mean ever after."""
    X = with_missing(rng, 200, 3)
    X[:50, 1] = X[150:, 2] = np.nan
    parts = quince.StandardScaler()
    for part in np.array_split(X, 4):
        parts.partial_fit(part)
    same_scaler(parts, theirs.StandardScaler().fit(X))


@pytest.mark.parametrize("made", [sparse.csr_matrix, sparse.csc_matrix])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("with_std", [True, False])
def test_sparse_numbers_are_scaled_without_centring(with_std, parts, missing, made, rng):
    X = np.where(rng.random((90, 6)) < 0.3, with_missing(rng, 90, 6, 0.3 if missing else 0), 0.0)
    weights = rng.random(90) if with_std else None
    ours = quince.StandardScaler(with_mean=False, with_std=with_std)
    other = theirs.StandardScaler(with_mean=False, with_std=with_std)
    for part in np.array_split(np.arange(90), parts):
        weight = None if weights is None else weights[part]
        ours.partial_fit(made(X[part]), sample_weight=weight)
        other.partial_fit(made(X[part]), sample_weight=weight)
    same_scaler(ours, other)
    close(ours.transform(made(X)), other.transform(made(X)))
    close(ours.inverse_transform(made(X)), other.inverse_transform(made(X)))
    with pytest.raises(ValueError, match="Cannot center sparse"):
        quince.StandardScaler().fit(made(X))


def test_a_large_offset_costs_no_digits(rng):
    X = rng.normal(size=(5000, 3)) + 1e9
    scaled = quince.StandardScaler().fit_transform(X)
    np.testing.assert_allclose(scaled.std(axis=0), 1, rtol=1e-9)
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-6)


def test_nothing_is_written_into_x_unless_asked(rng):
    X = rng.normal(size=(20, 3))
    before = X.copy()
    quince.StandardScaler().fit_transform(X)
    assert np.array_equal(X, before)
    scaler = quince.StandardScaler(copy=False)
    assert scaler.fit(X).transform(X) is X and not np.array_equal(X, before)


# --- OneHotEncoder and OrdinalEncoder


def tables(rng):
    words = np.array(["b", "a", "dd", "c", "äö"])[rng.integers(0, 5, (60, 2))]
    numbers = rng.integers(-2, 4, (60, 3))
    objects = words.astype(object)
    objects[rng.random((60, 2)) < 0.1] = np.nan
    nones = words.astype(object)
    nones[3:9, 0] = None
    floats = numbers.astype(float)
    floats[rng.random(floats.shape) < 0.1] = np.nan
    frame = pd.DataFrame({"word": words[:, 0], "number": numbers[:, 0], "missing": floats[:, 0]})
    frame["sure"] = numbers[:, 1] > 0
    frame["kind"] = pd.Categorical(objects[:, 0])
    return {
        "words": words,
        "numbers": numbers,
        "objects": objects,
        "nones": nones,
        "floats": floats,
        "lists": words.tolist(),
        "bytes": words[:, :1] == "a",
        "frame": frame,
    }


TABLES = ["words", "numbers", "objects", "nones", "floats", "lists", "bytes", "frame"]


def same_encoder(ours, other):
    for mine, their in zip(ours.categories_, other.categories_, strict=True):
        assert mine.dtype.kind == their.dtype.kind
        assert pd.Series(mine).equals(pd.Series(their))
    grouped = other.min_frequency is not None or other.max_categories is not None
    assert hasattr(ours, "infrequent_categories_") == hasattr(other, "infrequent_categories_") == grouped
    if grouped:
        for mine, their in zip(ours.infrequent_categories_, other.infrequent_categories_, strict=True):
            assert (mine is None) == (their is None)
            assert mine is None or pd.Series(mine).equals(pd.Series(their))


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"sparse_output": False},
        {"drop": "first"},
        {"drop": "if_binary", "sparse_output": False},
        {"dtype": np.float32},
        {"dtype": np.int8, "sparse_output": False},
        {"handle_unknown": "ignore"},
        {"min_frequency": 8, "handle_unknown": "infrequent_if_exist"},
        {"min_frequency": 0.2, "drop": "first", "handle_unknown": "infrequent_if_exist"},
        {"max_categories": 3, "handle_unknown": "ignore"},
        {"max_categories": 1},
        {"max_categories": 2, "min_frequency": 12, "drop": "if_binary"},
        {"max_categories": 3, "handle_unknown": "warn", "sparse_output": False},
    ],
    ids=str,
)
def test_one_hot_is_that_of_scikit_learn(parameters, name, rng):
    X = tables(rng)[name]
    ours, other = quince.OneHotEncoder(**parameters), theirs.OneHotEncoder(**parameters)
    close(ours.fit_transform(X), other.fit_transform(X))
    same_encoder(ours, other)
    assert (ours.drop_idx_ is None) == (other.drop_idx_ is None)
    assert ours.drop_idx_ is None or list(ours.drop_idx_) == list(other.drop_idx_)
    assert list(ours.get_feature_names_out()) == list(other.get_feature_names_out())
    again = ours.inverse_transform(ours.transform(X))
    close(again, other.inverse_transform(other.transform(X)))


@pytest.mark.parametrize("handle_unknown", ["ignore", "infrequent_if_exist", "warn"])
@pytest.mark.parametrize("parameters", [{}, {"min_frequency": 10}, {"drop": "first"}], ids=str)
@pytest.mark.parametrize("name", ["words", "numbers", "floats", "objects", "nones"])
def test_unknown_categories_become_what_scikit_learn_makes_of_them(name, parameters, handle_unknown, rng):
    X = tables(rng)[name]
    other_rows = X[:12].copy()
    other_rows[::3, 0] = {"words": "zz", "objects": "much longer", "nones": "?"}.get(name, 99)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        other = theirs.OneHotEncoder(handle_unknown=handle_unknown, **parameters).fit(X)
        expected = other.transform(other_rows)
        back = other.inverse_transform(expected)
    with warnings.catch_warnings(record=True) as we_said:
        warnings.simplefilter("always")
        ours = quince.OneHotEncoder(handle_unknown=handle_unknown, **parameters).fit(X)
        found = ours.transform(other_rows)
        close(ours.inverse_transform(found), back)
    close(found, expected)
    assert [str(warning.message) for warning in we_said] == [str(warning.message) for warning in said]


@pytest.mark.parametrize("drop", [["a", "dd"], ["äö", "b"], np.array(["c", "c"], dtype=object)], ids=str)
def test_a_given_category_is_dropped(drop, rng):
    X = tables(rng)["words"]
    close(quince.OneHotEncoder(drop=drop).fit_transform(X), theirs.OneHotEncoder(drop=drop).fit_transform(X))


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"dtype": np.float32, "encoded_missing_value": -2},
        {"handle_unknown": "use_encoded_value", "unknown_value": -1},
        {"handle_unknown": "use_encoded_value", "unknown_value": np.nan, "encoded_missing_value": -1},
        {"max_categories": 3, "encoded_missing_value": -5},
        {"min_frequency": 11, "handle_unknown": "use_encoded_value", "unknown_value": 70},
    ],
    ids=str,
)
def test_ordinal_numbers_are_those_of_scikit_learn(parameters, name, rng):
    X = tables(rng)[name]
    ours, other = quince.OrdinalEncoder(**parameters), theirs.OrdinalEncoder(**parameters)
    close(ours.fit_transform(X), other.fit_transform(X))
    same_encoder(ours, other)
    assert list(ours.get_feature_names_out()) == list(other.get_feature_names_out())
    if "min_frequency" not in parameters and "max_categories" not in parameters:
        close(ours.inverse_transform(ours.transform(X)), other.inverse_transform(other.transform(X)))
    if ours.handle_unknown != "error" and name in ("words", "numbers", "floats", "objects"):
        unseen = X[:9].copy()
        unseen[::2, 0] = "zz" if name in ("words", "objects") else 99
        close(ours.transform(unseen), other.transform(unseen))


@pytest.mark.parametrize(
    ("known", "asked"),
    [
        (np.array([-128, 127, 3], dtype=np.int8), np.array([-127, 127, -128, 0], dtype=np.int8)),
        (np.array([2**63, 2**63 + 5], dtype=np.uint64), np.array([2**63 + 5, 7, 2**63 + 1], dtype=np.uint64)),
        (np.array([0.5, 1.5, 1e300]), np.array([1.5, 1e300, 2.0, np.nan, -1e300])),
        (np.array([1.0, 2.0, np.nan]), np.array([1.5, np.nan, 2.0, 1e300, -4.0])),
        (np.array([np.nan, np.nan]), np.array([np.nan, 1.0])),
        (np.array([True, False]), np.array([False, True])),
        (np.array([1, 3]), np.array([1.0, 2.5, 3.0])),
        (np.array([1, 3]), np.array(["a", "b"])),
        (np.array(["a", "b"], dtype=object), np.array(["bb", "b"])),
        (np.array(["a", "b"]), np.array(["bb", "b", np.nan, None], dtype=object)),
    ],
    ids=str,
)
def test_awkward_categories_are_found_or_unknown(known, asked):
    expected = theirs.OneHotEncoder(handle_unknown="ignore").fit(known.reshape(-1, 1))
    ours = quince.OneHotEncoder(handle_unknown="ignore").fit(known.reshape(-1, 1))
    names = ours.categories_[0].tolist()

    def same(a, b):
        return a == b or (a != a and b != b)

    places = [[i for i, name in enumerate(names) if same(name, cell)] for cell in asked.tolist()]
    found = ours.transform(asked.reshape(-1, 1)).toarray()
    assert [list(np.flatnonzero(row)) for row in found] == places
    if known.dtype.kind == asked.dtype.kind:
        close(found, expected.transform(asked.reshape(-1, 1)).toarray())


def test_a_rare_category_comes_back_as_such():
    X = np.array([["a"]] * 5 + [["b"]] * 20 + [["c"]] * 10 + [["d"]] * 3 + [[np.nan]], dtype=object)
    ours = quince.OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=3, max_categories=3, encoded_missing_value=4
    ).fit(X)
    numbers = ours.transform(np.array([["a"], ["b"], ["c"], ["d"], ["e"], [np.nan]], dtype=object))
    assert numbers.ravel().tolist() == [2, 0, 1, 2, 3, 4]
    back = ours.inverse_transform(numbers).ravel().tolist()
    assert back[:5] == ["infrequent_sklearn", "b", "c", "infrequent_sklearn", None] and np.isnan(back[5])


@pytest.mark.parametrize(
    "categories",
    [
        [["dd", "c", "b", "a", "äö"], ["a", "b", "c", "dd", "äö"]],
        [["äö", "a", "b", "c", "dd", "extra"], ["a", "b", "c", "dd", "äö"]],
    ],
    ids=["turned", "one more"],
)
def test_a_given_order_is_kept(categories, rng):
    X = tables(rng)["words"]
    for make in ("OneHotEncoder", "OrdinalEncoder"):
        ours = getattr(quince, make)(categories=categories)
        other = getattr(theirs, make)(categories=categories)
        close(ours.fit_transform(X), other.fit_transform(X))
        same_encoder(ours, other)


@pytest.mark.parametrize(
    ("make", "parameters", "X", "sentence"),
    [
        ("OneHotEncoder", {}, [["a", 1], [2, "b"]], "uniformly strings or numbers"),
        ("OneHotEncoder", {"categories": [["a"]]}, [["a", "b"]], "Shape mismatch"),
        ("OneHotEncoder", {"categories": [["a"]]}, [["b"]], "Found unknown categories ['b'] in column 0 during fit"),
        ("OneHotEncoder", {"categories": [["a", "a"]]}, [["a"]], "duplicate elements"),
        ("OneHotEncoder", {"categories": [[2, 1]]}, [[1], [2]], "Unsorted categories"),
        ("OneHotEncoder", {"categories": [[np.nan, 1.0]]}, [[1.0]], "Nan should be the last"),
        ("OneHotEncoder", {"drop": ["z"]}, [["a"], ["b"]], "supposed to be dropped"),
        ("OneHotEncoder", {"drop": ["a", "b"]}, [["a"], ["b"]], "`drop` should have length"),
        ("OneHotEncoder", {"drop": [1], "min_frequency": 2}, [[1], [2], [2]], "because it is infrequent"),
        ("OrdinalEncoder", {"unknown_value": 3}, [["a"]], "should only be set when"),
        ("OrdinalEncoder", {"handle_unknown": "use_encoded_value"}, [["a"]], "should be an integer or np.nan"),
        (
            "OrdinalEncoder",
            {"handle_unknown": "use_encoded_value", "unknown_value": 0},
            [["a"]],
            "already used for encoding",
        ),
        ("OrdinalEncoder", {"encoded_missing_value": 0}, [[1.0], [np.nan]], "already used to encode a known category"),
        ("OrdinalEncoder", {"dtype": np.int32}, [[1.0], [np.nan]], "set encoded_missing_value to a non-nan value"),
    ],
)
def test_wrong_categories_get_the_sentence_of_scikit_learn(make, parameters, X, sentence):
    if isinstance(X[0][0], str) and sentence.startswith("uniformly"):
        X = np.array(X, dtype=object)
    errors = []
    for module in (theirs, quince):
        with pytest.raises((ValueError, TypeError)) as error:
            getattr(module, make)(**parameters).fit(X)
        errors.append(error)
    assert sentence in str(errors[1].value)
    assert errors[0].type is errors[1].type
    assert str(errors[0].value) == str(errors[1].value)


def test_an_unknown_category_is_an_error():
    for make in (quince.OneHotEncoder, quince.OrdinalEncoder):
        fitted = make().fit([["a"], ["b"]])
        with pytest.raises(ValueError, match=r"Found unknown categories \['c'\] in column 0 during transform"):
            fitted.transform([["c"], ["a"]])
    with pytest.raises(ValueError, match="can not be inverted"):
        quince.OneHotEncoder().fit([["a"], ["b"]]).inverse_transform([[0.0, 0.0]])
    with pytest.raises(ValueError, match="Expected 2 columns, got 3"):
        quince.OneHotEncoder().fit([["a"], ["b"]]).inverse_transform([[0.0, 0.0, 1.0]])


def test_names_of_features_may_be_made_by_a_function():
    encoder = quince.OneHotEncoder(feature_name_combiner=lambda column, name: f"{column} is {name}").fit([["a"], ["b"]])
    assert list(encoder.get_feature_names_out(["x"])) == ["x is a", "x is b"]
    with pytest.raises(TypeError, match="should return a Python string"):
        encoder.set_params(feature_name_combiner=lambda column, name: 1).get_feature_names_out()


# --- SimpleImputer and KNNImputer


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


# --- PolynomialFeatures

DEGREES = [0, 1, 2, 3, 4, (0, 2), (2, 2), (2, 3), (1, 4), (3, 5)]


@pytest.mark.parametrize("degree", DEGREES, ids=str)
@pytest.mark.parametrize("interaction_only", [False, True])
@pytest.mark.parametrize("include_bias", [False, True])
@pytest.mark.parametrize("data", ["C", "F", "float32", "csr", "csc"])
def test_products_are_those_of_scikit_learn(data, include_bias, interaction_only, degree, rng):
    X = rng.normal(size=(23, 4))
    if data in ("csr", "csc"):
        X = getattr(sparse, f"{data}_matrix")(np.where(rng.random(X.shape) < 0.5, X, 0))
    elif data == "float32":
        X = X.astype(np.float32)
    order = "F" if data == "F" else "C"
    parameters = {"interaction_only": interaction_only, "include_bias": include_bias, "order": order}
    ours, other = quince.PolynomialFeatures(degree, **parameters), theirs.PolynomialFeatures(degree, **parameters)
    try:
        expected = other.fit_transform(X)
    except ValueError as error:
        with pytest.raises(ValueError) as said:
            ours.fit_transform(X)
        if "empty output" in str(error):
            assert str(said.value) == str(error)
        return
    found = ours.fit_transform(X)
    close(found, expected, 1e-5 if data == "float32" else 1e-13)
    assert ours.n_output_features_ == other.n_output_features_ == found.shape[1]
    assert np.array_equal(ours.powers_, other.powers_)
    assert list(ours.get_feature_names_out()) == list(other.get_feature_names_out())
    assert list(ours.get_feature_names_out(list("abcd"))) == list(other.get_feature_names_out(list("abcd")))
    if not sparse.issparse(found) and min(found.shape) > 1:
        assert found.flags[f"{order}_CONTIGUOUS"]


def test_sparse_products_may_have_very_many_columns(rng):
    X = sparse.random(30, 3000, density=0.002, format="csr", random_state=0)
    ours, other = quince.PolynomialFeatures(3).fit(X), theirs.PolynomialFeatures(3).fit(X)
    found, expected = ours.transform(X), other.transform(X)
    assert found.shape == expected.shape and ours.n_output_features_ == other.n_output_features_
    expected.sort_indices()
    assert np.array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.data, expected.data, rtol=1e-13)


@pytest.mark.parametrize("degree", [(1, 2, 3), (2, 1), (-1, 2), (1.0, 2)], ids=str)
def test_a_wrong_degree_gets_the_sentence_of_scikit_learn(degree):
    with pytest.raises(ValueError) as theirs_said:
        theirs.PolynomialFeatures(degree).fit([[1.0]])
    with pytest.raises(ValueError) as said:
        quince.PolynomialFeatures(degree).fit([[1.0]])
    assert str(said.value) == str(theirs_said.value)


def test_too_many_products_are_refused(rng):
    with pytest.raises(ValueError, match="could not even be counted"):
        quince.PolynomialFeatures(30).fit(rng.normal(size=(2, 500)))


# --- all of them


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


def test_categories_of_bytes_in_an_order_of_their_own() -> None:
    rows, categories = np.array([[b"a"], [b"c"], [b"b"]]), [np.array([b"c", b"a", b"b"])]
    ours = quince.OneHotEncoder(categories=categories).fit_transform(rows)
    np.testing.assert_array_equal(ours.toarray(), theirs.OneHotEncoder(categories=categories).fit_transform(rows).toarray())
