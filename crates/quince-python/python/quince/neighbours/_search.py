"""Distances, and the search for the nearest rows: what all classes of neighbours share."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import MultiOutputMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from quince._base import FLOATS, Estimator, for_extension

#: The registry's names of scikit-learn's metrics; "minkowski" follows from p.
METRICS = {
    "euclidean": "euclidean",
    "l2": "euclidean",
    "nan_euclidean": "euclidean",
    "manhattan": "manhattan",
    "cityblock": "manhattan",
    "l1": "manhattan",
    "chebyshev": "chebyshev",
    "hamming": "hamming",
    "cosine": "cosine",
}
#: The exponents of "minkowski" that have a name of their own.
NAMED_EXPONENTS = {1: "manhattan", 2: "euclidean", np.inf: "chebyshev"}


class Search(MultiOutputMixin, Estimator):
    """Rows among which the nearest are searched."""

    _settings: ClassVar = {
        "n_neighbors": "k",
        "algorithm": "search",
        "metric": "metric",
        "p": "p",
        "metric_params": "feature_weights",
    }
    _accepted: ClassVar = {
        "leaf_size": "leaves have the size that the machine likes",
        "n_jobs": "threads belong to the run, not to the method",
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), None],
        "algorithm": [StrOptions({"auto", "ball_tree", "kd_tree", "brute"})],
        "leaf_size": [Interval(Integral, 1, None, closed="left")],
        "p": [Interval(Real, 0, None, closed="right"), None],
        "metric": [StrOptions({"minkowski", *METRICS})],
        "metric_params": [dict, None],
        "n_jobs": [Integral, None],
    }

    n_samples_fit_: int
    effective_metric_: str
    effective_metric_params_: dict[str, Any]
    #: Whether the fitted rows are sparse.
    _sparse: bool

    def _check(self, X: Any, y: Any = "no_validation", *, reset: bool = True, **checks: Any) -> Any:
        """X (and y) checked by scikit-learn. NaN is allowed in dense X, and infinity refused by the extension."""
        return validate_data(
            self, X, y, reset=reset, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=sparse.issparse(X), **checks
        )

    def _queries(self, X: Any) -> Any:
        """X checked and ready for the extension: sparse if the fitted rows are, and dense if they are."""
        X = self._check(X, reset=False)
        if self._sparse and not sparse.issparse(X):
            X = sparse.csr_matrix(X)
        elif not self._sparse and sparse.issparse(X):
            X = X.toarray()
        return for_extension(X)

    def _measure(self, X: Any) -> dict[str, Any]:
        """The method's settings for the distance metric and the search."""
        given = dict(self.metric_params or {})
        unknown = sorted(set(given) - {"p", "w"})
        if unknown:
            raise ValueError(f"metric_params cannot have {unknown[0]!r}. It takes 'w', weights of features, and 'p'.")
        if "p" in given and self.p is not None:
            warnings.warn(
                "Parameter p is found in metric_params. The corresponding parameter from __init__ is ignored.",
                SyntaxWarning,
                stacklevel=4,
            )
        p = given.pop("p", self.p)
        p = 2 if p is None else p
        self.effective_metric_, self.effective_metric_params_ = self.metric, given
        metric = METRICS.get(self.metric)
        if self.metric == "minkowski":
            if p < 1:
                name = type(self).__name__
                raise ValueError(f"The 'p' parameter of {name} cannot be {p}: below 1 there are no distances. Use at least 1.")
            name, weights = NAMED_EXPONENTS.get(p), given.get("w")
            metric = METRICS.get(name, "minkowski")
            if name and weights is None:
                self.effective_metric_, self.effective_metric_params_ = name, {}
            else:
                self.effective_metric_params_ = {"p": p, "w": weights}
        settings = {
            "metric": metric,
            "search": self._search(X, metric),
            "feature_weights": ",".join(map(repr, self._feature_weights())),
        }
        return settings | ({"p": float(p)} if metric == "minkowski" else {})

    def _feature_weights(self) -> list[float]:
        """How much each column counts; empty if all count alike."""
        weights = self.effective_metric_params_.get("w")
        return [] if weights is None else np.asarray(weights, dtype=np.float64).ravel().tolist()

    def _search(self, X: Any, metric: str) -> str:
        """The search that `algorithm` asks for, if it can be used with this metric and these rows."""
        if self.algorithm in ("auto", "ball_tree"):
            return "auto"
        plain = not sparse.issparse(X) and not np.isnan(np.min(X))
        if self.algorithm == "kd_tree":
            return "tree" if plain and metric not in ("hamming", "cosine") else "auto"
        return "product" if plain and metric in ("euclidean", "cosine") else "direct"

    def _nearest(self, X: Any, k: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Distances and numbers of the k nearest rows; for X None those of the fitted rows, without themselves."""
        raise NotImplementedError

    def _count(self) -> int | None:
        """The number of neighbours by default."""
        return self.n_neighbors

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """The nearest of the fitted rows, in order of their distances; of equally near rows, the one with the smaller index is first.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, n_features), default=None
            The rows whose neighbours are wanted; None for the fitted rows, which are not their own neighbours.
        n_neighbors : int, default=None
            The number of neighbours; None for that of the estimator.
        return_distance : bool, default=True
            Whether to return the distances, too.

        Returns
        -------
        distances : ndarray of shape (n_queries, n_neighbors)
            Only with `return_distance`.
        rows : ndarray of shape (n_queries, n_neighbors)
            The indices of the rows.
        """
        check_is_fitted(self)
        k = self._count() if n_neighbors is None else n_neighbors
        if not isinstance(k, Integral):
            raise TypeError(f"n_neighbors does not take {type(k)} value, enter integer value")
        if k <= 0:
            raise ValueError(f"Expected n_neighbors > 0. Got {k}")
        if X is not None:
            X = self._queries(X)
        fitted = self.n_samples_fit_
        if k > fitted - (X is None):
            relation, queries = ("<", fitted) if X is None else ("<=", X.shape[0])
            raise ValueError(
                f"Expected n_neighbors {relation} n_samples_fit, but n_neighbors = {k}, n_samples_fit = {fitted}, "
                f"n_samples = {queries}"
            )
        distances, rows = self._nearest(X, int(k))
        return (distances, rows) if return_distance else rows

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity"
    ) -> sparse.csr_matrix:
        """The graph of neighbours: a sparse matrix with a row for each query and a column for each fitted row.

        Its entries are 1 for a neighbour, or with mode="distance" the distance. X and n_neighbors are as for
        `kneighbors`.
        """
        distances, rows = self.kneighbors(X, n_neighbors)
        return graph(rows, entries(mode, distances), self.n_samples_fit_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def entries(mode: str, distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """The entries of a graph for neighbours at these distances."""
    if mode == "distance":
        return distances
    if mode == "connectivity":
        return np.ones_like(distances)
    raise ValueError(f'Unsupported mode, must be one of "connectivity", or "distance" but got "{mode}" instead')


def graph(columns: NDArray[np.integer], values: NDArray[np.float64], width: int) -> sparse.csr_matrix:
    """A sparse matrix that has in each row these values in these columns, as many in every row."""
    starts = np.arange(0, columns.size + 1, columns.shape[1])
    return sparse.csr_matrix((values.ravel(), columns.ravel(), starts), shape=(len(columns), width))
