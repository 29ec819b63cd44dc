"""Clusters around centres, whichever algorithm finds them: what all classes of k-means share."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_array, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _is_arraylike_not_scalar, check_is_fitted, validate_data

from quince._base import FLOATS, Estimator, for_extension, learning, seed_of, weights_of
from quince._quince import Model, cluster_distances, cluster_error, fit, predict
from quince._threads import effective


class Centres(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Estimator):
    """Fitting, predicting and scoring. A class adds its algorithm to `_method_settings`."""

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

    #: How often n_init="auto" starts from random rows.
    _random_starts: ClassVar[int]

    cluster_centers_: NDArray[Any]
    labels_: NDArray[np.int32]
    inertia_: float
    _type: str

    def _method_settings(self) -> dict[str, Any]:
        """What the parameters ask of the method, in its words."""
        return {
            "k": self.n_clusters,
            "start": "random" if isinstance(self.init, str) and self.init == "random" else "plus-plus",
            "restarts": self._starts(),
            "steps": self.max_iter,
            "tolerance": float(self.tol),
        }

    def _starts(self) -> int:
        """The number of restarts."""
        if _is_arraylike_not_scalar(self.init):
            if self.n_init not in ("auto", 1):
                warnings.warn(
                    f"Explicit initial center position passed: performing only one init in {type(self).__name__} "
                    f"instead of n_init={self.n_init}.",
                    RuntimeWarning,
                    stacklevel=6,
                )
            return 1
        if self.n_init == "auto":
            return 1 if self.init == "k-means++" else self._random_starts
        return self.n_init

    @learning
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Finds clusters of the rows X, dense or sparse. sample_weight says how much each row counts."""
        X = self._check(X, reset=True)
        weights = weights_of(sample_weight, X)
        self._check_clusters(X)
        model = self._best(X, weights, self._method_settings())
        self._take(model, X.dtype)
        labels = model.parameter("training_clusters")
        self._show(labels)
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
            print(f"{self._model.route}, inertia {self.inertia_}")
        return self

    def _check(self, X: Any, *, reset: bool, finite: bool = False) -> Any:
        """X checked by scikit-learn; what is not finite is refused by the extension, which says where it is."""
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=finite)

    def _check_clusters(self, X: Any) -> None:
        if self.n_clusters != "auto" and X.shape[0] < self.n_clusters:
            raise ValueError(f"n_samples={X.shape[0]} should be >= n_clusters={self.n_clusters}.")

    def _best(self, X: Any, weights: NDArray[np.float64] | None, settings: dict[str, Any]) -> Model:
        """The model with the least error of those from all starts."""
        rows, random = for_extension(X), check_random_state(self.random_state)
        given = {"weights": weights, "seed": seed_of(self.random_state), "threads": effective(None)}
        found = (
            self._in_our_words(fit, "kmeans", rows, settings, start=start, **given)
            for start in self._given_starts(X, settings["restarts"], random)
        )
        return min(found, key=lambda model: model.parameter("error"))

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

    def _take(self, model: Model, dtype: Any) -> None:
        self._model, self._type = model, np.dtype(dtype).name
        vars(self).update(self._from_model())

    def _from_model(self) -> dict[str, Any]:
        return {"cluster_centers_": self._model.parameter("centres").astype(self._type, copy=False)}

    def _show(self, labels: NDArray[np.int32]) -> None:
        """Sets what a fit shows besides the centres."""
        self.labels_, self.inertia_ = labels, self._model.parameter("error")

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> NDArray[np.int32]:
        """Finds clusters of the rows X, and says the cluster of each."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def predict(self, X: Any) -> NDArray[np.int32]:
        """The cluster of each row of X, counted from 0."""
        check_is_fitted(self)
        return self._labels(self._check(X, reset=False))

    def _labels(self, X: Any) -> NDArray[np.int32]:
        return predict(self._model, for_extension(X), "labels", threads=effective(None))

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
        return -self._error(X, weights_of(sample_weight, X))

    def _error(self, X: Any, weights: NDArray[np.float64] | None) -> float:
        return cluster_error(self._model, for_extension(X), weights=weights, threads=effective(None))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
