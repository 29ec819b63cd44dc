"""Machines with any kernel."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import ClassifierMixin, OutlierMixin, RegressorMixin, _fit_context
from sklearn.utils import Tags
from sklearn.utils._param_validation import Hidden, Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from quince._base import weights_of
from quince.margin._base import Machine, TwoClasses, checked

KERNELS = {"linear": "linear", "poly": "polynomial", "rbf": "rbf", "sigmoid": "sigmoid", "precomputed": "precomputed"}

KERNEL_CONSTRAINTS: dict[str, Any] = {
    "kernel": [StrOptions(set(KERNELS)), callable],
    "degree": [Interval(Integral, 0, None, closed="left")],
    "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "tol": [Interval(Real, 0.0, None, closed="neither")],
    "shrinking": ["boolean"],
    "cache_size": [Interval(Real, 0, None, closed="neither")],
    "verbose": ["verbose"],
    "max_iter": [Interval(Integral, -1, None, closed="left")],
}
MIDDLE = StrOptions({"mean", "median"})


class KernelMachine(Machine):
    """Kernels, and what support vectors look like."""

    _method = "svm"
    _accepted: ClassVar = {"verbose": "progress belongs to the run, not to the method"}

    support_: NDArray[np.int32]
    support_vectors_: Any
    dual_coef_: Any
    intercept_: NDArray[np.float64]
    n_support_: NDArray[np.int32]
    fit_status_: int
    shape_fit_: tuple[int, ...]

    def _kernel_settings(self) -> dict[str, Any]:
        return {
            "kernel": "precomputed" if callable(self.kernel) else KERNELS[self.kernel],
            "degree": int(self.degree),
            "gamma": self.gamma if isinstance(self.gamma, str) else float(self.gamma),
            "constant": float(self.coef0),
            "tolerance": float(np.clip(self.tol, 1e-12, 1.0)),
            "steps": 0 if self.max_iter == -1 else max(1, int(self.max_iter)),
            "cache": float(np.clip(self.cache_size, 1.0, 1e6)),
            "shrinking": bool(self.shrinking),
            "bias": self.bias,
        }

    def _rows(self, X: Any) -> Any:
        """Rows as the kernel sees them: a kernel that is a function is called."""
        if not callable(self.kernel):
            return X
        if sparse.issparse(X):
            raise TypeError("Sparse input is not supported when kernel is callable.")
        return np.ascontiguousarray(self.kernel(X, self._fit_rows), dtype=np.float64)

    def _learn(self, X: Any, **target: Any) -> None:
        if self.kernel == "precomputed" and sparse.issparse(X):
            raise TypeError("Sparse precomputed kernels are not supported.")
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} matrix."
            )
        vars(self).pop("_fit_rows", None)
        if callable(self.kernel):
            self._fit_rows = X.copy()
        self._sparse = sparse.issparse(X)
        self.shape_fit_ = X.shape
        self._model = self._fit_machine(self._rows(X), **target)
        self.fit_status_ = int(self._model.report["stop"] != "converged")
        vars(self).update(self._from_model())

    def _from_model(self) -> dict[str, Any]:
        places = self._model.array("places").astype(np.int32)
        beta = self._model.array("beta")
        vectors = self._vectors()
        # Support vectors of the first class stand before those of the second.
        order = np.argsort(beta > 0, kind="stable") if self._model.task == "classification" else np.arange(len(beta))
        coefficients = beta[order][None, :]
        found = {
            "support_": places[order],
            "support_vectors_": vectors[order] if vectors.shape[0] == len(order) else vectors,
            "dual_coef_": sparse.csr_matrix(coefficients) if self._sparse else coefficients,
            "intercept_": self._model.array("numbers")[:1].copy(),
            "n_support_": self._counts(beta),
        }
        return found

    def _counts(self, beta: NDArray[np.float64]) -> NDArray[np.int32]:
        return np.array([len(beta)], dtype=np.int32)

    def _vectors(self) -> Any:
        """The support vectors; none if the kernel is given."""
        if self._model.settings["kernel"] == "precomputed":
            return np.empty((0, 0))
        if not self._sparse:
            return self._model.array("supports")
        ends = self._model.array("sparse.ends").astype(np.int32)
        starts = np.concatenate([[0], ends[1:]]).astype(np.int32)
        columns, values = self._model.array("sparse.columns").astype(np.int32), self._model.array("sparse.values")
        return sparse.csr_matrix((values, columns, starts), shape=(len(starts) - 1, int(ends[0])))

    @property
    def coef_(self) -> Any:
        """Weights of the features, of a linear kernel."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        check_is_fitted(self)
        weights = self.dual_coef_ @ self.support_vectors_
        if not sparse.issparse(weights):
            weights.flags.writeable = False
        return weights

    @property
    def n_iter_(self) -> Any:
        """How many pairs of rows were moved."""
        facts = dict(self._fitted_model().report["facts"])
        return self._shown_steps(int(facts["steps"]))

    def _shown_steps(self, steps: int) -> Any:
        return steps

    def _asked(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        X = checked(self, X, reset=False)
        if self.kernel == "precomputed" and X.shape[1] != self.shape_fit_[0]:
            raise ValueError(
                f"X.shape[1] = {X.shape[1]} should be equal to {self.shape_fit_[0]}, "
                "the number of samples at training time"
            )
        return self._scores(self._rows(X))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags


def _has_probabilities(machine: SVC) -> bool:
    if machine.probability != True:  # noqa: E712 - what is deprecated is a word
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class SVC(TwoClasses, ClassifierMixin, KernelMachine):
    """The widest margin between two classes, with any kernel.

    Parameters
    ----------
    C : float, default=1.0
        What a row costs that is on the wrong side of its margin; `numpy.inf` is a hard margin.
    kernel : {'linear', 'poly', 'rbf', 'sigmoid', 'precomputed'} or callable, default='rbf'
        How alike two rows are. A function takes two arrays of rows and gives the kernel of each with each.
    degree : int, default=3
        The power of the polynomial kernel.
    gamma : {'scale', 'auto'} or float, default='scale'
        How narrow the kernel is: 'scale' is 1 / (n_features * X.var()), 'auto' is 1 / n_features.
    coef0 : float, default=0.0
        What is added to products in the polynomial and the sigmoid kernel.
    shrinking : bool, default=True
        Whether rows that do not want to move are left out for a while; the answer is the same.
    probability : bool, default=False
        Whether there are probabilities. They agree with the label, and cost less than in scikit-learn.
    tol : float, default=1e-3
        The violation of the optimality conditions at which to stop.
    cache_size : float, default=200
        Megabytes for kernels that are kept.
    class_weight : dict or 'balanced', default=None
        What classes cost, in multiples of C.
    verbose : bool, default=False
        Taken for scikit-learn's sake.
    max_iter : int, default=-1
        Steps at most; -1 for as many as it takes.
    decision_function_shape : {'ovo', 'ovr'}, default='ovr'
        Taken for scikit-learn's sake: there are two classes.
    break_ties : bool, default=False
        Taken for scikit-learn's sake: there are two classes.
    random_state : int, RandomState or None, default=None
        Taken for scikit-learn's sake: nothing is drawn at random.
    bias : {'mean', 'median'}, default='mean'
        How the constant of the score is taken from the support vectors between their bounds.
    leave_one_out : {'auto', 'always', 'never'}, default='never'
        Whether the exact leave-one-out error is found, which `report_` then has; 'auto' does if it is quick.

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
        Which rows are support vectors: those of the first class, then those of the second.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
        Their features; none if the kernel is precomputed.
    n_support_ : ndarray of shape (2,)
        How many each class has.
    dual_coef_ : ndarray of shape (1, n_SV)
        Their coefficients, positive for the second class.
    coef_ : ndarray of shape (1, n_features)
        Weights of the features, of a linear kernel.
    intercept_ : ndarray of shape (1,)
        The constant.
    classes_ : ndarray of shape (2,)
        The classes.
    class_weight_ : ndarray of shape (2,)
        What each costs, in multiples of C.
    fit_status_ : int
        0 if the optimum was reached, 1 if not.
    n_iter_ : ndarray of shape (1,)
        How many pairs of rows were moved.
    shape_fit_ : tuple of int
        The shape of X.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all words.
    report_ : dict
        How the answer was found, how exact it is (primal, dual, gap), and remarks.

    Examples
    --------
    >>> from quince import SVC
    >>> toy = SVC(kernel="linear", C=float("inf")).fit([[5, 1], [5, 2], [7, 2], [7, 3]], [0, 0, 1, 1])
    >>> toy.coef_.round(6), toy.intercept_.round(6), toy.dual_coef_.round(6)
    (array([[1., 0.]]), array([-6.]), array([[-0.5,  0.5]]))
    """

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
    _accepted: ClassVar = KernelMachine._accepted | {
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
        "bias": [MIDDLE],
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
            "probabilities": self.probability is True,
            "leave_one_out": self.leave_one_out,
        }

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> SVC:
        """Fits to rows X (dense or sparse) and their classes y; sample_weight says how much each row counts."""
        X, y = checked(self, X, y)
        codes = self._codes(y)
        self.class_weight_, weights = self._weights(X, y, codes, sample_weight)
        self._learn(X, weights=weights, **self._target(codes))
        return self

    def _counts(self, beta: NDArray[np.float64]) -> NDArray[np.int32]:
        return np.array([(beta < 0).sum(), (beta > 0).sum()], dtype=np.int32)

    def _shown_steps(self, steps: int) -> Any:
        return np.array([steps], dtype=np.int32)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The score of rows X: above zero the second class."""
        return self._asked(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of rows X."""
        scores = self._asked(X)
        return self.classes_[(scores > 0).astype(np.intp)]

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class for rows X."""
        temperature = self._fitted_model().array("numbers")[1]
        second = 1.0 / (1.0 + np.exp(-2.0 * temperature * self._asked(X)))
        return np.column_stack([1.0 - second, second])

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithms of the probabilities."""
        return np.log(self.predict_proba(X))


class SVR(RegressorMixin, KernelMachine):
    """A tube around numbers, as flat as possible, with any kernel.

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
    C : float, default=1.0
        What a row outside the tube costs, times how far.
    epsilon : float, default=0.1
        Half the width of the tube: how far off a number may be at no cost.
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
    standardise : bool, default=False
        Whether C and epsilon are meant for numbers of deviation 1, whatever the unit of y.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_, fit_status_, n_iter_, shape_fit_
        As of `SVC`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all words.
    report_ : dict
        How the answer was found, how exact it is (primal, dual, gap), and remarks.

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
        "bias": [MIDDLE],
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

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> SVR:
        """Fits to rows X (dense or sparse) and their numbers y; sample_weight says how much each row counts."""
        X, y = checked(self, X, y, y_numeric=True)
        self._learn(X, y=np.asarray(y, dtype=np.float64), weights=weights_of(sample_weight, X))
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The number of rows X."""
        return self._asked(X)


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
