"""Novelty detection by a one-class support vector machine."""

from __future__ import annotations

__all__ = ["OneClassSVM"]

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin
from sklearn.utils._param_validation import Interval, StrOptions

from quince._base import learning, weights_of
from quince.margin._base import checked
from quince.margin._kernel import KERNEL_CONSTRAINTS, BIAS_RULE, KernelSVM


class OneClassSVM(OutlierMixin, KernelSVM):
    """Novelty detection: learns where rows are, and finds outliers.

    Parameters
    ----------
    kernel : {'linear', 'poly', 'rbf', 'sigmoid', 'precomputed'} or callable, default='rbf'
        The kernel: how similar two rows are.
    degree : int, default=3
        The degree of the polynomial kernel.
    gamma : {'scale', 'auto'} or float, default='scale'
        Kernel coefficient: 'scale' is 1 / (n_features * X.var()), 'auto' is 1 / n_features.
    coef0 : float, default=0.0
        The constant term of the polynomial and the sigmoid kernel.
    tol : float, default=1e-3
        The violation of the KKT (optimality) conditions at which to stop.
    nu : float, default=0.5
        The contamination: the largest share of training rows that may be novel, and the smallest share of support
        vectors.
    shrinking : bool, default=True
        Whether rows that stay at a bound are left out for a while; the result is the same.
    cache_size : float, default=200
        Megabytes for cached kernel rows.
    verbose : bool, default=False
        Accepted for compatibility with scikit-learn.
    max_iter : int, default=-1
        The largest number of steps; -1 for ten million, or a hundred for each row if that is more.
    bias : {'mean', 'median'}, default='mean'
        How the intercept follows from the free support vectors.
    edge : {'exact', 'usual'}, default='exact'
        How support vectors on the edge are classified, whose score is zero but for rounding: by their score, or as usual
        rows, with all scores raised until none of theirs is below zero.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_, fit_status_, n_iter_, shape_fit_
        As for `SVC`.
    offset_ : float
        What is subtracted from raw scores: decision_function = score_samples - offset_.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all strings.
    report_ : dict
        How the model was fitted, how exact it is (primal, dual, duality gap), and remarks.

    Examples
    --------
    >>> from quince import OneClassSVM
    >>> OneClassSVM(nu=0.5, gamma=1.0).fit([[0], [0.1], [0.2], [0.1]]).predict([[0.1], [5]])
    array([ 1, -1])
    """

    _method = "one-class-svm"
    _settings: ClassVar = {
        "kernel": "kernel",
        "degree": "degree",
        "gamma": "gamma",
        "coef0": "constant",
        "tol": "tolerance",
        "nu": "nu",
        "shrinking": "shrinking",
        "cache_size": "cache",
        "max_iter": "steps",
        "bias": "bias",
        "edge": "edge",
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = KERNEL_CONSTRAINTS | {
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
        "bias": [BIAS_RULE],
        "edge": [StrOptions({"exact", "usual"})],
    }

    offset_: float

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
        bias: str = "mean",
        edge: str = "exact",
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.bias = bias
        self.edge = edge

    def _method_settings(self) -> dict[str, Any]:
        # scikit-learn takes a score to the last digit, also on the edge.
        return self._kernel_settings() | {"nu": max(float(self.nu), 1e-6), "edge": self.edge}

    @learning
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> OneClassSVM:
        """Fits to rows X (dense or sparse); y is ignored, and sample_weight says how much each row counts."""
        X = checked(self, X)
        self._learn(X, weights=weights_of(sample_weight, X))
        return self

    def _from_model(self) -> dict[str, Any]:
        found = super()._from_model()
        return found | {"offset_": -float(found["intercept_"][0])}

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The score of each row of X: below zero it is novel."""
        return self._asked(X)

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """The raw score of each row of X, before the offset is subtracted."""
        return self._asked(X) + self.offset_

    def predict(self, X: Any) -> NDArray[np.int64]:
        """-1 for rows of X that are novel, 1 for all others."""
        return np.where(self._asked(X) >= 0, 1, -1)
