"""Bayes classifiers of data frames, with a family for each column: against algebra, and scikit-learn where it has them."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.naive_bayes
from bayes_data import CLOSE, counts, labels, numbers
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss

import quince

FRAME = pd.DataFrame({
    "age": [20.0, 30.0, None, 60.0, 70.0, 65.0, 31.0, 58.0],
    "city": pd.Categorical(["Oslo", "Oslo", "Rome", "Rome", None, "Rome", "Oslo", "Rome"]),
    "visits": [0, 2, 1, 5, 7, 4, 0, 6],
    "member": [True, False, True, True, True, None, False, True],
    "a,b=c+d": [1.0, 2.0, 1.5, 1.7, 2.2, 1.1, 0.4, 3.0],
})
SIDE = np.array(["left", "left", "left", "right", "right", "right", "left", "right"])
FAMILY = {"age": "normal", "visits": "poisson", "a,b=c+d": "normal"}


def by_hand(frame):
    """ln P(class) + ln p(row | class) of FRAME's model, one column per class."""
    joint = np.full((len(frame), 2), np.log(0.5))
    for k, side in enumerate(("left", "right")):
        own = FRAME[side == SIDE]
        for column in ("age", "a,b=c+d"):
            added = 1e-9 * FRAME[column].var(ddof=0)
            normal = stats.norm(own[column].mean(), np.sqrt(own[column].var(ddof=0) + added))
            joint[:, k] += np.nan_to_num(normal.logpdf(frame[column].astype(float)))
        rate = (own["visits"].sum() + FRAME["visits"].mean()) / (len(own) + 1)
        joint[:, k] += stats.poisson.logpmf(frame["visits"], rate)
        for column, values in {"city": ["Oslo", "Rome"], "member": [True, False]}.items():
            known = own[column].notna().sum()
            probability = {value: ((own[column] == value).sum() + 1) / (known + 2) for value in values}
            joint[:, k] += [np.log(probability.get(value, 1.0)) for value in frame[column]]
    return joint


def test_a_frame_has_the_posterior_of_its_columns():
    model = quince.MixedNB(calibrate=False, family=FAMILY).fit(FRAME, SIDE)
    joint = by_hand(FRAME)
    assert_allclose(model.predict_joint_log_proba(FRAME), joint, rtol=1e-8)
    posterior = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    assert_allclose(model.predict_proba(FRAME), posterior, **CLOSE)
    assert_array_equal(model.predict(FRAME), SIDE)
    assert model.score(FRAME, SIDE) == 1.0
    assert model.n_features_in_ == 5 and list(model.feature_names_in_) == list(FRAME)
    assert_array_equal(model.class_count_, [4, 4])
    written = 'age=normal,visits=poisson,"a,b=c+d"=normal'
    assert quince.MixedNB(calibrate=False, family=written).fit(FRAME, SIDE)._model.settings == model._model.settings
    # Columns are found by name, and others may stand beside them.
    assert_array_equal(model.predict_proba(FRAME[list(FRAME)[::-1]].assign(more=1)), model.predict_proba(FRAME))


MAKES = {"polars": pl.from_pandas, "arrow": pa.Table.from_pandas, "quince": quince.Table}


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
def test_frames_of_every_make_are_taken(make):
    model = quince.MixedNB(calibrate=False, family=FAMILY).fit(FRAME, SIDE)
    other = quince.MixedNB(calibrate=False, family=FAMILY).fit(make(FRAME), SIDE)
    assert_array_equal(other.predict_proba(make(FRAME)), model.predict_proba(FRAME))
    assert list(other.feature_names_in_) == list(FRAME)


def test_a_frame_may_come_in_pieces_and_with_weights():
    weights = np.array([1, 2, 1, 1, 3, 1, 1, 2])
    again = np.repeat(np.arange(8), weights)
    heavy = quince.MixedNB(calibrate=False, family=FAMILY).fit(FRAME, SIDE, weights)
    often = quince.MixedNB(calibrate=False, family=FAMILY).fit(FRAME.iloc[again], SIDE[again])
    assert_allclose(heavy.predict_joint_log_proba(FRAME), often.predict_joint_log_proba(FRAME), rtol=1e-8)
    pieces = quince.MixedNB(calibrate=False, family=FAMILY).partial_fit(FRAME, SIDE, classes=["left", "right"])
    more = np.flatnonzero(weights > 1)
    pieces.partial_fit(FRAME.iloc[more], SIDE[more], sample_weight=weights[more] - 1)
    assert_allclose(pieces.predict_joint_log_proba(FRAME), heavy.predict_joint_log_proba(FRAME), rtol=1e-8)


