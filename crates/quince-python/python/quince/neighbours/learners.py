"""Classification and regression by the nearest neighbours."""

from __future__ import annotations

__all__ = ["KNeighborsClassifier", "KNeighborsRegressor"]

import os
import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from quince._base import columns_of, for_extension, learning, names_of, weights_of
from quince._quince import fit, nearest_rows, predict
from quince._threads import effective
from quince.neighbours._search import Search, graph


class _Learner(Search):
    """Fitting and predicting, for classes and for numbers."""

    _settings: ClassVar = {**Search._settings, "weights": "votes"}
    _implied: ClassVar = {"missing": "an array has no columns of a table: NaN is left out of distances, as by nan_euclidean"}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Search._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
        "weights": [StrOptions({"uniform", "distance"}), callable, None],
    }

    n_neighbors_: int | None
    #: What the rows say, and how much each counts: arrays that the model has, too.
    _said: dict[str, Any]

    def __init__(
        self,
        n_neighbors: int | str = 5,
        *,
        weights: str | Callable[..., ArrayLike] | None = "uniform",
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

    @staticmethod
    def _that_count(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, NDArray[np.float64] | None]:
        """Rows, what they say and their weights, without the rows that count for nothing."""
        weights = weights_of(sample_weight, X)
        if weights is None or weights.all():
            return X, y, weights
        counting = np.flatnonzero(weights)
        return X[counting], y[counting], weights[counting]

    def _fit(
        self, X: Any, weights: NDArray[np.float64] | None, target: NDArray[Any], classes: list[str] | None = None
    ) -> None:
        self.n_samples_fit_, self._sparse = X.shape[0], sparse.issparse(X)
        settings = self._measure(X) | self._fitted_settings()
        rows, threads = for_extension(X), effective(self.n_jobs)
        given = {"target": target, "classes": classes, "weights": weights, "threads": threads}
        self._model = self._in_our_words(fit, "knn", rows, settings, **given)
        auto = self.n_neighbors == "auto"
        self.n_neighbors_ = self._model.parameter("k") if auto else self.n_neighbors
        said = {"numbers" if classes is None else "codes": target}
        self._said = said | {"weights": np.empty(0) if weights is None else weights}

    def _method_settings(self) -> dict[str, Any]:
        """What the parameters ask of neighbours, in the method's words; it has none for a function of distances."""
        votes = None if callable(self.weights) else self.weights or "uniform"
        return {"k": self.n_neighbors, "votes": votes, "smoothing": float(getattr(self, "smoothing", 0.0))}

    def _choice_settings(self) -> dict[str, Any]:
        """By what the number of neighbours is chosen, which no answer of a model depends on."""
        return {}

    def _fitted_settings(self) -> dict[str, Any]:
        """What the method is fitted with: as well as it can be. Where that is not what was asked for, `_mean` answers."""
        settings = self._method_settings() | self._choice_settings()
        if settings["k"] != "auto":
            settings["k"] = min(settings["k"] or 1, self.n_samples_fit_)
        return settings | {"votes": settings["votes"] or "uniform"}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Saves the fitted estimator in one file, which `quince.load` and the command `quince` open.

        The file holds numbers and words only: opening it never runs code. It is replaced as a whole: there is always the
        old file or the new one. A parameter that was changed after the fit is not in the model, and refused.
        """
        self._check_saved()
        super().save(path)

    def _check_saved(self) -> None:
        """An error if the model would answer otherwise than the estimator."""
        fitted, asked = self._fitted_model().settings, self._fitted_settings()
        parameters = {"k": "n_neighbors", "votes": "weights", "smoothing": "smoothing", "choose_by": "choose_by"}
        # A file of an earlier release may not know a setting.
        changed = [parameters[name] for name, value in asked.items() if fitted.get(name, value) != value]
        if changed:
            raise ValueError(
                f"{changed[0]} was changed after the fit, and the saved model would not have the change. "
                "Fit again, or pickle the estimator."
            )

    def _answers(self, X: Any) -> NDArray[np.float64]:
        """What neighbours say, a column for each class or number."""
        return self._ask_model(X) if self._as_fitted(X) else self._mean(X)

    def _as_fitted(self, X: Any) -> bool:
        """Whether the model has the answer: for new rows, and by the parameters that it was fitted with."""
        return X is not None and self._method_settings().items() <= self._model.settings.items()

    def _ask_model(self, X: Any, answer: str | None = None) -> NDArray[Any]:
        answer = answer or ("numbers" if self._model.task == "regression" else "probabilities")
        return predict(self._model, self._queries(X), answer, threads=effective(self.n_jobs))

    def _nearest(self, X: Any, k: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        return nearest_rows(self._model, X, k, threads=effective(self.n_jobs))

    def _count(self) -> int | None:
        return self.n_neighbors_ if self.n_neighbors == "auto" else self.n_neighbors

    def _mean(self, X: Any) -> NDArray[np.float64]:
        """The mean of what neighbours say, by the parameters, which a user may have set since the fit."""
        distances, rows = self.kneighbors(X)
        counts, row_weights = self._counts(distances), self._array("weights")
        if len(row_weights):
            counts = counts * row_weights[rows]
        total = counts.sum(axis=1, keepdims=True)
        if (total == 0).any():
            raise ValueError(
                "All neighbors of some sample is getting zero weights. Please modify 'weights' to avoid this case if "
                "you are using a user-defined function."
            )
        classes = self._model.classes
        if classes is None:
            return graph(rows, counts, self.n_samples_fit_) @ self._array("numbers") / total
        # Where neighbours have the same class, a row of the matrix has several entries in its column, which add up.
        return graph(self._array("codes")[rows].astype(np.int64), counts, len(classes)).toarray() / total

    def _counts(self, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        """How much each neighbour counts."""
        if callable(self.weights):
            return np.asarray(self.weights(distances), dtype=np.float64)
        if self.weights != "distance":
            return np.ones_like(distances)
        nearest = distances[:, :1]
        with np.errstate(invalid="ignore"):
            relative = nearest / distances  # one over a tiny distance could overflow
        # Where some are at no distance only they count, and where all are infinitely far all count alike.
        return np.select([nearest == 0, np.isfinite(nearest)], [distances == 0, relative], 1.0)

    def _array(self, name: str) -> NDArray[Any]:
        """One of the model's arrays, which are at hand after a fit and copied from a model that was opened."""
        return self._said[name] if "_said" in vars(self) else self._model.parameter(name)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("_said", None)
        return state


class KNeighborsClassifier(ClassifierMixin, _Learner):
    """The nearest rows vote.

    `predict`, `predict_proba` and `score` also take X=None, which stands for the fitted rows. These are not their own
    neighbours, so the score is that of leave-one-out.

    Parameters
    ----------
    n_neighbors : int or 'auto', default=5
        The number of neighbours; 'auto' takes the number that is best in leave-one-out by `choose_by`, and shows it in
        `n_neighbors_`.
    weights : {'uniform', 'distance'}, callable or None, default='uniform'
        How much each neighbour counts: all alike, by one over its distance (where some are at distance zero, only these
        count), or what a function of the distances returns.
    algorithm : {'auto', 'ball_tree', 'kd_tree', 'brute'}, default='auto'
        How neighbours are searched: by a kd-tree, or ('brute') by a matrix product and exact distances; 'auto' and
        'ball_tree' choose by shape. The answer is the same. Where there is no kd-tree, as for sparse rows, another
        search is used.
    leaf_size : int, default=30
        Accepted for compatibility with scikit-learn.
    p : float, default=2
        The exponent of 'minkowski', at least 1.
    metric : {'minkowski', 'euclidean', 'l2', 'manhattan', 'cityblock', 'l1', 'chebyshev', 'hamming', 'cosine', \
'nan_euclidean'}, default='minkowski'
        The distance metric. All of them take missing values (NaN) by the rule of 'nan_euclidean'.
    metric_params : dict, default=None
        {'w': weights} gives the weight of each feature.
    n_jobs : int, default=None
        Number of threads; -1 for all processors, None for `quince.set_threads`, `OMP_NUM_THREADS` or all processors.
    smoothing : float, default=0.0
        Votes that are divided evenly among all classes, so that no probability is zero. Where y has several columns, a
        saved file cannot hold them. Not in scikit-learn.
    choose_by : {'log-loss', 'accuracy', 'f1'}, default='log-loss'
        What n_neighbors='auto' is chosen by: the least log loss, the largest accuracy or the largest mean F1 of the
        classes, and of equal ones the least log loss. Where y has several columns it is the squared error of the shares
        of votes. Not in scikit-learn.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,) or list of such arrays
        The class labels, sorted; a list where y has several columns.
    effective_metric_ : str
        The metric, by the name that scikit-learn would show.
    effective_metric_params_ : dict
        Its parameters.
    n_neighbors_ : int
        The number of neighbours. Not in scikit-learn.
    n_samples_fit_ : int
        Number of rows; those with a weight of zero do not count.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all strings.
    outputs_2d_ : bool
        Whether y has several columns.
    report_ : dict
        How neighbours are searched, and their number.

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

    _settings: ClassVar = {**_Learner._settings, "smoothing": "smoothing", "choose_by": "choose_by"}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_Learner._parameter_constraints,
        "smoothing": [Interval(Real, 0, None, closed="left")],
        "choose_by": [StrOptions({"log-loss", "accuracy", "f1"})],
    }

    classes_: Any
    outputs_2d_: bool

    def __init__(
        self,
        n_neighbors: int | str = 5,
        *,
        weights: str | Callable[..., ArrayLike] | None = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: str = "minkowski",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        smoothing: float = 0.0,
        choose_by: str = "log-loss",
    ) -> None:
        super().__init__(
            n_neighbors,
            weights=weights,
            algorithm=algorithm,
            leaf_size=leaf_size,
            p=p,
            metric=metric,
            metric_params=metric_params,
            n_jobs=n_jobs,
        )
        self.smoothing = smoothing
        self.choose_by = choose_by

    @learning
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Keeps the rows X (dense or sparse) and their labels y, of which there may be several columns.

        sample_weight says how much the vote of each row counts; a row with a weight of two is still one neighbour.
        """
        X, y = self._check(X, y, multi_output=True)
        check_classification_targets(y)
        X, y, weights = self._that_count(X, y, sample_weight)
        self.outputs_2d_ = y.ndim == 2 and y.shape[1] > 1
        if self.outputs_2d_ and self.choose_by != "log-loss":
            raise ValueError(
                f"choose_by={self.choose_by!r} is for a y of one column: of several it is the squared error of the shares "
                "of votes. Leave it out, or fit the columns one by one."
            )
        if y.ndim == 2 and not self.outputs_2d_:
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
                "(n_samples,), for example using ravel().",
                DataConversionWarning,
                stacklevel=3,
            )
        found = [np.unique(column, return_inverse=True) for column in y.reshape(len(y), -1).T]
        if self.outputs_2d_:
            # The votes for a class are the mean of ones for its rows and zeros for all others.
            self._fit(X, weights, np.hstack([np.eye(len(classes))[codes] for classes, codes in found]))
            self.classes_ = [classes for classes, _ in found]
        else:
            ((self.classes_, codes),) = found
            self._fit(X, weights, codes.astype(np.uint32), names_of(self.classes_))
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row of X; X=None stands for the fitted rows, which are not their own neighbours."""
        check_is_fitted(self)
        if self.outputs_2d_:
            labels = [classes[votes.argmax(axis=1)] for classes, votes in zip(self.classes_, self._votes(X))]
            return np.stack(labels, axis=1)
        codes = self._ask_model(X, "labels") if self._as_fitted(X) else self._mean(X).argmax(axis=1)
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> Any:
        """The share of votes for each class, smoothed by `smoothing`; a list of arrays where y had several columns.

        X=None stands for the fitted rows, which are not their own neighbours.
        """
        check_is_fitted(self)
        if self.outputs_2d_:
            return [self._smooth(votes) for votes in self._votes(X)]
        return self._ask_model(X) if self._as_fitted(X) else self._smooth(self._mean(X))

    def _choice_settings(self) -> dict[str, Any]:
        return {"choose_by": self.choose_by}

    def _votes(self, X: Any) -> list[NDArray[np.float64]]:
        """The fraction of votes for each class, an array for each column of y."""
        return np.split(self._answers(X), np.cumsum([len(classes) for classes in self.classes_])[:-1], axis=1)

    def _check_saved(self) -> None:
        super()._check_saved()
        if self.outputs_2d_ and self.smoothing:
            raise ValueError(
                "smoothing of several columns of y is nothing that a model file holds. "
                "Fit with smoothing=0.0, or pickle the estimator."
            )

    def _smooth(self, votes: NDArray[np.float64]) -> NDArray[np.float64]:
        if not self.smoothing:
            return votes  # as the model has them, without a rounding more
        k = self._count()
        return (k * votes + self.smoothing / votes.shape[1]) / (k + self.smoothing)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class KNeighborsRegressor(RegressorMixin, _Learner):
    """The mean of the nearest rows.

    `predict` and `score` also take X=None, as for `KNeighborsClassifier`.

    Parameters
    ----------
    n_neighbors : int or 'auto', default=5
        The number of neighbours; 'auto' takes the number with the least leave-one-out squared error, and shows it in
        `n_neighbors_`.
    weights, algorithm, leaf_size, p, metric, metric_params, n_jobs
        Weights of neighbours, distance metric and search: as for `KNeighborsClassifier`.

    Attributes
    ----------
    n_neighbors_, n_samples_fit_, effective_metric_, effective_metric_params_, report_
        As for `KNeighborsClassifier`.
    n_features_in_, feature_names_in_
        As for `KNeighborsClassifier`.

    Examples
    --------
    >>> from quince import KNeighborsRegressor
    >>> rows = [[0.0], [1.0], [2.0], [3.0]]
    >>> KNeighborsRegressor(2).fit(rows, [0.0, 0.0, 1.0, 1.0]).predict([[1.6]])
    array([0.5])
    """

    #: Whether y is a single column, without the axis of outputs.
    _flat: bool

    @learning
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Keeps the rows X (dense or sparse) and their targets y, of which there may be several columns.

        sample_weight says how much each row counts in a mean; a row with a weight of two is still one neighbour.
        """
        X, y = self._check(X, y, multi_output=True, y_numeric=True)
        X, y, weights = self._that_count(X, y, sample_weight)
        self._flat = y.ndim == 1
        self._fit(X, weights, columns_of(y))
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The predicted numbers for rows X; X=None stands for the fitted rows, which are not their own neighbours."""
        check_is_fitted(self)
        numbers = self._answers(X)
        return numbers.ravel() if self._flat else numbers
