"""Nearest neighbours: a row is what the rows most like it are.

`NearestNeighbors` finds the rows nearest to others, `KNeighborsClassifier` lets them vote, and `KNeighborsRegressor`
takes their mean. Parameters, defaults and attributes are scikit-learn's. Neighbours are exact whichever way they are
searched, and of rows that are equally far the first comes first; a tie of votes goes to the first class. NaN is a hole:
its column is left out of the distance, which is scaled up from the columns that both rows have.
"""

from __future__ import annotations

import os
import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin, _fit_context
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from quince import files
from quince._base import Estimator, columns_of, for_extension, names_of
from quince._quince import Model, Neighbours, fit_neighbours, nearest_rows, neighbours_labels, neighbours_say
from quince._threads import effective

FLOATS = (np.float64, np.float32)

#: The registry's names of scikit-learn's metrics; "minkowski" follows from p.
METRICS = {
    "euclidean": "euclidean",
    "l2": "euclidean",
    "nan_euclidean": "euclidean",
    "manhattan": "city-block",
    "cityblock": "city-block",
    "l1": "city-block",
    "chebyshev": "chebyshev",
    "hamming": "hamming",
    "cosine": "cosine",
}


class _Neighbours(MultiOutputMixin, Estimator):
    """Distances, and the search for the nearest rows."""

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

    def _measure(self, X: Any) -> tuple[dict[str, Any], list[float]]:
        """The method's settings that say how rows of X are measured and searched, and how much each column counts."""
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
        p, weights = given.pop("p", self.p), given.get("w")
        p = 2 if p is None else p
        self.effective_metric_, self.effective_metric_params_ = self.metric, given
        if self.metric == "minkowski":
            known = {1: "manhattan", 2: "euclidean", np.inf: "chebyshev"}.get(p)
            if p < 1:
                raise ValueError(f"p cannot be {p}: below 1 there are no distances. Use at least 1.")
            metric = METRICS[known] if known else "p-norm"
            if known and weights is None:
                self.effective_metric_, self.effective_metric_params_ = known, {}
            else:
                self.effective_metric_params_ = {"p": p, "w": weights}
        else:
            metric = METRICS[self.metric]
        settings = {"metric": metric, "search": self._search(X, metric)}
        if metric == "p-norm":
            settings["p"] = float(p)
        return settings, [] if weights is None else np.asarray(weights, dtype=np.float64).ravel().tolist()

    def _search(self, X: Any, metric: str) -> str:
        """The way to search that `algorithm` asks for, if it can be gone with this metric and these rows."""
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
        """How many neighbours are asked unless somebody says."""
        return self.n_neighbors

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """The nearest of the fitted rows, the nearest first and of equally near ones the first.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, n_features), default=None
            The rows whose neighbours are wanted; None for the fitted rows, which are not their own neighbours.
        n_neighbors : int, default=None
            How many; None for as many as the estimator was made for.
        return_distance : bool, default=True
            Whether to return the distances, too.

        Returns
        -------
        distances : ndarray of shape (n_queries, n_neighbors)
            Only with `return_distance`.
        rows : ndarray of shape (n_queries, n_neighbors)
            The numbers of the rows.
        """
        check_is_fitted(self)
        k = self._count() if n_neighbors is None else n_neighbors
        if not isinstance(k, Integral):
            raise TypeError(f"n_neighbors does not take {type(k)} value, enter integer value")
        if k <= 0:
            raise ValueError(f"Expected n_neighbors > 0. Got {k}")
        if X is not None:
            X = self._queries(X)
        self._check_count(X, k)
        distances, rows = self._nearest(X, int(k))
        return (distances, rows) if return_distance else rows

    def _check_count(self, X: Any, k: int) -> None:
        fitted = self.n_samples_fit_
        if k > fitted - (X is None):
            relation, queries = ("<", fitted) if X is None else ("<=", X.shape[0])
            raise ValueError(
                f"Expected n_neighbors {relation} n_samples_fit, but n_neighbors = {k}, n_samples_fit = {fitted}, "
                f"n_samples = {queries}"
            )

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity"
    ) -> sparse.csr_matrix:
        """The graph of neighbours: a sparse matrix with a row for each query and a column for each fitted row.

        Its entries are 1 for a neighbour, or with mode="distance" the distance. X and n_neighbors are as for
        `kneighbors`.
        """
        _check_mode(mode)
        distances, rows = self.kneighbors(X, n_neighbors)
        data = distances.ravel() if mode == "distance" else np.ones(rows.size)
        starts = np.arange(0, rows.size + 1, rows.shape[1])
        return sparse.csr_matrix((data, rows.ravel(), starts), shape=(len(rows), self.n_samples_fit_))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def _check_mode(mode: str) -> None:
    if mode not in ("connectivity", "distance"):
        raise ValueError(f'Unsupported mode, must be one of "connectivity", or "distance" but got "{mode}" instead')