def test_texts_are_counts_of_words():
    texts = ["good film good plot", "good fun", "bad film", "bad bad plot", "dull film", None]
    frame = quince.Table(pd.DataFrame({"review": texts}), kinds={"review": "text"})
    y = [1, 1, 0, 0, 0, 1]
    model = quince.MixedNB(calibrate=False).fit(frame, y)
    words = quince.CountVectorizer(min_df=2)  # a table leaves out words of a single row
    X = words.fit_transform(texts[:5]).toarray()
    their = sklearn.naive_bayes.MultinomialNB(class_prior=[0.5, 0.5]).fit(X, y[:5])
    assert_allclose(model.predict_proba(frame)[:5], their.predict_proba(X), **CLOSE)
    assert_allclose(model.predict_proba(frame)[5], [0.5, 0.5])  # a missing value is no evidence


def test_a_matrix_is_a_table_of_numbers(rng):
    y = labels(rng, 100, 2)
    X = numbers(rng, y, 3)
    their = sklearn.naive_bayes.GaussianNB(var_smoothing=0).fit(X, y)
    model = quince.MixedNB(calibrate=False, family="normal", variance_floor=0).fit(X, y)
    assert_allclose(model.predict_joint_log_proba(X), their.predict_joint_log_proba(X), **CLOSE)
    parts = quince.MixedNB(calibrate=False, family={(0, 2): "gaussian", "x1": "normal"}, variance_floor=0).fit(X, y)
    joint = np.log([(y == 0).mean(), (y == 1).mean()]) + np.array([
        stats.multivariate_normal(X[y == k][:, ::2].mean(axis=0), np.cov(X[y == k][:, ::2].T, ddof=0)).logpdf(X[:, ::2])
        + stats.norm(X[y == k][:, 1].mean(), X[y == k][:, 1].std()).logpdf(X[:, 1])
        for k in range(2)
    ]).T
    assert_allclose(parts.predict_joint_log_proba(X), joint, rtol=1e-6)  # to which 1e-9 of the variance is added
    C = counts(rng, y)
    words = quince.MixedNB(calibrate=False, alpha=0.5).fit(sparse.csr_matrix(C), y)
    expected = sklearn.naive_bayes.MultinomialNB(alpha=0.5).fit(C, y)
    assert_allclose(words.predict_proba(sparse.csr_matrix(C)), expected.predict_proba(C), **CLOSE)
    X[::7, 0] = np.nan
    plain = quince.GaussianNB(var_smoothing=0).fit(X, y)
    model.fit(X, y)
    assert_allclose(model.predict_proba(X), plain.predict_proba(X), **CLOSE)


def saved():
    yield quince.MixedNB(calibrate=False, family=FAMILY).fit(FRAME, SIDE), FRAME
    yield quince.MixedNB(calibrate=False, priors=[0.3, 0.7], n_jobs=1).fit(FRAME, SIDE), FRAME
    yield quince.GaussianClassifier(calibrate=False, shared="pooled").fit(FRAME, SIDE), FRAME
    yield quince.GaussianClassifier(calibrate=False).fit(*load_iris(return_X_y=True)), load_iris().data
    yield quince.PoissonNB().fit(FRAME[["visits"]], SIDE), FRAME[["visits"]]
    yield quince.MixedNB(calibrate=False, family={0: "histogram"}).fit(*load_iris(return_X_y=True)), load_iris().data


@pytest.mark.parametrize(("model", "rows"), list(saved()), ids=lambda v: f"{v!r}"[:40] if hasattr(v, "fit") else "")
def test_models_of_our_own_come_back(model, rows, tmp_path):
    model.save(tmp_path / "m.quince")
    opened = quince.load(tmp_path / "m.quince")
    for again in (opened, pickle.loads(pickle.dumps(model))):
        assert type(again) is type(model) and str(again.get_params()) == str(model.get_params())
        assert_array_equal(again.predict_joint_log_proba(rows), model.predict_joint_log_proba(rows))
        assert_array_equal(again.predict(rows), model.predict(rows))
        assert vars(again).keys() == vars(model).keys()
        again.partial_fit(rows, model.predict(rows))
        assert again.class_count_.sum() == 2 * model.class_count_.sum()
    plain = quince.Model.load(tmp_path / "m.quince")
    assert_array_equal(plain.predict_proba(rows), model.predict_proba(rows))
    opened.save(tmp_path / "again.quince")


