"""The nearest centroid. Parameters and attributes are scikit-learn's."""

from __future__ import annotations

__all__ = ["NearestCentroid"]

import warnings
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from quince._base import FLOATS, Estimator, for_extension, learning, names_of
from quince._quince import Model, fit, predict
from quince._threads import effective
from quince.bayes._base import labels_of, written
from quince.bayes._gaussian import Matrix


def _is_euclidean(estimator: NearestCentroid) -> bool:
    return estimator.metric == "euclidean"


class NearestCentroid(ClassifierMixin, Estimator):
    """A row belongs to the class with the nearest centroid.

    With unequal priors, distances are measured in standard deviations of each feature within the classes.

    Parameters
    ----------
    metric : {'euclidean', 'manhattan'}, default='euclidean'
        The distance from a centroid. Centroids are means, or with 'manhattan' medians.
    shrink_threshold : float, default=None
        Move centroids towards the mean of all rows by this many standard deviations, feature by feature, and not beyond.
    priors : {'uniform', 'empirical'} or array-like of shape (n_classes,), default='uniform'
        Class priors: all equal, the class frequencies in y, or one for each class.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    centroids_ : ndarray of shape (n_classes, n_features)
        The centroid of each class.
    class_prior_ : ndarray of shape (n_classes,)
        The class priors.
    deviations_ : ndarray of shape (n_classes, n_features)
        How far each centroid is from the mean of all rows, in standard deviations.
    within_class_std_dev_ : ndarray of shape (n_features,)
        The standard deviation of each feature within the classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all strings.
    report_ : dict
        How the answer was found, and remarks.

    Examples
    --------
    >>> from quince import NearestCentroid
    >>> model = NearestCentroid().fit([[-1, -1], [-2, 0], [1, 1], [2, 0]], ["a", "a", "b", "b"])
    >>> model.predict([[-0.8, -1]])
    array(['a'], dtype='<U1')
    """

    _settings: ClassVar = {"metric": "metric", "shrink_threshold": "shrink", "priors": "priors"}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "metric": [StrOptions({"manhattan", "euclidean"})],
        "shrink_threshold": [Interval(Real, 0, None, closed="neither"), None],
        "priors": ["array-like", StrOptions({"empirical", "uniform"})],
    }

    classes_: NDArray[Any]
    centroids_: Matrix

    def __init__(
        self,
        metric: str = "euclidean",
        *,
        shrink_threshold: float | None = None,
        priors: str | ArrayLike = "uniform",
    ) -> None:
        self.metric = metric
        self.shrink_threshold = shrink_threshold
        self.priors = priors

    @learning
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learns from rows X (dense or sparse) and their labels y."""
        X, y = validate_data(self, X, y, accept_sparse=["csr", "csc"], dtype=FLOATS)
        self.classes_, codes = labels_of(y)
        if len(self.classes_) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {len(self.classes_)} class")
        self.class_prior_ = self._priors(np.bincount(codes))
        settings = {"metric": self.metric, "shrink": float(self.shrink_threshold or 0.0), "priors": self._written()}
        rows, names = for_extension(X), names_of(self.classes_)
        self._model = fit(
            "nearest-centroid", rows, settings, target=codes, classes=names, threads=effective(None)
        )
        vars(self).update(self._from_model())
        if (self.within_class_std_dev_ == 0).any():
            warnings.warn(
                "self.within_class_std_dev_ has at least 1 zero standard deviation."
                "Inputs within the same classes for at least 1 feature are identical.",
                stacklevel=2,
            )
        ranges = (X.max(axis=0) - X.min(axis=0)).toarray() if sparse.issparse(X) else np.ptp(X, axis=0)
        if (ranges == 0).all():
            del self._model
            raise ValueError("All features have zero variance. Division by zero.")
        return self

    def _from_model(self) -> dict[str, Any]:
        return {
            "centroids_": self._model.parameter("centroids"),
            "deviations_": self._model.parameter("shifts"),
            "within_class_std_dev_": self._model.parameter("standard_deviations"),
        }

    def _written(self) -> str:
        words = {"uniform": "equal", "empirical": "data"}
        return words[self.priors] if isinstance(self.priors, str) else written(self.class_prior_)

    def _priors(self, counts: NDArray[np.int64]) -> Matrix:
        if isinstance(self.priors, str):
            return counts / counts.sum() if self.priors == "empirical" else np.full(len(counts), 1 / len(counts))
        priors = np.asarray(self.priors, dtype=np.float64)
        if len(priors) != len(counts):
            raise ValueError(f"There are {len(priors)} priors for {len(counts)} classes. Give one for each class.")
        if (priors < 0).any():
            raise ValueError("priors must be non-negative")
        if not np.isclose(priors.sum(), 1.0):
            warnings.warn(
                "The priors do not sum to 1. Normalizing such that it sums to one.", UserWarning, stacklevel=4
            )
            priors = priors / priors.sum()
        return priors

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row of X."""
        codes = predict(*self._question(X), "labels", threads=effective(None))
        return self.classes_[codes]

    def _question(self, X: Any) -> tuple[Model, Any]:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        return self._model, for_extension(X)

    def _scores(self, X: Any) -> Matrix:
        """Twice the log prior minus the squared distance in standard deviations, for each class."""
        return predict(*self._question(X), "scores", threads=effective(None))

    @available_if(_is_euclidean)
    def decision_function(self, X: Any) -> Matrix:
        """Twice the log prior minus the squared distance in standard deviations; for two classes the second minus the first."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    @available_if(_is_euclidean)
    def predict_proba(self, X: Any) -> Matrix:
        """The probability of each class: the softmax of the class scores, as in scikit-learn."""
        return predict(*self._question(X), "probabilities", threads=effective(None))

    @available_if(_is_euclidean)
    def predict_log_proba(self, X: Any) -> Matrix:
        """The logarithm of the probabilities."""
        scores = self._scores(X)
        return scores - logsumexp(scores, axis=1, keepdims=True)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
