"""Counting words: the same matrices as scikit-learn's, on real reviews and on texts made to be awkward."""

from __future__ import annotations

import csv
import gzip
import io
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.feature_extraction.text as theirs
import sklearn.feature_selection
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import quince

EXAMPLES = Path(__file__).parents[3] / "examples" / "data"
AWKWARD = [
    "Don't PAY 3.50, or 1,000: e.g. x_1!",
    "Grüße aus ÅRHUS  \n\t und   Köln",
    "",
    "a b c",
    "ΟΔΟΣ σίγμα Ⅷ x² déjà-vu",
    "it's it's IT'S its",
    "  one\ttwo\r\nthree   four  ",
    "हिन्दी की किताब, ⒶⒷ ไทยกำ और Ⓐb",
]


@pytest.fixture(scope="module")
def reviews() -> tuple[list[str], list[str]]:
    text = gzip.decompress((EXAMPLES / "film_reviews.csv.gz").read_bytes()).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    words = max(rows[0], key=lambda name: len(rows[0][name]))
    label = next(name for name in rows[0] if name != words)
    return [row[words] for row in rows], [row[label] for row in rows]


def same(ours: sparse.csr_matrix, other: sparse.csr_matrix, exact: bool = True) -> None:
    assert ours.shape == other.shape
    assert ours.has_sorted_indices
    other.sort_indices()
    assert np.array_equal(ours.indptr, other.indptr)
    assert np.array_equal(ours.indices, other.indices)
    assert ours.dtype == other.dtype
    if exact:
        assert np.array_equal(ours.data, other.data)
    else:
        np.testing.assert_allclose(ours.data, other.data, rtol=1e-12)


COUNTING = [
    {},
    {"lowercase": False},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 3), "min_df": 2},
    {"analyzer": "char", "ngram_range": (1, 3)},
    {"analyzer": "char_wb", "ngram_range": (2, 4)},
    {"min_df": 2, "max_df": 0.5},
    {"min_df": 0.01},
    {"binary": True},
    {"stop_words": ["the", "and", "of"]},
    {"strip_accents": "unicode"},
    {"dtype": np.float32},
]


@pytest.mark.parametrize("parameters", COUNTING, ids=str)
@pytest.mark.parametrize("which", ["reviews", "awkward"])
def test_counts_are_those_of_scikit_learn(parameters, which, reviews):
    texts = AWKWARD if which == "awkward" else reviews[0][:300]
    other, ours = theirs.CountVectorizer(**parameters), quince.CountVectorizer(**parameters)
    try:
        expected = other.fit_transform(texts)
    except ValueError:
        with pytest.raises(ValueError):
            ours.fit_transform(texts)
        return
    same(ours.fit_transform(texts), expected)
    assert ours.vocabulary_ == other.vocabulary_
    assert list(ours.get_feature_names_out()) == list(other.get_feature_names_out())
    same(ours.transform(texts[::-1]), other.transform(texts[::-1]))


def test_the_most_frequent_words_are_kept(reviews):
    texts = reviews[0][:300]
    ours = quince.CountVectorizer(max_features=200).fit(texts)
    counts = theirs.CountVectorizer().fit(texts)
    totals = np.asarray(counts.transform(texts).sum(axis=0)).ravel()
    kept = [totals[counts.vocabulary_[word]] for word in ours.vocabulary_]
    assert len(kept) == 200 and min(kept) >= np.sort(totals)[-200]
    # Where only presence counts, frequent is what many texts have.
    repeated = ["a a a a b b", "b c", "c b"]
    parameters = {"binary": True, "max_features": 2, "analyzer": "char_wb", "ngram_range": (1, 1)}
    kept = [module.CountVectorizer(**parameters).fit(repeated).vocabulary_ for module in (quince, theirs)]
    assert kept[0] == kept[1] == {" ": 0, "b": 1}
    with pytest.raises(ValueError, match="empty vocabulary"):
        quince.CountVectorizer().fit([])


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"sublinear_tf": True},
        {"norm": "l1"},
        {"norm": None, "smooth_idf": False},
        {"use_idf": False},
        {"binary": True, "min_df": 2},
        {"dtype": np.float32},
    ],
    ids=str,
)
def test_weights_are_those_of_scikit_learn(parameters, reviews):
    texts = [*reviews[0][:300], ""]
    other, ours = theirs.TfidfVectorizer(**parameters), quince.TfidfVectorizer(**parameters)
    expected, found = other.fit_transform(texts), ours.fit_transform(texts)
    expected.sort_indices()
    tolerance = 1e-5 if parameters.get("dtype") is np.float32 else 1e-12
    assert np.array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.data, expected.data, rtol=tolerance)
    np.testing.assert_allclose(ours.transform(texts[:9]).toarray(), other.transform(texts[:9]).toarray(), rtol=tolerance)
    if parameters.get("use_idf", True):
        np.testing.assert_allclose(ours.idf_, other.idf_, rtol=tolerance)


def test_weights_are_those_of_the_encoder_of_tables_bit_for_bit(reviews):
    texts = [*reviews[0][:300], ""]
    ours = quince.TfidfVectorizer(analyzer="unicode", min_df=2, sublinear_tf=True).fit_transform(texts)
    encoder = quince.TableEncoder(kinds={"text": "text"}, encode={"text": "tfidf,sublinear"})
    same(ours, encoder.fit_transform(pd.DataFrame({"text": texts})))