def test_what_was_learnt_is_explained():
    model = quince.MixedNB(calibrate=False, family=FAMILY).fit(FRAME, SIDE)
    said = model.explain()
    titles = [table["title"] for table in said["tables"]]
    assert titles[0] == "Classes" and any("Poisson" in title for title in titles)
    of_row = model.explain(FRAME, row=4)
    assert "right" in of_row["sentences"][0]
    (table,) = of_row["tables"]
    odds = sum(values[0] for _, values in table["rows"])
    joint = model.predict_joint_log_proba(FRAME)
    assert_allclose(odds, joint[4, 1] - joint[4, 0], rtol=1e-8)
    assert_allclose(of_row["tables"][0]["rows"][0][1], [0.0])  # the priors are equal
    X, y = load_iris(return_X_y=True)
    flowers = quince.GaussianClassifier(calibrate=False).fit(X, y)
    assert flowers.explain(X, row=70) == flowers.explain(X[70:71])
    for row in (150, -1):
        with pytest.raises(ValueError, match=f"There is no row {row}"):
            flowers.explain(X, row=row)


def test_rows_are_sampled_from_the_model():
    model = quince.MixedNB(calibrate=False, family=FAMILY).fit(FRAME, SIDE)
    drawn = model.sample(4000)
    assert list(drawn) == [*FRAME, "y"]
    assert set(drawn["y"]) == {"left", "right"} and set(drawn["city"]) == {"Oslo", "Rome"}
    left = drawn["y"] == "left"
    assert abs(left.mean() - 0.5) < 4 * 0.5 / np.sqrt(4000)
    own = FRAME["age"][SIDE == "left"]
    assert abs(drawn["age"][left].mean() - own.mean()) < 5 * own.std() / np.sqrt(left.sum())
    assert set(model.sample(50, label="right", random_state=7)["y"]) == {"right"}
    for state in (0, 5):
        one, other = model.sample(5, random_state=state), model.sample(5, random_state=state)
        assert all(np.array_equal(one[name], other[name]) for name in one)
    assert not np.array_equal(model.sample(5, random_state=1)["age"], model.sample(5, random_state=2)["age"])
    assert len(model.sample(3, random_state=np.random.RandomState(0))["age"]) == 3
    with pytest.raises(ValueError, match="no class 'up'"):
        model.sample(label="up")
    # A column may be called y, as the labels are; one that is always the same says nothing.
    frame = pd.DataFrame({"y": FRAME["age"], "one": 1.5})
    model = quince.MixedNB(calibrate=False, family="normal").fit(frame, SIDE)
    assert list(model.sample(2)) == ["y", "y_"] and model.sample(2)["y"].dtype == np.float64
    flat = quince.GaussianClassifier(calibrate=False).fit(np.c_[FRAME["visits"], np.ones(8)], SIDE)
    assert np.isnan(flat.sample(2)["x1"]).all()


def test_wrong_families_are_refused_with_a_sentence():
    def refused(match, **parameters):
        with pytest.raises(ValueError, match=match):
            quince.MixedNB(**parameters).fit(FRAME, SIDE)

    refused("cannot be 'nromal'. Did you mean 'normal'", family="nromal")
    refused("names 'agee', which is no column that is learnt from. Did you mean 'age'", family={"agee": "normal"})
    refused("of 'city' cannot be normal: it is a category", family={"city": "normal"})
    refused("which it cannot. Give another name", family={'a"b': "normal"})
    refused("3 for 2 classes", priors=[0.2, 0.3, 0.5])
    refused("add up to 0.75. Give numbers that add up to 1", priors=[0.25, 0.5])
    with pytest.raises(ValueError, match="requires y"):
        quince.MixedNB(calibrate=False).fit(FRAME, None)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        quince.MixedNB(calibrate=False).fit(FRAME, SIDE[:5])
    with pytest.raises(ValueError, match=r"quince\.read"):
        quince.MixedNB(calibrate=False).fit("data.csv", SIDE)
    model = quince.MixedNB(calibrate=False).fit(FRAME, SIDE)
    with pytest.raises(ValueError, match="learnt from a data frame, and X is a ndarray"):
        model.predict(np.zeros((2, 5)))
    with pytest.raises(ValueError, match="the column 'age' that the model was trained on is missing"):
        model.predict(FRAME.drop(columns="age"))
    with pytest.raises(TypeError, match="dense data is required"):
        quince.GaussianClassifier(calibrate=False).fit(sparse.eye_array(4).tocsr(), [0, 1, 0, 1])


