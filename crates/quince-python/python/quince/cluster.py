"""Clusters: groups of rows that are alike, each around its mean.

`KMeans` finds centres with a small sum of squared distances from the rows to the nearest of them, `MiniBatchKMeans`
does so from a few rows at a time or from a stream, and `BisectingKMeans` by halving clusters. Parameters, defaults and
attributes are scikit-learn's. `silhouette_score` and `silhouette_samples` say how well rows sit in their clusters.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_array, check_random_state, check_X_y
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, _is_arraylike_not_scalar, check_is_fitted, validate_data

from quince._base import Estimator, for_extension
from quince._quince import (
    Model,
    cluster_distances,
    cluster_error,
    cluster_labels,
    fit_clusters,
    learn_batch,
    silhouettes,
)
from quince._threads import effective

FLOATS = (np.float64, np.float32)


class _KMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Estimator):
    """Fitting and predicting, however centres are found."""

    _settings: ClassVar = {
        "n_clusters": "k",
        "init": "start",
        "n_init": "restarts",
        "max_iter": "steps",
        "tol": "tolerance",
    }
    _accepted: ClassVar = {
        "verbose": "progress belongs to the run, not to the method",
        "random_state": "the seed belongs to the run, not to the method",
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "init": [StrOptions({"k-means++", "random"}), callable, "array-like"],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    #: The method's algorithm, and how often n_init="auto" starts from random rows.
    _algorithm: ClassVar[str]
    _random_starts: ClassVar[int]

    cluster_centers_: NDArray[Any]
    labels_: NDArray[np.int32]
    inertia_: float
    _type: str

    def _check(self, X: Any, *, reset: bool, finite: bool = False) -> Any:
        """X checked by scikit-learn; what is not finite is refused by the extension, which says where it is."""
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=finite)

    @staticmethod
    def _weights(sample_weight: Any, X: Any) -> NDArray[np.float64] | None:
        if sample_weight is None:
            return None
        return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)

    def _method_settings(self) -> dict[str, Any]:
        return {
            "k": self.n_clusters,
            "algorithm": self._algorithm,
            "start": "random" if isinstance(self.init, str) and self.init == "random" else "plus-plus",
            "restarts": self._starts(),
            "steps": self.max_iter,
            "tolerance": float(self.tol),
        }

    def _starts(self) -> int:
        """How often to start anew."""
        if _is_arraylike_not_scalar(self.init):
            if self.n_init not in ("auto", 1):
                warnings.warn(
                    f"Explicit initial center position passed: performing only one init in {type(self).__name__} "
                    f"instead of n_init={self.n_init}.",
                    RuntimeWarning,
                    stacklevel=4,
                )
            return 1
        if self.n_init == "auto":
            return 1 if isinstance(self.init, str) and self.init == "k-means++" else self._random_starts
        return self.n_init

    def _given_starts(self, X: Any, starts: int, random: np.random.RandomState) -> Iterator[NDArray[np.float64] | None]:
        """The centres to start from; one None if the method is to draw them, as often as its settings say."""
        if isinstance(self.init, str):
            yield None
        elif callable(self.init):
            yield from (self._start(self.init(X, self.n_clusters, random_state=random), X) for _ in range(starts))
        else:
            yield self._start(self.init, X)

    def _start(self, centres: Any, X: Any) -> NDArray[np.float64]:
        if sparse.issparse(centres):
            centres = centres.toarray()
        centres = check_array(centres, dtype=X.dtype)
        for size, wanted, what in (
            (len(centres), self.n_clusters, "number of clusters"),
            (centres.shape[1], X.shape[1], "number of features of the data"),
        ):
            if wanted not in ("auto", size):
                shape = f"The shape of the initial centers {centres.shape}"
                raise ValueError(f"{shape} does not match the {what} {wanted}.")
        return centres.astype(np.float64)

    def _cluster(self, X: Any, sample_weight: Any) -> tuple[Model, NDArray[np.int32]]:
        """Fits to X, which has been checked, and sets what all classes show."""
        weights = self._weights(sample_weight, X)
        self._check_clusters(X)
        settings, random = self._method_settings(), check_random_state(self.random_state)
        rows, best = for_extension(X), None
        for start in self._given_starts(X, settings["restarts"], random):
            seed = random.randint(np.iinfo(np.int32).max)
            found = fit_clusters(rows, settings, weights=weights, start=start, seed=seed, threads=effective(None))
            error = found[0].array("error")[0]
            if best is None or error < best[0]:
                best = (error, *found)
        error, model, labels = best
        self._take(model, X.dtype)
        self.inertia_ = float(error)
        clusters = len(self.cluster_centers_) if self.n_clusters == "auto" else self.n_clusters
        distinct = np.count_nonzero(np.bincount(labels))
        if distinct < clusters:
            warnings.warn(
                f"Number of distinct clusters ({distinct}) found smaller than n_clusters ({clusters}). Possibly due to "
                "duplicate points in X.",
                ConvergenceWarning,
                stacklevel=3,
            )
        if self.verbose:
            print(f"{model.report['route']}, inertia {self.inertia_}")
        return model, labels

    def _check_clusters(self, X: Any) -> None:
        if self.n_clusters != "auto" and X.shape[0] < self.n_clusters:
            raise ValueError(f"n_samples={X.shape[0]} should be >= n_clusters={self.n_clusters}.")

    def _take(self, model: Model, dtype: Any) -> None:
        self._model, self._type = model, np.dtype(dtype).name
        vars(self).update(self._from_model())

    def _from_model(self) -> dict[str, Any]:
        return {"cluster_centers_": self._model.array("centres").astype(self._type, copy=False)}

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> NDArray[np.int32]:
        """Finds clusters of the rows X, and says the cluster of each."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def predict(self, X: Any) -> NDArray[np.int32]:
        """The cluster of each row of X, counted from 0."""
        check_is_fitted(self)
        rows = for_extension(self._check(X, reset=False))
        return cluster_labels(self._model, rows, threads=effective(None))

    def fit_transform(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> NDArray[Any]:
        """Finds clusters of the rows X, and says the distance of each row from each centre."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def transform(self, X: Any) -> NDArray[Any]:
        """The distance of each row of X from each centre."""
        check_is_fitted(self)
        X = self._check(X, reset=False, finite=True)
        return cluster_distances(self._model, for_extension(X), threads=effective(None)).astype(X.dtype, copy=False)

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Minus the sum of squared distances of the rows X from the centres of their clusters."""
        check_is_fitted(self)
        X = self._check(X, reset=False)
        return -self._error(X, self._weights(sample_weight, X))

    def _error(self, X: Any, weights: NDArray[np.float64] | None) -> float:
        return cluster_error(self._model, for_extension(X), weights=weights, threads=effective(None))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class KMeans(_KMeans):
    """k centres, each the mean of the rows nearest to it.

    Parameters
    ----------
    n_clusters : int or 'auto', default=8
        How many clusters; 'auto' takes the number from 1 to 10 with the largest mean silhouette, and says why in the
        remarks of `report_`.
    init : {'k-means++', 'random'}, callable or array-like of shape (n_clusters, n_features), default='k-means++'
        Where centres start: at rows far from each other, at any rows, at what a function of X, n_clusters and
        random_state returns, or at these.
    n_init : 'auto' or int, default='auto'
        How often to start anew; the smallest `inertia_` wins. 'auto' is once for 'k-means++' and an array, ten times
        for 'random' and a function.
    max_iter : int, default=300
        The most rounds over the rows.
    tol : float, default=1e-4
        Done when the squared moves of all centres add up to no more than this times the mean variance of the
        features.
    verbose : int, default=0
        Whether to print how it went.
    random_state : int, RandomState instance or None, default=None
        Steers what is drawn.
    copy_x : bool, default=True
        Taken for scikit-learn's sake: X is neither copied nor written to.
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
        The cluster of each row, which is what `predict` says of it.
    inertia_ : float
        The sum of squared distances of the rows from their centres.
    n_iter_ : int
        Number of rounds.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all words.
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

    _settings: ClassVar = {**_KMeans._settings, "algorithm": "algorithm", "polish": "polish"}
    _accepted: ClassVar = {**_KMeans._accepted, "copy_x": "X is never written to"}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_KMeans._parameter_constraints,
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

    @property
    def _algorithm(self) -> str:
        return "sequential" if self.algorithm == "sequential" else "lloyd"

    def _method_settings(self) -> dict[str, Any]:
        return {**super()._method_settings(), "polish": bool(self.polish)}

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> KMeans:
        """Finds clusters of the rows X, dense or sparse. sample_weight says how much each row counts."""
        model, self.labels_ = self._cluster(self._check(X, reset=True), sample_weight)
        self.n_iter_ = len(model.report["trace"])
        return self


class MiniBatchKMeans(_KMeans):
    """k-means from a few rows at a time: for many rows, or for a stream of them.

    Parameters
    ----------
    n_clusters : int or 'auto', default=8
        How many clusters; 'auto' takes the number from 1 to 10 with the largest mean silhouette (not with
        `partial_fit`).
    init : {'k-means++', 'random'}, callable or array-like of shape (n_clusters, n_features), default='k-means++'
        Where centres start: at rows far from each other, at any rows, at what a function of X, n_clusters and
        random_state returns, or at these.
    max_iter : int, default=100
        The most rounds over the rows.
    batch_size : int, default=1024
        How many rows are looked at together.
    verbose : int, default=0
        Whether to print how it went.
    compute_labels : bool, default=True
        Whether to show `labels_`.
    random_state : int, RandomState instance or None, default=None
        Steers what is drawn.
    tol : float, default=0.0
        Done when a round lowers the error by no more than this share.
    max_no_improvement, init_size, reassignment_ratio
        Taken for scikit-learn's sake: the first round without improvement is the last one, starts are drawn from all
        rows, and no centre is drawn anew.
    n_init : 'auto' or int, default='auto'
        How often to start anew; the smallest `inertia_` wins. 'auto' is once for 'k-means++' and an array, three times
        for 'random' and a function.

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
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all words.
    report_ : dict
        The error in each round, why it ended, and remarks.

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

    _settings: ClassVar = {**_KMeans._settings, "batch_size": "batch"}
    _accepted: ClassVar = {
        **_KMeans._accepted,
        "compute_labels": "what is shown, not what is learnt",
        "max_no_improvement": "the first round without improvement is the last one",
        "init_size": "starts are drawn from all rows",
        "reassignment_ratio": "no centre is drawn anew",
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_KMeans._parameter_constraints,
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "compute_labels": ["boolean"],
        "max_no_improvement": [Interval(Integral, 0, None, closed="left"), None],
        "init_size": [Interval(Integral, 1, None, closed="left"), None],
        "reassignment_ratio": [Interval(Real, 0, None, closed="left")],
    }
    _algorithm: ClassVar = "mini-batch"
    _random_starts: ClassVar = 3

    n_iter_: int
    n_steps_: int
    #: The weight of the rows that each centre has been given.
    _counts: NDArray[np.float64]

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
        return {**super()._method_settings(), "batch": self.batch_size}

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> MiniBatchKMeans:
        """Finds clusters of the rows X, dense or sparse. sample_weight says how much each row counts."""
        X = self._check(X, reset=True)
        model, labels = self._cluster(X, sample_weight)
        self._counts = model.array("sizes")
        self.n_iter_ = len(model.report["trace"])
        self.n_steps_ = self.n_iter_ * -(-X.shape[0] // self.batch_size)
        vars(self).pop("labels_", None)
        if self.compute_labels:
            self.labels_ = labels
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> MiniBatchKMeans:
        """Learns from one more batch of rows: every centre moves to the mean of all rows it has been given so far."""
        first = not hasattr(self, "cluster_centers_")
        X = self._check(X, reset=first)
        weights = self._weights(sample_weight, X)
        if first:
            centres, self.n_steps_ = self._first_centres(X, weights), 0
            self._counts = np.zeros(len(centres))
        else:
            centres = self._model.array("centres")
        settings = {**self._method_settings(), "k": len(centres)}
        model, self._counts = learn_batch(
            for_extension(X), settings, centres, self._counts.tolist(), weights=weights, threads=effective(None)
        )
        self._take(model, X.dtype)
        self.n_steps_ += 1
        if self.compute_labels:
            self.labels_, self.inertia_ = self.predict(X), self._error(X, weights)
        return self

    def _first_centres(self, X: Any, weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """The centres to start a stream from: given ones, or those that one round over the first batch leads to."""
        if self.n_clusters == "auto":
            raise ValueError("n_clusters cannot be 'auto' for a stream, of which the first rows do not tell enough.")
        self._check_clusters(X)
        random = check_random_state(self.random_state)
        start = next(self._given_starts(X, 1, random))
        if start is not None:
            return start
        settings = {**self._method_settings(), "algorithm": "lloyd", "steps": 1}
        seed = random.randint(np.iinfo(np.int32).max)
        model, _ = fit_clusters(for_extension(X), settings, weights=weights, seed=seed, threads=effective(None))
        return model.array("centres")


class BisectingKMeans(_KMeans):
    """k-means by halving: all rows are one cluster, and the one with the largest error is halved until there are k.

    A new row goes down the same way, each time to the nearer of two centres.

    Parameters
    ----------
    n_clusters : int or 'auto', default=8
        How many clusters; 'auto' takes the number from 1 to 10 with the largest mean silhouette, and says why in the
        remarks of `report_`.
    init : {'k-means++', 'random'}, default='random'
        Where the two centres of a halving start: at rows far from each other, or at any rows.
    n_init : int, default=1
        How often to start each halving anew; the smallest error wins.
    random_state : int, RandomState instance or None, default=None
        Steers what is drawn.
    max_iter : int, default=300
        The most rounds of a halving.
    verbose : int, default=0
        Whether to print how it went.
    tol : float, default=1e-4
        A halving is done when the squared moves of its centres add up to no more than this times the mean variance of
        the features.
    copy_x : bool, default=True
        Taken for scikit-learn's sake: X is not written to.
    algorithm : {'lloyd', 'elkan'}, default='lloyd'
        Taken for scikit-learn's sake: both are the same here.
    bisecting_strategy : {'biggest_inertia', 'largest_cluster'}, default='biggest_inertia'
        Which cluster is halved: the one with the largest error. 'largest_cluster' is refused.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centres.
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row.
    inertia_ : float
        The sum of squared distances of the rows from the centres of their clusters.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all words.
    report_ : dict
        The error after each halving, and remarks.

    Examples
    --------
    >>> from quince import BisectingKMeans
    >>> rows = [[1.0, 1.0], [10.0, 1.0], [3.0, 1.0], [10.0, 0.0], [10.0, 8.0], [10.0, 9.0]]
    >>> BisectingKMeans(n_clusters=3, init="k-means++", random_state=0).fit(rows).labels_
    array([0, 1, 0, 1, 2, 2], dtype=int32)
    """

    _accepted: ClassVar = {
        **_KMeans._accepted,
        "copy_x": "X is never written to",
        "algorithm": "both find the same centres",
        "bisecting_strategy": "the cluster with the largest error is halved",
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_KMeans._parameter_constraints,
        "init": [StrOptions({"k-means++", "random"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "copy_x": ["boolean"],
        "algorithm": [StrOptions({"lloyd", "elkan"})],
        "bisecting_strategy": [StrOptions({"biggest_inertia", "largest_cluster"})],
    }
    _algorithm: ClassVar = "bisecting"

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

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> BisectingKMeans:
        """Finds clusters of the rows X, dense or sparse. sample_weight says how much each row counts."""
        if self.bisecting_strategy == "largest_cluster":
            raise ValueError(
                "bisecting_strategy='largest_cluster' is not done here: to halve the cluster with the largest error "
                "costs no more. Use 'biggest_inertia'."
            )
        _, self.labels_ = self._cluster(self._check(X, reset=True), sample_weight)
        return self


def silhouette_score(
    X: Any,
    labels: ArrayLike,
    *,
    metric: str = "euclidean",
    sample_size: int | None = None,
    random_state: Any = None,
) -> float:
    """The mean of all silhouettes: 1 is good, 0 is between two clusters.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    labels : array-like of shape (n_samples,)
        The cluster of each row.
    metric : {'euclidean'}, default='euclidean'
        How distances are measured.
    sample_size : int, default=None
        Of so many rows, drawn at random, the silhouettes are taken; None for all.
    random_state : int, RandomState instance or None, default=None
        Steers what is drawn; the same rows as in scikit-learn.

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
    """How well each row sits in its cluster: (b - a) / max(a, b).

    a is its mean distance from the other rows of its cluster, b the least mean distance from the rows of another one. A
    row that is alone in its cluster has 0. Parameters are as for `silhouette_score`.
    """
    if metric != "euclidean":
        raise ValueError(f"metric cannot be {metric!r}: silhouettes are of Euclidean distances here.")
    X, labels = check_X_y(X, labels, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=True)
    found, codes = np.unique(labels, return_inverse=True)
    if not 1 < len(found) < X.shape[0]:
        raise ValueError(f"Number of labels is {len(found)}. Valid values are 2 to n_samples - 1 (inclusive)")
    return silhouettes(for_extension(X), codes.astype(np.uint32), threads=effective(None))
