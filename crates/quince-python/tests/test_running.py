"""While a fit runs, Python is free and Ctrl-C is heard; on any number of threads it gives the same bits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import interrupt
import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import quince


def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=600,  # against a hang, not a measure: the machine may be busy with other things
        env={**os.environ, **environment},
    )


def interrupted(kind: str, number: str) -> str:
    """What becomes of a call of the extension during which a signal comes; see `interrupt.py`."""
    program = Path(__file__).with_name("interrupt.py")
    # One thread, so that work takes its time on any machine. The timeout is against a hang: some of the work never ends.
    done = subprocess.run(
        [sys.executable, program, kind, number],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    return done.stdout + done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
@pytest.mark.parametrize("kind", interrupt.KINDS)
def test_control_c_stops_the_work_and_the_estimator_stays_as_it_was(kind):
    assert interrupted(kind, "SIGINT") == "interrupted by KeyboardInterrupt and unchanged\n"


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
def test_an_exception_of_another_signal_handler_comes_through():
    assert interrupted("tall", "SIGUSR1") == "interrupted by Raised and unchanged\n"


def test_other_threads_go_on_while_a_fit_works(rng):
    X = rng.normal(size=(20_000, 1_000))
    ticks, done = [], threading.Event()

    def count():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    start = time.perf_counter()
    thread.start()
    quince.Ridge().fit(X, X[:, 0])
    end = time.perf_counter()
    done.set()
    thread.join()
    during = [tick for tick in ticks if start <= tick <= end]
    # With the lock held there would be one gap from start to end; a busy machine may make some.
    assert len(during) > 10
    assert np.diff([start, *during, end]).max() < 0.7 * (end - start)


def test_fits_in_several_threads_do_not_meet(rng):
    data = [(rng.normal(size=(2_000, 50)), rng.normal(size=2_000)) for _ in range(8)]
    alone = [quince.Ridge().fit(X, y).coef_ for X, y in data]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda pair: quince.Ridge().fit(*pair).coef_, data))
    assert all((a == b).all() for a, b in zip(alone, together))


@pytest.mark.parametrize("shape", [(5_000, 40), (3_000, 700), (300, 2_000), (2, 1)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_one_thread_and_two_give_the_same_bits(rng, shape, dtype):
    X, y = rng.normal(size=shape).astype(dtype), rng.normal(size=(shape[0], 2))
    for make in (lambda n: quince.LinearRegression(n_jobs=n), lambda n: quince.Ridge()):
        answers = []
        for threads in (1, 2, -1):
            with quince.set_threads(threads):
                model = make(threads).fit(X, y)
                answers.append((model.coef_.tobytes(), model.intercept_.tobytes(), model.predict(X).tobytes()))
        assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("shape", [(5_000, 3), (3_000, 40), (300, 200), (2, 1)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_neighbours_and_clusters_are_the_same_on_any_number_of_threads(rng, shape, dtype):
    X = rng.normal(size=shape).astype(dtype)
    y, k = X[:, 0] > 0, min(5, shape[0] - 1)

    def all_bits():
        yield from quince.NearestNeighbors(n_neighbors=k).fit(X).kneighbors()
        yield from quince.NearestNeighbors(n_neighbors=k, metric="manhattan").fit(X).kneighbors(X[:100])
        yield quince.KNeighborsClassifier(k, weights="distance").fit(X, y).predict_proba(X)
        for cls in (quince.KMeans, quince.MiniBatchKMeans, quince.BisectingKMeans):
            model = cls(k, random_state=3).fit(X)
            yield from (model.labels_, model.cluster_centers_, np.array(model.inertia_), model.transform(X))
        if shape[0] > 2:
            yield quince.silhouette_samples(X, np.arange(shape[0]) % 3)

    answers = []
    for threads in (1, 2, 8):
        with quince.set_threads(threads):
            answers.append([bits.tobytes() for bits in all_bits()])
    assert answers[0] == answers[1] == answers[2]


def test_set_threads_is_a_function_and_a_context():
    from quince._threads import effective

    assert effective(None) == 0
    with quince.set_threads(3):
        assert effective(None) == 3
        with quince.set_threads(1):
            assert effective(None) == 1
        assert effective(None) == 3
    quince.set_threads(2)
    assert effective(None) == 2
    quince.set_threads(None)
    assert effective(None) == 0
    with pytest.raises(ValueError, match="n_jobs == 0 has no meaning"):
        quince.set_threads(0)


def test_omp_num_threads_is_honoured():
    program = """
        import threading, numpy as np, quince
        X = np.random.default_rng(0).normal(size=(20_000, 200))
        quince.Ridge().fit(X, X[:, 0])
        names = [open(f"/proc/self/task/{t}/comm").read().strip() for t in __import__("os").listdir("/proc/self/task")]
        print(sum(name.startswith("quince-") for name in names))
        """
    if not os.path.isdir("/proc/self/task"):
        pytest.skip("threads are counted in /proc")
    cores = len(os.sched_getaffinity(0))
    assert run(program, OMP_NUM_THREADS="1").stdout == "0\n"
    if cores > 1:
        assert run(program, OMP_NUM_THREADS="2").stdout == "2\n"
    assert int(run(program, OMP_NUM_THREADS="9999").stdout) <= cores


def test_more_jobs_than_cores_start_no_more_threads_and_one_warning_says_so():
    program = """
        import os, warnings, numpy as np, quince
        X = np.random.default_rng(0).normal(size=(20_000, 20))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(3):
                quince.KNeighborsClassifier(n_jobs=4000).fit(X, X[:, 0] > 0).predict(X[:10])
        names = [open(f"/proc/self/task/{t}/comm").read().strip() for t in os.listdir("/proc/self/task")]
        print(sum(name.startswith("quince-") for name in names), [str(w.message) for w in caught])
        """
    if not os.path.isdir("/proc/self/task"):
        pytest.skip("threads are counted in /proc")
    threads, said = run(program).stdout.split(" ", 1)
    assert int(threads) <= len(os.sched_getaffinity(0))
    assert said.count("n_jobs=4000 asks for more threads than this process has cores") == 1


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_joblib_runs_us_on_every_backend(backend):
    X, y = load_diabetes(return_X_y=True)
    quince.Ridge().fit(X, y)  # threads exist before a fork
    with parallel_config(backend, n_jobs=2):
        scores = cross_val_score(quince.Ridge(), X, y, cv=4)
        coefficients = Parallel()(delayed(quince.LinearRegression().fit)(X[k:], y[k:]) for k in range(3))
    assert (scores == cross_val_score(quince.Ridge(), X, y, cv=4)).all()
    assert (coefficients[1].predict(X) == quince.LinearRegression().fit(X[1:], y[1:]).predict(X)).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_works_with_threads_of_its_own(rng):
    X = rng.normal(size=(20_000, 100))
    expected = quince.Ridge().fit(X, X[:, 0]).coef_
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        same = (quince.Ridge().fit(X, X[:, 0]).coef_ == expected).all()
        os.write(write, b"same" if same else b"different")
        os._exit(0)
    os.waitpid(child, 0)
    os.close(write)
    assert os.read(read, 16) == b"same"


def test_grid_search_and_pipelines_take_us_in():
    X, y = load_iris(return_X_y=True, as_frame=True)
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), quince.RidgeClassifier())
    search = GridSearchCV(pipeline, {"ridgeclassifier__alpha": [0.01, 1.0, 100.0]}, cv=3, n_jobs=2).fit(X, y)
    assert search.best_score_ > 0.8
    best = search.best_estimator_[-1]
    assert list(best.feature_names_in_) == list(X.columns)
    assert search.predict(X).shape == (150,)


def test_a_budget_that_is_too_small_is_a_timeout():
    import pandas as pd

    X = np.random.default_rng(0).normal(size=(5_000, 400))
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(400)])
    with pytest.raises(TimeoutError, match="the budget ran out before ridge had an answer. Give a larger budget."):
        quince.train(frame, "c0", budget=0.0)
    with pytest.raises(ValueError, match="a budget cannot be -1 seconds"):
        quince.train(frame, "c0", budget=-1)
