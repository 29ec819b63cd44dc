"""k-means over all rows at once."""

from __future__ import annotations

__all__ = ["KMeans"]

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import StrOptions

from quince.cluster._centres import Centres


class KMeans(Centres):
    """k centres, each the mean of the rows nearest to it.

    Parameters
    ----------
    n_clusters : int or 'auto', default=8
        The number of clusters; 'auto' takes the number from 1 to 10 with the largest mean silhouette, and says why in the
        remarks of `report_`.
    init : {'k-means++', 'random'}, callable or array-like of shape (n_clusters, n_features), default='k-means++'
        The initial centres: rows far from each other, any rows, what a function of X, n_clusters and random_state
        returns, or these.
    n_init : 'auto' or int, default='auto'
        The number of initialisations; the smallest `inertia_` wins. 'auto' is 1 for 'k-means++' and an array, and 10
        for 'random' and a function.
    max_iter : int, default=300
        The largest number of rounds over the rows.
    tol : float, default=1e-4
        k-means has converged when the squared moves of all centres add up to no more than this times the mean variance
        of the features.
    verbose : int, default=0
        Whether to print a summary of the fit.
    random_state : int, RandomState instance or None, default=None
        Determines the random numbers.
    copy_x : bool, default=True
        Accepted for compatibility with scikit-learn: X is neither copied nor written to.
    algorithm : {'lloyd', 'elkan', 'sequential'}, default='lloyd'
        'lloyd' and 'elkan' are the same here: every row goes to its nearest centre, found exactly, with bounds where
        they are quicker. 'sequential', which scikit-learn does not have, moves one row at a time, and the centres with
        it.
    polish : bool, default=False
        Whether rows are moved one at a time at the end, which can lower the error further. Not in scikit-learn.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centres, the largest cluster first unless `init` is an array or a function.
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row, the same as from `predict`.
    inertia_ : float
        The sum of squared distances of the rows from their centres.
    n_iter_ : int
        Number of rounds.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all strings.
    report_ : dict
        The error after each round, why it ended, and remarks.

    Examples
    --------
    >>> from quince import KMeans
    >>> rows = [[1.0, 2.0], [1.0, 4.0], [1.0, 0.0], [10.0, 2.0], [10.0, 4.0]]
    >>> model = KMeans(n_clusters=2, random_state=0).fit(rows)
    >>> model.labels_
    array([0, 0, 0, 1, 1], dtype=int32)
    >>> model.cluster_centers_
    array([[ 1.,  2.],
           [10.,  3.]])
    """

    _settings: ClassVar = {**Centres._settings, "algorithm": "algorithm", "polish": "polish"}
    _accepted: ClassVar = {**Centres._accepted, "copy_x": "X is never written to"}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Centres._parameter_constraints,
        "copy_x": ["boolean"],
        "algorithm": [StrOptions({"lloyd", "elkan", "sequential"})],
        "polish": ["boolean"],
    }
    _random_starts: ClassVar = 10

    n_iter_: int

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        init: str | Callable[..., ArrayLike] | ArrayLike = "k-means++",
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: int = 0,
        random_state: Any = None,
        copy_x: bool = True,
        algorithm: str = "lloyd",
        polish: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.copy_x = copy_x
        self.algorithm = algorithm
        self.polish = polish

    def _method_settings(self) -> dict[str, Any]:
        algorithm = "sequential" if self.algorithm == "sequential" else "lloyd"
        return {**super()._method_settings(), "algorithm": algorithm, "polish": bool(self.polish)}

    def _show(self, labels: NDArray[np.int32]) -> None:
        super()._show(labels)
        self.n_iter_ = len(self._model.trace)
