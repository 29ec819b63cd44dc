"""Silhouettes of clusters."""

from __future__ import annotations

__all__ = ["silhouette_samples", "silhouette_score"]

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state, check_X_y

from quince._base import FLOATS, for_extension
from quince._quince import silhouettes
from quince._threads import effective


def silhouette_score(
    X: Any,
    labels: ArrayLike,
    *,
    metric: str = "euclidean",
    sample_size: int | None = None,
    random_state: Any = None,
) -> float:
    """The mean silhouette of all rows: near 1 where clusters are well separated, near 0 where they touch.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    labels : array-like of shape (n_samples,)
        The cluster of each row.
    metric : {'euclidean'}, default='euclidean'
        The distance metric.
    sample_size : int, default=None
        The mean is taken over this many rows, drawn at random; None for all.
    random_state : int, RandomState instance or None, default=None
        Determines which rows are drawn: the same as in scikit-learn.

    Examples
    --------
    >>> from quince import silhouette_score
    >>> round(silhouette_score([[0.0], [1.0], [10.0], [12.0]], [0, 0, 1, 1]), 3)
    0.856
    """
    if sample_size is not None:
        X, labels = check_X_y(X, labels, accept_sparse=["csc", "csr"])
        drawn = check_random_state(random_state).permutation(X.shape[0])[:sample_size]
        X, labels = X[drawn], labels[drawn]
    return float(np.mean(silhouette_samples(X, labels, metric=metric)))


def silhouette_samples(X: Any, labels: ArrayLike, *, metric: str = "euclidean") -> NDArray[np.float64]:
    """The silhouette of each row: (b - a) / max(a, b).

    a is the mean distance of the row from the other rows of its cluster, b the least mean distance from the rows of another
    cluster. A row that is alone in its cluster has 0. Parameters are as for `silhouette_score`.
    """
    if metric != "euclidean":
        raise ValueError(f"metric cannot be {metric!r}: silhouettes are of Euclidean distances here.")
    X, labels = check_X_y(X, labels, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=True)
    found, codes = np.unique(labels, return_inverse=True)
    if not 1 < len(found) < X.shape[0]:
        raise ValueError(f"Number of labels is {len(found)}. Valid values are 2 to n_samples - 1 (inclusive)")
    return silhouettes(for_extension(X), codes.astype(np.uint32), threads=effective(None))
