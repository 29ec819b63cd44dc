"""Linear classifiers by stochastic gradient descent in the primal."""

from __future__ import annotations

__all__ = ["SGDClassifier"]

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _check_partial_fit_first_call
from sklearn.utils.validation import check_is_fitted

from quince._base import for_extension, learning, names_of, seed_of
from quince._quince import Model, fit, known_linear_svm
from quince._threads import effective
from quince.margin._base import SparseWeights, SupportVectorMachine, TwoClasses, by_attributes, checked

LOSSES = {
    "hinge": "hinge",
    "squared_hinge": "squared-hinge",
    "perceptron": "perceptron",
    "log_loss": "log",
    "modified_huber": "modified-huber",
}
#: Losses of numbers, which scikit-learn also takes for classes.
OF_NUMBERS = {"squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive"}
PENALTIES = {"l2": "l2", "l1": "l1", "elasticnet": "elastic-net", None: "none"}
SCHEDULES = {
    "optimal": "optimal",
    "constant": "constant",
    "invscaling": "inverse-scaling",
    "adaptive": "adaptive",
    "implicit": "optimal",
}
#: A mean loss in the last epoch that no sensible weights have: that of no weights at all is 1.
DIVERGED_LOSS = 100.0


def _has_probabilities(estimator: SGDClassifier) -> bool:
    if estimator.loss not in ("log_loss", "modified_huber"):
        raise AttributeError(f"probability estimates are not available for loss={estimator.loss!r}")
    return True


