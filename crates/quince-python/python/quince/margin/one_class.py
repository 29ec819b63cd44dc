"""Machines with any kernel that learn what is usual."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin, _fit_context
from sklearn.utils._param_validation import Interval

from quince._base import weights_of
from quince.margin._base import checked
from quince.margin._kernel import KERNEL_CONSTRAINTS, MIDDLE, KernelMachine


class OneClassSVM(OutlierMixin, KernelMachine):
    """Learns where rows are, and says which are unlike all others.

    Parameters
    ----------
    kernel : {'linear', 'poly', 'rbf', 'sigmoid', 'precomputed'} or callable, default='rbf'
        How alike two rows are.
    degree : int, default=3
        The power of the polynomial kernel.
    gamma : {'scale', 'auto'} or float, default='scale'
        How narrow the kernel is: 'scale' is 1 / (n_features * X.var()), 'auto' is 1 / n_features.
    coef0 : float, default=0.0
        What is added to products in the polynomial and the sigmoid kernel.
    tol : float, default=1e-3
        The violation of the optimality conditions at which to stop.
    nu : float, default=0.5
        The largest share of training rows that may be called novel, and the least that are support vectors.
    shrinking : bool, default=True
        Whether rows that do not want to move are left out for a while; the answer is the same.
    cache_size : float, default=200
        Megabytes for kernels that are kept.
    verbose : bool, default=False
        Taken for scikit-learn's sake.
    max_iter : int, default=-1
        Steps at most; -1 for as many as it takes.
    bias : {'mean', 'median'}, default='mean'
        How the constant is taken from the support vectors between their bounds.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_, fit_status_, n_iter_, shape_fit_
        As of `SVC`.
    offset_ : float
        What is taken off raw scores: decision_function = score_samples - offset_.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all words.
    report_ : dict
        How the answer was found, how exact it is (primal, dual, gap), and remarks.

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
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = KERNEL_CONSTRAINTS | {
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
        "bias": [MIDDLE],
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

    def _method_settings(self) -> dict[str, Any]:
        return self._kernel_settings() | {"nu": max(float(self.nu), 1e-6)}

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> OneClassSVM:
        """Fits to rows X (dense or sparse); y is not looked at, and sample_weight says how much each row counts."""
        X = checked(self, X)
        self._learn(X, weights=weights_of(sample_weight, X))
        return self

    def _from_model(self) -> dict[str, Any]:
        found = super()._from_model()
        return found | {"offset_": -float(found["intercept_"][0])}

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """How much rows X are like the training rows: below zero they are novel."""
        return self._asked(X)

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """The raw score of rows X, before the offset is taken off."""
        return self._asked(X) + self.offset_

    def predict(self, X: Any) -> NDArray[np.int64]:
        """-1 for rows of X that are novel, 1 for all others."""
        return np.where(self._asked(X) >= 0, 1, -1)
