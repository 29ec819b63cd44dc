"""One-hot and ordinal categories: the same as scikit-learn's."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.preprocessing as theirs
from preprocessing_data import close

import quince


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


def test_categories_of_bytes_in_an_order_of_their_own() -> None:
    rows, categories = np.array([[b"a"], [b"c"], [b"b"]]), [np.array([b"c", b"a", b"b"])]
    ours = quince.OneHotEncoder(categories=categories).fit_transform(rows)
    np.testing.assert_array_equal(ours.toarray(), theirs.OneHotEncoder(categories=categories).fit_transform(rows).toarray())
