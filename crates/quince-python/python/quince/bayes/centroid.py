"""The nearest centroid. Parameters and attributes are scikit-learn's."""

from __future__ import annotations

__all__ = ["NearestCentroid"]

import os
import warnings
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.metrics import pairwise_distances_argmin
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.sparsefuncs import csc_median_axis_0
from sklearn.utils.validation import check_is_fitted, validate_data

from quince._base import FLOATS, Estimator, for_extension, names_of
from quince._quince import Model, fit
from quince.bayes._base import labels_of, written
from quince.bayes._gaussian import Matrix, fitted


def _is_euclidean(estimator: NearestCentroid) -> bool:
    return estimator.metric == "euclidean"


class NearestCentroid(ClassifierMixin, Estimator):
    """A row belongs to the class with the nearest centroid.

    Where classes are not equally frequent, distances are measured in standard deviations of each feature within the classes.

    Parameters
    ----------
    metric : {'euclidean', 'manhattan'}, default='euclidean'
        How distances are measured. The centroid is the mean of a class, or with 'manhattan' the median.
    shrink_threshold : float, default=None
        Centroids move towards the mean of all rows by this many standard deviations, feature by feature, and not beyond.
    priors : {'uniform', 'empirical'} or array-like of shape (n_classes,), default='uniform'
        How frequent the classes are taken to be: all alike, or as in y.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    centroids_ : ndarray of shape (n_classes, n_features)
        The centroid of each class.
    class_prior_ : ndarray of shape (n_classes,)
        How frequent the classes are taken to be.
    deviations_ : ndarray of shape (n_classes, n_features)
        How far each centroid is from the mean of all rows, in standard deviations.
    within_class_std_dev_ : ndarray of shape (n_features,)
        The standard deviation of each feature within the classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all words.
    report_ : dict
        How the answer was found, and remarks.

    Examples
    --------
    >>> from quince import NearestCentroid
    >>> model = NearestCentroid().fit([[-1, -1], [-2, 0], [1, 1], [2, 0]], ["a", "a", "b", "b"])
    >>> model.predict([[-0.8, -1]])
    array(['a'], dtype='<U1')
    """

    _settings: ClassVar = {"priors": "priors"}
    _accepted: ClassVar = {
        "metric": "the method measures straight lines; others are measured here",
        "shrink_threshold": "the centroids of the model have moved already",
    }
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

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learns from rows X (dense or sparse) and their labels y."""
        accepted = ["csc"] if self.metric == "manhattan" else ["csr", "csc"]
        X, y = validate_data(self, X, y, accept_sparse=accepted, dtype=FLOATS)
        self.classes_, codes = labels_of(y)
        n_samples, n_classes = X.shape[0], len(self.classes_)
        if n_classes < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {n_classes} class")
        counts = np.bincount(codes)
        self.class_prior_ = self._priors(counts)
        self.centroids_, squares = self._centres(X, codes, names_of(self.classes_))
        with np.errstate(divide="ignore", invalid="ignore"):
            self.within_class_std_dev_ = np.sqrt(squares / (n_samples - n_classes))
        if (self.within_class_std_dev_ == 0).any():
            warnings.warn(
                "self.within_class_std_dev_ has at least 1 zero standard deviation."
                "Inputs within the same classes for at least 1 feature are identical.",
                stacklevel=2,
            )
        ranges = (X.max(axis=0) - X.min(axis=0)).toarray() if sparse.issparse(X) else np.ptp(X, axis=0)
        if (ranges == 0).all():
            raise ValueError("All features have zero variance. Division by zero.")
        middle = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
        steps = np.sqrt(1.0 / counts - 1.0 / n_samples)[:, None] * (
            self.within_class_std_dev_ + np.median(self.within_class_std_dev_)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            self.deviations_ = (self.centroids_ - middle) / steps
        if self.shrink_threshold:
            less = np.clip(np.abs(self.deviations_) - self.shrink_threshold, 0, None)
            self.deviations_ = np.sign(self.deviations_) * less
            self.centroids_ = middle + steps * self.deviations_
        self._model = self._model_of(counts)
        return self

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

    def _centres(self, X: Any, codes: NDArray[np.uint32], classes: list[str]) -> tuple[Matrix, Matrix]:
        """The centroid of each class, and the squared distances of its rows, for each feature their sum."""
        if self.metric == "euclidean" and not sparse.issparse(X):
            found = fitted(for_extension(X), codes, classes, covariance="diagonal", shared="pooled")
            if found is not None:
                _, block = found
                return block["mean"], len(X) * np.diag(block["covariance 0"])
        groups = [np.flatnonzero(codes == k) for k in range(len(classes))]
        centroids = np.array([self._centre(X[group]) for group in groups])
        return centroids, (np.asarray(X - centroids[codes]) ** 2).sum(axis=0)

    def _centre(self, group: Any) -> Matrix:
        if self.metric != "manhattan":
            return np.asarray(group.mean(axis=0, dtype=np.float64)).ravel()
        return csc_median_axis_0(group.tocsc()) if sparse.issparse(group) else np.median(group, axis=0)

    def _alike(self) -> bool:
        return bool(np.isclose(self.class_prior_, 1 / len(self.classes_)).all())

    def _model_of(self, counts: NDArray[np.int64]) -> Model:
        """A model with these centroids, learnt from two rows of each class, a standard deviation below and above."""
        steps = np.where(self.within_class_std_dev_ == 0, 1.0, self.within_class_std_dev_)
        rows = np.repeat(self.centroids_, 2, axis=0)
        rows[::2] -= steps
        rows[1::2] += steps
        settings = {"covariance": "nearest-mean", "epsilon": 0.0, "calibrate": False}
        if not self._alike():
            settings |= {"covariance": "diagonal", "shared": "pooled", "priors": written(self.class_prior_)}
        codes = np.repeat(np.arange(len(rows) // 2, dtype=np.uint32), 2)
        weights = np.repeat(counts / 2, 2)
        return fit("gaussian", rows, settings, target=codes, classes=names_of(self.classes_), weights=weights)

    def save(self, path: str | os.PathLike[str]) -> None:
        if "_model" in vars(self) and self.metric != "euclidean":
            raise ValueError("A model file measures straight lines, not metric='manhattan'. Pickle the estimator.")
        super().save(path)

    save.__doc__ = Estimator.save.__doc__

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row of X."""
        check_is_fitted(self)
        if not self._alike():
            return self.classes_[self._scores(X).argmax(axis=1)]
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        if sparse.issparse(X) and self.metric == "manhattan":
            X = sparse.csr_matrix((X.data, X.indices, X.indptr), shape=X.shape)  # with the smallest indices there are
        return self.classes_[pairwise_distances_argmin(X, self.centroids_, metric=self.metric)]

    def _scores(self, X: Any) -> Matrix:
        """2 ln of the prior less the squared distance in standard deviations, for each class."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        scales = np.where(self.within_class_std_dev_ == 0, 1.0, self.within_class_std_dev_)
        middle = self.centroids_.mean(axis=0)  # about which no digits are lost
        X = ((X.toarray() if sparse.issparse(X) else X) - middle) / scales
        centroids = (self.centroids_ - middle) / scales
        if self.metric == "manhattan":
            squares = manhattan_distances(X, centroids) ** 2
        else:
            squares = euclidean_distances(X, centroids, squared=True)
        with np.errstate(divide="ignore"):
            return 2.0 * np.log(self.class_prior_) - squares

    @available_if(_is_euclidean)
    def decision_function(self, X: Any) -> Matrix:
        """2 ln of the prior less the squared distance in standard deviations; for two classes the second less the first."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    @available_if(_is_euclidean)
    def predict_proba(self, X: Any) -> Matrix:
        """The probability of each class, as scikit-learn defines it: exp of the scores of `decision_function`."""
        return np.exp(self.predict_log_proba(X))

    @available_if(_is_euclidean)
    def predict_log_proba(self, X: Any) -> Matrix:
        """The logarithm of the probabilities."""
        scores = self._scores(X)
        return scores - logsumexp(scores, axis=1, keepdims=True)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