class NearestNeighbors(_Neighbours):
    """Finds the rows nearest to others.

    X is kept where it is and not copied: who changes it afterwards changes the answers.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many neighbours `kneighbors` finds unless told otherwise.
    radius : float, default=1.0
        How far `radius_neighbors` looks unless told otherwise.
    algorithm : {'auto', 'ball_tree', 'kd_tree', 'brute'}, default='auto'
        The way to search: a kd-tree, or ('brute') a matrix product and exact distances; 'auto' and 'ball_tree' choose
        by shape. The answer is the same, and a way that cannot be gone (a tree for sparse rows) is not.
    leaf_size : int, default=30
        Taken for scikit-learn's sake.
    metric : {'minkowski', 'euclidean', 'l2', 'manhattan', 'cityblock', 'l1', 'chebyshev', 'hamming', 'cosine', \
'nan_euclidean'}, default='minkowski'
        How distances are measured. Every one takes holes (NaN) by the rule of 'nan_euclidean'.
    p : float, default=2
        The exponent of 'minkowski', at least 1.
    metric_params : dict, default=None
        {'w': weights} says how much each feature counts.
    n_jobs : int, default=None
        Number of threads; -1 for all processors, None for `quince.set_threads`, `OMP_NUM_THREADS` or all processors.

    Attributes
    ----------
    effective_metric_ : str
        The metric, by the name that scikit-learn would show.
    effective_metric_params_ : dict
        Its parameters.
    n_samples_fit_ : int
        Number of rows.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all words.
    report_ : dict
        How rows are searched; reading it makes a model of them, and so a copy.

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

    _accepted: ClassVar = {**_Neighbours._accepted, "radius": "a question, which no method is fitted for"}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_Neighbours._parameter_constraints,
        "radius": [Interval(Real, 0, None, closed="both"), None],
    }

    _fit_X: Any
    _neighbours: Neighbours
    #: How rows are measured and searched, and how much each column counts.
    _how: dict[str, Any]
    _feature_weights: list[float]

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

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> NearestNeighbors:
        """Keeps the rows X, dense or sparse, and makes them ready to be asked."""
        self._fit_X = for_extension(self._check(X))
        self.n_samples_fit_ = self._fit_X.shape[0]
        self._sparse, self._type = sparse.issparse(self._fit_X), self._fit_X.dtype.name
        self._how, self._feature_weights = self._measure(self._fit_X)
        self._get_ready()
        return self

    def _get_ready(self) -> None:
        self._neighbours = Neighbours(
            self._fit_X, self._how, weights=self._feature_weights, threads=effective(self.n_jobs)
        )

    def _nearest(self, X: Any, k: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        return self._neighbours.nearest(X, k, threads=effective(self.n_jobs))

    def radius_neighbors(
        self, X: Any = None, radius: float | None = None, return_distance: bool = True, sort_results: bool = False
    ) -> Any:
        """The fitted rows that are no further than a radius.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, n_features), default=None
            The rows whose neighbours are wanted; None for the fitted rows, which are not their own neighbours.
        radius : float, default=None
            How far to look; None for the radius that the estimator was made with.
        return_distance : bool, default=True
            Whether to return the distances, too.
        sort_results : bool, default=False
            Taken for scikit-learn's sake: the nearest always comes first.

        Returns
        -------
        distances : ndarray of shape (n_queries,) of arrays
            Only with `return_distance`.
        rows : ndarray of shape (n_queries,) of arrays
            The numbers of the rows.
        """
        check_is_fitted(self)
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True.")
        radius = self.radius if radius is None else radius
        queries = self._fit_X if X is None else self._queries(X)
        distances, rows = _objects(queries.shape[0]), _objects(queries.shape[0])
        # So many queries at a time that the answers of all rows, the worst case, stay below some 100 megabytes.
        size = max(1, 2**22 // self.n_samples_fit_)
        for start in range(0, queries.shape[0], size):
            self._within(radius, queries, np.arange(start, min(start + size, queries.shape[0])), distances, rows)
        if X is None:
            for own, numbers in enumerate(rows):
                others = numbers != own
                distances[own], rows[own] = distances[own][others], numbers[others]
        return (distances, rows) if return_distance else rows

    def _within(
        self, radius: float, queries: Any, waiting: NDArray[np.int64], distances: NDArray[Any], rows: NDArray[Any]
    ) -> None:
        """Asks for more and more neighbours until the last one is too far."""
        k = min(16, self.n_samples_fit_)
        while len(waiting):
            far, near = self._nearest(queries[waiting], k)
            found = (far <= radius).sum(axis=1)
            done = (found < k) | (k == self.n_samples_fit_)
            for query, count, d, r in zip(waiting[done], found[done], far[done], near[done]):
                distances[query], rows[query] = d[:count].copy(), r[:count].copy()
            waiting, k = waiting[~done], min(8 * k, self.n_samples_fit_)

    def radius_neighbors_graph(
        self, X: Any = None, radius: float | None = None, mode: str = "connectivity", sort_results: bool = False
    ) -> sparse.csr_matrix:
        """The graph of the rows within a radius, in the form of `kneighbors_graph`."""
        _check_mode(mode)
        distances, rows = self.radius_neighbors(X, radius)
        numbers = np.concatenate(list(rows))
        data = np.concatenate(list(distances)) if mode == "distance" else np.ones(len(numbers))
        starts = np.concatenate([[0], np.cumsum([len(some) for some in rows])])
        return sparse.csr_matrix((data, numbers, starts), shape=(len(rows), self.n_samples_fit_))

    def _fitted_model(self) -> Model:
        """A model that predicts the number of the nearest row: what a file holds."""
        if "_fit_X" not in vars(self):
            raise NotFittedError("This NearestNeighbors instance is not fitted yet. Call 'fit' first.")
        settings = {**self._how, "k": 1, "feature_weights": _text(self._feature_weights)}
        return fit_neighbours(self._fit_X, settings, threads=effective(self.n_jobs))

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
            self._fit_X = _rows_of(model).astype(self._type, copy=False)
        if "_fit_X" in vars(self):
            self._get_ready()


def _objects(count: int) -> NDArray[Any]:
    return np.empty(count, dtype=object)


def _text(weights: list[float]) -> str:
    """Feature weights as the registry's setting has them."""
    return ",".join(map(repr, weights))