def test_a_matrix_model_takes_the_numbers_of_a_frame():
    X, y = load_iris(return_X_y=True)
    model = quince.MixedNB(calibrate=False, family="normal").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that X has names
        answer = model.predict_proba(pd.DataFrame(X, columns=list("abcd")))
    assert_array_equal(answer, model.predict_proba(X))


@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_is_a_fit_without_the_row(weighted):
    X, y = load_iris(return_X_y=True)
    kinds = np.array(["short", "long"])[(X[:, 2] > 4).astype(int)]
    frame = pd.DataFrame({"sepal": X[:, 0], "petal": X[:, 3], "kind": kinds})
    incomplete = frame.copy()
    incomplete.loc[3, "sepal"] = np.nan
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y)) if weighted else None
    gaussian = quince.GaussianClassifier(variance_floor=0.0, calibrate=False)
    for model, frame in (
        (quince.MixedNB(family={"sepal": "normal", "petal": "normal"}, variance_floor=0.0, calibrate=False), incomplete),
        (gaussian, frame),
    ):
        found = model.leave_one_out(frame, y, sample_weight=weights)
        assert found.shape == (150, 3) and not hasattr(model, "classes_")
        for row in (0, 70, 149):
            rest = np.delete(np.arange(150), row)
            rest_weights = None if weights is None else weights[rest]
            alone = clone(model).fit(frame.iloc[rest], y[rest], sample_weight=rest_weights)
            assert_allclose(found[row], alone.predict_proba(frame.iloc[[row]])[0], atol=1e-9)
    # What is expected of the missing value has seen the row that is left out.
    with pytest.raises(ValueError, match="no exact leave-one-out"):
        gaussian.leave_one_out(incomplete, y, sample_weight=weights)


def test_whole_numbers_have_one_rule_in_arrays_and_in_frames():
    random = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = random.poisson(3 + 2 * y[:, None], size=(400, 2)).astype(float)
    of_array, of_frame = quince.MixedNB().fit(X, y), quince.MixedNB().fit(pd.DataFrame(X, columns=["a", "b"]), y)
    assert "poisson" in str(of_array.explain()) and "poisson" in str(of_frame.explain())
    assert_array_equal(of_array.predict_proba(X), of_frame.predict_proba(pd.DataFrame(X, columns=["a", "b"])))


def test_missing_values_that_do_not_converge_are_warned_of_and_predict_no_worse_than_the_baseline():
    random = np.random.default_rng(0)
    X = 0.7 * random.standard_normal((80, 1)) + random.standard_normal((80, 10))
    X[random.random(X.shape) < 0.5] = np.nan
    y = np.arange(80) % 2
    with pytest.warns(ConvergenceWarning, match="variance_floor"):
        model = quince.GaussianClassifier().fit(X, y)
    new = 0.7 * random.standard_normal((2000, 1)) + random.standard_normal((2000, 10))
    new[random.random(new.shape) < 0.5] = np.nan
    assert log_loss(np.arange(2000) % 2, model.predict_proba(new)) < np.log(2) + 0.03


def test_without_a_prior_what_never_was_has_no_probability():
    X = sparse.csr_matrix([[2.0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 3, 0]])
    model = quince.MultinomialNB(alpha=0).fit(X, [0, 0, 1])
    with np.errstate(divide="ignore"):
        expected = np.log([[0.75, 0, 0.25, 0], [0, 0, 1, 0]])
    assert_allclose(model.feature_log_prob_, expected)
    # ... and says nothing of a row.
    assert_array_equal(model.predict([[1, 5, 0, 0], [0, 5, 1, 9]]), [0, 1])
    gap = quince.MixedNB(family="histogram", bins=10, alpha=0, calibrate=False)
    values = np.array([0.0, 0.11, 0.123, 0.2, 0.94, 0.95, 1.0, 0.987])[:, None]
    drawn = gap.fit(values, [0, 1] * 4).sample(500)
    column = next(iter(drawn.values()))
    assert ((column < 0.3) | (column > 0.7)).all()


