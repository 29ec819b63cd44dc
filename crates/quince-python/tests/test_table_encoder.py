"""A data frame in, features out: by kind, by name, the same again after pickling."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.feature_extraction.text
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import quince

WORDS = ["good", "bad", "dull", "bright", "film", "plot", "cat", "dog"]


@pytest.fixture
def frame(rng) -> pd.DataFrame:
    rows = 80
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 9, rows),
            "income": rng.exponential(1000, rows),
            "city": np.array(["Oslo", "Bergen", "Voss"])[rng.integers(0, 3, rows)],
            "member": rng.random(rows) < 0.4,
            "review": [" ".join(rng.choice(WORDS, 6)) + f" word{i}" for i in range(rows)],
        }
    )
    frame.loc[rng.random(rows) < 0.2, "age"] = np.nan
    frame.loc[rng.random(rows) < 0.2, "city"] = None
    return frame


KINDS = {"city": "category", "review": "text"}


def standardised(numbers):
    """By the deviation of a sample, as the encoder does; StandardScaler divides by that of a population."""
    return (numbers - numbers.mean()) / numbers.std(ddof=1)


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


def test_numbers_are_standardised_and_categories_get_a_feature_each(frame):
    encoder = quince.TableEncoder(kinds=KINDS, drop=["review"])
    X = encoder.fit_transform(frame)
    assert isinstance(X, np.ndarray) and X.dtype == np.float64
    names = ["age", "income", "city=Bergen", "city=Oslo", "city=Voss", "member"]
    assert list(encoder.get_feature_names_out()) == names
    np.testing.assert_allclose(X[:, :2], standardised(frame[["age", "income"]]).fillna(0.0), atol=1e-12)
    filled = frame[["city"]].fillna(frame["city"].mode()[0])
    np.testing.assert_array_equal(X[:, 2:5], quince.OneHotEncoder(sparse_output=False).fit_transform(filled))
    np.testing.assert_array_equal(X[:, 5], frame["member"])
    assert encoder.kinds_ == {"age": "number", "income": "number", "city": "category", "member": "yes/no"}
    assert encoder.n_features_in_ == 5 and list(encoder.feature_names_in_) == list(frame.columns)


def test_texts_make_the_matrix_sparse(frame):
    encoder = quince.TableEncoder(kinds=KINDS, encode={"review": "counts"})
    X = encoder.fit_transform(frame)
    assert sparse.issparse(X) and X.format == "csr" and X.has_canonical_format
    names = encoder.get_feature_names_out()
    assert X.shape == (80, len(names))
    counts = sklearn.feature_extraction.text.CountVectorizer(vocabulary=WORDS).transform(frame["review"])
    places = [list(names).index(f"review: {word}") for word in WORDS]
    np.testing.assert_array_equal(X[:, places].toarray(), counts.toarray())
    assert (names[:6] == ["age", "income", "city=Bergen", "city=Oslo", "city=Voss", "member"]).all()


def test_columns_are_found_by_name_whatever_stands_beside_them(frame):
    encoder = quince.TableEncoder(kinds=KINDS).fit(frame)
    expected = dense(encoder.transform(frame))
    turned = frame[list(frame.columns)[::-1]].assign(another=1.0)
    np.testing.assert_array_equal(dense(encoder.transform(turned)), expected)
    with pytest.raises(ValueError, match="the columns 'age', 'city' that the model was trained on are missing"):
        encoder.transform(frame.drop(columns=["age", "city"]))


@pytest.mark.parametrize(
    "convert", [pl.from_pandas, pa.Table.from_pandas, quince.Table], ids=["polars", "arrow", "table"]
)
def test_any_data_frame_will_do(convert, frame):
    encoder = quince.TableEncoder(kinds=KINDS).fit(frame)
    other = quince.TableEncoder(kinds=KINDS).fit(convert(frame))
    np.testing.assert_array_equal(dense(other.transform(frame)), dense(encoder.transform(convert(frame))))


def test_a_table_keeps_its_own_settings(frame):
    table = quince.Table(frame, kinds=KINDS, drop=["review"], encode={"income": "log"}, degree=2)
    own = quince.TableEncoder().fit(table)
    asked = quince.TableEncoder(kinds=KINDS, drop=["review"], encode={"income": "log"}, degree=2).fit(frame)
    assert list(own.get_feature_names_out()) == list(asked.get_feature_names_out())
    np.testing.assert_array_equal(own.transform(frame), asked.transform(frame))


def test_what_is_wished_is_done(frame):
    settings = {"income": "log,plain", "age": "fill=median,missing,plain", "city": "order=Voss:Bergen:Oslo,plain"}
    encoder = quince.TableEncoder(kinds=KINDS, drop=["review", "member"], encode=settings)
    X = encoder.fit_transform(frame)
    assert list(encoder.get_feature_names_out()) == ["age", "age is missing", "income", "city"]
    np.testing.assert_allclose(X[:, 0], frame["age"].fillna(frame["age"].median()))
    np.testing.assert_array_equal(X[:, 1], frame["age"].isna())
    np.testing.assert_allclose(X[:, 2], np.log1p(frame["income"]))
    there = frame["city"].notna()
    order = quince.OrdinalEncoder(categories=[["Voss", "Bergen", "Oslo"]]).fit_transform(frame.loc[there, ["city"]])
    np.testing.assert_array_equal(X[there, 3], order.ravel() + 1)


def test_products_of_numbers_are_features(frame):
    numbers = frame[["age", "income"]].fillna(40.0)
    X = quince.TableEncoder(encode={"*": "plain"}, degree=3).fit_transform(numbers)
    expected = quince.PolynomialFeatures(3, include_bias=False).fit_transform(numbers)
    np.testing.assert_allclose(X, expected, rtol=1e-12)


def test_missing_values_are_kept_if_asked(frame):
    encoder = quince.TableEncoder(kinds=KINDS, drop=["review"], missing="kept").fit(frame)
    X = encoder.transform(frame)
    np.testing.assert_array_equal(np.isnan(X[:, 0]), frame["age"].isna())
    np.testing.assert_array_equal(np.isnan(X[:, 2]), frame["city"].isna())
    np.testing.assert_array_equal(X, encoder.fit_transform(frame))
    with_text = quince.TableEncoder(kinds=KINDS, missing="kept").fit_transform(frame)
    np.testing.assert_array_equal(np.isnan(with_text.toarray()[:, 0]), frame["age"].isna())


def test_missing_values_are_filled_from_near_rows(frame):
    numbers = frame[["age", "income"]]
    X = quince.TableEncoder(encode={"age": "fill=neighbours"}).fit_transform(numbers)
    filled = quince.KNNImputer(n_neighbors=5).fit_transform(standardised(numbers))
    np.testing.assert_allclose(X, filled, rtol=1e-9)


def test_words_are_selected_by_the_class(frame):
    likes = np.array(["good" in review for review in frame["review"]])
    encoder = quince.TableEncoder(kinds=KINDS, encode={"review": "counts,select=1"})
    encoder.fit(frame[["review"]].assign(city=frame["city"]), likes)
    assert "review: good" in encoder.get_feature_names_out()
    assert sum(name.startswith("review: ") for name in encoder.get_feature_names_out()) == 1
    with pytest.raises(ValueError, match="needs classes to tell apart"):
        encoder.fit(frame)
    with pytest.raises(ValueError, match="needs classes to tell apart"):
        encoder.fit(frame, np.linspace(0.5, 1.7, 80))
    with pytest.raises(ValueError, match="80 rows and 3 labels"):
        encoder.fit(frame, [1, 2, 3])


@pytest.mark.parametrize(
    "parameters",
    [
        {"kinds": KINDS},
        {"kinds": KINDS, "degree": 2, "missing": "kept"},
        {"kinds": KINDS, "encode": {"age": "fill=neighbours", "income": "fill=neighbours", "review": "ngrams=1-2"}},
        {"kinds": KINDS, "drop": ["review"], "encode": {"city": "rare=30%,missing", "age": "fill=most-frequent"}},
        {"kinds": KINDS, "drop": ["review"], "encode": {"city": "hash=8"}},
    ],
    ids=str,
)
def test_a_pickle_loses_nothing(parameters, frame, rng):
    encoder = quince.TableEncoder(**parameters).fit(frame)
    again = pickle.loads(pickle.dumps(encoder))
    fresh = frame.sample(frac=1, random_state=1)
    fresh.loc[rng.random(len(fresh)) < 0.3, "income"] = np.nan
    np.testing.assert_array_equal(dense(again.transform(fresh)), dense(encoder.transform(fresh)))
    assert list(again.get_feature_names_out()) == list(encoder.get_feature_names_out())
    with pytest.raises(NotFittedError):
        clone(encoder).transform(frame)


def test_a_spoilt_pickle_is_refused(frame):
    encoder = quince.TableEncoder(encode={"age": "fill=neighbours"}).fit(frame[["age", "income"]])
    make, (state, donors) = encoder._encoder.__reduce__()
    assert donors.shape == (80, 2)
    for wrong in (None, donors[:, :1].copy()):
        with pytest.raises(ValueError, match="do not fit together"):
            make(state, wrong)


def test_one_thread_and_two_give_the_same_bits(frame):
    settings = {"age": "fill=neighbours", "review": "tfidf,ngrams=1-2"}
    one, two = (quince.TableEncoder(kinds=KINDS, encode=settings, n_jobs=n).fit_transform(frame) for n in (1, 2))
    assert np.array_equal(one.data, two.data) and np.array_equal(one.indices, two.indices)


def test_what_was_not_there_in_the_fit_is_zero(frame):
    encoder = quince.TableEncoder(kinds=KINDS).fit(frame)
    unseen = frame.head(2).assign(city="Narvik", review="unheard of")
    found = pd.DataFrame(dense(encoder.transform(unseen)), columns=encoder.get_feature_names_out())
    assert (found.filter(regex="^(city=|review: )") == 0).all(axis=None)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"encode": {"age": "lgo"}}, "Did you mean 'log'"),
        ({"encode": {"agee": "log"}}, "agee"),
        ({"drop": ["nothing"]}, "nothing"),
        ({"kinds": {"age": "colour"}}, "colour"),
        ({"degree": 0}, "degree"),
        ({"missing": "maybe"}, "missing"),
        ({"drop": "age"}, "drop"),
        ({"drop": ["age", "income", "city", "member", "review"]}, "no usable column is left"),
    ],
    ids=str,
)
def test_a_wrong_wish_gets_a_sentence(parameters, sentence, frame):
    with pytest.raises(ValueError, match=sentence):
        quince.TableEncoder(**parameters).fit(frame)


def test_what_is_no_table_gets_a_sentence(iris_csv):
    with pytest.raises(ValueError, match="a table cannot be made from a ndarray"):
        quince.TableEncoder().fit(np.zeros((3, 2)))
    for path in (iris_csv, str(iris_csv)):
        with pytest.raises(ValueError, match=r"Give quince.read\(path\)"):
            quince.TableEncoder().fit(path)
    assert quince.TableEncoder(drop=["species"]).fit_transform(quince.read(iris_csv)).shape == (150, 4)


def test_it_works_in_a_pipeline_and_a_search(frame):
    y = (frame["income"] > 700).to_numpy()
    pipeline = make_pipeline(quince.TableEncoder(kinds=KINDS), quince.RidgeClassifier())
    search = GridSearchCV(pipeline, {"tableencoder__encode": [None, {"income": "log"}]}, cv=3).fit(frame, y)
    assert search.best_estimator_.score(frame, y) > 0.8
    names = quince.TableEncoder(kinds=KINDS, drop=["review"]).set_output(transform="pandas").fit_transform(frame)
    assert list(names.columns)[:2] == ["age", "income"]


def test_columns_that_are_left_out_are_named_with_the_reason():
    frame = pd.DataFrame(
        {
            "day": pd.date_range("2020", periods=40),
            "x": np.arange(40) % 5 + 0.5,
            "row": range(1, 41),
            "one": 1.0,
            "price": [f"{k}.25" for k in range(40)],
            "few": ["1", "2"] * 20,
            "gone": range(40, 80),
        }
    )
    with pytest.warns(UserWarning) as said:
        encoder = quince.TableEncoder(drop=["gone"]).fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["x", "few=1", "few=2"]
    sentences = [str(one.message) for one in said]
    left_out = {
        "day": "neither numbers nor words",
        "row": "row numbers",
        "one": "constant",
        "price": "most rows have a value of their own",
    }
    for name, reason in left_out.items():
        assert any(f"'{name}' is ignored" in one and reason in one for one in sentences), sentences
        assert reason in encoder.left_out_[name]
    assert set(encoder.left_out_) == {*left_out, "gone"} and encoder.left_out_["gone"] == "as asked"
    for name in ("price", "few"):
        assert any(f"'{name}' is read as" in one and "look like numbers" in one for one in sentences), sentences
    assert pickle.loads(pickle.dumps(encoder)).left_out_ == encoder.left_out_
    assert quince.TableEncoder().fit(frame[["x"]]).left_out_ == {}
