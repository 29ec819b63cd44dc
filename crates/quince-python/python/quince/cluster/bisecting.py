"""Bisecting k-means."""

from __future__ import annotations

__all__ = ["BisectingKMeans"]

from numbers import Integral
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from quince.cluster._centres import Centres


class BisectingKMeans(Centres):
    """Bisecting k-means: from one cluster of all rows on, that with the largest error is split in two, until there are k.

    A new row goes down the same tree, each time to the nearer of two centres.

    Parameters
    ----------
    n_clusters, random_state, verbose, copy_x
        As for `KMeans`.
    init : {'k-means++', 'random'}, default='random'
        The two initial centres of a bisection: rows far from each other (k-means++), or any rows.
    n_init : int, default=1
        The number of initialisations of each bisection; the smallest error wins.
    max_iter : int, default=300
        The largest number of rounds of a bisection.
    tol : float, default=1e-4
        A bisection has converged when the squared moves of its centres add up to no more than this times the mean
        variance of the features.
    algorithm : {'lloyd', 'elkan'}, default='lloyd'
        Accepted for compatibility with scikit-learn: both are the same here.
    bisecting_strategy : {'biggest_inertia', 'largest_cluster'}, default='biggest_inertia'
        Which cluster is split: the one with the largest error. 'largest_cluster' is refused.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centres.
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row.
    inertia_ : float
        The sum of squared distances of the rows from the centres of their clusters.
    report_ : dict
        The error after each bisection, and remarks.
    n_features_in_, feature_names_in_
        As for `KMeans`.

    Examples
    --------
    >>> from quince import BisectingKMeans
    >>> rows = [[1.0, 1.0], [10.0, 1.0], [3.0, 1.0], [10.0, 0.0], [10.0, 8.0], [10.0, 9.0]]
    >>> BisectingKMeans(n_clusters=3, init="k-means++", random_state=0).fit(rows).labels_
    array([0, 1, 0, 1, 2, 2], dtype=int32)
    """

    _accepted: ClassVar = {
        **Centres._accepted,
        "copy_x": "X is never written to",
        "algorithm": "both find the same centres",
        "bisecting_strategy": "the cluster with the largest error is halved",
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Centres._parameter_constraints,
        "init": [StrOptions({"k-means++", "random"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "copy_x": ["boolean"],
        "algorithm": [StrOptions({"lloyd", "elkan"})],
        "bisecting_strategy": [StrOptions({"biggest_inertia", "largest_cluster"})],
    }

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        init: str = "random",
        n_init: int = 1,
        random_state: Any = None,
        max_iter: int = 300,
        verbose: int = 0,
        tol: float = 1e-4,
        copy_x: bool = True,
        algorithm: str = "lloyd",
        bisecting_strategy: str = "biggest_inertia",
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.random_state = random_state
        self.max_iter = max_iter
        self.verbose = verbose
        self.tol = tol
        self.copy_x = copy_x
        self.algorithm = algorithm
        self.bisecting_strategy = bisecting_strategy

    def _method_settings(self) -> dict[str, Any]:
        if self.bisecting_strategy == "largest_cluster":
            raise ValueError(
                "bisecting_strategy='largest_cluster' is not done here: to halve the cluster with the largest error "
                "costs no more. Use 'biggest_inertia'."
            )
        return {**super()._method_settings(), "algorithm": "bisecting"}
