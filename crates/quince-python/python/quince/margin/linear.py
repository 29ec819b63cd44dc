"""Linear support vector machines, by Newton's method, an interior-point method, or coordinate descent in the dual."""

from __future__ import annotations

__all__ = ["LinearSVC", "LinearSVR"]

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from quince._base import learning, seed_of, weights_of
from quince.margin._base import SparseWeights, SupportVectorMachine, TwoClasses, by_attributes, checked

ACCEPTED = {
    "verbose": "progress belongs to the run, not to the method",
    "random_state": "the seed belongs to the run, not to the method",
}
CONSTRAINTS: dict[str, Any] = {
    "dual": ["boolean", StrOptions({"auto"})],
    "tol": [Interval(Real, 0.0, None, closed="neither")],
    "C": [Interval(Real, 0.0, None, closed="neither")],
    "fit_intercept": ["boolean"],
    "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
    "verbose": ["verbose"],
    "random_state": ["random_state"],
    "max_iter": [Interval(Integral, 0, None, closed="left")],
}


class LinearSVM(SupportVectorMachine):
    """Weights and an intercept."""

    _method = "linear-svm"
    _not_converged = "Liblinear failed to converge, increase the number of iterations."

    coef_: NDArray[np.float64]
    intercept_: Any
    n_iter_: int

    def _linear_settings(self) -> dict[str, Any]:
        no_dual = "auto" if self.loss.startswith("squared") else "interior"
        return {
            "c": float(self.C),
            "solver": self.dual if isinstance(self.dual, str) else "dual" if self.dual else no_dual,
            "tolerance": float(np.clip(self.tol, 0.0, 1.0)),
            "epochs": max(1, int(self.max_iter)),
            "intercept": "penalised" if self.fit_intercept else "none",
            "intercept_scale": float(self.intercept_scaling),
            "probabilities": getattr(self, "probability", False),
        }

    def _learn(self, X: Any, **target: Any) -> None:
        self._model = self._fit_svm(X, seed=seed_of(self.random_state), **target)
        self.n_iter_ = self._model.parameter("epochs")
        vars(self).update(self._from_model())

    def _by_attributes(self, X: Any) -> NDArray[np.float64]:
        """w·x + b by the attributes as they are, which a user may have set."""
        check_is_fitted(self)
        X = checked(self, X, reset=False)
        return by_attributes(X, self.coef_, self.intercept_)


