"""Linear and quadratic discriminants, Gaussian classifiers and nearest centroids: against scikit-learn, and algebra."""

from __future__ import annotations

import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.discriminant_analysis
import sklearn.naive_bayes
import sklearn.neighbors
from bayes_data import CLOSE, assert_alike, assert_same, labels, numbers, twins
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import log_expit
from sklearn.covariance import OAS
from sklearn.decomposition import PCA
from sklearn.metrics import confusion_matrix
from sklearn.preprocessing import StandardScaler

import quince

ROOT = Path(__file__).resolve().parents[3]
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
    plain = {"calibrate": False, "variance_floor": 0}
    drawn = quince.GaussianClassifier(**plain, shared="pooled", shrinkage=0.3, shrink_to="variance")
    same(drawn, theirs.LinearDiscriminantAnalysis(**shrunk))
    # In units of the columns' standard deviations, whatever their units are.
    standardised = theirs.LinearDiscriminantAnalysis(**shrunk).fit(StandardScaler().fit_transform(X), y)
    for units in (1.0, np.logspace(-6, 6, X.shape[1])):
        drawn = quince.GaussianClassifier(**plain, shared="pooled", shrinkage=0.3).fit(X * units, y)
        assert_allclose(
            drawn.predict_proba(X * units), standardised.predict_proba(StandardScaler().fit_transform(X)), **CLOSE
        )
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


@pytest.fixture
def vowels():
    """Two formants of men and women, ten vowels, and who spoke them."""
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
    random, accuracies = np.random.default_rng(0), []
    for _ in range(20):
        tested = np.isin(speakers, random.choice(np.unique(speakers), size=10, replace=False))
        reference = sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis().fit(X[~tested], y[~tested])
        twin = quince.QuadraticDiscriminantAnalysis().fit(X[~tested], y[~tested])
        mixed = quince.GaussianClassifier(variance_floor=0.0, calibrate=False).fit(X[~tested], y[~tested])
        for model in (twin, mixed):
            assert_array_equal(model.predict(X[tested]), reference.predict(X[tested]))
            assert_allclose(model.predict_proba(X[tested]), reference.predict_proba(X[tested]), atol=1e-8)
        accuracies.append(twin.score(X[tested], y[tested]))
    assert 0.76 <= np.mean(accuracies) <= 0.84
    assert np.std(accuracies) <= 0.06


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
