"""Pickles and files hold the bytes of a safe model, and what comes out predicts as what went in."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import load_diabetes, load_iris, make_multilabel_classification
from sklearn.exceptions import NotFittedError

import quince

X, Y = load_diabetes(return_X_y=True)
IRIS, SPECIES = load_iris(return_X_y=True)
WORDS = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
WITH_MISSING = np.where(np.arange(600).reshape(150, 4) % 7 == 3, np.nan, IRIS)
LABELLED, LABELS = make_multilabel_classification(n_samples=60, n_classes=3, random_state=0)


def fitted():
    yield quince.LinearRegression().fit(X, Y)
    yield quince.LinearRegression(fit_intercept=False, n_jobs=2).fit(X.astype(np.float32), np.c_[Y, -Y])
    yield quince.LinearRegression(positive=True).fit(X, Y)
    yield quince.LinearRegression().fit(sparse.csr_matrix(X), Y)
    yield quince.Ridge([0.5, 2.0], solver="lsqr").fit(X, np.c_[Y, Y**2])
    yield quince.Ridge(np.float32(0.5)).fit(pd.DataFrame(X, columns=load_diabetes().feature_names), Y)
    yield quince.RidgeClassifier().fit(IRIS, WORDS)
    yield quince.RidgeClassifier(class_weight={0: 1.0, 1: 3.0}).fit(IRIS[:100], SPECIES[:100])
    yield quince.RidgeClassifier().fit(IRIS, WORDS.astype(object))
    yield quince.RidgeClassifier().fit(IRIS, np.array(["10", "9", "8"])[SPECIES])
    yield quince.RidgeClassifier().fit(LABELLED, LABELS)
    yield quince.RidgeClassifier().fit(IRIS, np.ones(150, dtype=bool))
    yield quince.DummyClassifier().fit(IRIS, WORDS)
    yield quince.DummyClassifier(strategy="stratified", random_state=3).fit(IRIS, SPECIES)
    yield quince.DummyClassifier(strategy="uniform", random_state=3).fit(IRIS, np.c_[SPECIES, SPECIES > 1])
    yield quince.DummyClassifier(strategy="constant", constant="virginica").fit(IRIS, WORDS)
    yield quince.DummyRegressor(strategy="quantile", quantile=0.3).fit(X, np.c_[Y, Y])
    yield quince.DummyRegressor(strategy="constant", constant=[7]).fit(X, Y)
    yield quince.KNeighborsClassifier().fit(IRIS, WORDS)
    yield quince.KNeighborsClassifier("auto", weights="distance", smoothing=0.5).fit(IRIS, SPECIES, SPECIES + 1)
    yield quince.KNeighborsClassifier(metric_params={"w": np.arange(4.0)}).fit(WITH_MISSING, np.c_[SPECIES, WORDS])
    yield quince.KNeighborsClassifier(3, metric="cosine").fit(sparse.csr_matrix(IRIS), SPECIES > 1)
    yield quince.KNeighborsRegressor(p=3, algorithm="kd_tree").fit(pd.DataFrame(IRIS, columns=list("abcd")), IRIS)
    yield quince.KNeighborsRegressor(2, n_jobs=1).fit(X.astype(np.float32), Y)
    yield quince.NearestNeighbors(n_neighbors=3).fit(X)
    yield quince.NearestNeighbors(metric="manhattan", metric_params={"w": [1.0, 2.0, 0.1, 5e-5]}).fit(WITH_MISSING)
    yield quince.NearestNeighbors(algorithm="brute").fit(pd.DataFrame(IRIS.astype(np.float32), columns=list("abcd")))
    yield quince.NearestNeighbors(metric="cosine").fit(sparse.csr_matrix(IRIS))
    yield quince.GaussianNB(priors=np.array([0.2, 0.3, 0.5])).fit(WITH_MISSING, WORDS, SPECIES + 1)
    yield quince.MultinomialNB().fit(pd.DataFrame(IRIS, columns=list("abcd")), SPECIES)
    yield quince.MultinomialNB(class_prior=[0.2, 0.3, 0.5]).fit(sparse.csr_matrix(IRIS), WORDS)
    yield quince.BernoulliNB(binarize=2.0).fit(IRIS.astype(np.float32), SPECIES)
    yield quince.BernoulliNB(fit_prior=False).fit(sparse.csr_matrix(IRIS), SPECIES > 1)
    yield quince.CategoricalNB(min_categories=[2, 9, 3, 3]).fit(WITH_MISSING, WORDS)
    yield quince.LinearDiscriminantAnalysis().fit(IRIS, WORDS)
    yield quince.LinearDiscriminantAnalysis(store_covariance=True).fit(IRIS.astype(np.float32)[:100], SPECIES[:100])
    yield quince.LinearDiscriminantAnalysis("eigen", "auto", [0.2, 0.3, 0.5]).fit(IRIS, SPECIES)
    yield quince.LinearDiscriminantAnalysis().fit(np.c_[IRIS[:, :3], IRIS[:, 0]], SPECIES)
    yield quince.QuadraticDiscriminantAnalysis(reg_param=0.1, store_covariance=True).fit(IRIS, WORDS)
    yield quince.QuadraticDiscriminantAnalysis(solver="eigen", shrinkage="auto").fit(IRIS, SPECIES)
    yield quince.NearestCentroid().fit(pd.DataFrame(IRIS, columns=list("abcd")), WORDS)
    yield quince.NearestCentroid(shrink_threshold=0.2, priors="empirical").fit(IRIS[20:], WORDS[20:])
    yield quince.KMeans(3, random_state=0).fit(IRIS)
    yield quince.KMeans("auto", random_state=0).fit(pd.DataFrame(IRIS.astype(np.float32), columns=list("abcd")))
    yield quince.KMeans(4, init=IRIS[:4], algorithm="sequential").fit(sparse.csr_matrix(IRIS))
    yield quince.MiniBatchKMeans(3, random_state=0).fit(X, sample_weight=Y)
    yield quince.MiniBatchKMeans(3, random_state=0).partial_fit(IRIS[::2]).partial_fit(IRIS[1::2])
    yield quince.BisectingKMeans(5, random_state=0).fit(IRIS)


models = pytest.mark.parametrize("model", list(fitted()), ids=lambda model: f"{model!r}"[:60])


def features_for(model):
    rows = {X.shape[1]: X, 4: IRIS, LABELLED.shape[1]: LABELLED}[model.n_features_in_]
    return pd.DataFrame(rows, columns=model.feature_names_in_) if hasattr(model, "feature_names_in_") else rows


def assert_equal(got, expected, name=""):
    assert type(got) is type(expected), name
    if isinstance(expected, dict):
        assert_equal(list(got), list(expected), name)
        assert_equal(list(got.values()), list(expected.values()), name)
    elif isinstance(expected, list | tuple):
        assert len(got) == len(expected), name
        for one, other in zip(got, expected):
            assert_equal(one, other, name)
    else:
        assert_array_equal(got, expected)
        assert np.asarray(got).dtype == np.asarray(expected).dtype, name


def assert_same(again, model):
    rows = features_for(model)
    assert type(again) is type(model)
    assert str(again.get_params()) == str(model.get_params())
    for method in ("predict", "predict_proba", "decision_function", "kneighbors", "transform"):
        if hasattr(model, method):
            assert_equal(getattr(again, method)(rows), getattr(model, method)(rows), method)
    public = {name for name in vars(model) if not name.startswith("_")}
    assert public == {name for name in vars(again) if not name.startswith("_")}
    for name in public | ({"singular_"} if hasattr(model, "singular_") else set()):
        assert_equal(getattr(again, name), getattr(model, name), name)
    assert again.report_ == model.report_


@models
def test_a_pickle_holds_the_bytes_of_the_model_and_predicts_the_same(model):
    pickled = pickle.dumps(model)
    if not isinstance(model, quince.NearestNeighbors):  # which holds its rows, and no model
        assert model._model.to_bytes() in pickled
    assert_same(pickle.loads(pickled), model)
    assert_same(copy.deepcopy(model), model)


@models
def test_a_saved_estimator_comes_back(model, tmp_path):
    model.save(tmp_path / "m.quince")
    again = quince.load(tmp_path / "m.quince")
    assert_same(again, model)
    again.save(tmp_path / "again.quince")
    assert (tmp_path / "again.quince").read_bytes() == (tmp_path / "m.quince").read_bytes()
    assert_same(pickle.loads(pickle.dumps(again)), model)


def test_joblib_writes_and_reads_us(tmp_path):
    model = quince.Ridge().fit(X, Y)
    joblib.dump(model, tmp_path / "m.joblib", compress=3)
    assert_same(joblib.load(tmp_path / "m.joblib"), model)


def test_an_unfitted_estimator_is_pickled_and_cannot_be_saved(tmp_path):
    assert pickle.loads(pickle.dumps(quince.Ridge(3.0))).alpha == 3.0
    with pytest.raises(NotFittedError, match="This Ridge instance is not fitted yet"):
        quince.Ridge().save(tmp_path / "m.quince")
    assert not (tmp_path / "m.quince").exists()


@models
def test_an_opened_estimator_works_like_the_fitted_one(model, tmp_path):
    """What a fit keeps at hand an opened model works out again."""
    model.save(tmp_path / "m.quince")
    again, rows = quince.load(tmp_path / "m.quince"), features_for(model)
    weights = np.linspace(0.5, 2, len(rows))
    calls = [
        ("kneighbors", (None, 2)),
        ("kneighbors_graph", (rows, 3, "distance")),
        ("radius_neighbors_graph", (rows, 0.1, "distance")),
        ("score", (rows, None, weights)),
    ]
    for method, arguments in calls:
        if hasattr(model, method) and not (method == "score" and not hasattr(model, "labels_")):
            got, expected = (getattr(one, method)(*arguments) for one in (again, model))
            if method == "score":
                np.testing.assert_allclose(got, expected)
            else:
                assert_equal(*((one.toarray() if sparse.issparse(one) else one) for one in (got, expected)), method)
    if hasattr(model, "n_neighbors_"):
        for one in (model, again):
            one.set_params(n_neighbors=7, weights="uniform")
        assert_equal(again.predict(rows), model.predict(rows))
    if hasattr(model, "cluster_centers_") and hasattr(model, "partial_fit"):
        assert_equal(again.partial_fit(rows).cluster_centers_, model.partial_fit(rows).cluster_centers_)
    elif hasattr(model, "partial_fit"):
        labels = model.predict(rows)
        for one in (model, again):
            one.partial_fit(rows, labels, sample_weight=weights)
        assert_equal(again.predict_proba(rows), model.predict_proba(rows))


def test_a_function_is_pickled_and_not_saved(tmp_path):
    model = quince.KNeighborsRegressor(weights=np.exp).fit(X, Y)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    with pytest.raises(ValueError, match="weights is a ufunc, which a model file cannot hold"):
        model.save(tmp_path / "m.quince")


def test_the_file_of_neighbours_predicts_the_nearest_row(command, tmp_path):
    frame = pd.DataFrame(IRIS, columns=["a", "b", "c", "d"])
    frame.to_csv(tmp_path / "rows.csv", index=False)
    quince.NearestNeighbors().fit(frame).save(tmp_path / "m.quince")
    predicted = json.loads(run(command, "predict", tmp_path / "m.quince", tmp_path / "rows.csv", "--json"))
    nearest = quince.NearestNeighbors(n_neighbors=1).fit(IRIS).kneighbors(IRIS)[1].ravel()
    assert [next(iter(row.values())) for row in rows_of(predicted)] == nearest.tolist()


def test_changed_coefficients_are_pickled_and_not_saved(tmp_path):
    model = quince.Ridge().fit(X, Y)
    model.coef_ = np.zeros(X.shape[1])
    assert (pickle.loads(pickle.dumps(model)).coef_ == 0).all()
    with pytest.raises(ValueError, match="coef_ was changed after the fit"):
        model.save(tmp_path / "m.quince")


def test_a_generator_cannot_be_saved(tmp_path):
    model = quince.DummyClassifier(random_state=np.random.RandomState(0)).fit(IRIS, SPECIES)
    with pytest.raises(ValueError, match="random_state is a RandomState, which a model file cannot hold"):
        model.save(tmp_path / "m.quince")


def test_a_file_that_is_no_model_is_refused(tmp_path):
    for name, content in {"text": b"hello", "empty": b"", "pickle": pickle.dumps(print)}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ValueError, match="this is not a quince model"):
            quince.load(tmp_path / name)
    quince.Ridge().fit(X, Y).save(tmp_path / "m.quince")
    whole = (tmp_path / "m.quince").read_bytes()
    (tmp_path / "cut").write_bytes(whole[:-5])
    with pytest.raises(ValueError, match="cut short or was changed"):
        quince.load(tmp_path / "cut")
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        quince.load(tmp_path / "nowhere")
    with pytest.raises(IsADirectoryError, match="this is a folder, not a file"):
        quince.load(tmp_path)
    with pytest.raises(FileNotFoundError, match="its folder does not exist"):
        quince.Ridge().fit(X, Y).save(tmp_path / "nowhere" / "m.quince")


@pytest.mark.parametrize(
    "notes",
    [
        {"class": "Ridge", "params": {"nothing": 1}, "attributes": {}},
        {"class": "Ridge", "params": {}, "attributes": {"_type": "float64"}},
        {"class": "Ridge"},
        {"class": "GaussianNB", "params": {}, "attributes": {}},
        {"class": "Ridge", "params": {}, "attributes": {"x": {"array": [1], "dtype": "V8", "shape": [1]}}},
        {"class": "Ridge", "params": {}, "attributes": {"x": {"array": [1], "dtype": "f8", "shape": [7]}}},
    ],
    ids=str,
)
def test_notes_that_lie_are_refused_with_a_sentence(tmp_path, notes):
    model = quince.Ridge().fit(X, Y)._model.annotated(json.dumps({"python": notes}))
    model.save(tmp_path / "m.quince")
    with pytest.raises(ValueError, match="the notes of the Python package are not right"):
        quince.load(tmp_path / "m.quince")


def test_a_class_that_we_do_not_have_is_a_plain_model(tmp_path):
    for notes in ({"python": {"class": "os.system"}}, {"python": 3}, [1], None):
        quince.Ridge().fit(X, Y)._model.annotated(json.dumps(notes)).save(tmp_path / "m.quince")
        assert type(quince.load(tmp_path / "m.quince")) is quince.Model


def run(*arguments: object) -> str:
    done = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_command_predicts_with_what_python_saved(command, tmp_path):
    frame = pd.DataFrame(IRIS, columns=["a", "b", "c", "d"])
    frame.assign(y=WORDS)[["d", "y", "b", "a", "c"]].to_csv(tmp_path / "shuffled.csv", index=False)
    classifier = quince.RidgeClassifier().fit(frame, WORDS)
    classifier.save(tmp_path / "m.quince")
    predicted = json.loads(run(command, "predict", tmp_path / "m.quince", tmp_path / "shuffled.csv", "--json"))
    labels = [next(value for value in row.values() if value in set(WORDS)) for row in rows_of(predicted)]
    assert labels == classifier.predict(frame).tolist()


def rows_of(predicted):
    """The list of rows in whatever the command wraps it."""
    if isinstance(predicted, list):
        return predicted
    return next(value for value in predicted.values() if isinstance(value, list) and len(value) == len(IRIS))


def test_python_predicts_with_what_the_command_saved(command, tmp_path, iris_csv):
    run(command, "train", iris_csv, "--target", "species", "--model", "ridge", "-o", tmp_path / "m.quince")
    model = quince.load(tmp_path / "m.quince")
    assert type(model) is quince.Model
    assert model.method == "ridge" and model.target == "species"
    frame = pd.read_csv(iris_csv)
    assert (model.predict(frame) == frame["species"]).mean() > 0.8
    here = quince.train(iris_csv, "species", "ridge")
    assert_array_equal(here.predict(frame), model.predict(frame))
    assert here.to_bytes() == model.to_bytes()


def test_a_pickle_opens_in_another_process(tmp_path):
    model = quince.Ridge().fit(X, Y)
    (tmp_path / "m.pickle").write_bytes(pickle.dumps(model))
    program = "import pickle, sys; print(repr(pickle.load(open(sys.argv[1], 'rb')).coef_.tobytes()))"
    assert run(sys.executable, "-c", program, tmp_path / "m.pickle").strip() == repr(model.coef_.tobytes())
