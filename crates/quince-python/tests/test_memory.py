"""Features are looked at where numpy keeps them: a fit takes no copy of them."""

from __future__ import annotations

import subprocess
import sys

import pytest

# 200 MB of features, built in place so that nothing but them is in memory before the fit.
PROGRAM = """
import resource, sys
import numpy as np, quince, sklearn.utils.validation
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
order, dtype, kind = sys.argv[1:]
columns = 100
rows = 200 * 2**20 // np.dtype(dtype).itemsize // columns
X = np.empty((rows, columns), dtype=dtype, order=order)
rng = np.random.default_rng(0)
for start in range(0, rows, 10_000):
    X[start:start + 10_000] = rng.standard_normal((min(10_000, rows - start), columns), dtype=np.float32)
if kind == "strided":
    X = X[::2, ::2]
y = (X[:, 0] > 0) if kind == "classifier" else X[:, 0] * 2.0
estimator = quince.RidgeClassifier() if kind == "classifier" else quince.LinearRegression()
estimator.fit(X[:1000], y[:1000])
before = peak()
estimator.fit(X, y)
fitted = peak()
estimator.predict(X)
print(X.nbytes // 2**20 if kind != "strided" else 200, fitted - before, peak() - before)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="resource is not there")
@pytest.mark.parametrize(
    ("order", "dtype", "kind"),
    [
        ("C", "float64", "regressor"),
        ("F", "float64", "regressor"),
        ("C", "float32", "regressor"),
        ("F", "float32", "classifier"),
        ("C", "float64", "strided"),
    ],
)
def test_a_fit_of_200_megabytes_takes_no_second_200(order, dtype, kind):
    output = subprocess.run(
        [sys.executable, "-c", PROGRAM, order, dtype, kind], capture_output=True, text=True, check=True, timeout=120
    )
    held, fit, predict = map(int, output.stdout.split())
    assert held >= 199
    assert fit < 60, f"the fit took {fit} MB beyond the {held} MB of features"
    assert predict < 60


# Rows to be asked stay numpy's own; a kd-tree holds them once more, in its own order. k-means keeps two numbers a row.
OTHERS = """
import resource, sys
import numpy as np, quince
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
kind, dtype = sys.argv[1:]
columns = {"tree": 5, "product": 500, "means": 50, "few": 4}[kind]
rows = 200 * 2**20 // np.dtype(dtype).itemsize // columns
X = np.empty((rows, columns), dtype=dtype)
rng = np.random.default_rng(0)
for start in range(0, rows, 10_000):
    X[start:start + 10_000] = rng.standard_normal((min(10_000, rows - start), columns), dtype=np.float32)
if kind in ("means", "few"):
    estimator = quince.KMeans(5, init=X[:5].copy(), max_iter=3)
    ask = lambda: estimator.predict(X)
else:
    estimator = quince.NearestNeighbors(n_neighbors=2)
    queries = X[:: rows // 1000]
    ask = lambda: (estimator.kneighbors(queries), kind == "tree" and estimator.kneighbors(X[: rows // 2]))
estimator.fit(X[:1000])
before = peak()
estimator.fit(X)
fitted = peak()
ask()
print(X.nbytes // 2**20, fitted - before, peak() - fitted)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="resource is not there")
@pytest.mark.parametrize(
    ("kind", "dtype", "fit_share", "ask_share"),
    [
        ("product", "float64", 0.1, 0.2),  # a tile of rows in single precision at a time
        ("product", "float32", 0.1, 0.2),
        ("tree", "float64", 2.3, 0.7),
        ("means", "float64", 0.3, 0.2),
        ("means", "float32", 0.3, 0.2),
        ("few", "float64", 0.8, 0.4),
    ],
)
def test_neighbours_and_clusters_copy_no_features(kind, dtype, fit_share, ask_share):
    output = subprocess.run(
        [sys.executable, "-c", OTHERS, kind, dtype], capture_output=True, text=True, check=True, timeout=300
    )
    held, fit, ask = map(int, output.stdout.split())
    assert held >= 199
    assert fit < fit_share * held and ask < ask_share * held
