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
