"""k-means from a given start until nothing changes, at most 100 rounds, to the same E."""

import functools
import importlib

import numpy as np

from arrays import blobs, mnist, starting_rows
from task import Contestant, Disagreement, Task

ROUNDS = 100


def estimator(module, **settings):
    """scikit-learn's class, or one that looks like it."""

    def prepare(given):
        KMeans = importlib.import_module(module).KMeans
        start = {"n_clusters": len(given.start), "init": given.start, "n_init": 1}

        def run():
            model = KMeans(**start, max_iter=ROUNDS, tol=0.0, **settings).fit(given.rows)
            return {"centres": model.cluster_centers_, "rounds": model.n_iter_}

        return run

    return prepare


def faiss_kmeans(given):
    """faiss knows no convergence: it does as many rounds as scikit-learn needed. It gives centres, but no labels."""
    import faiss

    rows, start = given.rows.astype(np.float32), given.start.astype(np.float32)
    rounds = int(given.reference["rounds"])

    def run():
        model = faiss.Kmeans(rows.shape[1], len(start), niter=rounds, max_points_per_centroid=10**9)
        model.train(rows, init_centroids=start)
        return {"centres": model.centroids, "rounds": rounds}

    return run


CONTESTANTS = [
    Contestant("quince", "", estimator("quince")),
    Contestant("scikit-learn", "Lloyd", estimator("sklearn.cluster", algorithm="lloyd")),
    Contestant("scikit-learn", "Elkan", estimator("sklearn.cluster", algorithm="elkan")),
    Contestant("scikit-learn-intelex", "Lloyd", estimator("sklearnex.cluster", algorithm="lloyd", n_jobs=2)),
    Contestant("faiss", "", faiss_kmeans, dtype="float32", note="as many rounds as scikit-learn; no labels"),
    Contestant("linfa", "", rust="kmeans-linfa", limit=60.0, note="counts the old centre as one more row"),
    Contestant("smartcore", "", cannot="always draws its own start"),
]


def flops(given, reference):
    """One multiplication and one addition for each coordinate of each row and centre, in each round."""
    return 2.0 * given.rows.size * len(given.start) * float(reference["rounds"])


def check(given, reference, answer, dtype):
    """The same E: the sum of squared distances from each row to its nearest centre, in f64, from the centres alone."""
    expected, found = error(given, reference["centres"]), error(given, answer["centres"])
    difference = found / expected - 1.0
    # In f32 too: a row that rounding puts across a border may cost a round more or less, but on these data no E.
    if not abs(difference) <= 1e-6:
        raise Disagreement(f"E differs by {difference:+.1e}")
    rounds = f", {int(answer['rounds'])} rounds" if "rounds" in answer else ""
    return f"E {difference:+.0e}{rounds}" if abs(difference) > 1e-12 else f"same E{rounds}"


def error(given, centres):
    centres = centres.astype(np.float64)
    lengths = np.einsum("ij,ij->i", centres, centres)
    total = 0.0
    for begin in range(0, len(given.rows), 10_000):
        rows = given.rows[begin : begin + 10_000].astype(np.float64)
        nearest = (lengths - 2.0 * rows @ centres.T).min(axis=1)
        total += np.sum(np.einsum("ij,ij->i", rows, rows) + nearest)
    return total


def tall():
    rows = blobs(20, 50, 20, 500_000, centre_deviation=0.8)
    return {"rows": rows, "start": starting_rows(1, rows, 50)}


def pictures(clusters):
    rows, _ = mnist()
    return {"rows": rows, "start": starting_rows(1, rows, clusters)}


def both_types(name, title, arrays, note=lambda: ""):
    return [
        Task(
            name=name + suffix,
            title=title,
            arrays=arrays,
            contestants=CONTESTANTS,
            target=1.5,
            against=("scikit-learn", "scikit-learn-intelex", "faiss"),
            flops=flops,
            check=check,
            dtype=dtype,
            note=note,
        )
        for dtype, suffix in (("float64", ""), ("float32", "-f32"))
    ]


TASKS = [
    *both_types("kmeans-tall", "500,000 x 20, 50 overlapping clusters", tall),
    *both_types("kmeans-mnist-10", "60,000 x 784, k = 10", functools.partial(pictures, 10), lambda: mnist()[1]),
    # One type will do: the peers take minutes a round.
    both_types("kmeans-mnist-256", "60,000 x 784, k = 256", functools.partial(pictures, 256), lambda: mnist()[1])[0],
]
