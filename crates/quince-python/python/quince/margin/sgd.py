"""Linear machines, by stochastic gradient descent in the primal."""

from __future__ import annotations

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
from quince._quince import walk_down
from quince._threads import effective
from quince.margin._base import Machine, SparseWeights, TwoClasses, checked, logistic, product

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


def _has_probabilities(machine: SGDClassifier) -> bool:
    if machine.loss not in ("log_loss", "modified_huber"):
        raise AttributeError(f"probability estimates are not available for loss={machine.loss!r}")
    return True


class SGDClassifier(SparseWeights, TwoClasses, ClassifierMixin, Machine):
    """A linear machine for two classes, learnt from one row at a time.

    It minimises alpha / 2 times the squared length of the weights plus the mean loss of the rows, so alpha is
    1 / (C N) of `LinearSVC`; the constant costs nothing.

    Parameters
    ----------
    loss : {'hinge', 'squared_hinge', 'perceptron', 'log_loss', 'modified_huber'}, default='hinge'
        What a row costs that is on the wrong side. 'perceptron' looks at no margin.
    penalty : {'l2', 'l1', 'elasticnet', None}, default='l2'
        What weights cost: their squares, their sizes, both, or nothing.
    alpha : float, default=0.0001
        How much they cost.
    l1_ratio : float, default=0.15
        The share of sizes in 'elasticnet'.
    fit_intercept : bool, default=True
        Whether there is a constant.
    max_iter : int, default=1000
        Passes over the rows at most.
    tol : float or None, default=1e-3
        A pass that gains less than this, per row, gains nothing; None makes all passes.
    shuffle : bool, default=True
        Whether rows are visited in another order in each pass.
    verbose : int, default=0
        Taken for scikit-learn's sake.
    epsilon : float, default=0.1
        Taken for scikit-learn's sake: none of the losses here has one.
    n_jobs : int or None, default=None
        Taken for scikit-learn's sake: there are two classes.
    random_state : int, RandomState or None, default=None
        The order in which rows are visited.
    learning_rate : {'optimal', 'constant', 'invscaling', 'adaptive'}, default='optimal'
        How steps get shorter: 1 / (alpha (t + t0)); never; eta0 / t ** power_t; by a fifth whenever
        n_iter_no_change passes have gained nothing.
    eta0 : float, default=0.01
        The first step of the last three.
    power_t : float, default=0.5
        The power of 'invscaling'.
    early_stopping : bool, default=False
        Whether some rows are held out, and passes end when the score on them no longer rises.
    validation_fraction : float, default=0.1
        The share of rows held out.
    n_iter_no_change : int, default=5
        So many passes without a gain end it.
    class_weight : dict or 'balanced', default=None
        What classes cost.
    warm_start : bool, default=False
        Whether a fit goes on from the weights of the last one.
    average : bool or int, default=False
        Whether the answer is the mean of all steps (of one call), or of those from this one on.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights of the features.
    intercept_ : ndarray of shape (1,)
        The constant.
    classes_ : ndarray of shape (2,)
        The classes.
    n_iter_ : int
        Passes that were made.
    t_ : float
        Steps that were made, plus one.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all words.
    report_ : dict
        How the answer was found, and the mean loss of each pass.

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
        "max_iter": "passes",
        "tol": "tolerance",
        "learning_rate": "schedule",
        "eta0": "rate",
        "class_weight": "class_weights",
        "average": "average",
    }
    _accepted: ClassVar = {
        "penalty": "only squares have a setting",
        "l1_ratio": "only squares have a setting",
        "shuffle": "the method always shuffles",
        "verbose": "progress belongs to the run, not to the method",
        "epsilon": "none of the losses has one",
        "n_jobs": "there are two classes",
        "random_state": "the seed belongs to the run, not to the method",
        "power_t": "the method has the square root",
        "early_stopping": "done in Python, pass by pass",
        "validation_fraction": "done in Python, pass by pass",
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

    def _how(self, X: Any, passes: int, tolerance: float | None, steps_before: int) -> dict[str, Any]:
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
        sizes = {"l2": 0.0, "l1": 1.0, None: 0.0}.get(self.penalty, self.l1_ratio)
        alpha = float(self.alpha) if self.penalty is not None else 0.0
        return {
            "loss": LOSSES[self.loss],
            "lambda": alpha * (1.0 - sizes) if self.penalty is not None else 0.0,
            "lambda_of_sizes": alpha * sizes,
            "lambda_of_steps": float(self.alpha),
            "intercept": bool(self.fit_intercept),
            # The constant is in every row, and most weights are in few: it takes shorter steps.
            "intercept_share": 0.01 if sparse.issparse(X) else 1.0,
            "schedule": SCHEDULES[self.learning_rate],
            "rate": float(self.eta0),
            "power": float(self.power_t),
            "average": int(self.average) + steps_before if self.average else 0,
            "passes": int(passes),
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
            self._walk_until_no_better(X, codes, weights, start)
        else:
            how = self._how(X, self.max_iter, self.tol, 0)
            rested = self._walk(X, codes, weights, how, start, seed_of(self.random_state))
            if self.tol is not None and self.tol > -np.inf and not rested:
                self._not_rested()
        return self

    def _start(self, coef_init: Any, intercept_init: Any, columns: int) -> tuple[NDArray[np.float64], float] | None:
        if self.warm_start and hasattr(self, "coef_"):
            coef_init = self.coef_ if coef_init is None else coef_init
            intercept_init = self.intercept_ if intercept_init is None else intercept_init
        if coef_init is None and intercept_init is None:
            return None
        constant = 0.0 if intercept_init is None else float(np.ravel(intercept_init)[0])
        weights = np.zeros(columns) if coef_init is None else np.ravel(coef_init)
        return np.ascontiguousarray(weights, dtype=np.float64), constant

    def _walk(self, X: Any, codes: Any, weights: Any, how: dict[str, Any], start: Any, seed: int) -> bool:
        self._model, steps, self.n_iter_, rested, _ = walk_down(
            for_extension(X),
            codes == 1,
            names_of(self.classes_),
            how,
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
        return rested

    def _walk_until_no_better(self, X: Any, codes: Any, weights: Any, start: Any) -> None:
        """Pass after pass, until the score on rows that are held out no longer rises."""
        share = self.validation_fraction
        split = StratifiedShuffleSplit if len(np.unique(codes)) > 1 else ShuffleSplit
        train, test = next(split(test_size=share, random_state=self.random_state).split(np.zeros(len(codes)), codes))
        if len(train) == 0 or len(test) == 0:
            raise ValueError(
                f"Splitting {len(codes)} samples into a train set and a validation set with validation_fraction={share} "
                "led to an empty set."
            )
        seed, best, in_vain, steps = seed_of(self.random_state), -np.inf, 0, 0
        tolerance = -np.inf if self.tol is None else self.tol
        for passed in range(self.max_iter):
            how = self._how(X, 1, None, steps)
            self._walk(X[train], codes[train], None if weights is None else weights[train], how, start, seed + passed)
            start, steps = (np.ravel(self.coef_).copy(), float(self.intercept_[0])), int(self.t_) - 1
            right = (self._by_attributes(X[test]) > 0) == (codes[test] == 1)
            score = float(np.average(right, weights=None if weights is None else weights[test]))
            in_vain = in_vain + 1 if score < best + tolerance else 0
            best = max(best, score)
            self.n_iter_ = passed + 1
            if in_vain >= self.n_iter_no_change:
                return
        self._not_rested()

    def _not_rested(self) -> None:
        warnings.warn(
            "Maximum number of iteration reached before convergence. Consider increasing max_iter to improve the fit.",
            ConvergenceWarning,
            stacklevel=3,
        )

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> SGDClassifier:
        """One pass over some rows, from where the last call has ended; `classes` are all there will be."""
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
        self._walk(X, codes, weights, self._how(X, 1, None, steps), start, seed_of(self.random_state))
        return self

    def _from_model(self) -> dict[str, Any]:
        return {
            "coef_": self._model.array("weights").reshape(1, -1),
            "intercept_": self._model.array("numbers")[:1].copy(),
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
        second = (np.clip(scores, -1, 1) + 1) / 2
        return np.column_stack([1.0 - second, second])

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))
