"""The rows nearest to others, and those within a radius."""

from __future__ import annotations

__all__ = ["NearestNeighbors"]

import os
from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from quince import files
from quince._base import for_extension, learning
from quince._quince import Model, Neighbours, fit
from quince._threads import effective
from quince.neighbours._search import Search, entries


class NearestNeighbors(Search):
    """Finds the rows nearest to others.

    X is not copied: changing it afterwards changes the answers.

    Parameters
    ----------
    n_neighbors : int, default=5
        The number of neighbours that `kneighbors` finds by default.
    radius : float, default=1.0
        The radius of `radius_neighbors` by default.
    algorithm, leaf_size, metric, p, metric_params, n_jobs
        Distance metric and search, with the values and defaults of `KNeighborsClassifier`.

    Attributes
    ----------
    n_samples_fit_ : int
        Number of rows.
    report_ : dict
        How neighbours are searched; reading it makes a model of the rows, and so a copy.
    effective_metric_, effective_metric_params_, n_features_in_, feature_names_in_
        As for `KNeighborsClassifier`.

    Examples
    --------
    >>> from quince import NearestNeighbors
    >>> rows = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [5.0, 5.0]]
    >>> distances, numbers = NearestNeighbors(n_neighbors=2).fit(rows).kneighbors([[0.0, 0.25]])
    >>> numbers
    array([[0, 2]])
    >>> distances
    array([[0.25, 0.75]])
    """

    _accepted: ClassVar = {**Search._accepted, "radius": "a question, which no method is fitted for"}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Search._parameter_constraints,
        "radius": [Interval(Real, 0, None, closed="both"), None],
    }

    _fit_X: Any
    _neighbours: Neighbours
    #: The method's settings that say how rows are measured and searched.
    _how: dict[str, Any]
    _type: str

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        radius: float = 1.0,
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: str = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    @learning
    def fit(self, X: Any, y: Any = None) -> Self:
        """Keeps the rows X, dense or sparse, and prepares the search."""
        self._fit_X = for_extension(self._check(X))
        self.n_samples_fit_ = self._fit_X.shape[0]
        self._sparse, self._type = sparse.issparse(self._fit_X), self._fit_X.dtype.name
        self._how = self._measure(self._fit_X)
        self._get_ready()
        return self

    def _get_ready(self) -> None:
        given = {"weights": self._feature_weights(), "threads": effective(self.n_jobs)}
        self._neighbours = self._in_our_words(Neighbours, self._fit_X, self._how, **given)

    def _nearest(self, X: Any, k: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        return self._neighbours.nearest(X, k, threads=effective(self.n_jobs))

    def radius_neighbors(
        self, X: Any = None, radius: float | None = None, return_distance: bool = True, sort_results: bool = False
    ) -> Any:
        """The fitted rows within a radius of each row of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, n_features), default=None
            The rows whose neighbours are wanted; None for the fitted rows, which are not their own neighbours.
        radius : float, default=None
            The radius; None for that of the estimator.
        return_distance : bool, default=True
            Whether to return the distances, too.
        sort_results : bool, default=False
            Accepted for compatibility with scikit-learn: the nearest row always comes first.

        Returns
        -------
        distances : ndarray of shape (n_queries,) of arrays
            Only with `return_distance`.
        rows : ndarray of shape (n_queries,) of arrays
            The indices of the rows.
        """
        check_is_fitted(self)
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True.")
        queries = self._fit_X if X is None else self._queries(X)
        distances, rows = (np.empty(queries.shape[0], dtype=object) for _ in range(2))
        for query, far, near in self._within(self.radius if radius is None else radius, queries):
            if X is None:
                others = near != query
                far, near = far[others], near[others]
            distances[query], rows[query] = far.copy(), near.copy()
        return (distances, rows) if return_distance else rows

    def _within(self, radius: float, queries: Any) -> Iterator[tuple[int, NDArray[np.float64], NDArray[np.int64]]]:
        """The number of each query, and its neighbours: it asks for more and more until the last one is too far."""
        # Few enough queries at a time that their answers stay below some 100 megabytes, in the worst case all rows.
        size = max(1, 2**22 // self.n_samples_fit_)
        for start in range(0, queries.shape[0], size):
            waiting = np.arange(start, min(start + size, queries.shape[0]))
            k = min(16, self.n_samples_fit_)
            while len(waiting):
                far, near = self._nearest(queries[waiting], k)
                found = (far <= radius).sum(axis=1)
                done = (found < k) | (k == self.n_samples_fit_)
                for i in np.flatnonzero(done):
                    yield waiting[i], far[i, : found[i]], near[i, : found[i]]
                waiting, k = waiting[~done], min(8 * k, self.n_samples_fit_)

    def radius_neighbors_graph(
        self, X: Any = None, radius: float | None = None, mode: str = "connectivity", sort_results: bool = False
    ) -> sparse.csr_matrix:
        """The graph of the rows within a radius, in the form of `kneighbors_graph`."""
        distances, rows = self.radius_neighbors(X, radius)
        values = entries(mode, np.concatenate(list(distances)))
        starts = np.cumsum([0, *map(len, rows)])
        return sparse.csr_matrix((values, np.concatenate(list(rows)), starts), shape=(len(rows), self.n_samples_fit_))

    def _fitted_model(self) -> Model:
        """A model that predicts the number of the nearest row: what a file holds."""
        check_is_fitted(self)
        numbers = np.arange(self.n_samples_fit_, dtype=np.float64)
        return fit("knn", self._fit_X, {**self._how, "k": 1}, target=numbers, threads=effective(self.n_jobs))

    def __sklearn_is_fitted__(self) -> bool:
        return "_neighbours" in vars(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Saves the rows in one file, which `quince.load` opens; opening it never runs code."""
        model, state = self._fitted_model(), self.__getstate__()
        del state["_fit_X"]
        files.save(self, {**state, "_model": model}, path)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("_neighbours", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        model = state.pop("_model", None)
        super().__setstate__(state)
        if model is not None:
            self._fit_X = model.parameter("rows").astype(self._type, copy=False)
        if "_fit_X" in vars(self):
            self._get_ready()