def test_answers_are_numbers_even_where_nothing_is_possible():
    counts = quince.MixedNB(family="multinomial", alpha=0, calibrate=False).fit([[1, 0], [0, 1]], [0, 1])
    assert_allclose(counts.predict_proba([[1, np.nan]]).sum(axis=1), 1.0)
    huge = 1e17 + 16.0 * np.arange(12)[:, None]
    model = quince.MixedNB().fit(huge, [0, 1] * 6)
    assert_allclose(model.predict_proba(huge).sum(axis=1), 1.0)
    assert_allclose(pickle.loads(pickle.dumps(model)).predict_proba(huge), model.predict_proba(huge))
    constant = quince.MixedNB(family="histogram").fit(np.full((6, 1), 1e17), [0, 1] * 3)
    assert_allclose(pickle.loads(pickle.dumps(constant)).predict_proba([[1e17]]), [[0.5, 0.5]])
    none = quince.MixedNB(family="normal", priors=[1.0, 0.0], calibrate=False)
    none.partial_fit([[1.0], [2.0]], [1, 1], classes=[0, 1])
    assert_allclose(none.predict_proba([[1.5]]), [[0.0, 1.0]])
    with pytest.raises(ValueError, match="NaN"):
        quince.MixedNB().fit(sparse.csr_matrix([[1.0, 0], [0, 2]]), [0, 1]).predict(sparse.csr_matrix([[1.0, np.nan]]))


def test_a_model_whose_families_are_impossible_is_saved_all_the_same():
    X = np.random.default_rng(0).normal(size=(60, 1))
    model = quince.MixedNB(alpha=0).fit(X, [0, 1] * 30)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_leaving_out_a_far_row_of_a_kernel_density_keeps_what_is_left():
    X, y = np.array([[0.0], [1], [20], [40], [50], [51]]), np.array([0, 0, 0, 1, 1, 1])
    model = quince.MixedNB(family="kernel-density", bandwidth=1.0, calibrate=False)
    found = model.leave_one_out(X, y)
    for row in range(6):
        rest = np.delete(np.arange(6), row)
        alone = clone(model).fit(X[rest], y[rest]).predict_proba(X[[row]])[0]
        assert_allclose(found[row], alone, atol=1e-9)


def test_learning_on_refuses_what_learning_refuses():
    counts = quince.MixedNB(family="multinomial").partial_fit([[1.0, 2], [3, 0]], [0, 1], classes=[0, 1])
    for bad in ([[-5.0, 1]], [[np.nan, 1]]):
        with pytest.raises(ValueError, match="is not a count"):
            counts.partial_fit(bad, [0])
    density = quince.MixedNB(family="kernel-density").partial_fit([[1.0], [2], [3], [4]], [0, 1, 0, 1], classes=[0, 1])
    with pytest.raises(ValueError, match="kernel density"):
        density.partial_fit([[7.0]], [0])
    density.partial_fit([[3.0]], [1])
    later = quince.MixedNB(family="normal").partial_fit([[1.0], [2]], [0, 0], classes=[0, 1])
    assert any("no rows" in remark for remark in later.report_["remarks"])
    assert later.partial_fit([[3.0], [4]], [1, 1]).report_["remarks"] == []


def test_a_frame_tells_what_is_not_learnt_from_and_numbers_may_be_names():
    frame = pd.DataFrame({0: [1.5, 2.5, 3.5, 4.5], "same": ["a"] * 4})
    frame.columns = frame.columns.astype(object)
    with pytest.warns(UserWarning, match="not learnt from: same"):
        quince.MixedNB().fit(frame.rename(columns=str), [0, 1, 0, 1])
    model = quince.MixedNB(family={0: "histogram"}).fit(pd.DataFrame({0: [1.5, 2.5, 3.5, 4.5]}), [0, 1, 0, 1])
    assert model.predict(pd.DataFrame({0: [2.0]})).shape == (1,)
    mixed = pd.DataFrame({"a": [1, "b", None, 2]})
    with pytest.raises(ValueError, match="Arrow cannot take"):
        quince.MixedNB().fit(mixed, [0, 1, 0, 1])


def test_a_row_that_is_not_there_cannot_be_explained():
    frame = pd.DataFrame({"a": [1.5, 2.5, 3.5, 4.5]})
    model = quince.MixedNB().fit(frame, [0, 1, 0, 1])._model
    for row in (-1, 4, 10**6):
        with pytest.raises(ValueError, match=f"there is no row {row}"):
            model.explain(frame, row)


def test_sparse_answers_take_no_threshold_below_what_is_not_there():
    with pytest.raises(ValueError, match="threshold"):
        quince.MixedNB(family="bernoulli", threshold=-1.0).fit(sparse.csr_matrix([[1.0, 0], [0, 1]]), [0, 1])


@pytest.mark.parametrize("family", [{(0, 1): "markov-chain"}])
def test_what_cannot_be_held_is_refused(family):
    X = np.array([[0.0, 0], [1_000_000, 1_000_000], [1, 1], [2, 2]])
    with pytest.raises(ValueError, match="memory"):
        quince.MixedNB(family=family).fit(X, [0, 1, 0, 1])
