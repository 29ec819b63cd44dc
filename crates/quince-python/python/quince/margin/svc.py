"""Support vector classification with any kernel."""

from __future__ import annotations

__all__ = ["SVC"]

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_expit
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import Hidden, Interval, StrOptions
from sklearn.utils.metaestimators import available_if

from quince._base import learning
from quince.margin._base import TwoClasses, checked
from quince.margin._kernel import KERNEL_CONSTRAINTS, BIAS_RULE, KernelSVM


def _wants_probabilities(estimator: SVC) -> bool:
    # What scikit-learn calls deprecated is a word.
    return isinstance(estimator.probability, (bool, np.bool_)) and bool(estimator.probability)


def _has_probabilities(estimator: SVC) -> bool:
    if not _wants_probabilities(estimator):
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class SVC(TwoClasses, ClassifierMixin, KernelSVM):
    """The widest margin between two classes, with any kernel.

    Parameters
    ----------
    C : float, default=1.0
        The cost of margin violations; `numpy.inf` is a hard margin.
    kernel : {'linear', 'poly', 'rbf', 'sigmoid', 'precomputed'} or callable, default='rbf'
        The kernel: how similar two rows are. A function takes two arrays of rows and returns the kernel of every pair.
    degree : int, default=3
        The degree of the polynomial kernel.
    gamma : {'scale', 'auto'} or float, default='scale'
        Kernel coefficient: 'scale' is 1 / (n_features * X.var()), 'auto' is 1 / n_features.
    coef0 : float, default=0.0
        The constant term of the polynomial and the sigmoid kernel.
    shrinking : bool, default=True
        Whether rows that stay at a bound are left out for a while; the result is the same.
    probability : bool, default=False
        Whether there is `predict_proba`. Probabilities agree with the labels, and cost less than in scikit-learn. Where classes have
        weights, a row whose label follows from them against the chances has a probability of one half.
    tol : float, default=1e-3
        The violation of the KKT (optimality) conditions at which to stop.
    cache_size : float, default=200
        Megabytes for cached kernel rows.
    class_weight : dict or 'balanced', default=None
        Weights of the classes, which multiply C.
    verbose : bool, default=False
        Accepted for compatibility with scikit-learn.
    max_iter : int, default=-1
        The largest number of steps; -1 for ten million, or a hundred for each row if that is more.
    decision_function_shape : {'ovo', 'ovr'}, default='ovr'
        Accepted for compatibility with scikit-learn: there are two classes.
    break_ties : bool, default=False
        Accepted for compatibility with scikit-learn: there are two classes.
    random_state : int, RandomState or None, default=None
        Accepted for compatibility with scikit-learn: nothing is drawn at random.
    bias : {'mean', 'median'}, default='mean'
        How the intercept follows from the free support vectors.
    leave_one_out : {'auto', 'always', 'never'}, default='never'
        Whether the exact leave-one-out error is computed, for `report_`; 'auto' does so if it is quick.

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
        Indices of the support vectors: those of the first class, then those of the second.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
        Their features; none if the kernel is precomputed.
    n_support_ : ndarray of shape (2,)
        Number of support vectors of each class.
    dual_coef_ : ndarray of shape (1, n_SV)
        Their dual coefficients, above zero for the second class.
    coef_ : ndarray of shape (1, n_features)
        Weights of the features, for a linear kernel.
    intercept_ : ndarray of shape (1,)
        The intercept.
    classes_ : ndarray of shape (2,)
        The classes.
    class_weight_ : ndarray of shape (2,)
        The factor of C for each class.
    fit_status_ : int
        0 if the solver has converged, 1 if not.
    n_iter_ : ndarray of shape (1,)
        Number of SMO steps.
    shape_fit_ : tuple of int
        The shape of X.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all strings.
    report_ : dict
        How the model was fitted, how exact it is (primal, dual, duality gap), and remarks.

    Examples
    --------
    >>> from quince import SVC
    >>> toy = SVC(kernel="linear", C=float("inf")).fit([[5, 1], [5, 2], [7, 2], [7, 3]], [0, 0, 1, 1])
    >>> toy.coef_.round(6), toy.intercept_.round(6), toy.dual_coef_.round(6)
    (array([[1., 0.]]), array([-6.]), array([[-0.5,  0.5]]))
    """

    _balances_counts = True
    _settings: ClassVar = {
        "C": "c",
        "kernel": "kernel",
        "degree": "degree",
        "gamma": "gamma",
        "coef0": "constant",
        "shrinking": "shrinking",
        "probability": "probabilities",
        "tol": "tolerance",
        "cache_size": "cache",
        "class_weight": "class_weights",
        "max_iter": "steps",
        "bias": "bias",
        "leave_one_out": "leave_one_out",
    }
    _accepted: ClassVar = KernelSVM._accepted | {
        "decision_function_shape": "there are two classes",
        "break_ties": "there are two classes",
        "random_state": "nothing is drawn at random",
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = KERNEL_CONSTRAINTS | {
        "C": [Interval(Real, 0.0, None, closed="right")],
        "probability": ["boolean", Hidden(StrOptions({"deprecated"}))],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "random_state": ["random_state"],
        "bias": [BIAS_RULE],
        "leave_one_out": [StrOptions({"auto", "always", "never"})],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | str = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        bias: str = "mean",
        leave_one_out: str = "never",
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.bias = bias
        self.leave_one_out = leave_one_out

    def _method_settings(self) -> dict[str, Any]:
        return self._kernel_settings() | {
            "c": "infinite" if np.isinf(self.C) else float(self.C),
            "probabilities": _wants_probabilities(self),
            "leave_one_out": self.leave_one_out,
        }

    @learning
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> SVC:
        """Fits to rows X (dense or sparse) and their classes y; sample_weight says how much each row counts."""
        X, y = checked(self, X, y)
        codes = self._codes(y)
        self.class_weight_, weights = self._weights_apart(X, y, codes, sample_weight)
        self._learn(X, **weights, **self._target(codes))
        return self

    def _counts(self, beta: NDArray[np.float64]) -> NDArray[np.int32]:
        return np.array([(beta < 0).sum(), (beta > 0).sum()], dtype=np.int32)

    def _shown_steps(self, steps: int) -> Any:
        return np.array([steps], dtype=np.int32)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The score of each row of X: above zero means the second class."""
        return self._asked(X)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class for each row of X."""
        return self._probabilities(self._queries(X))

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithm of the probabilities."""
        model, scores = self._fitted_model(), self._asked(X)
        offset = model.parameter("offset")
        odds = 2.0 * model.parameter("temperature") * scores + offset
        if offset != 0.0:
            # Never less than even odds for the label.
            odds = np.where(scores > 0, np.maximum(odds, 1e-9), np.minimum(odds, -1e-9))
        return np.column_stack([log_expit(-odds), log_expit(odds)])