class SGDClassifier(SparseWeights, TwoClasses, ClassifierMixin, SupportVectorMachine):
    """A linear classifier for two classes, fitted by stochastic gradient descent.

    It minimises alpha / 2 times the squared length of the weights plus the mean loss of the rows, so alpha is
    1 / (C N) of `LinearSVC`; the intercept is not penalised.

    Parameters
    ----------
    loss : {'hinge', 'squared_hinge', 'perceptron', 'log_loss', 'modified_huber'}, default='hinge'
        The loss of a row. 'perceptron' has no margin.
    penalty : {'l2', 'l1', 'elasticnet', None}, default='l2'
        The penalty of the weights: squares, absolute values, both, or none.
    alpha : float, default=0.0001
        The factor of the penalty.
    l1_ratio : float, default=0.15
        The fraction of the L1 penalty in 'elasticnet'.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    max_iter : int, default=1000
        The largest number of epochs.
    tol : float or None, default=1e-3
        An epoch must lower the mean loss by this to count as an improvement; None runs all epochs.
    shuffle : bool, default=True
        Whether rows are shuffled before each epoch.
    verbose : int, default=0
        Accepted for compatibility with scikit-learn.
    epsilon : float, default=0.1
        Accepted for compatibility with scikit-learn: none of the losses here has one.
    n_jobs : int or None, default=None
        Accepted for compatibility with scikit-learn: there are two classes.
    random_state : int, RandomState or None, default=None
        The order in which rows are visited.
    learning_rate : {'optimal', 'constant', 'invscaling', 'adaptive', 'implicit'}, default='optimal'
        The schedule of the learning rate: 1 / (alpha (t + t0)); eta0; eta0 / t ** power_t; eta0, divided by five after
        every n_iter_no_change epochs without improvement. 'implicit' is 1 / (alpha (t + t0)) with implicit steps about the
        means of columns, which scikit-learn does not have: they diverge in no unit, and with average=True come near the optimum
        however far from zero the columns are. They are also taken, averaged and with a warning, where the steps of 'optimal' have
        diverged for the squared hinge, whose gradient has no limit.
    eta0 : float, default=0.01
        The first learning rate of the last three.
    power_t : float, default=0.5
        The power of 'invscaling'.
    early_stopping : bool, default=False
        Whether to stop when the accuracy on held-out rows no longer rises.
    validation_fraction : float, default=0.1
        The fraction of the rows that is held out.
    n_iter_no_change : int, default=5
        The number of epochs without improvement after which to stop.
    class_weight : dict or 'balanced', default=None
        Weights of the classes, which multiply the loss.
    warm_start : bool, default=False
        Whether a fit starts from the weights of the last one.
    average : bool or int, default=False
        Whether the weights are averaged over all steps (of one call), or, as a number, over the steps from this one on.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights of the features.
    intercept_ : ndarray of shape (1,)
        The intercept.
    classes_ : ndarray of shape (2,)
        The classes.
    n_iter_ : int
        Number of epochs.
    t_ : float
        Number of steps, plus one.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all strings.
    report_ : dict
        How the model was fitted, and the mean loss of each epoch.

    Examples
    --------
    >>> from quince import SGDClassifier
    >>> SGDClassifier(random_state=0).fit([[0, 0], [0, 1], [3, 0], [3, 1]], [0, 0, 1, 1]).predict([[4, 0]])
    array([1])
    """

    _settings: ClassVar = {
        "loss": "loss",
        "penalty": "penalty",
        "l1_ratio": "l1_ratio",
        "shuffle": "shuffle",
        "power_t": "power",
        "early_stopping": "early_stopping",
        "validation_fraction": "validation_fraction",
        "n_iter_no_change": "patience",
        "alpha": "lambda",
        "fit_intercept": "intercept",
        "max_iter": "epochs",
        "tol": "tolerance",
        "learning_rate": "schedule",
        "eta0": "learning_rate",
        "class_weight": "class_weights",
        "average": "average",
    }
    #: Settings that follow from the rows, or from a parameter beside its own setting.
    _implied: ClassVar = {
        "average_from": "a whole number as average says from which step on",
        "certify": "scikit-learn has no duality gap",
        "update": "the learning rate says whether steps are implicit; scikit-learn's are not, but where those diverge",
        "intercept_rate": "lower where rows are sparse",
    }
    _accepted: ClassVar = {
        "verbose": "progress belongs to the run, not to the method",
        "epsilon": "none of the losses has one",
        "n_jobs": "there are two classes",
        "random_state": "the seed belongs to the run, not to the method",
        "warm_start": "a start is given to a fit, not to the method",
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "loss": [StrOptions(set(LOSSES) | OF_NUMBERS)],
        "penalty": [StrOptions({"l2", "l1", "elasticnet"}), None],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both"), None],
        "fit_intercept": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "shuffle": ["boolean"],
        "verbose": ["verbose"],
        "epsilon": [Interval(Real, 0, None, closed="left")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "learning_rate": [StrOptions(set(SCHEDULES) | {"pa1", "pa2"})],
        "eta0": [Interval(Real, 0, None, closed="neither")],
        "power_t": [Interval(Real, None, None, closed="neither")],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "warm_start": ["boolean"],
        "average": [Interval(Integral, 0, None, closed="neither"), "boolean"],
    }

    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    n_iter_: int
    t_: float

    def __init__(
        self,
        loss: str = "hinge",
        *,
        penalty: str | None = "l2",
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        epsilon: float = 0.1,
        n_jobs: int | None = None,
        random_state: Any = None,
        learning_rate: str = "optimal",
        eta0: float = 0.01,
        power_t: float = 0.5,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
        average: bool | int = False,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.average = average

    def _check_parameters(self) -> None:
        if self.loss not in LOSSES:
            raise ValueError(f"quince's SGDClassifier has the losses {sorted(LOSSES)}, and got loss={self.loss!r}.")
        if self.learning_rate not in SCHEDULES:
            raise ValueError(
                f"quince's SGDClassifier has the learning rates {sorted(SCHEDULES)}, "
                f"and got learning_rate={self.learning_rate!r}."
            )
        if SCHEDULES[self.learning_rate] == "optimal" and self.alpha == 0:
            raise ValueError(
                f"alpha must be > 0 since learning_rate is {self.learning_rate!r}. alpha is used to compute the optimal learning rate."
            )
        if self.penalty == "elasticnet" and self.l1_ratio is None:
            raise ValueError("l1_ratio must be set when penalty is 'elasticnet'")

    def _method_settings(self) -> dict[str, Any]:
        """The method's settings but for the penalty and what follows from the rows."""
        self._check_parameters()
        # Without a penalty, and with alpha=0, only the schedule needs alpha.
        penalty = PENALTIES[self.penalty] if self.alpha > 0 else "none"
        implicit = self.learning_rate == "implicit"
        # Only its gradient has no limit; and who gives a first learning rate has chosen the steps.
        safeguarded = self.loss == "squared_hinge" and self.learning_rate == "optimal"
        return {
            "solver": "sgd",
            "update": "implicit" if implicit else "safeguarded" if safeguarded else "explicit",
            "loss": LOSSES[self.loss],
            "penalty": penalty,
            "l1_ratio": 0.15 if self.l1_ratio is None else float(self.l1_ratio),
            "intercept": "free" if self.fit_intercept else "none",
            "schedule": SCHEDULES[self.learning_rate],
            "learning_rate": float(self.eta0),
            "power": float(self.power_t),
            "average": bool(self.average),
            "average_from": "auto" if implicit and self.average is True else max(1, int(self.average)),
            "epochs": int(self.max_iter),
            "tolerance": 0.0 if self.tol is None else float(np.clip(self.tol, 1e-300, 1.0)),
            "patience": int(self.n_iter_no_change),
            "shuffle": bool(self.shuffle),
            "early_stopping": bool(self.early_stopping),
            "validation_fraction": float(self.validation_fraction),
            "certify": False,
            "probabilities": False,
        }

    @learning
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> SGDClassifier:
        """Fits to rows X (dense or sparse) and their classes y, from a start if one is given.

        sample_weight says how much each row counts.
        """
        X, y = checked(self, X, y)
        start = self._start(coef_init, intercept_init, X.shape[1])
        codes = self._codes(y)
        if start is not None and len(start[0]) != X.shape[1]:
            raise ValueError("Provided coef_ does not match dataset.")
        _, given = self._weights_apart(X, y, codes, sample_weight)
        settings = self._method_settings() | given.get("also", {})
        from_model = None
        if start is not None:
            from_model = known_linear_svm(*start, names_of(self.classes_), settings)
        self._learn(X, codes, given["weights"], settings, from_model)
        trace = self._model.trace
        if any("explicit steps have diverged" in remark for remark in self._model.remarks):
            warnings.warn(
                "Explicit steps have diverged, so implicit ones were taken, as with learning_rate='implicit' and average=True. Give "
                "those, or scale the columns with StandardScaler.",
                ConvergenceWarning,
                stacklevel=3,
            )
        # The loss of the perceptron has no unit, and its steps are never too large.
        elif self.loss != "perceptron" and self.learning_rate != "implicit" and trace and trace[-1] > DIVERGED_LOSS:
            warnings.warn(
                f"The steps were too large: the mean loss of the last epoch is {trace[-1]:.3g}, and that of no weights at all "
                "is at most 1. Scale the columns with StandardScaler, or give learning_rate='implicit'.",
                ConvergenceWarning,
                stacklevel=3,
            )
        if self.tol is not None and self.tol > -np.inf and self._model.stop_reason != "converged":
            self._warn_not_converged()
        return self

    def _start(self, coef_init: Any, intercept_init: Any, columns: int) -> tuple[NDArray[np.float64], float] | None:
        if self.warm_start and hasattr(self, "coef_"):
            coef_init = self.coef_ if coef_init is None else coef_init
            intercept_init = self.intercept_ if intercept_init is None else intercept_init
        if coef_init is None and intercept_init is None:
            return None
        intercept = 0.0 if intercept_init is None else float(np.ravel(intercept_init)[0])
        if sparse.issparse(coef_init):
            coef_init = coef_init.toarray()
        weights = np.zeros(columns) if coef_init is None else np.ravel(coef_init)
        return np.ascontiguousarray(weights, dtype=np.float64), intercept

    def _learn(self, X: Any, codes: Any, weights: Any, settings: dict[str, Any], start: Model | None) -> None:
        more = {
            # The penalty is positive; without one it is for the schedule alone.
            "lambda": float(np.clip(self.alpha, 1e-290, 1e290)),
            # The intercept is in every row, and most weights are in few: its learning rate is lower.
            "intercept_rate": 0.01 if sparse.issparse(X) else 1.0,
        }
        try:
            self._model = fit(
                "linear-svm",
                for_extension(X),
                settings | more,
                weights=weights,
                start=start,
                seed=seed_of(self.random_state),
                threads=effective(None),
                **self._target(codes),
            )
        except ValueError as error:
            if "diverged" not in str(error):
                raise
            raise ValueError(
                "Floating-point under-/overflow occurred. Scaling input data with StandardScaler or MinMaxScaler might help."
            ) from error
        self.n_iter_ = self._model.parameter("epochs")
        self.t_ = 1.0 + self._model.parameter("steps")
        vars(self).update(self._from_model())

    def _warn_not_converged(self) -> None:
        warnings.warn(
            "Maximum number of iteration reached before convergence. Consider increasing max_iter to improve the fit.",
            ConvergenceWarning,
            stacklevel=3,
        )

    @learning
    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> SGDClassifier:
        """One epoch over some rows, from the weights of the last call. The first call must list all classes in `classes`."""
        if self.class_weight == "balanced":
            raise ValueError(
                "class_weight 'balanced' is not supported for partial_fit. In order to use 'balanced' weights, use "
                "compute_class_weight('balanced', classes=classes, y=y). In place of y you can use a large enough "
                "subset of the full training data target to properly estimate the class frequency distributions. "
                "Pass the resulting weights as the class_weight parameter."
            )
        first = not hasattr(self, "classes_")
        X, y = checked(self, X, y, reset=first)
        _check_partial_fit_first_call(self, classes)
        if len(self.classes_) != 2:
            raise ValueError(f"Only binary classification is supported; there are {len(self.classes_)} classes.")
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(f"The target has labels {unknown} that are not in classes {self.classes_}.")
        codes = (y == self.classes_[1]).astype(np.int8)
        _, given = self._weights_apart(X, y, codes, sample_weight, partial=True)
        one_epoch = self._method_settings() | {"epochs": 1, "tolerance": 0.0, "early_stopping": False}
        one_epoch |= given.get("also", {})
        self._learn(X, codes, given["weights"], one_epoch, self._present_model(X.shape[1], one_epoch))
        return self

    def _present_model(self, columns: int, settings: dict[str, Any]) -> Model:
        """The model of the attributes, which a user may have set; before any fit all are zero."""
        given = (np.zeros(columns), 0.0)
        if hasattr(self, "coef_"):
            given = self._start(self.coef_, self.intercept_, columns)
            known = self._from_model()
            if np.array_equal(given[0], known["coef_"].ravel()) and given[1] == known["intercept_"][0]:
                return self._model
        return known_linear_svm(*given, names_of(self.classes_), settings)

    def _from_model(self) -> dict[str, Any]:
        return {
            "coef_": self._model.parameter("weights").reshape(1, -1),
            "intercept_": np.array([self._model.parameter("bias")]),
        }

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The score of each row of X: above zero means the second class."""
        check_is_fitted(self)
        return by_attributes(checked(self, X, reset=False), self.coef_, self.intercept_)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class for each row of X."""
        check_is_fitted(self)
        return self._probabilities(checked(self, X, reset=False))

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithm of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))
