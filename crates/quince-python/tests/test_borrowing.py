"""numpy's memory is borrowed for reading while quince works on it with Python's lock released.

Extensions written with rust-numpy register what they borrow in one place, which numpy holds as a capsule. A test that
registers a writer there sees what such an extension would see.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse

import quince

ARRAY = ctypes.py_object
POINTER = ctypes.PYFUNCTYPE(ctypes.c_void_p, ARRAY, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


class Borrows(ctypes.Structure):
    """rust-numpy's register: its version, its state, and four functions of that state and an array."""

    _fields_ = [
        ("version", ctypes.c_uint64),
        ("flags", ctypes.c_void_p),
        ("acquire", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ARRAY)),
        ("acquire_mut", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ARRAY)),
        ("release", ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ARRAY)),
        ("release_mut", ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ARRAY)),
    ]


@pytest.fixture(scope="module")
def borrows() -> Borrows:
    quince.Ridge().fit(np.eye(2), [0.0, 1.0])  # the first borrow makes the register
    capsule = np._core.multiarray._RUST_NUMPY_BORROW_CHECKING_API
    found = Borrows.from_address(POINTER(capsule, b"_RUST_NUMPY_BORROW_CHECKING_API"))
    assert found.version >= 1
    return found


@pytest.fixture
def rows(rng) -> np.ndarray:
    return rng.standard_normal((60, 4))


@pytest.fixture
def seldom():
    """Python changes threads only where one waits, never between a writer's borrow and its end."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(10.0)
    yield
    sys.setswitchinterval(interval)


def arrays_of(X):
    return (X.data, X.indices) if sparse.issparse(X) else (X,)


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, lambda X: X.astype("f4"), sparse.csr_matrix])
def test_what_is_being_written_to_is_refused(borrows, rows, form):
    X, y = form(rows), rows[:, 0]
    for array in arrays_of(X):
        assert borrows.acquire_mut(borrows.flags, array) == 0
        with pytest.raises(ValueError, match="the array is being written to. Wait until that is done"):
            quince.Ridge().fit(X, y)
        borrows.release_mut(borrows.flags, array)
    quince.Ridge().fit(X, y)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_no_writer_gets_the_rows_while_a_fit_goes_on(borrows, seldom, rng, form):
    X = form(rng.standard_normal((20_000, 50)))
    fit = threading.Thread(target=lambda: quince.KMeans(30, n_init=1, tol=0, max_iter=40, random_state=0).fit(X))
    fit.start()
    refused = set()
    while fit.is_alive():
        for name, array in enumerate(arrays_of(X)):
            if borrows.acquire_mut(borrows.flags, array) == 0:
                borrows.release_mut(borrows.flags, array)
            else:
                refused.add(name)
        time.sleep(0.01)
    assert refused == set(range(len(arrays_of(X))))
    for array in arrays_of(X):
        assert borrows.acquire_mut(borrows.flags, array) == 0, "the borrow ends with the fit"
        borrows.release_mut(borrows.flags, array)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_rows_that_nobody_may_write_to_are_learnt_from(rows, form):
    X, y = form(rows), rows[:, 0]
    expected = quince.Ridge().fit(X, y).coef_
    for array in (*arrays_of(X), y):
        array.flags.writeable = False
    np.testing.assert_array_equal(quince.Ridge().fit(X, y).coef_, expected)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_threads_share_the_same_rows(rows, form):
    X, y = form(rows), rows[:, 0]
    expected = quince.Ridge().fit(X, y).coef_
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: quince.Ridge().fit(X, y).coef_, range(64)):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "estimator", [quince.NearestNeighbors(), quince.KNeighborsRegressor(), quince.SVR(), quince.KMeans(3, random_state=0)]
)
def test_a_fitted_estimator_does_not_see_what_becomes_of_a_sparse_matrix(rows, estimator):
    X = sparse.csr_matrix(rows)
    estimator.fit(X, rows[:, 0])
    ask = estimator.kneighbors if isinstance(estimator, quince.NearestNeighbors) else estimator.predict
    before = ask(rows)
    X.data[:] = 0.0
    X.indices[:] = 0
    np.testing.assert_array_equal(ask(rows), before)