@pytest.mark.parametrize(
    "parameters",
    [{}, {"n_features": 50}, {"alternate_sign": False, "norm": None}, {"norm": "l1"}, {"binary": True, "n_features": 999}],
    ids=str,
)
def test_hashed_counts_are_those_of_scikit_learn(parameters, reviews):
    texts = reviews[0][:100] + AWKWARD
    ours = quince.HashingVectorizer(**parameters).transform(texts)
    expected = theirs.HashingVectorizer(**parameters).transform(texts)
    assert ours.shape == expected.shape
    assert abs(ours - expected).max() < 1e-12


def test_a_given_vocabulary_keeps_its_places():
    for vocabulary in [{"two": 0, "one": 1}, ["two", "one"], {"two", "one"}]:
        other = theirs.CountVectorizer(vocabulary=vocabulary)
        ours = quince.CountVectorizer(vocabulary=vocabulary)
        same(ours.transform(AWKWARD), other.transform(AWKWARD))
        assert ours.vocabulary_ == other.vocabulary_


def test_words_by_unicodes_rule_and_stems():
    words = quince.CountVectorizer(analyzer="unicode").fit(AWKWARD[:1])
    assert list(words.get_feature_names_out()) == ["1,000", "3.50", "don't", "e.g", "or", "pay", "x_1"]
    stems = quince.CountVectorizer(stem="english", stop_words="english").fit(["the cats were connecting connections"])
    assert list(stems.get_feature_names_out()) == ["cat", "connect"]


def test_one_thread_and_two_count_alike(reviews):
    texts = reviews[0][:700]
    one, two = (quince.CountVectorizer(n_jobs=n).fit_transform(texts) for n in (1, 2))
    same(one, two)


def test_a_vectorizer_is_cloned_and_pickled(reviews):
    texts = reviews[0][:50]
    fitted = quince.TfidfVectorizer(min_df=2, ngram_range=(1, 2)).fit(texts)
    again = pickle.loads(pickle.dumps(fitted))
    same(again.transform(texts), fitted.transform(texts))
    assert clone(fitted).get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        clone(fitted).transform(texts)


def test_words_of_a_row_are_found_again():
    fitted = quince.CountVectorizer().fit(["one two", "two three"])
    rows = fitted.inverse_transform(fitted.transform(["three two", "four"]))
    assert [sorted(row) for row in rows] == [["three", "two"], []]


@pytest.mark.parametrize(
    ("parameters", "texts", "sentence"),
    [
        ({}, "one text", "string object received"),
        ({}, ["a text", None], "text 1 is missing"),
        ({}, [b"bytes"], "text 0 is a bytes"),
        ({}, ["", "  "], "empty vocabulary"),
        ({"min_df": 2}, ["one two", "three"], "After pruning, no terms remain"),
        ({"min_df": 3, "max_df": 2}, ["one", "two"], "max_df corresponds to < documents than min_df"),
        ({"max_df": 1.5}, ["one"], "max_df cannot be 1.5"),
        ({"analyzer": "words"}, ["one"], "analyzer cannot be 'words'"),
        ({"ngram_range": (2, 1)}, ["one"], "ngram_range"),
        ({"stem": "elvish"}, ["one"], "elvish"),
        ({"stop_words": "elvish"}, ["one"], "elvish"),
    ],
)
def test_bad_input_gets_a_sentence(parameters, texts, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        quince.CountVectorizer(**parameters).fit(texts)


def test_scores_are_those_of_scikit_learn(reviews):
    texts, labels = reviews[0][:300], reviews[1][:300]
    counts = quince.CountVectorizer(min_df=3).fit_transform(texts)
    ours, expected = quince.chi2(counts, labels), sklearn.feature_selection.chi2(counts, labels)
    np.testing.assert_allclose(ours[0], expected[0], rtol=1e-10)
    np.testing.assert_allclose(ours[1], expected[1], rtol=1e-8, atol=1e-300)
    presence = (counts > 0).astype(float)
    information = sklearn.feature_selection.mutual_info_classif(presence, labels, discrete_features=True)
    np.testing.assert_allclose(quince.mutual_information(counts, labels), information, atol=1e-12)
    dense = quince.mutual_information(counts.toarray(), labels)
    np.testing.assert_allclose(dense, quince.mutual_information(counts, labels), atol=1e-15)


def test_the_columns_that_tell_most_are_kept(reviews):
    texts, labels = reviews[0][:300], reviews[1][:300]
    counts = quince.CountVectorizer(min_df=3).fit_transform(texts)
    ours = quince.SelectKBest(quince.chi2, k=50).fit(counts, labels)
    expected = sklearn.feature_selection.SelectKBest(sklearn.feature_selection.chi2, k=50).fit(counts, labels)
    scores = expected.scores_
    assert ours.transform(counts).shape == (300, 50)
    assert scores[ours.get_support()].min() >= np.sort(scores)[-50]
    for k in (2.5, -1, "some"):
        with pytest.raises(ValueError, match="k cannot be"):
            quince.SelectKBest(k=k).fit(counts, labels)
    with pytest.warns(UserWarning, match="greater than n_features"):
        quince.SelectKBest(k=counts.shape[1] + 1).fit(counts, labels)
    pipeline = make_pipeline(quince.CountVectorizer(), quince.SelectKBest(k=100), quince.RidgeClassifier())
    assert pipeline.fit(texts, labels).score(texts, labels) > 0.8


def test_negative_counts_are_refused():
    with pytest.raises(ValueError, match="-1 in row 1, column 2 is no count"):
        quince.chi2(np.array([[0.0, -1.0], [1.0, 0.0]]), [0, 1])
