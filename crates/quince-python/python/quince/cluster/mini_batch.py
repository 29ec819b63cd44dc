"""k-means from a few rows at a time."""

from __future__ import annotations

__all__ = ["MiniBatchKMeans"]

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from quince._base import for_extension, learning, weights_of
from quince._quince import Model, known_centres, update
from quince._threads import effective
from quince.cluster._centres import Centres


class MiniBatchKMeans(Centres):
    """k-means from a few rows at a time: for many rows, or for a stream of them.

    Parameters
    ----------
    n_clusters : int or 'auto', default=8
        The number of clusters; 'auto' takes the number from 1 to 10 with the largest mean silhouette (not with
        `partial_fit`).
    init, n_init, verbose, random_state
        As for `KMeans`, except that n_init='auto' is 3, not 10, for init='random' and a function.
    max_iter : int, default=100
        The largest number of rounds over the rows.
    batch_size : int, default=1024
        The number of rows in a mini-batch.
    compute_labels : bool, default=True
        Whether to set `labels_`.
    tol : float, default=0.0
        k-means has converged when the squared moves of the centres in a batch add up to no more than this times the mean
        variance of the features.
    max_no_improvement, init_size, reassignment_ratio
        Accepted for compatibility with scikit-learn: the fit stops after ten batches without improvement, initial
        centres are drawn from all rows, and no centre is reassigned.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centres.
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row, or after `partial_fit` of each row of the last batch.
    inertia_ : float
        The sum of squared distances of those rows from their centres.
    n_iter_ : int
        Number of rounds over the rows.
    n_steps_ : int
        Number of batches.
    n_features_in_, feature_names_in_, report_
        As for `KMeans`.

    Examples
    --------
    >>> from quince import MiniBatchKMeans
    >>> model = MiniBatchKMeans(n_clusters=2, init=[[0.0], [9.0]])
    >>> for batch in ([[1.0], [2.0], [10.0]], [[3.0], [11.0], [12.0]]):
    ...     model = model.partial_fit(batch)
    >>> model.cluster_centers_
    array([[ 2.],
           [11.]])
    """

    _settings: ClassVar = {**Centres._settings, "batch_size": "batch"}
    _accepted: ClassVar = {
        **Centres._accepted,
        "compute_labels": "what is shown, not what is learnt",
        "max_no_improvement": "ten batches without improvement are the last ones",
        "init_size": "starts are drawn from all rows",
        "reassignment_ratio": "no centre is drawn again",
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Centres._parameter_constraints,
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "compute_labels": ["boolean"],
        "max_no_improvement": [Interval(Integral, 0, None, closed="left"), None],
        "init_size": [Interval(Integral, 1, None, closed="left"), None],
        "reassignment_ratio": [Interval(Real, 0, None, closed="left")],
    }
    _random_starts: ClassVar = 3

    n_iter_: int
    n_steps_: int

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        init: str | Callable[..., ArrayLike] | ArrayLike = "k-means++",
        max_iter: int = 100,
        batch_size: int = 1024,
        verbose: int = 0,
        compute_labels: bool = True,
        random_state: Any = None,
        tol: float = 0.0,
        max_no_improvement: int | None = 10,
        init_size: int | None = None,
        n_init: int | str = "auto",
        reassignment_ratio: float = 0.01,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.verbose = verbose
        self.compute_labels = compute_labels
        self.random_state = random_state
        self.tol = tol
        self.max_no_improvement = max_no_improvement
        self.init_size = init_size
        self.n_init = n_init
        self.reassignment_ratio = reassignment_ratio

    def _method_settings(self) -> dict[str, Any]:
        return {**super()._method_settings(), "algorithm": "mini-batch", "batch": self.batch_size}

    def _show(self, labels: NDArray[np.int32]) -> None:
        super()._show(labels)
        if not self.compute_labels:
            del self.labels_
        self.n_iter_ = len(self._model.trace)
        self.n_steps_ = self.n_iter_ * math.ceil(self._model.rows / self.batch_size)

    @learning
    def partial_fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learns from one more batch of rows: every centre moves to the mean of all rows it has been given so far."""
        first = not hasattr(self, "cluster_centers_")
        X = self._check(X, reset=first)
        weights = weights_of(sample_weight, X)
        if first:
            self.n_steps_ = 0
        model = self._first_model(X, weights) if first else self._model
        self._take(update(model, for_extension(X), weights=weights, threads=effective(None)), X.dtype)
        self.n_steps_ += 1
        if self.compute_labels:
            self.labels_, self.inertia_ = self._labels(X), self._error(X, weights)
        return self

    def _first_model(self, X: Any, weights: NDArray[np.float64] | None) -> Model:
        """What a stream starts from: given centres, or those that one round over the first batch leads to."""
        if self.n_clusters == "auto":
            raise ValueError("n_clusters cannot be 'auto' for a stream, of which the first rows do not say enough.")
        self._check_clusters(X)
        settings = self._method_settings()
        if isinstance(self.init, str):
            centres = self._best(X, weights, {**settings, "algorithm": "lloyd", "steps": 1}).parameter("centres")
        else:
            centres = next(self._given_starts(X, 1, check_random_state(self.random_state)))
        return known_centres(centres, {**settings, "k": len(centres)})