def _rows_of(model: Model) -> Any:
    """The rows that a saved model holds."""
    rows = model.array("rows")
    if rows.shape[1] == 0:
        ends, columns = model.array("sparse.ends"), model.array("sparse.columns").astype(np.int64)
        starts = np.concatenate([[0], ends[1:]]).astype(np.int64)
        return sparse.csr_matrix((model.array("sparse.values"), columns, starts), shape=(len(rows), int(ends[0])))
    return rows


class _Learner(_Neighbours):
    """Neighbours that have something to say: a class, or numbers."""

    _settings: ClassVar = {**_Neighbours._settings, "weights": "votes"}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_Neighbours._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
        "weights": [StrOptions({"uniform", "distance"}), callable, None],
    }

    n_neighbors_: int | None
    #: What the rows say, and how much each counts: arrays that the model has, too.
    _said: dict[str, Any]

    def _fit(self, X: Any, weights: NDArray[np.float64] | None, smoothing: float, **answers: Any) -> None:
        settings, features = self._measure(X)
        self.n_samples_fit_, self._sparse = X.shape[0], sparse.issparse(X)
        k = self.n_neighbors
        settings |= {
            "k": k if k == "auto" else min(k or 1, X.shape[0]),
            "votes": self._votes() or "uniform",
            "feature_weights": _text(features),
            "smoothing": float(smoothing),
        }
        self._model = fit_neighbours(
            for_extension(X), settings, weights=weights, threads=effective(self.n_jobs), **answers
        )
        self.n_neighbors_ = int(self._model.report["facts"]["k"]) if k == "auto" else k
        self._said = {**answers, "weights": np.empty(0) if weights is None else weights}

    def _weighted(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, NDArray[np.float64] | None]:
        """Rows and weights without the rows that count for nothing."""
        if sample_weight is None:
            return X, y, None
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if weights.all():
            return X, y, weights
        counting = np.flatnonzero(weights)
        return X[counting], y[counting], weights[counting]

    def _count(self) -> int | None:
        return self.n_neighbors_ if self.n_neighbors == "auto" else self.n_neighbors

    def _votes(self) -> str | None:
        """The method's name for `weights`, if it knows them."""
        return None if callable(self.weights) else self.weights or "uniform"

    def _nearest(self, X: Any, k: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        return nearest_rows(self._model, X, k, threads=effective(self.n_jobs))

    def _as_fitted(self) -> bool:
        """Whether the model says what the parameters ask for, which a user may have set since the fit."""
        settings = self._model.settings
        asked = (self.n_neighbors, self._votes(), float(getattr(self, "smoothing", 0.0)))
        return asked == (settings["k"], settings["votes"], settings["smoothing"])

    def _say(self, X: Any) -> NDArray[np.float64]:
        """What neighbours say, a column for each class or number, by the parameters as they are."""
        distances, rows = self.kneighbors(X)
        counts, row_weights = self._counts(distances), self._row_weights()
        if row_weights is not None:
            counts = counts * row_weights[rows]
        total = counts.sum(axis=1)
        if (total == 0).any():
            raise ValueError(
                "All neighbors of some sample is getting zero weights. Please modify 'weights' to avoid this case if "
                "you are using a user-defined function."
            )
        return self._add_up(rows, counts) / total[:, None]

    def _add_up(self, rows: NDArray[np.int64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of what each query's neighbours say, each as often as it counts."""
        if self._model.classes is not None:
            codes = self._array("codes").astype(np.intp)
            says = np.zeros((len(rows), len(self._model.classes)))
            for neighbours, count in zip(rows.T, counts.T):
                says[np.arange(len(rows)), codes[neighbours]] += count
            return says
        numbers = self._array("numbers")
        says = np.zeros((len(rows), numbers.shape[1]))
        for neighbours, count in zip(rows.T, counts.T):
            says += count[:, None] * numbers[neighbours]
        return says

    def _row_weights(self) -> NDArray[np.float64] | None:
        weights = self._array("weights")
        return weights if len(weights) else None

    def _array(self, name: str) -> NDArray[Any]:
        """One of the model's arrays, which are at hand after a fit and copied from a model that was opened."""
        return self._said[name] if "_said" in vars(self) else self._model.array(name)

    def _counts(self, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        """How much each neighbour counts."""
        if callable(self.weights):
            return np.asarray(self.weights(distances), dtype=np.float64)
        counts = np.ones_like(distances)
        if self.weights == "distance":
            touching = distances == 0
            apart = ~touching.any(axis=1) & np.isfinite(distances).any(axis=1)
            counts[touching.any(axis=1)] = touching[touching.any(axis=1)]
            counts[apart] = distances[apart].min(axis=1, keepdims=True) / distances[apart]
        return counts

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("_said", None)
        return state


class KNeighborsClassifier(ClassifierMixin, _Learner):
    """The nearest rows vote.

    Parameters
    ----------
    n_neighbors : int or 'auto', default=5
        How many rows vote; 'auto' takes the number with the least log loss when every row is predicted by its
        neighbours without itself, and shows it in `n_neighbors_`.
    weights : {'uniform', 'distance'}, callable or None, default='uniform'
        How much each neighbour counts: all alike, by one over its distance (neighbours at no distance outvote all
        others), or as a function of the distances says.
    algorithm : {'auto', 'ball_tree', 'kd_tree', 'brute'}, default='auto'
        The way to search: a kd-tree, or ('brute') a matrix product and exact distances; 'auto' and 'ball_tree' choose
        by shape. The answer is the same, and a way that cannot be gone (a tree for sparse rows) is not.
    leaf_size : int, default=30
        Taken for scikit-learn's sake.
    p : float, default=2
        The exponent of 'minkowski', at least 1.
    metric : {'minkowski', 'euclidean', 'l2', 'manhattan', 'cityblock', 'l1', 'chebyshev', 'hamming', 'cosine', \
'nan_euclidean'}, default='minkowski'
        How distances are measured. Every one takes holes (NaN) by the rule of 'nan_euclidean'.
    metric_params : dict, default=None
        {'w': weights} says how much each feature counts.
    n_jobs : int, default=None
        Number of threads; -1 for all processors, None for `quince.set_threads`, `OMP_NUM_THREADS` or all processors.
    smoothing : float, default=0.0
        So many votes are spread evenly over all classes, so that no probability is zero. Not in scikit-learn.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,) or list of such arrays
        The class labels, sorted; a list where y has several columns.
    effective_metric_ : str
        The metric, by the name that scikit-learn would show.
    effective_metric_params_ : dict
        Its parameters.
    n_neighbors_ : int
        How many rows vote. Not in scikit-learn.
    n_samples_fit_ : int
        Number of rows; those with a weight of zero do not count.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all words.
    outputs_2d_ : bool
        Whether y has several columns.
    report_ : dict
        How rows are searched, and how many vote.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from quince import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KNeighborsClassifier(3).fit(X, y)
    >>> model.predict_proba(X[[70]])
    array([[0.        , 0.33333333, 0.66666667]])
    >>> round(model.score(None, y), 2)  # every row by its neighbours without itself
    0.96
    """

    _settings: ClassVar = {**_Learner._settings, "smoothing": "smoothing"}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_Learner._parameter_constraints,
        "smoothing": [Interval(Real, 0, None, closed="left")],
    }

    classes_: Any
    outputs_2d_: bool

    def __init__(
        self,
        n_neighbors: int | str = 5,
        *,
        weights: Any = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: str = "minkowski",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        smoothing: float = 0.0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.smoothing = smoothing

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> KNeighborsClassifier:
        """Keeps the rows X (dense or sparse) and their labels y, of which there may be several columns.

        sample_weight says how much the vote of each row counts; a row with a weight of two is still one neighbour.
        """
        X, y = self._check(X, y, multi_output=True)
        check_classification_targets(y)
        X, y, weights = self._weighted(X, y, sample_weight)
        self.outputs_2d_ = y.ndim == 2 and y.shape[1] > 1
        if y.ndim == 2 and not self.outputs_2d_:
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
                "(n_samples,), for example using ravel().",
                DataConversionWarning,
                stacklevel=2,
            )
        found = [np.unique(column, return_inverse=True) for column in y.reshape(len(y), -1).T]
        if self.outputs_2d_:
            # The votes for a class are the mean of ones for its rows and zeros for all others.
            indicators = np.hstack([np.eye(len(classes))[codes] for classes, codes in found])
            self._fit(X, weights, self.smoothing, numbers=indicators)
            self.classes_ = [classes for classes, _ in found]
        else:
            ((classes, codes),) = found
            self._fit(X, weights, self.smoothing, codes=codes.astype(np.uint32), classes=names_of(classes))
            self.classes_ = classes
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row of X; X None stands for the fitted rows, which are not their own neighbours."""
        check_is_fitted(self)
        if self.outputs_2d_:
            return np.stack(
                [classes[one.argmax(axis=1)] for classes, one in zip(self.classes_, self._shares(X))], axis=1
            )
        if X is not None and self._as_fitted():
            rows = self._queries(X)
            codes = neighbours_labels(self._model, rows, threads=effective(self.n_jobs))
        else:
            codes = self._say(X).argmax(axis=1)
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> Any:
        """The share of votes for each class, with `smoothing` more; a list of arrays where y had several columns.

        X None stands for the fitted rows, which are not their own neighbours.
        """
        check_is_fitted(self)
        if self.outputs_2d_:
            return [self._smooth(one) for one in self._shares(X)]
        if X is not None and self._as_fitted():
            rows = self._queries(X)
            return neighbours_say(self._model, rows, threads=effective(self.n_jobs))
        return self._smooth(self._say(X))

    def _shares(self, X: Any) -> list[NDArray[np.float64]]:
        """Shares of the votes, an array for each column of y."""
        if X is not None and self._as_fitted():
            rows = self._queries(X)
            says = neighbours_say(self._model, rows, threads=effective(self.n_jobs))
        else:
            says = self._say(X)
        return np.split(says, np.cumsum([len(classes) for classes in self.classes_])[:-1], axis=1)

    def _smooth(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        k = self._count()
        return (k * shares + self.smoothing / shares.shape[1]) / (k + self.smoothing)

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The share of right labels. X None stands for the fitted rows, so that the score is that of leave-one-out."""
        return super().score(X, y, sample_weight)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class KNeighborsRegressor(RegressorMixin, _Learner):
    """The mean of the nearest rows.

    Parameters
    ----------
    n_neighbors : int or 'auto', default=5
        How many rows to take the mean of; 'auto' takes the number with the least squared error when every row is
        predicted by its neighbours without itself, and shows it in `n_neighbors_`.
    weights : {'uniform', 'distance'}, callable or None, default='uniform'
        How much each neighbour counts: all alike, by one over its distance (where there are neighbours at no distance,
        only they count), or as a function of the distances says.
    algorithm : {'auto', 'ball_tree', 'kd_tree', 'brute'}, default='auto'
        The way to search: a kd-tree, or ('brute') a matrix product and exact distances; 'auto' and 'ball_tree' choose
        by shape. The answer is the same, and a way that cannot be gone (a tree for sparse rows) is not.
    leaf_size : int, default=30
        Taken for scikit-learn's sake.
    p : float, default=2
        The exponent of 'minkowski', at least 1.
    metric : {'minkowski', 'euclidean', 'l2', 'manhattan', 'cityblock', 'l1', 'chebyshev', 'hamming', 'cosine', \
'nan_euclidean'}, default='minkowski'
        How distances are measured. Every one takes holes (NaN) by the rule of 'nan_euclidean'.
    metric_params : dict, default=None
        {'w': weights} says how much each feature counts.
    n_jobs : int, default=None
        Number of threads; -1 for all processors, None for `quince.set_threads`, `OMP_NUM_THREADS` or all processors.

    Attributes
    ----------
    effective_metric_ : str
        The metric, by the name that scikit-learn would show.
    effective_metric_params_ : dict
        Its parameters.
    n_neighbors_ : int
        How many rows are asked. Not in scikit-learn.
    n_samples_fit_ : int
        Number of rows; those with a weight of zero do not count.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all words.
    report_ : dict
        How rows are searched, and how many are asked.

    Examples
    --------
    >>> from quince import KNeighborsRegressor
    >>> rows = [[0.0], [1.0], [2.0], [3.0]]
    >>> KNeighborsRegressor(2).fit(rows, [0.0, 0.0, 1.0, 1.0]).predict([[1.6]])
    array([0.5])
    """

    _flat: bool

    def __init__(
        self,
        n_neighbors: int | str = 5,
        *,
        weights: Any = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: str = "minkowski",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> KNeighborsRegressor:
        """Keeps the rows X (dense or sparse) and their targets y, of which there may be several columns.

        sample_weight says how much each row counts in a mean; a row with a weight of two is still one neighbour.
        """
        X, y = self._check(X, y, multi_output=True, y_numeric=True)
        X, y, weights = self._weighted(X, y, sample_weight)
        self._flat = y.ndim == 1
        self._fit(X, weights, 0.0, numbers=columns_of(y))
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The predicted numbers for rows X; None stands for the fitted rows, which are not their own neighbours."""
        check_is_fitted(self)
        if X is not None and self._as_fitted():
            rows = self._queries(X)
            says = neighbours_say(self._model, rows, threads=effective(self.n_jobs))
        else:
            says = self._say(X)
        return says.ravel() if self._flat else says
