"""Neighbours are those of brute force, and what they say is what scikit-learn's classes say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn.neighbors as theirs
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_diabetes, load_iris, load_wine, make_multilabel_classification
from sklearn.metrics import accuracy_score, f1_score, log_loss
from sklearn.metrics.pairwise import nan_euclidean_distances
from sklearn.model_selection import LeaveOneOut, cross_val_predict

import quince

ALGORITHMS = ["auto", "kd_tree", "ball_tree", "brute"]
#: Rows, queries and columns.
SHAPES = [
    (1, 3, 2), (5, 4, 1), (50, 20, 3), (300, 100, 2), (1000, 300, 5),
    (700, 200, 13), (400, 300, 30), (2000, 500, 4), (3000, 50, 64), (120, 64, 200),
]  # fmt: skip
METRICS = {
    "euclidean": "euclidean",
    "l2": "euclidean",
    "manhattan": "cityblock",
    "cityblock": "cityblock",
    "l1": "cityblock",
    "chebyshev": "chebyshev",
    "hamming": "hamming",
    "cosine": "cosine",
}


def nearest_of(distances, k):
    """The k nearest by brute force: by distance, ties by row number."""
    rows = np.broadcast_to(np.arange(distances.shape[1]), distances.shape)
    order = np.lexsort((rows, distances), axis=1)[:, :k]
    return np.take_along_axis(distances, order, axis=1), order


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "hamming"])
def test_neighbours_are_those_of_brute_force_with_many_ties(rng, shape, algorithm, metric):
    rows, queries, columns = shape
    X, Q = (rng.integers(0, 4, (count, columns)).astype(float) for count in (rows, queries))
    k = min(7, rows)
    distances, numbers = quince.NearestNeighbors(n_neighbors=k, metric=metric, algorithm=algorithm).fit(X).kneighbors(Q)
    # Whole numbers have exact distances, so that ties are ties.
    expected, order = nearest_of(cdist(Q, X, METRICS[metric]), k)
    assert_array_equal(numbers, order)
    assert_allclose(distances, expected, rtol=1e-14)
    assert distances.dtype == np.float64 and numbers.dtype == np.int64
    brute = theirs.NearestNeighbors(n_neighbors=k, metric=metric, algorithm="brute").fit(X)
    assert_allclose(distances, brute.kneighbors(Q)[0], atol=1e-7)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("metric", sorted(set(METRICS) - {"hamming"}))
def test_neighbours_are_those_of_scikit_learn_without_ties(rng, shape, metric):
    rows, queries, columns = shape
    columns = max(columns, 2) if metric == "cosine" else columns
    X, Q = (rng.normal(size=(count, columns)) for count in (rows, queries))
    k = min(5, rows)
    their = theirs.NearestNeighbors(n_neighbors=k, metric=metric, algorithm="brute").fit(X)
    for algorithm in ALGORITHMS:
        mine = quince.NearestNeighbors(n_neighbors=k, metric=metric, algorithm=algorithm).fit(X)
        for got, expected in zip(mine.kneighbors(Q), their.kneighbors(Q)):
            assert_allclose(got, expected, rtol=1e-6, atol=1e-9)
        assert mine.effective_metric_ == their.effective_metric_
        assert_array_equal(mine.kneighbors(Q, return_distance=False), their.kneighbors(Q, return_distance=False))
        assert_array_equal(mine.kneighbors(Q, 1)[1], their.kneighbors(Q, 1)[1])


@pytest.mark.parametrize("p", [1, 1.5, 2, 3, np.inf])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("columns", [3, 40])
def test_minkowski_takes_p_and_weights(rng, p, weighted, columns):
    X, Q = rng.normal(size=(300, columns)), rng.normal(size=(50, columns))
    w = rng.uniform(0, 2, columns) if weighted else None
    mine = quince.NearestNeighbors(p=p, metric_params={"w": w} if weighted else None).fit(X)
    if p == np.inf and weighted:
        expected = nearest_of(np.abs((Q[:, None] - X[None]) * w).max(axis=2), 5)
    else:
        expected = nearest_of(cdist(Q, X, "minkowski", p=p, **({"w": w} if weighted else {})), 5)
    for got, wanted in zip(mine.kneighbors(Q), expected):
        assert_allclose(got, wanted, rtol=1e-12)
    if p != np.inf or not weighted:
        their = theirs.NearestNeighbors(p=p, metric_params=mine.metric_params, algorithm="brute").fit(X)
        assert mine.effective_metric_ == their.effective_metric_
        assert list(mine.effective_metric_params_) == list(their.effective_metric_params_)


@pytest.mark.parametrize("metric", ["hamming", "cosine", "manhattan"])
def test_every_metric_takes_feature_weights(rng, metric):
    X, Q = (rng.integers(0, 3, (count, 6)) + rng.integers(1, 9, 6) * 0.5 for count in (200, 30))
    w = np.array([0.0, 1.0, 2.0, 0.5, 0.25, 3.0])
    got, _ = quince.NearestNeighbors(metric=metric, metric_params={"w": w}).fit(X).kneighbors(Q)
    assert_allclose(got, nearest_of(cdist(Q, X, METRICS[metric], w=w), 5)[0], atol=1e-12)


@pytest.mark.parametrize("columns", [2, 5, 40])
@pytest.mark.parametrize("share", [0.05, 0.4])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_missing_value_is_left_out_by_the_rule_of_nan_euclidean(rng, columns, share, algorithm):
    X, Q = rng.normal(size=(200, columns)), rng.normal(size=(60, columns))
    for rows in (X, Q):
        rows[rng.uniform(size=rows.shape) < share] = np.nan
        rows[np.isnan(rows).all(axis=1), 0] = 0.5
    expected, order = nearest_of(np.nan_to_num(nan_euclidean_distances(Q, X), nan=np.inf), 5)
    for metric in ("nan_euclidean", "euclidean", "minkowski"):
        mine = quince.NearestNeighbors(metric=metric, algorithm=algorithm).fit(X)
        distances, numbers = mine.kneighbors(Q)
        assert_allclose(distances, expected, rtol=1e-9)
        assert (numbers == order).mean() > 0.99  # where their rounding makes or breaks a tie, order may differ
    # Missing values on one side only, and in one row only.
    whole = rng.normal(size=(200, columns))
    assert_allclose(
        quince.NearestNeighbors(algorithm=algorithm).fit(whole).kneighbors(Q)[0],
        nearest_of(nan_euclidean_distances(Q, whole), 5)[0],
    )


def test_classes_and_numbers_are_learnt_from_rows_with_missing_values(rng):
    X, y = load_iris(return_X_y=True)
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    X[np.isnan(X).all(axis=1)] = 1.0
    for cls in ("KNeighborsClassifier", "KNeighborsRegressor"):
        mine = getattr(quince, cls)().fit(X, y)
        their = getattr(theirs, cls)(metric="nan_euclidean").fit(X, y)
        assert (np.abs(mine.predict(X) - their.predict(X)) < 1e-9).mean() > 0.97
    assert mine.__sklearn_tags__().input_tags.allow_nan


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine", "hamming"])
def test_sparse_rows_give_the_answers_of_dense_ones(rng, metric):
    X, Q = (np.where(rng.uniform(size=(n, 12)) < 0.6, 0, rng.integers(1, 5, (n, 12))).astype(float) for n in (150, 40))
    expected = quince.NearestNeighbors(metric=metric).fit(X).kneighbors(Q)
    y = rng.integers(0, 3, 150)
    for kind in (sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix):
        for rows, queries in ((kind(X), kind(Q)), (kind(X), Q), (X, kind(Q))):
            got = quince.NearestNeighbors(metric=metric).fit(rows).kneighbors(queries)
            assert_allclose(got[0], expected[0], atol=1e-12)
            if metric != "cosine":
                assert_array_equal(got[1], expected[1])
            chances = quince.KNeighborsClassifier(metric=metric).fit(rows, y).predict_proba(queries)
            assert chances.shape == (40, 3)
    their = theirs.NearestNeighbors(metric=metric, algorithm="brute").fit(X)
    assert_allclose(expected[0], their.kneighbors(Q)[0], atol=1e-7)


@pytest.mark.parametrize("columns", [3, 40])
def test_single_and_double_precision_give_the_same_answer(rng, columns):
    X, Q = (rng.normal(size=(n, columns)).astype(np.float32) for n in (2000, 300))
    single = quince.NearestNeighbors().fit(X).kneighbors(Q)
    double = quince.NearestNeighbors().fit(X.astype(float)).kneighbors(Q.astype(float))
    for one, other in zip(single, double):
        assert_array_equal(one, other)
        assert one.dtype == other.dtype


@pytest.mark.parametrize("order", ["C", "F", "strided", "backwards", "list", "pandas"])
def test_every_layout_gives_the_same_answer(rng, order):
    X = rng.normal(size=(300, 4))
    wide = np.zeros((600, 12))
    wide[::2, ::3] = X
    layout = {
        "C": X,
        "F": np.asfortranarray(X),
        "strided": wide[::2, ::3],
        "backwards": X[::-1, ::-1].copy()[::-1, ::-1],
        "list": X.tolist(),
        "pandas": pd.DataFrame(X),
    }[order]
    expected = quince.NearestNeighbors().fit(X).kneighbors(X)
    for one, other in zip(quince.NearestNeighbors().fit(layout).kneighbors(layout), expected):
        assert_array_equal(one, other)


def test_rows_that_were_fitted_are_not_their_own_neighbours(rng):
    X = rng.integers(0, 3, (120, 2)).astype(float)
    distances = cdist(X, X)
    np.fill_diagonal(distances, np.inf)
    expected, order = nearest_of(distances, 6)
    y = rng.integers(0, 2, 120)
    for algorithm in ALGORITHMS:
        parameters = {"n_neighbors": 6, "algorithm": algorithm}
        for mine in (
            quince.NearestNeighbors(**parameters).fit(X),
            quince.KNeighborsClassifier(**parameters).fit(X, y),
            quince.KNeighborsRegressor(**parameters).fit(X, y),
        ):
            got = mine.kneighbors()
            assert_array_equal(got[1], order)
            assert_allclose(got[0], expected)


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
@pytest.mark.parametrize("own", [False, True])
def test_graphs_are_those_of_scikit_learn(rng, mode, own):
    X, Q = rng.normal(size=(80, 3)), rng.normal(size=(30, 3))
    queries = None if own else Q
    mine, their = (module.NearestNeighbors(n_neighbors=4, radius=0.8).fit(X) for module in (quince, theirs))
    for method in ("kneighbors_graph", "radius_neighbors_graph"):
        got, expected = (getattr(one, method)(queries, mode=mode) for one in (mine, their))
        assert type(got) is type(expected) and got.shape == expected.shape and got.dtype == expected.dtype
        assert_allclose(got.toarray(), expected.toarray())
    got = quince.KNeighborsRegressor(4).fit(X, X).kneighbors_graph(queries, mode=mode)
    assert_allclose(got.toarray(), their.kneighbors_graph(queries, mode=mode).toarray())
    with pytest.raises(ValueError, match='Unsupported mode, must be one of "connectivity"'):
        mine.kneighbors_graph(mode="both")


@pytest.mark.parametrize("radius", [0.0, 0.3, 1.0, 100.0])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_rows_within_a_radius_are_those_of_scikit_learn(rng, radius, metric):
    X, Q = rng.integers(0, 9, (700, 2)) / 4, rng.integers(0, 9, (90, 2)) / 4
    mine, their = (module.NearestNeighbors(radius=radius, metric=metric).fit(X) for module in (quince, theirs))
    for queries in (Q, None):
        distances, rows = mine.radius_neighbors(queries)
        expected, numbers = their.radius_neighbors(queries, sort_results=True)
        assert rows.dtype == object and len(rows) == len(numbers)
        for d, r, e, n in zip(distances, rows, expected, numbers):
            assert_array_equal(np.sort(r), np.sort(n))
            assert_allclose(d, e, atol=1e-9)
            assert (np.lexsort((r, d)) == np.arange(len(r))).all()
        assert [r.tolist() for r in mine.radius_neighbors(queries, return_distance=False)] == [r.tolist() for r in rows]
    with pytest.raises(ValueError, match="return_distance must be True"):
        mine.radius_neighbors(Q, return_distance=False, sort_results=True)


def bell(distances):
    return np.exp(-(distances**2))


@pytest.mark.parametrize(("columns", "touching"), [(2, False), (30, False), (3, True)])
@pytest.mark.parametrize("weights", ["uniform", "distance", None, bell], ids=str)
@pytest.mark.parametrize("k", [1, 4, 7])
def test_votes_and_means_are_those_of_scikit_learn(rng, columns, touching, weights, k):
    X, Q = rng.normal(size=(300, columns)), rng.normal(size=(80, columns))
    if touching:
        Q[:40] = X[:40]
    parameters = {"n_neighbors": k, "weights": weights, "algorithm": "kd_tree"}
    y = rng.integers(0, 4, 300)
    labels = np.array(["a", "b", "c", "d"])[y]
    for answers in (y, labels, y > 1, np.c_[y, y % 2]):
        mine, their = (module.KNeighborsClassifier(**parameters).fit(X, answers) for module in (quince, theirs))
        assert_array_equal(mine.predict(Q), their.predict(Q))
        assert mine.predict(Q).dtype == their.predict(Q).dtype
        assert mine.outputs_2d_ == their.outputs_2d_ and mine.n_samples_fit_ == their.n_samples_fit_
        outputs = (mine.predict_proba(Q), their.predict_proba(Q), mine.classes_, their.classes_)
        for chances, expected, classes, labels in zip(*outputs) if mine.outputs_2d_ else [outputs]:
            assert_allclose(chances, expected, atol=1e-12)
            assert_array_equal(classes, labels)
        if not mine.outputs_2d_:
            assert mine.score(Q, answers[:80]) == their.score(Q, answers[:80])
    for numbers in (rng.normal(size=300), rng.normal(size=(300, 3)), rng.normal(size=(300, 1)), y):
        mine, their = (module.KNeighborsRegressor(**parameters).fit(X, numbers) for module in (quince, theirs))
        assert_allclose(mine.predict(Q), their.predict(Q), rtol=1e-10, atol=1e-12)
        assert mine.predict(Q).shape == their.predict(Q).shape


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_fitted_rows_are_predicted_without_themselves(rng, weights):
    X, y = rng.normal(size=(120, 3)), rng.integers(0, 3, 120)
    mine, their = (module.KNeighborsClassifier(weights=weights).fit(X, y) for module in (quince, theirs))
    assert_array_equal(mine.predict(None), their.predict(None))
    assert_allclose(mine.predict_proba(None), their.predict_proba(None))
    assert mine.score(None, y) == their.score(None, y)
    left_out = cross_val_predict(quince.KNeighborsRegressor(weights=weights), X, y * 1.5, cv=LeaveOneOut())
    assert_allclose(quince.KNeighborsRegressor(weights=weights).fit(X, y * 1.5).predict(None), left_out)


def test_several_labels_a_row_are_learnt():
    X, Y = make_multilabel_classification(n_samples=150, n_classes=4, random_state=0)
    X += np.random.default_rng(0).uniform(0, 0.01, X.shape)  # counts have ties, which scikit-learn leaves to chance
    mine, their = (module.KNeighborsClassifier().fit(X, Y) for module in (quince, theirs))
    assert_array_equal(mine.predict(X), their.predict(X))
    for got, expected in zip(mine.predict_proba(X), their.predict_proba(X), strict=True):
        assert_allclose(got, expected)


def test_ties_go_to_the_first_class_and_the_first_row():
    X = [[0.0], [2.0], [0.0], [2.0]]
    model = quince.KNeighborsClassifier(4).fit(X, ["b", "a", "b", "a"])
    assert model.predict([[1.0]]) == ["a"]
    assert_array_equal(model.kneighbors([[1.0], [0.0]])[1], [[0, 1, 2, 3], [0, 2, 1, 3]])
    assert quince.KNeighborsClassifier(1).fit(X, ["b", "a", "c", "d"]).predict([[1.0]]) == ["b"]


def test_what_a_user_sets_after_the_fit_counts(rng):
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 3, 200)
    model = quince.KNeighborsClassifier(5).fit(X, y)
    for parameters in ({"n_neighbors": 11}, {"weights": "distance"}, {"weights": np.exp}, {"smoothing": 2.0}):
        fresh = quince.KNeighborsClassifier(5).set_params(**parameters).fit(X, y)
        changed = quince.KNeighborsClassifier(5).fit(X, y).set_params(**parameters)
        assert_allclose(changed.predict_proba(X), fresh.predict_proba(X))
        assert_array_equal(changed.predict(X), fresh.predict(X))
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_smoothing_spreads_votes_over_all_classes(rng):
    X, y = rng.normal(size=(100, 2)), np.arange(100) % 3
    plain = quince.KNeighborsClassifier(4).fit(X, y).predict_proba(X)
    smooth = quince.KNeighborsClassifier(4, smoothing=1.5).fit(X, y)
    assert_allclose(smooth.predict_proba(X), (4 * plain + 0.5) / 5.5)
    assert_array_equal(smooth.predict(X), quince.KNeighborsClassifier(4).fit(X, y).predict(X))
    both = quince.KNeighborsClassifier(4, smoothing=1.5).fit(X, np.c_[y, y]).predict_proba(X)
    assert_allclose(both[1], smooth.predict_proba(X))


def test_a_row_weight_weighs_a_vote_and_a_weight_of_zero_is_no_row(rng):
    X, y, weights = rng.normal(size=(150, 3)), rng.integers(0, 3, 150), rng.integers(0, 4, 150).astype(float)
    Q, kept = rng.normal(size=(40, 3)), weights > 0
    _, rows = quince.NearestNeighbors(n_neighbors=6).fit(X[kept]).kneighbors(Q)
    votes = np.zeros((40, 3))
    for place in range(6):
        votes[np.arange(40), y[kept][rows[:, place]]] += weights[kept][rows[:, place]]
    votes /= votes.sum(axis=1, keepdims=True)
    model = quince.KNeighborsClassifier(6).fit(X, y, weights)
    assert_allclose(model.predict_proba(Q), votes)
    assert_array_equal(model.predict(Q), votes.argmax(axis=1))
    assert_allclose(model.set_params(weights=np.ones_like).predict_proba(Q), votes)
    assert model.n_samples_fit_ == kept.sum()
    number = quince.KNeighborsRegressor(6).fit(X, y, weights).predict(Q)
    assert_allclose(number, votes @ [0, 1, 2])
    only = quince.KNeighborsRegressor(6).fit(X, y, kept)
    assert_allclose(only.predict(Q), quince.KNeighborsRegressor(6).fit(X[kept], y[kept]).predict(Q))
    for bad, sentence in ((-weights, "Negative"), (weights[:-1], "inconsistent|shape")):
        with pytest.raises(ValueError, match=sentence):
            quince.KNeighborsRegressor().fit(X, y, bad)


def test_auto_takes_the_number_of_neighbours_with_the_least_leave_one_out_loss():
    X, y = load_diabetes(return_X_y=True)
    chosen = quince.KNeighborsRegressor("auto").fit(X, y)
    errors = [((theirs.KNeighborsRegressor(k).fit(X, y).predict(None) - y) ** 2).mean() for k in range(1, 51)]
    assert chosen.n_neighbors_ == np.argmin(errors) + 1
    assert_allclose(chosen.report_["facts"]["leave-one-out squared error"], min(errors))
    assert_allclose(chosen.predict(X), theirs.KNeighborsRegressor(chosen.n_neighbors_).fit(X, y).predict(X))
    assert chosen.kneighbors(X[:2])[0].shape == (2, chosen.n_neighbors_)

    X, y = load_iris(return_X_y=True)
    chosen = quince.KNeighborsClassifier("auto", smoothing=1.0).fit(X, y)
    ours = [quince.KNeighborsClassifier(k, smoothing=1.0).fit(X, y) for k in range(1, 51)]
    losses = [log_loss(y, model.predict_proba(None)) for model in ours]
    assert chosen.n_neighbors_ == np.argmin(losses) + 1
    assert_allclose(chosen.report_["facts"]["leave-one-out log loss"], min(losses))
    assert_allclose(chosen.predict_proba(X), ours[chosen.n_neighbors_ - 1].predict_proba(X))


@pytest.mark.parametrize(
    ("choose_by", "fact", "metric"),
    [
        ("accuracy", "leave-one-out accuracy", accuracy_score),
        ("f1", "leave-one-out mean F1", lambda y, predicted: f1_score(y, predicted, average="macro")),
    ],
)
def test_auto_takes_the_number_of_neighbours_that_is_best_by_the_metric(choose_by, fact, metric):
    X, y = load_wine(return_X_y=True)
    models = [theirs.KNeighborsClassifier(k).fit(X, y) for k in range(1, 51)]
    values = np.array([metric(y, model.predict(None)) for model in models])
    ours = quince.KNeighborsClassifier("auto", smoothing=1.0, choose_by=choose_by).fit(X, y)
    assert_allclose(ours.report_["facts"][fact], values.max())
    # Of equal ones the log loss decides.
    best = np.flatnonzero(values > values.max() - 1e-12) + 1
    smooth = {k: quince.KNeighborsClassifier(int(k), smoothing=1.0).fit(X, y).predict_proba(None) for k in best}
    assert ours.n_neighbors_ == min(best, key=lambda k: log_loss(y, smooth[k]))
    by_log_loss = quince.KNeighborsClassifier("auto", smoothing=1.0).fit(X, y)
    assert by_log_loss.n_neighbors_ != ours.n_neighbors_


def test_the_metric_to_choose_by_is_of_one_column_of_labels(rng):
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    with pytest.raises(ValueError, match="choose_by='accuracy' is for a y of one column"):
        quince.KNeighborsClassifier("auto", choose_by="accuracy").fit(X, np.c_[y, 1 - y])
    with pytest.raises(ValueError, match="'choose_by' parameter of KNeighborsClassifier"):
        quince.KNeighborsClassifier("auto", choose_by="log_loss").fit(X, y)


def test_a_million_equal_rows_and_one_row_have_neighbours():
    X = np.full((1_000_000, 3), 0.1)
    distances, rows = quince.NearestNeighbors().fit(X).kneighbors([[0.1, 0.1, 0.1], [1.0, 0.0, 0.0]])
    assert_array_equal(rows, [[0, 1, 2, 3, 4]] * 2)
    assert_allclose(distances[0], 0)
    assert_array_equal(quince.NearestNeighbors(n_neighbors=2).fit(X).kneighbors()[1][:3], [[1, 2], [0, 2], [0, 1]])
    assert quince.KNeighborsClassifier(3).fit(X[:100_000], np.arange(100_000) % 2).predict(X[:1]) == [0]
    one = quince.NearestNeighbors(n_neighbors=1).fit([[2.0, 3.0]])
    assert_array_equal(one.kneighbors([[2.0, 4.0]])[0], [[1.0]])
    assert quince.KNeighborsRegressor(1).fit([[2.0]], [7.0]).predict([[1.0]]) == [7.0]
    assert quince.KNeighborsClassifier("auto").fit([[2.0]], ["x"]).predict([[1.0]]) == ["x"]


def test_more_neighbours_than_rows_get_the_sentence_of_scikit_learn(rng):
    X, y = rng.normal(size=(4, 2)), [0, 1, 0, 1]
    for queries in (X[:2], None):
        for name in ("NearestNeighbors", "KNeighborsClassifier", "KNeighborsRegressor"):
            arguments = (X,) if name == "NearestNeighbors" else (X, y)
            mine, their = (getattr(module, name)().fit(*arguments) for module in (quince, theirs))
            for method in ("kneighbors", "predict"):
                if hasattr(their, method):
                    with pytest.raises(ValueError) as expected:
                        getattr(their, method)(queries)
                    with pytest.raises(ValueError) as got:
                        getattr(mine, method)(queries)
                    assert str(got.value) == str(expected.value)
            assert mine.kneighbors(X, 4)[1].shape == (4, 4)
    for bad, kind in ((0, ValueError), (-1, ValueError), (1.5, TypeError)):
        with pytest.raises(kind, match="n_neighbors"):
            mine.kneighbors(X, bad)


def test_what_cannot_be_measured_gets_a_sentence(rng):
    X = rng.normal(size=(20, 3))
    sentences = [
        ({"metric": "haversine"}, "The 'metric' parameter of NearestNeighbors must be a str among"),
        ({"metric": "precomputed"}, "The 'metric' parameter of NearestNeighbors must be a str among"),
        ({"metric": max}, "The 'metric' parameter of NearestNeighbors must be a str among"),
        ({"p": 0.5}, "cannot be 0.5: below 1 there are no distances. Use at least 1."),
        ({"metric_params": {"V": 1}}, "metric_params cannot have 'V'. It takes 'w'"),
        ({"metric_params": {"w": [1.0, 2.0]}}, "there are 3 columns and 2 feature weights. Give every column one"),
        ({"metric_params": {"w": [1.0, -2.0, 1.0]}}, "cannot be read at '-2.0'"),
        ({"metric_params": {"w": [0.0, 0.0, 0.0]}}, "are all zero. Give one of them a number above zero."),
    ]
    for parameters, sentence in sentences:
        with pytest.raises(ValueError) as error:
            quince.NearestNeighbors(**parameters).fit(X)
        assert sentence in str(error.value)
    X[3, 1] = np.inf
    for call in (
        lambda: quince.NearestNeighbors().fit(X),
        lambda: quince.NearestNeighbors().fit(X[4:]).kneighbors(X),
        lambda: quince.KNeighborsRegressor().fit(X, X[:, 0] * 0),
        lambda: quince.KNeighborsClassifier().fit(X[4:], np.arange(16) % 2).predict(X),
    ):
        with pytest.raises(ValueError, match="infinity|Input y"):
            call()
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="NaN|infinity"):
            quince.NearestNeighbors().fit(sparse.csr_matrix([[1.0, bad], [0.0, 2.0]]))
    with pytest.warns(SyntaxWarning, match="Parameter p is found in metric_params"):
        assert quince.NearestNeighbors(metric_params={"p": 3}).fit(X[4:]).effective_metric_ == "minkowski"


def test_rows_that_change_their_shape_after_the_fit_are_refused(rng):
    X = rng.normal(size=(20, 6))
    model = quince.NearestNeighbors().fit(X)
    expected = model.kneighbors(X[:3].copy())
    X.shape = (40, 3)
    with pytest.raises(ValueError, match="the rows have another shape than when they were fitted. Fit again."):
        model.kneighbors(np.zeros((1, 6)))
    X.shape = (20, 6)
    assert_array_equal(model.kneighbors(X[:3].copy())[1], expected[1])


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_neighbors", 7), ("n_neighbors", "auto"), ("weights", "distance"), ("smoothing", 2.0), ("choose_by", "f1")],
)
def test_a_parameter_that_was_changed_after_the_fit_is_not_saved_in_silence(rng, tmp_path, name, value):
    model = quince.KNeighborsClassifier(3).fit(rng.normal(size=(20, 2)), np.arange(20) % 2)
    model.save(tmp_path / "m.quince")
    with pytest.raises(ValueError, match=f"{name} was changed after the fit"):
        model.set_params(**{name: value}).save(tmp_path / "m.quince")
    model.set_params(n_neighbors=3, weights="uniform", smoothing=0.0, choose_by="log-loss").save(tmp_path / "m.quince")
    quince.KNeighborsRegressor(9).fit([[0.0], [1.0]], [0.0, 1.0]).save(tmp_path / "few.quince")
