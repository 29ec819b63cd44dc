"""Nearest neighbours: fit, and find the five nearest rows of every query."""

import importlib

import numpy as np

from arrays import mixture
from task import Contestant, Disagreement, Task

NEIGHBOURS = 5


def estimator(module, **settings):
    """scikit-learn's class, or one that looks like it."""

    def prepare(given):
        NearestNeighbors = importlib.import_module(module).NearestNeighbors

        def run():
            model = NearestNeighbors(n_neighbors=NEIGHBOURS, **settings).fit(given.train)
            distances, indices = model.kneighbors(given.query)
            return {"distances": distances, "indices": indices}

        return run

    return prepare


def faiss_flat(given):
    import faiss

    train, query = given.train.astype(np.float32), given.query.astype(np.float32)

    def run():
        index = faiss.IndexFlatL2(train.shape[1])
        index.add(train)
        squares, indices = index.search(query, NEIGHBOURS)
        return {"distances": np.sqrt(np.maximum(squares, 0.0)), "indices": indices}

    return run


def flops(given, reference):
    """One multiplication and one addition for each coordinate of each pair."""
    return 2.0 * len(given.train) * len(given.query) * given.train.shape[1]


def check(given, reference, answer, dtype):
    """The same rows, or rows that are as near.

    The distances to the rows that both found are computed again, in f64, so a library's own rounding is not mistaken for
    another neighbour, nor the other way round. Its distances are then held against these.
    """
    ours, theirs = answer["indices"].astype(np.int64), reference["indices"].astype(np.int64)
    if (np.diff(np.sort(ours, axis=1), axis=1) == 0).any():
        raise Disagreement("a row is found twice")
    near, nearest = true_distances(given, ours), true_distances(given, theirs)
    tolerance = 1e-10 if dtype == "float64" else 1e-5
    worst = np.max(np.abs(np.sort(near, axis=1) - np.sort(nearest, axis=1)) / nearest.max(axis=1, keepdims=True))
    if not worst <= tolerance:
        raise Disagreement(f"other neighbours: distances differ by up to {worst:.0e}")
    # Products lose digits where a neighbour is much nearer than the origin: 1e-3 catches a mistake, not a rounding.
    wrong = np.max(np.abs(answer["distances"] - near)) / near.max()
    if not wrong <= (1e-6 if dtype == "float64" else 1e-3):
        raise Disagreement("its distances are not those of its neighbours")
    swapped = int((ours != theirs).sum())
    return f"same neighbours, {swapped} of {ours.size} places swapped by rounding" if swapped else "same neighbours"


def true_distances(given, indices):
    train, query = given.train.astype(np.float64), given.query.astype(np.float64)
    return np.stack([np.linalg.norm(train[column] - query, axis=1) for column in indices.T], axis=1)


LOW = Task(
    name="knn-low",
    title="200,000 x 4, 100,000 queries, 5 neighbours",
    arrays=lambda: dict(zip(("train", "query"), mixture(4, 30, 4, 200_000, 100_000))),
    contestants=[
        Contestant("quince", "", estimator("quince")),
        Contestant("scikit-learn", "kd-tree", estimator("sklearn.neighbors", algorithm="kd_tree", n_jobs=2)),
        Contestant("scikit-learn-intelex", "kd-tree", estimator("sklearnex.neighbors", algorithm="kd_tree", n_jobs=2)),
        Contestant("faiss", "flat", faiss_flat, dtype="float32", limit=60.0),
        Contestant("linfa", "kd-tree", rust="knn-linfa-kd-tree", limit=60.0),
        Contestant("smartcore", "cover tree", rust="knn-smartcore-cover-tree", limit=60.0),
    ],
    target=1.1,
    against=("scikit-learn", "scikit-learn-intelex"),
    flops=flops,
    check=check,
)


def high(dtype, target, against):
    brute = [
        Contestant("quince", "", estimator("quince")),
        Contestant("scikit-learn", "brute", estimator("sklearn.neighbors", algorithm="brute", n_jobs=2)),
        Contestant("scikit-learn-intelex", "brute", estimator("sklearnex.neighbors", algorithm="brute", n_jobs=2)),
        Contestant("faiss", "flat", faiss_flat, dtype="float32"),
        Contestant("linfa", "linear", rust="knn-linfa-linear", limit=60.0),
        Contestant("smartcore", "linear", rust="knn-smartcore-linear", limit=40.0),
    ]
    return Task(
        name="knn-high" if dtype == "float64" else "knn-high-f32",
        title="50,000 x 100, 10,000 queries, 5 neighbours",
        arrays=lambda: dict(zip(("train", "query"), mixture(100, 40, 100, 50_000, 10_000))),
        contestants=brute,
        target=target,
        against=against,
        flops=flops,
        check=check,
        dtype=dtype,
    )


TASKS = [
    LOW,
    high("float64", 1.5, ("scikit-learn", "scikit-learn-intelex")),
    high("float32", 1.0, ("faiss",)),
]