def _has_probabilities(estimator: LinearSVC) -> bool:
    if not estimator.probability:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class LinearSVC(SparseWeights, TwoClasses, ClassifierMixin, LinearSVM):
    """The widest margin between two classes, by a weighted sum of the features.

    Parameters
    ----------
    penalty : {'l2'}, default='l2'
        The penalty of the weights: their squares.
    loss : {'hinge', 'squared_hinge'}, default='squared_hinge'
        The loss of a row.
    dual : 'auto' or bool, default='auto'
        True for coordinate descent in the dual, False for an interior-point method (for squared losses the same as
        'auto'). 'auto' takes Newton's method or an interior-point method for few features, and coordinate descent for
        many. All have the same optimum.
    tol : float, default=1e-4
        The violation of the KKT (optimality) conditions at which to stop.
    C : float, default=1.0
        The cost of the losses, beside half the squared norm of the weights.
    multi_class : {'ovr', 'crammer_singer'}, default='ovr'
        Accepted for compatibility with scikit-learn: there are two classes.
    fit_intercept : bool, default=True
        Whether there is an intercept, which is penalised as a weight is.
    intercept_scaling : float, default=1.0
        The value of the column whose weight is the intercept: the larger, the weaker its penalty.
    class_weight : dict or 'balanced', default=None
        Weights of the classes, which multiply C.
    verbose : int, default=0
        Accepted for compatibility with scikit-learn.
    random_state : int, RandomState or None, default=None
        The order in which rows are visited.
    max_iter : int, default=1000
        The largest number of epochs of coordinate descent, or of steps of the other methods.
    probability : bool, default=False
        Whether there is `predict_proba`.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights of the features.
    intercept_ : ndarray of shape (1,)
        The intercept.
    classes_ : ndarray of shape (2,)
        The classes.
    n_iter_ : int
        Number of epochs or steps.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all strings.
    report_ : dict
        How the model was fitted, how exact it is (primal, dual, duality gap), and remarks.

    Examples
    --------
    >>> from quince import LinearSVC
    >>> LinearSVC().fit([[0, 0], [0, 1], [3, 0], [3, 1]], ["a", "a", "b", "b"]).predict([[4, 0]])
    array(['b'], dtype='<U1')
    """

    _settings: ClassVar = {
        "loss": "loss",
        "dual": "solver",
        "tol": "tolerance",
        "C": "c",
        "fit_intercept": "intercept",
        "intercept_scaling": "intercept_scale",
        "class_weight": "class_weights",
        "max_iter": "epochs",
        "probability": "probabilities",
    }
    _accepted: ClassVar = ACCEPTED | {
        "penalty": "the penalty is that of squares",
        "multi_class": "there are two classes",
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS | {
        "penalty": [StrOptions({"l1", "l2"})],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "multi_class": [StrOptions({"ovr", "crammer_singer"})],
        "class_weight": [None, dict, StrOptions({"balanced"})],
        "probability": ["boolean"],
    }

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: bool | str = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        probability: bool = False,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.probability = probability

    def _method_settings(self) -> dict[str, Any]:
        return self._linear_settings() | {"loss": self.loss.replace("_", "-")}

    @learning
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> LinearSVC:
        """Fits to rows X (dense or sparse) and their classes y; sample_weight says how much each row counts."""
        if self.penalty != "l2":
            raise ValueError(f"quince's LinearSVC has penalty='l2' only, and got penalty={self.penalty!r}.")
        X, y = checked(self, X, y)
        codes = self._codes(y)
        _, weights = self._weights_apart(X, y, codes, sample_weight)
        self._learn(X, **weights, **self._target(codes))
        return self

    def _from_model(self) -> dict[str, Any]:
        intercept = np.array([self._model.parameter("bias")]) if self.fit_intercept else 0.0
        return {"coef_": self._model.parameter("weights").reshape(1, -1), "intercept_": intercept}

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The score of each row of X: above zero means the second class."""
        return self._by_attributes(X)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class for each row of X."""
        check_is_fitted(self)
        return self._probabilities(checked(self, X, reset=False))


class LinearSVR(RegressorMixin, LinearSVM):
    """Linear support vector regression: a weighted sum of the features, within a tube around the targets.

    Parameters
    ----------
    epsilon : float, default=0.0
        Half the width of the tube: how far off a predicted number may be at no cost.
    tol : float, default=1e-4
        The violation of the KKT (optimality) conditions at which to stop.
    C : float, default=1.0
        The cost of the losses, beside half the squared norm of the weights.
    loss : {'epsilon_insensitive', 'squared_epsilon_insensitive'}, default='epsilon_insensitive'
        How far a row is outside the tube, or the square of that.
    fit_intercept : bool, default=True
        Whether there is an intercept, which is penalised as a weight is.
    intercept_scaling : float, default=1.0
        The value of the column whose weight is the intercept: the larger, the weaker its penalty.
    dual : 'auto' or bool, default='auto'
        True for coordinate descent in the dual, False for an interior-point method (for squared losses the same as
        'auto'). 'auto' takes Newton's method or an interior-point method for few features, and coordinate descent for
        many. All have the same optimum.
    verbose : int, default=0
        Accepted for compatibility with scikit-learn.
    random_state : int, RandomState or None, default=None
        The order in which rows are visited.
    max_iter : int, default=1000
        The largest number of epochs of coordinate descent, or of steps of the other methods.
    standardise : bool, default=False
        Whether C and epsilon are meant for a target of standard deviation 1, whatever the unit of y.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of the features.
    intercept_ : ndarray of shape (1,)
        The intercept.
    n_iter_ : int
        Number of epochs or steps.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all strings.
    report_ : dict
        How the model was fitted, how exact it is (primal, dual, duality gap), and remarks.

    Examples
    --------
    >>> from quince import LinearSVR
    >>> LinearSVR(C=100.0, intercept_scaling=10.0).fit([[0], [1], [2]], [1, 3, 5]).predict([[3]]).round(2)
    array([7.])
    """

    _settings: ClassVar = {
        "epsilon": "epsilon",
        "tol": "tolerance",
        "C": "c",
        "loss": "loss",
        "fit_intercept": "intercept",
        "intercept_scaling": "intercept_scale",
        "dual": "solver",
        "max_iter": "epochs",
        "standardise": "standardise",
    }
    _accepted: ClassVar = ACCEPTED
    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS | {
        "epsilon": [Real],
        "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
        "standardise": ["boolean"],
    }

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-4,
        C: float = 1.0,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: bool | str = "auto",
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        standardise: bool = False,
    ) -> None:
        self.standardise = standardise
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter

    def _method_settings(self) -> dict[str, Any]:
        loss = "squared-hinge" if self.loss.startswith("squared") else "hinge"
        how = {"loss": loss, "epsilon": max(float(self.epsilon), 0.0), "standardise": bool(self.standardise)}
        return self._linear_settings() | how

    @learning
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> LinearSVR:
        """Fits to rows X (dense or sparse) and their numbers y; sample_weight says how much each row counts."""
        X, y = checked(self, X, y, y_numeric=True)
        self._learn(X, target=np.asarray(y, dtype=np.float64), weights=weights_of(sample_weight, X))
        return self

    def _from_model(self) -> dict[str, Any]:
        intercept = np.array([self._model.parameter("bias")]) if self.fit_intercept else 0.0
        return {"coef_": self._model.parameter("weights").ravel(), "intercept_": intercept}

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The predicted number for each row of X."""
        return self._by_attributes(X)
