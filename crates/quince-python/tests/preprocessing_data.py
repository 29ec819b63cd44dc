"""What the tests of preprocessing share: rows with missing values, and when two answers are the same."""

from __future__ import annotations

import numpy as np
from scipy import sparse


def close(ours, other, rtol=1e-12, atol=1e-12):
    assert sparse.issparse(ours) == sparse.issparse(other)
    assert ours.dtype == other.dtype
    assert ours.shape == other.shape
    if sparse.issparse(ours):
        assert ours.format == other.format
        ours, other = ours.toarray(), other.toarray()
    if ours.dtype.kind in "OUS":
        for mine, their in zip(ours.ravel().tolist(), other.ravel().tolist(), strict=True):
            assert mine == their or (mine != mine and their != their)
    else:
        np.testing.assert_allclose(ours, other, rtol=rtol, atol=atol)


def with_missing(rng, rows, columns, share=0.2):
    X = rng.normal(size=(rows, columns)) * np.arange(1, columns + 1) + 10
    X[rng.random(X.shape) < share] = np.nan
    return X
