"""Support vector regression with any kernel."""

from __future__ import annotations

__all__ = ["SVR"]

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import Interval

from quince._base import learning, weights_of
from quince.margin._base import checked
from quince.margin._kernel import KERNEL_CONSTRAINTS, BIAS_RULE, KernelSVM


class SVR(RegressorMixin, KernelSVM):
    """Support vector regression, with any kernel: a function as flat as possible, within a tube around the targets.

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
    C : float, default=1.0
        The cost of residuals beyond the tube.
    epsilon : float, default=0.1
        Half the width of the tube: how far off a predicted number may be at no cost.
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
    standardise : bool, default=False
        Whether C and epsilon are meant for a target of standard deviation 1, whatever the unit of y.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_, fit_status_, n_iter_, shape_fit_
        As for `SVC`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all strings.
    report_ : dict
        How the model was fitted, how exact it is (primal, dual, duality gap), and remarks.

    Examples
    --------
    >>> from quince import SVR
    >>> SVR(kernel="linear", epsilon=0.0).fit([[0], [1], [2]], [1, 3, 5]).predict([[3]]).round(3)
    array([7.])
    """

    _settings: ClassVar = {
        "kernel": "kernel",
        "degree": "degree",
        "gamma": "gamma",
        "coef0": "constant",
        "tol": "tolerance",
        "C": "c",
        "epsilon": "epsilon",
        "shrinking": "shrinking",
        "cache_size": "cache",
        "max_iter": "steps",
        "bias": "bias",
        "standardise": "standardise",
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = KERNEL_CONSTRAINTS | {
        "C": [Interval(Real, 0.0, None, closed="right")],
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
        "bias": [BIAS_RULE],
        "standardise": ["boolean"],
    }

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
        bias: str = "mean",
        standardise: bool = False,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.bias = bias
        self.standardise = standardise

    def _method_settings(self) -> dict[str, Any]:
        cost = "infinite" if np.isinf(self.C) else float(self.C)
        how = {"c": cost, "epsilon": float(self.epsilon), "standardise": bool(self.standardise)}
        return self._kernel_settings() | how

    @learning
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> SVR:
        """Fits to rows X (dense or sparse) and their numbers y; sample_weight says how much each row counts."""
        X, y = checked(self, X, y, y_numeric=True)
        self._learn(X, target=np.asarray(y, dtype=np.float64), weights=weights_of(sample_weight, X))
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The predicted number for each row of X."""
        return self._asked(X)
