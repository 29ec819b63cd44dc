"""Clusters from the same start are those of scikit-learn; silhouettes are its numbers."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.cluster as theirs
import sklearn.metrics
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import quince

#: Rows, columns and clusters.
SHAPES = [
    (50, 2, 3), (500, 5, 8), (3000, 20, 12), (2000, 100, 10), (400, 300, 6), (5000, 3, 40), (200, 1, 7), (30, 4, 30),
]  # fmt: skip
CLASSES = ["KMeans", "MiniBatchKMeans", "BisectingKMeans"]


def rows_of(rng, rows, columns):
    return rng.normal(size=(rows, columns)) + 3.0 * rng.integers(0, 3, (rows, 1))


def error_of(X, centres, labels, weights=None):
    squares = ((X - centres[labels]) ** 2).sum(axis=1)
    return (squares if weights is None else weights * squares).sum()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("tol", [0, 1e-4, 0.01])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("algorithm", ["lloyd", "elkan"])
def test_from_the_same_start_clusters_are_those_of_scikit_learn(rng, shape, tol, weighted, algorithm):
    rows, columns, k = shape
    X = rows_of(rng, rows, columns)
    start = X[rng.choice(rows, k, replace=False)]
    weights = rng.integers(1, 4, rows).astype(float) if weighted else None
    parameters = {"n_clusters": k, "init": start, "tol": tol, "algorithm": algorithm, "n_init": 1}
    mine, their = (module.KMeans(**parameters).fit(X, sample_weight=weights) for module in (quince, theirs))
    assert mine.n_iter_ == their.n_iter_
    assert_array_equal(mine.labels_, their.labels_)
    assert_allclose(mine.cluster_centers_, their.cluster_centers_, rtol=1e-9, atol=1e-9)
    assert_allclose(mine.inertia_, their.inertia_, rtol=1e-9, atol=1e-12)
    Q = rows_of(rng, 100, columns)
    assert_array_equal(mine.predict(Q), their.predict(Q))
    assert_array_equal(mine.predict(X), mine.labels_)
    assert_allclose(mine.transform(Q), their.transform(Q), atol=1e-7)
    assert_allclose(mine.transform(Q), cdist(Q, mine.cluster_centers_), rtol=1e-12)
    assert_allclose(mine.score(Q), their.score(Q))
    assert_allclose(mine.score(X, sample_weight=weights), -mine.inertia_, rtol=1e-9, atol=1e-12)
    for name in ("labels_", "cluster_centers_", "n_iter_", "inertia_"):
        assert np.asarray(getattr(mine, name)).dtype == np.asarray(getattr(their, name)).dtype
    assert type(mine.inertia_) is float and type(mine.n_iter_) is int


@pytest.mark.parametrize("name", CLASSES)
def test_a_weight_of_two_is_a_row_twice(rng, name):
    X, weights = rows_of(rng, 300, 3), rng.integers(0, 4, 300)
    twice = np.repeat(X, weights, axis=0)
    if name == "KMeans":
        start = X[rng.choice(np.flatnonzero(weights), 5, replace=False)]
        mine = quince.KMeans(5, init=start).fit(X, sample_weight=weights)
        again = quince.KMeans(5, init=start).fit(twice)
        assert_allclose(mine.cluster_centers_, again.cluster_centers_, rtol=1e-9)
        assert_array_equal(np.repeat(mine.labels_, weights), again.labels_)
        assert_allclose(mine.inertia_, again.inertia_)
    else:
        mine = getattr(quince, name)(5, random_state=0, init="k-means++").fit(X, sample_weight=weights)
        assert_allclose(-mine.score(twice), mine.inertia_)
    assert_allclose(mine.inertia_, error_of(X, mine.cluster_centers_, mine.labels_, weights))
    assert_allclose(mine.score(X, sample_weight=weights), -mine.inertia_)


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_rows_have_the_clusters_of_dense_ones(rng, name, kind):
    X = np.where(rng.uniform(size=(400, 15)) < 0.7, 0, rng.integers(1, 9, (400, 15))).astype(float)
    parameters = {"n_clusters": 4, "random_state": 3}
    if name == "KMeans":
        parameters["init"] = X[:4]
    dense, thin = (getattr(quince, name)(**parameters).fit(rows) for rows in (X, kind(X)))
    if name == "KMeans":
        assert_array_equal(dense.labels_, thin.labels_)
        assert_allclose(dense.cluster_centers_, thin.cluster_centers_, atol=1e-12)
        assert_allclose(dense.inertia_, thin.inertia_, rtol=1e-9)
        assert_allclose(dense.transform(X), thin.transform(kind(X)), atol=1e-9)
    assert_allclose(thin.inertia_, error_of(X, thin.cluster_centers_, thin.labels_), rtol=1e-9)
    assert_array_equal(thin.predict(kind(X)), thin.predict(X))


@pytest.mark.parametrize("name", CLASSES)
def test_single_precision_stays_single_and_gives_the_answer_of_double(rng, name):
    X = rows_of(rng, 500, 6).astype(np.float32)
    parameters = {"n_clusters": 5, "random_state": 1}
    single, double = (getattr(quince, name)(**parameters).fit(rows) for rows in (X, X.astype(np.float64)))
    assert_array_equal(single.labels_, double.labels_)
    assert_allclose(single.cluster_centers_, double.cluster_centers_, rtol=1e-6)
    assert single.inertia_ == double.inertia_
    assert single.cluster_centers_.dtype == single.transform(X).dtype == np.float32
    assert_array_equal(single.predict(X), double.predict(X.astype(float)))


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("layout", ["F", "strided", "backwards", "pandas"])
def test_every_layout_gives_the_same_answer(rng, name, layout):
    X = rows_of(rng, 300, 4)
    wide = np.zeros((600, 12))
    wide[::2, ::3] = X
    rows = {
        "F": np.asfortranarray(X),
        "strided": wide[::2, ::3],
        "backwards": X[::-1, ::-1].copy()[::-1, ::-1],
        "pandas": pd.DataFrame(X),
    }[layout]
    plain, other = (getattr(quince, name)(4, random_state=0).fit(some) for some in (X, rows))
    assert_array_equal(plain.labels_, other.labels_)
    assert_allclose(plain.cluster_centers_, other.cluster_centers_, rtol=1e-12)


@pytest.mark.parametrize("name", CLASSES)
def test_the_same_random_state_gives_the_same_clusters(rng, name):
    X = rows_of(rng, 500, 3)
    one, same, other = (getattr(quince, name)(6, init="random", n_init=1, random_state=s).fit(X) for s in (1, 1, 2))
    assert_array_equal(one.cluster_centers_, same.cluster_centers_)
    assert not np.array_equal(one.cluster_centers_, other.cluster_centers_)
    drawn = [getattr(quince, name)(6, random_state=np.random.RandomState(s)).fit(X).inertia_ for s in (1, 1)]
    assert drawn[0] == drawn[1]


def test_clusters_that_lie_apart_are_found():
    X, groups = make_blobs(2000, 5, centers=6, cluster_std=0.3, random_state=0)
    for model in (
        quince.KMeans(6, random_state=0),
        quince.KMeans(6, random_state=0, polish=True),
        quince.KMeans(6, random_state=0, algorithm="sequential"),
        quince.KMeans("auto", random_state=0),
        quince.MiniBatchKMeans(6, random_state=0),
        quince.BisectingKMeans(6, init="k-means++", n_init=3, random_state=0),
    ):
        labels = model.fit_predict(X)
        assert adjusted_rand_score(groups, labels) > 0.99
        assert_array_equal(labels, model.labels_)
        assert labels.dtype == np.int32
        assert model.fit_transform(X).shape == (2000, 6)
        assert list(model.get_feature_names_out())[:1] == [f"{type(model).__name__.lower()}0"]


def test_more_starts_and_a_polish_can_only_lower_the_error(rng):
    X = rng.uniform(size=(1000, 2))
    errors = [quince.KMeans(20, init="random", n_init=n, random_state=0).fit(X).inertia_ for n in (1, 3, 10)]
    assert errors[0] >= errors[1] >= errors[2]
    assert_allclose(quince.KMeans(20, init="random", random_state=0).fit(X).inertia_, errors[2])
    start = X[:20]
    plain, polished = (quince.KMeans(20, init=start, tol=0, polish=p).fit(X).inertia_ for p in (False, True))
    assert polished < plain
    one = quince.KMeans(20, init=start, algorithm="sequential").fit(X)
    assert one.inertia_ <= plain * 1.1
    assert_allclose(one.inertia_, error_of(X, one.cluster_centers_, one.labels_))


def test_k_means_plus_plus_is_as_good_as_that_of_scikit_learn(rng):
    X = rows_of(rng, 2000, 4)
    ours, other = ([m.KMeans(15, random_state=s).fit(X).inertia_ for s in range(20)] for m in (quince, theirs))
    assert np.mean(ours) < 1.02 * np.mean(other)


def test_a_function_may_say_where_to_start(rng):
    X = rows_of(rng, 200, 3)
    asked = []

    def first(X, n_clusters, random_state):
        asked.append(random_state.randint(1000))
        return X[random_state.randint(len(X), size=n_clusters)]

    model = quince.KMeans(4, init=first, random_state=0).fit(X)
    assert len(asked) == 10 and len(set(asked)) > 1
    assert model.inertia_ <= quince.KMeans(4, init=first, n_init=1, random_state=0).fit(X).inertia_
    assert quince.MiniBatchKMeans(4, init=first, random_state=0).fit(X).cluster_centers_.shape == (4, 3)
    with pytest.raises(ValueError, match="The 'init' parameter of BisectingKMeans must be a str among"):
        quince.BisectingKMeans(4, init=first).fit(X)


def test_auto_says_why(rng):
    X = load_iris().data
    model = quince.KMeans("auto", random_state=0).fit(X)
    assert len(model.cluster_centers_) == 2
    assert any("2 clusters: their mean silhouette" in remark for remark in model.report_["remarks"])
    labels = {k: theirs.KMeans(k, n_init=5, random_state=0).fit_predict(X) for k in range(2, 11)}
    assert max(labels, key=lambda k: sklearn.metrics.silhouette_score(X, labels[k])) == 2
    with pytest.raises(ValueError, match="n_clusters cannot be 'auto' for a stream"):
        quince.MiniBatchKMeans("auto").partial_fit(X)


@pytest.mark.parametrize("init", ["random", "k-means++"])
@pytest.mark.parametrize("seed", range(3))
def test_mini_batches_come_near_all_rows_at_once(rng, init, seed):
    X = rows_of(rng, 5000, 4)
    model = quince.MiniBatchKMeans(8, batch_size=256, init=init, n_init=3, random_state=seed).fit(X)
    whole = quince.KMeans(8, n_init=5, random_state=0).fit(X)
    their = theirs.MiniBatchKMeans(8, batch_size=256, init=init, n_init=3, random_state=seed).fit(X)
    assert model.inertia_ < 1.15 * whole.inertia_ and model.inertia_ < 1.1 * their.inertia_
    assert_array_equal(model.predict(X), model.labels_)
    assert_allclose(model.inertia_, error_of(X, model.cluster_centers_, model.labels_))
    assert model.n_steps_ == 20 * model.n_iter_ and 1 <= model.n_iter_ <= 100
    hidden = quince.MiniBatchKMeans(8, compute_labels=False, random_state=0).fit(X)
    assert not hasattr(hidden, "labels_") and hidden.inertia_ > 0


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_stream_is_learnt_as_scikit_learn_learns_it(rng, kind, weighted):
    X = rows_of(rng, 1000, 3)
    parameters = {"n_clusters": 4, "init": X[:4], "n_init": 1, "reassignment_ratio": 0}
    mine, their = (module.MiniBatchKMeans(**parameters) for module in (quince, theirs))
    for start in range(0, 1000, 100):
        batch = kind(X[start : start + 100])
        weights = rng.integers(1, 4, 100).astype(float) if weighted else None
        for model in (mine, their):
            model.partial_fit(batch, sample_weight=weights)
        assert_allclose(mine.cluster_centers_, their.cluster_centers_, rtol=1e-9)
        assert_array_equal(mine.labels_, their.labels_)
        assert_allclose(mine.inertia_, their.inertia_, rtol=1e-9)
    assert mine.n_steps_ == their.n_steps_ == 10
    assert_array_equal(mine.predict(X), their.predict(X))


def test_a_stream_starts_by_itself_and_goes_on_after_a_fit(rng):
    X, groups = make_blobs(3000, 4, centers=5, cluster_std=0.4, random_state=1)
    model = quince.MiniBatchKMeans(5, random_state=0)
    for start in range(0, 3000, 500):
        model.partial_fit(X[start : start + 500])
    assert adjusted_rand_score(groups, model.predict(X)) > 0.99
    fitted = quince.MiniBatchKMeans(5, random_state=0).fit(X)
    before = fitted.cluster_centers_.copy()
    fitted.partial_fit(X[:100] + 0.1)
    assert 0 < np.abs(fitted.cluster_centers_ - before).max() < 0.05
    with pytest.raises(ValueError, match="n_samples=3 should be >= n_clusters=5"):
        quince.MiniBatchKMeans(5).partial_fit(X[:3])
    far = 1e6 + X
    stream = quince.MiniBatchKMeans(5, init=far[:5]).partial_fit(far)
    assert_allclose(stream.cluster_centers_, theirs.MiniBatchKMeans(
        5, init=far[:5], n_init=1, reassignment_ratio=0
    ).partial_fit(far).cluster_centers_)  # fmt: skip


def test_a_stream_of_frames_keeps_their_names(rng):
    frame = pd.DataFrame(rows_of(rng, 60, 2), columns=["a", "b"])
    model = quince.MiniBatchKMeans(2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for start in range(0, 60, 20):
            model.partial_fit(frame[start : start + 20])
    assert list(model.feature_names_in_) == ["a", "b"]
    assert_array_equal(model.predict(frame[40:]), model.labels_)


def test_halving_lowers_the_error_every_time(rng):
    X = rows_of(rng, 1000, 3)
    errors = [quince.BisectingKMeans(k, random_state=0).fit(X).inertia_ for k in range(1, 12)]
    assert all(later < earlier for earlier, later in zip(errors, errors[1:]))
    model = quince.BisectingKMeans(11, random_state=0).fit(X)
    trace = model.report_["trace"]
    assert_allclose(trace, errors)
    assert_allclose(errors[0], ((X - X.mean(axis=0)) ** 2).sum())
    assert_allclose(model.inertia_, error_of(X, model.cluster_centers_, model.labels_))
    # A row goes down the tree, and so each centre is the mean of the rows that end at it.
    assert_array_equal(model.predict(X), model.labels_)
    for cluster, centre in enumerate(model.cluster_centers_):
        assert_allclose(X[model.labels_ == cluster].mean(axis=0), centre, rtol=1e-9, atol=1e-9)
    with pytest.raises(ValueError, match="bisecting_strategy='largest_cluster' is not done here"):
        quince.BisectingKMeans(bisecting_strategy="largest_cluster").fit(X)


@pytest.mark.parametrize("shape", [(40, 1, 2), (300, 2, 5), (500, 20, 3), (1500, 4, 9), (130, 60, 40)], ids=str)
@pytest.mark.parametrize("far", [0.0, 1e4])
def test_silhouettes_are_those_of_scikit_learn(rng, shape, far):
    rows, columns, k = shape
    X, labels = rng.normal(size=(rows, columns)), rng.integers(0, k, rows)
    X[: rows // 4] = X[-(rows // 4) :]  # rows that are equal
    labels[-1] = k  # and one that is alone
    words = np.array([f"c{c}" for c in range(k + 1)])[labels]
    expected = sklearn.metrics.silhouette_samples(X, labels)
    for given in (labels, words, labels * 7 - 3):
        assert_allclose(quince.silhouette_samples(X + far, given), expected, atol=1e-9 if far == 0 else 1e-7)
    assert_allclose(quince.silhouette_score(X, labels), sklearn.metrics.silhouette_score(X, labels), atol=1e-9)
    assert_allclose(quince.silhouette_samples(sparse.csr_matrix(X), labels), expected, atol=1e-9)
    single = quince.silhouette_samples(X.astype(np.float32), labels)
    assert_allclose(single, quince.silhouette_samples(X.astype(np.float32).astype(float), labels), atol=1e-9)
    for size, state in ((rows // 2, 0), (rows // 3, 5)):
        got, wanted = (
            module.silhouette_score(X, labels, sample_size=size, random_state=state)
            for module in (quince, sklearn.metrics)
        )
        assert_allclose(got, wanted, atol=1e-9)


def test_silhouettes_that_do_not_exist_get_a_sentence(rng):
    X = rng.normal(size=(6, 2))
    for labels in (np.zeros(6), np.arange(6)):
        with pytest.raises(ValueError) as expected:
            sklearn.metrics.silhouette_score(X, labels)
        with pytest.raises(ValueError) as got:
            quince.silhouette_score(X, labels)
        assert str(got.value) == str(expected.value)
    with pytest.raises(ValueError, match="metric cannot be 'cosine'"):
        quince.silhouette_score(X, [0, 0, 1, 1, 2, 2], metric="cosine")
    with pytest.raises(ValueError, match="inconsistent"):
        quince.silhouette_samples(X, [0, 1])


@pytest.mark.parametrize("name", CLASSES)
def test_more_clusters_than_different_rows_leave_some_empty(name):
    X = np.repeat([[0.1, 3.3], [5.3, 1.7], [9.9, 2.1]], 20, axis=0)
    sentence = r"Number of distinct clusters \(3\) found smaller than n_clusters \(6\)"
    with pytest.warns(ConvergenceWarning, match=sentence):
        model = getattr(quince, name)(6, random_state=0).fit(X)
    assert_allclose(model.inertia_, 0, atol=1e-20)
    assert len(np.unique(model.labels_)) == 3
    assert_array_equal(model.predict(X), model.labels_)
    rows = {tuple(row) for row in X}
    assert all(tuple(centre.round(12)) in rows for centre in model.cluster_centers_)


@pytest.mark.parametrize("name", CLASSES)
def test_a_million_equal_rows_are_one_cluster_and_one_row_is_one(name):
    X = np.full((1_000_000, 2), 0.1)
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(1\)"):
        model = getattr(quince, name)(3, random_state=0).fit(X)
    assert_allclose(model.inertia_, 0, atol=1e-12)
    assert len(np.unique(model.labels_)) == 1
    one = getattr(quince, name)(1, random_state=0).fit([[2.0, 3.0]])
    assert_array_equal(one.cluster_centers_, [[2.0, 3.0]])
    assert one.inertia_ == 0 and one.predict([[7.0, 7.0]]) == [0]
    with pytest.raises(ValueError, match="n_samples=1 should be >= n_clusters=2."):
        getattr(quince, name)(2).fit([[2.0, 3.0]])


def test_an_empty_cluster_takes_the_row_that_is_furthest_away():
    X = np.array([[0.0], [1.0], [2.0], [30.0]])
    start = np.array([[1.0], [500.0]])
    mine, their = (module.KMeans(2, init=start, n_init=1).fit(X) for module in (quince, theirs))
    assert_array_equal(mine.labels_, their.labels_)
    assert_array_equal(mine.cluster_centers_, [[1.0], [30.0]])


def test_rows_far_from_zero_cost_no_digits(rng):
    X = rows_of(rng, 500, 3)
    near, far = (quince.KMeans(4, init=X[:4] + shift).fit(X + shift) for shift in (0.0, 1e8))
    assert_array_equal(near.labels_, far.labels_)
    assert_allclose(near.inertia_, far.inertia_, rtol=1e-6)
    for scale in (1e-150, 1e-30, 1e30, 1e150):
        scaled = quince.KMeans(4, init=X[:4] * scale).fit(X * scale)
        assert_array_equal(near.labels_, scaled.labels_)


@pytest.mark.parametrize("name", CLASSES)
def test_what_is_not_finite_gets_its_place(rng, name):
    X = rows_of(rng, 30, 3)
    model = getattr(quince, name)(2, random_state=0).fit(X)
    for bad, word in ((np.nan, "NaN"), (np.inf, "infinity")):
        rows = X.copy()
        rows[4, 1] = bad
        for call in (getattr(quince, name)(2).fit, model.predict, model.score):
            with pytest.raises(ValueError, match=f"the features contain {word}: row 5, column 2"):
                call(rows)
        with pytest.raises(ValueError, match=f"{word}"):
            model.transform(rows)


def test_what_does_not_fit_gets_the_sentence_of_scikit_learn(rng):
    X = rows_of(rng, 30, 3)
    for parameters in ({"init": X[:3]}, {"init": X[:4, :2]}, {"n_clusters": 31}):
        parameters = {"n_clusters": 4, **parameters}
        with pytest.raises(ValueError) as expected:
            theirs.KMeans(**parameters).fit(X)
        with pytest.raises(ValueError) as got:
            quince.KMeans(**parameters).fit(X)
        assert str(got.value) == str(expected.value)
    with pytest.warns(RuntimeWarning, match="performing only one init in KMeans instead of n_init=3"):
        quince.KMeans(3, init=X[:3], n_init=3).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quince.KMeans(3, init=X[:3]).fit(X)


def test_verbose_says_how_it_went(rng, capsys):
    X = rows_of(rng, 30, 3)
    quince.KMeans(2, verbose=1, random_state=0).fit(X)
    assert "2 centres in" in capsys.readouterr().out
    quince.KMeans(2, random_state=0).fit(X)
    assert capsys.readouterr().out == ""
