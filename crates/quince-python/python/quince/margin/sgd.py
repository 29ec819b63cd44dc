"""Linear classifiers by stochastic gradient descent in the primal."""

from __future__ import annotations

__all__ = ["SGDClassifier"]

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _check_partial_fit_first_call
from sklearn.utils.validation import check_is_fitted

from quince._base import for_extension, names_of, seed_of
from quince._quince import fit_sgd
from quince._threads import effective
from quince.margin._base import SparseWeights, SupportVectorMachine, TwoClasses, checked, logistic, product

LOSSES = {
    "hinge": "hinge",
    "squared_hinge": "squared-hinge",
    "perceptron": "perceptron",
    "log_loss": "log",
    "modified_huber": "modified-huber",
}
#: Losses of numbers, which scikit-learn also takes for classes.
OF_NUMBERS = {"squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive"}
SCHEDULES = {
    "optimal": "optimal",
    "constant": "constant",
    "invscaling": "inverse-scaling",
    "adaptive": "adaptive",
}


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
        The share of the L1 penalty in 'elasticnet'.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    max_iter : int, default=1000
        The largest number of epochs.
    tol : float or None, default=1e-3
        An epoch must lower the mean loss by this to count as an improvement; None runs all epochs.
    shuffle : bool, default=True
        Whether rows are shuffled before each epoch.
    verbose : int, default=0
        Taken for scikit-learn's sake.
    epsilon : float, default=0.1
        Taken for scikit-learn's sake: none of the losses here has one.
    n_jobs : int or None, default=None
        Taken for scikit-learn's sake: there are two classes.
    random_state : int, RandomState or None, default=None
        The order in which rows are visited.
    learning_rate : {'optimal', 'constant', 'invscaling', 'adaptive'}, default='optimal'
        The schedule of the learning rate: 1 / (alpha (t + t0)); eta0; eta0 / t ** power_t; eta0, divided by five after
        every n_iter_no_change epochs without improvement.
    eta0 : float, default=0.01
        The first learning rate of the last three.
    power_t : float, default=0.5
        The power of 'invscaling'.
    early_stopping : bool, default=False
        Whether to stop when the score on some held-out rows no longer rises.
    validation_fraction : float, default=0.1
        The share of rows held out.
    n_iter_no_change : int, default=5
        The number of epochs without improvement after which to stop.
    class_weight : dict or 'balanced', default=None
        Factors of the loss for each class.
    warm_start : bool, default=False
        Whether a fit goes on from the weights of the last one.
    average : bool or int, default=False
        Whether the weights are averaged over all steps (of one call), or over those from this one on.

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
        Names of the features, if X had names that are all words.
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
        "alpha": "c",
        "fit_intercept": "intercept",
        "max_iter": "epochs",
        "tol": "tolerance",
        "learning_rate": "schedule",
        "eta0": "learning_rate",
        "class_weight": "class_weights",
        "average": "average",
    }
    _accepted: ClassVar = {
        "penalty": "only the L2 penalty has a setting",
        "l1_ratio": "only the L2 penalty has a setting",
        "shuffle": "the method always shuffles",
        "verbose": "progress belongs to the run, not to the method",
        "epsilon": "none of the losses has one",
        "n_jobs": "there are two classes",
        "random_state": "the seed belongs to the run, not to the method",
        "power_t": "the method has the square root",
        "early_stopping": "done in Python, epoch by epoch",
        "validation_fraction": "done in Python, epoch by epoch",
        "n_iter_no_change": "the method has five",
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

    def _options(self, X: Any, epochs: int, tolerance: float | None, steps_before: int) -> dict[str, Any]:
        if self.loss not in LOSSES:
            raise ValueError(f"quince's SGDClassifier has the losses {sorted(LOSSES)}, and got loss={self.loss!r}.")
        if self.learning_rate not in SCHEDULES:
            raise ValueError(
                f"quince's SGDClassifier has the learning rates {sorted(SCHEDULES)}, "
                f"and got learning_rate={self.learning_rate!r}."
            )
        if self.learning_rate == "optimal" and self.alpha == 0:
            raise ValueError("alpha must be > 0 since learning_rate is 'optimal'. alpha is used to compute the optimal learning rate.")
        if self.penalty == "elasticnet" and self.l1_ratio is None:
            raise ValueError("l1_ratio must be set when penalty is 'elasticnet'")
        l1_share = {"l2": 0.0, "l1": 1.0, None: 0.0}.get(self.penalty, self.l1_ratio)
        alpha = float(self.alpha) if self.penalty is not None else 0.0
        return {
            "loss": LOSSES[self.loss],
            "l2_penalty": alpha * (1.0 - l1_share) if self.penalty is not None else 0.0,
            "l1_penalty": alpha * l1_share,
            "schedule_penalty": float(self.alpha),
            "intercept": bool(self.fit_intercept),
            # The intercept is in every row, and most weights are in few: its learning rate is lower.
            "intercept_decay": 0.01 if sparse.issparse(X) else 1.0,
            "schedule": SCHEDULES[self.learning_rate],
            "learning_rate": float(self.eta0),
            "power": float(self.power_t),
            "average": int(self.average) + steps_before if self.average else 0,
            "epochs": int(epochs),
            "tolerance": -1.0 if tolerance is None else float(tolerance),
            "patience": int(self.n_iter_no_change),
            "shuffle": bool(self.shuffle),
            "steps_before": int(steps_before),
        }

    @_fit_context(prefer_skip_nested_validation=True)
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
        _, weights = self._weights(X, y, codes, sample_weight)
        if self.early_stopping:
            self._fit_with_early_stopping(X, codes, weights, start)
        else:
            options = self._options(X, self.max_iter, self.tol, 0)
            converged = self._fit_sgd(X, codes, weights, options, start, seed_of(self.random_state))
            if self.tol is not None and self.tol > -np.inf and not converged:
                self._warn_not_converged()
        return self

    def _start(self, coef_init: Any, intercept_init: Any, columns: int) -> tuple[NDArray[np.float64], float] | None:
        if self.warm_start and hasattr(self, "coef_"):
            coef_init = self.coef_ if coef_init is None else coef_init
            intercept_init = self.intercept_ if intercept_init is None else intercept_init
        if coef_init is None and intercept_init is None:
            return None
        intercept = 0.0 if intercept_init is None else float(np.ravel(intercept_init)[0])
        weights = np.zeros(columns) if coef_init is None else np.ravel(coef_init)
        return np.ascontiguousarray(weights, dtype=np.float64), intercept

    def _fit_sgd(self, X: Any, codes: Any, weights: Any, options: dict[str, Any], start: Any, seed: int) -> bool:
        self._model, steps, self.n_iter_, converged, _ = fit_sgd(
            for_extension(X),
            codes == 1,
            names_of(self.classes_),
            options,
            weights=weights,
            start=start,
            seed=seed,
            threads=effective(None),
        )
        self.t_ = 1.0 + steps
        vars(self).update(self._from_model())
        if not np.isfinite(self.coef_).all() or not np.isfinite(self.intercept_).all():
            raise ValueError(
                "Floating-point under-/overflow occurred. Scaling input data with StandardScaler or MinMaxScaler might help."
            )
        return converged

    def _fit_with_early_stopping(self, X: Any, codes: Any, weights: Any, start: Any) -> None:
        """Epoch after epoch, until the score on held-out rows no longer rises."""
        share = self.validation_fraction
        split = StratifiedShuffleSplit if len(np.unique(codes)) > 1 else ShuffleSplit
        train, test = next(split(test_size=share, random_state=self.random_state).split(np.zeros(len(codes)), codes))
        if len(train) == 0 or len(test) == 0:
            raise ValueError(
                f"Splitting {len(codes)} samples into a train set and a validation set with validation_fraction={share} "
                "led to an empty set."
            )
        seed, best, no_improvement, steps = seed_of(self.random_state), -np.inf, 0, 0
        tolerance = -np.inf if self.tol is None else self.tol
        for epoch in range(self.max_iter):
            options = self._options(X, 1, None, steps)
            self._fit_sgd(X[train], codes[train], None if weights is None else weights[train], options, start, seed + epoch)
            start, steps = (np.ravel(self.coef_).copy(), float(self.intercept_[0])), int(self.t_) - 1
            right = (self._by_attributes(X[test]) > 0) == (codes[test] == 1)
            score = float(np.average(right, weights=None if weights is None else weights[test]))
            no_improvement = no_improvement + 1 if score < best + tolerance else 0
            best = max(best, score)
            self.n_iter_ = epoch + 1
            if no_improvement >= self.n_iter_no_change:
                return
        self._warn_not_converged()

    def _warn_not_converged(self) -> None:
        warnings.warn(
            "Maximum number of iteration reached before convergence. Consider increasing max_iter to improve the fit.",
            ConvergenceWarning,
            stacklevel=3,
        )

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> SGDClassifier:
        """One epoch over some rows, from the weights of the last call; `classes` are all there will be."""
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
        start = None if not hasattr(self, "coef_") else (np.ravel(self.coef_).copy(), float(self.intercept_[0]))
        _, weights = self._weights(X, y, codes, sample_weight, partial=True)
        steps = 0 if start is None else int(self.t_) - 1
        self._fit_sgd(X, codes, weights, self._options(X, 1, None, steps), start, seed_of(self.random_state))
        return self

    def _from_model(self) -> dict[str, Any]:
        return {
            "coef_": self._model.parameter("weights").reshape(1, -1),
            "intercept_": np.array([self._model.parameter("bias")]),
        }

    def _by_attributes(self, X: Any) -> NDArray[np.float64]:
        return product(X, self.coef_) + self.intercept_[0]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The score of rows X: above zero the second class."""
        check_is_fitted(self)
        return self._by_attributes(checked(self, X, reset=False))

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class for rows X."""
        scores = self.decision_function(X)
        if self.loss == "log_loss":
            return logistic(scores)
        positive = (np.clip(scores, -1, 1) + 1) / 2
        return np.column_stack([1.0 - positive, positive])

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))
