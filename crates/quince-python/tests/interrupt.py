"""A program that sends itself a signal while the extension is at work: `python interrupt.py KIND SIGNAL`.

It prints whether the call of the extension ended by the exception of the signal's handler or came to its end, and whether the
estimator is as it was. When the signal is sent does not depend on the speed of the machine: Python's profiler says when a call of the
extension begins and how it ends. Every call here would take far longer than the tenth of a second that it gets, if it ever ended.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

import quince

#: An estimator that has learnt from a few rows, or None, and the work that is interrupted.
Interrupted = tuple[Any, Callable[[], Any]]

rng = np.random.default_rng(0)


def fitting(estimator: Any, X: Any, y: Any = None, few: int = 400, **endless: Any) -> Interrupted:
    """The fit of an estimator that has learnt from the first rows, which have a column less and other labels; with parameters by
    which it would never end."""
    estimator.fit(X[:few, :-1], None if y is None else 1 + y[:few])
    estimator.set_params(**endless)
    return estimator, lambda: estimator.fit(X, y)


def asking(estimator: Any, X: Any) -> Interrupted:
    return estimator, lambda: estimator.kneighbors(X)


def tall() -> Interrupted:
    X = rng.standard_normal((30_000, 3_000), dtype=np.float32)
    return fitting(quince.Ridge(), X, X[:, 0], few=20)


def wide() -> Interrupted:
    X = rng.standard_normal((4_000, 20_000), dtype=np.float32)
    return fitting(quince.Ridge(), X, X[:, 0], few=20)


def singular() -> Interrupted:
    base = rng.standard_normal((6_000, 1_500))
    return fitting(quince.LinearRegression(), np.hstack([base, base]), base[:, 0], few=20)


def singular_values() -> Interrupted:
    X = rng.standard_normal((3_000, 2_500))
    model = quince.LinearRegression().fit(X, X[:, 0])
    # Whoever pickles the model has them worked out.
    return None, lambda: model.singular_


def sparse_rows() -> Interrupted:
    # 480 columns of each row, from a random one on: scipy's random matrices take far longer than the fit.
    columns = np.sort((rng.integers(6_000, size=(120_000, 1)) + 12 * np.arange(480)) % 6_000, axis=1)
    starts = np.arange(0, columns.size + 1, 480)
    X = sparse.csr_array((rng.random(columns.size), columns.ravel(), starts), shape=(120_000, 6_000))
    return fitting(quince.Ridge(), X, np.arange(120_000.0), few=20)


def neighbours_by_product() -> Interrupted:
    X = rng.standard_normal((100_000, 200), dtype=np.float32)
    return asking(quince.NearestNeighbors().fit(X), X)


def neighbours_by_tree() -> Interrupted:
    X = rng.standard_normal((400_000, 8))
    return asking(quince.KNeighborsRegressor().fit(X, X[:, 0]), X)


def neighbours_one_by_one() -> Interrupted:
    X = rng.standard_normal((50_000, 30))
    return asking(quince.NearestNeighbors(metric="manhattan").fit(X), X)


def k_means() -> Interrupted:
    return fitting(quince.KMeans(200, random_state=0, tol=0), rng.standard_normal((400_000, 30)))


def k_means_of_sparse_rows() -> Interrupted:
    return fitting(quince.KMeans(50, random_state=0), sparse.random(200_000, 500, 0.02, "csr", rng=rng))


def mini_batches() -> Interrupted:
    return fitting(quince.MiniBatchKMeans(200, random_state=0), rng.standard_normal((400_000, 30)), max_iter=10**9)


def halving() -> Interrupted:
    return fitting(quince.BisectingKMeans(60, random_state=0), rng.standard_normal((600_000, 30)))


def number_of_clusters() -> Interrupted:
    return fitting(quince.KMeans("auto", random_state=0), rng.standard_normal((400_000, 20)))


def silhouettes() -> Interrupted:
    X = rng.standard_normal((60_000, 30))
    return None, lambda: quince.silhouette_samples(X, np.arange(60_000) % 5)


def mixture() -> Interrupted:
    X = rng.standard_normal((100_000, 10))
    return fitting(quince.MixedMixture(5, n_init=1, random_state=0), X, tol=0, max_iter=10**9)


def support_vectors() -> Interrupted:
    return fitting(quince.SVC(C=1e6), rng.standard_normal((20_000, 20)), rng.integers(2, size=20_000))


def descent() -> Interrupted:
    X = rng.standard_normal((20_000, 20))
    return fitting(quince.SGDClassifier(max_iter=5, tol=None, random_state=0), X, X[:, 0] > 0, max_iter=10**9)


def comparison() -> Interrupted:
    import pandas as pd

    frame = pd.DataFrame(rng.standard_normal((20_000, 600)), columns=[f"c{j}" for j in range(600)])
    # Reading a frame calls Python's own code, which hears of signals by itself.
    table = quince.Table(frame)
    return None, lambda: quince.compare(table, "c0", models=["ridge"])


KINDS = {
    kind.__name__: kind
    for kind in (
        tall, wide, singular, singular_values, sparse_rows, neighbours_by_product, neighbours_by_tree,
        neighbours_one_by_one, k_means, k_means_of_sparse_rows, mini_batches, halving, number_of_clusters, silhouettes,
        mixture, support_vectors, descent, comparison,
    )
}  # fmt: skip


class Calls:
    """A profiler that knows whether the extension is at work, since when, and how its last call ended."""

    since: float | None = None
    ended: str = "not called"

    def __call__(self, _frame: Any, event: str, function: Any) -> None:
        if not event.startswith("c_") or not is_of_extension(function):
            return
        self.since = time.monotonic() if event == "c_call" else None
        self.ended = {"c_call": "at work", "c_return": "finished", "c_exception": "interrupted"}[event]


def is_of_extension(function: Any) -> bool:
    owner = getattr(function, "__self__", None)
    modules = (getattr(function, "__module__", None), getattr(owner, "__name__", None), type(owner).__module__)
    return any(isinstance(name, str) and name.split(".")[0] == "quince" for name in modules)


def send(number: int, calls: Calls) -> None:
    """Sends a signal to this process as soon as a call of the extension has been at work for a tenth of a second."""
    while calls.since is None or time.monotonic() - calls.since < 0.1:
        time.sleep(0.01)
    os.kill(os.getpid(), number)


class Raised(Exception):
    """What the handler of a signal raises."""


def main(kind: str, number: int) -> None:
    if number != signal.SIGINT:

        def handler(_number: int, _frame: Any) -> None:
            raise Raised

        signal.signal(number, handler)
    estimator, work = KINDS[kind]()
    before, calls = pickle.dumps(estimator), Calls()
    threading.Thread(target=send, args=(number, calls), daemon=True).start()
    sys.setprofile(calls)
    try:
        work()
    except (KeyboardInterrupt, Raised) as raised:
        sys.setprofile(None)
        state = "unchanged" if pickle.dumps(estimator) == before else "changed"
        print(calls.ended, "by", type(raised).__name__, "and", state)
        return
    sys.setprofile(None)
    print("finished")


if __name__ == "__main__":
    main(sys.argv[1], getattr(signal, sys.argv[2]))
