"""Baselines: what a method must beat to have learnt anything from the features, which they never look at.

Parameters, defaults and attributes are scikit-learn's, and so is every number: what is drawn at random is drawn from
numpy's generator, in scikit-learn's order.
"""

from __future__ import annotations

__all__ = ["DummyClassifier", "DummyRegressor"]

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils import Tags, check_array, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.random import _random_choice_csc
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_samples,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from quince._base import Estimator, columns_of, learning, names_of, seed_of
from quince._quince import Model, fit, known_baseline, predict


class _Baseline(Estimator):
    _settings: ClassVar = {"strategy": "strategy", "constant": "constant"}

    n_outputs_: int

    def _columns(self) -> int:
        """The number of features; zero if X was no matrix, which a baseline does not mind."""
        return int(getattr(self, "n_features_in_", 0))

    def _rows(self, count: int) -> NDArray[np.float64]:
        """Rows of zeros, which take up no memory: a baseline does not look at them."""
        return np.broadcast_to(0.0, (count, self._columns()))


class DummyClassifier(MultiOutputMixin, ClassifierMixin, _Baseline):
    """Predicts classes without looking at the features.

    Parameters
    ----------
    strategy : {"most_frequent", "prior", "stratified", "uniform", "constant"}, default="prior"
        "prior" predicts the most frequent class, with the class frequencies as probabilities; "most_frequent" the same
        with probability one; "stratified" draws classes by their frequencies, "uniform" draws all with the same
        probability; "constant" predicts `constant`.
    random_state : int, RandomState instance or None, default=None
        Determines what "stratified" and "uniform" draw.
    constant : int or str or array-like of shape (n_outputs,), default=None
        The label that "constant" predicts.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,) or list of such arrays
        The class labels, sorted; a list where y has several columns.
    n_classes_ : int or list of int
        Number of classes.
    class_prior_ : ndarray of shape (n_classes,) or list of such arrays
        Frequency of each class.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all strings.
    n_outputs_ : int
        Number of columns of y.
    sparse_output_ : bool
        Whether predictions are sparse, as y was.

    Examples
    --------
    >>> from quince import DummyClassifier
    >>> rows = [[0], [1], [2], [3]]
    >>> DummyClassifier().fit(rows, ["no", "yes", "yes", "yes"]).predict_proba(rows[:1])
    array([[0.25, 0.75]])
    """

    _accepted: ClassVar = {"random_state": "the seed belongs to the run, not to the method"}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "strategy": [StrOptions({"most_frequent", "prior", "stratified", "uniform", "constant"})],
        "random_state": ["random_state"],
        "constant": [Integral, str, "array-like", None],
    }

    def __init__(self, *, strategy: str = "prior", random_state: Any = None, constant: Any = None) -> None:
        self.strategy = strategy
        self.random_state = random_state
        self.constant = constant

    @learning
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> DummyClassifier:
        """Learns the classes and their frequencies from y, which may have several columns; of X only the number of rows counts."""
        validate_data(self, X, skip_check_array=True)
        self._strategy = self.strategy
        if self._strategy == "uniform" and sparse.issparse(y):
            y = y.toarray()
            warnings.warn(
                "A local copy of the target data has been converted to a numpy array. Predicting on sparse target"
                " data with the uniform strategy would not save memory and would be slower.",
                UserWarning,
                stacklevel=2,
            )
        self.sparse_output_ = bool(sparse.issparse(y))
        if not self.sparse_output_:
            y = np.atleast_1d(np.asarray(y))
            y = y.reshape(-1, 1) if y.ndim == 1 else y
        self.n_outputs_ = y.shape[1]
        check_consistent_length(X, y)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64)
        constants = self._constants()

        outputs = y.tocsc() if self.sparse_output_ else y
        classes, priors, models = [], [], []
        for k in range(self.n_outputs_):
            column = outputs[:, [k]].toarray().ravel() if self.sparse_output_ else outputs[:, k]
            labels, codes = np.unique(column, return_inverse=True)
            if constants is not None and not any(constants[k] == label for label in labels):
                raise ValueError(
                    "The constant target value must be present in the training data. "
                    f"You provided constant={self.constant}. Possible values are: {labels.tolist()}."
                )
            codes = codes.ravel().astype(np.uint32)
            priors.append(self._learn(codes, labels, {"strategy": "prior"}, weights).parameter("values"))
            classes.append(labels)
            models.append((codes, labels))
        if self.n_outputs_ == 1:
            constant = None if constants is None else constants[0]
            self._model = self._learn(*models[0], self._method_settings(classes[0], constant), weights)
            self.classes_, self.class_prior_ = classes[0], priors[0]
            self.n_classes_ = len(classes[0])
        else:
            # A saved model has one set of classes; the probabilities of several columns are numbers.
            given = [None] * self.n_outputs_ if constants is None else constants
            values = np.concatenate(list(map(self._probabilities, classes, priors, given))).tolist()
            self._model = known_baseline(values, self._columns())
            self.classes_, self.class_prior_ = classes, priors
            self.n_classes_ = [len(labels) for labels in classes]
        return self

    def _learn(
        self, codes: NDArray[np.uint32], labels: NDArray[Any], settings: dict[str, Any], weights: Any
    ) -> Model:
        seed = seed_of(self.random_state) if self._strategy in ("stratified", "uniform") else 0
        names = names_of(labels)
        rows = self._rows(len(codes))
        return fit("baseline", rows, settings, target=codes, classes=names, weights=weights, seed=seed, threads=1)

    def _probabilities(self, labels: NDArray[Any], prior: NDArray[Any], constant: Any) -> NDArray[Any]:
        """The probability of each class of one output; where classes are drawn, before they are."""
        if self._strategy == "most_frequent":
            return np.eye(len(labels))[prior.argmax()]
        if self._strategy == "constant":
            return (labels == constant).astype(np.float64)
        return np.full(len(labels), 1.0 / len(labels)) if self._strategy == "uniform" else prior

    def _said(self, X: Any, what: str) -> NDArray[Any]:
        """What the model says of as many rows as X has, whatever is in them."""
        return predict(self._model, self._rows(_num_samples(X)), what, threads=1)

    def _constants(self) -> list[Any] | None:
        """The constant of each output, if the strategy asks for one."""
        if self._strategy != "constant":
            return None
        if self.constant is None:
            raise ValueError("Constant target value has to be specified when the constant strategy is used.")
        constants = np.reshape(np.atleast_1d(self.constant), (-1, 1))
        if len(constants) != self.n_outputs_:
            raise ValueError(f"Constant target value should have shape ({self.n_outputs_}, 1).")
        return list(constants[:, 0])

    def _method_settings(self, labels: NDArray[Any], constant: Any) -> dict[str, Any]:
        """The registry's settings for this strategy."""
        settings = {"strategy": self._strategy.replace("_", "-")}
        if constant is not None:
            settings["constant"] = names_of(labels[labels == constant])[0]
        return settings

    def _by_output(self) -> tuple[list[int], list[NDArray[Any]], list[NDArray[Any]], list[Any]]:
        if self.n_outputs_ == 1:
            return [self.n_classes_], [self.classes_], [self.class_prior_], [self.constant]
        return self.n_classes_, self.classes_, self.class_prior_, self.constant

    def predict(self, X: Any) -> Any:
        """A label for each row of X."""
        check_is_fitted(self)
        if self.n_outputs_ == 1 and not self.sparse_output_:
            labels = self.classes_[self._said(X, "labels")]
            return labels.astype(np.asarray(self.constant).dtype) if self._strategy == "constant" else labels
        rows = _num_samples(X)
        random = check_random_state(self.random_state)
        counts, classes, priors, constant = self._by_output()
        if self.sparse_output_:
            return self._predict_sparse(rows, classes, priors, constant)
        if self._strategy == "constant":
            y = np.tile(self.constant, (rows, 1))
        elif self._strategy == "stratified":
            drawn = self.predict_proba(X)
            drawn = [drawn] if self.n_outputs_ == 1 else drawn
            y = np.vstack([labels[one.argmax(axis=1)] for labels, one in zip(classes, drawn)]).T
        elif self._strategy == "uniform":
            y = np.vstack([labels[random.randint(k, size=rows)] for labels, k in zip(classes, counts)]).T
        else:
            y = np.tile([labels[prior.argmax()] for labels, prior in zip(classes, priors)], [rows, 1])
        return np.ravel(y) if self.n_outputs_ == 1 else y

    def _predict_sparse(self, rows: int, classes: list[Any], priors: list[Any], constant: list[Any]) -> Any:
        probabilities = None
        if self._strategy in ("most_frequent", "prior"):
            classes = [np.array([labels[prior.argmax()]]) for labels, prior in zip(classes, priors)]
        elif self._strategy == "stratified":
            probabilities = priors
        elif self._strategy == "constant":
            classes = [np.array([label]) for label in constant]
        return _random_choice_csc(rows, classes, probabilities, self.random_state)

    def predict_proba(self, X: Any) -> Any:
        """The probability of each class for each row of X; a list of such arrays where y had several columns."""
        check_is_fitted(self)
        if self.n_outputs_ == 1 and not self.sparse_output_:
            return self._said(X, "probabilities")
        rows = _num_samples(X)
        random = check_random_state(self.random_state)
        answers = []
        for k, labels, prior, constant in zip(*self._by_constant()):
            if self._strategy == "prior":
                answer = np.ones((rows, 1)) * prior
            elif self._strategy == "stratified":
                answer = random.multinomial(1, prior, size=rows).astype(np.float64)
            elif self._strategy == "uniform":
                answer = np.full((rows, k), 1.0 / k)
            else:
                answer = np.zeros((rows, k))
                answer[:, prior.argmax() if self._strategy == "most_frequent" else labels == constant] = 1.0
            answers.append(answer)
        return answers[0] if self.n_outputs_ == 1 else answers

    def _by_constant(self) -> tuple[Any, Any, Any, Any]:
        counts, classes, priors, constant = self._by_output()
        return counts, classes, priors, constant if constant is not None else [None] * self.n_outputs_

    def predict_log_proba(self, X: Any) -> Any:
        """The logarithm of the probabilities."""
        with np.errstate(divide="ignore"):
            probabilities = self.predict_proba(X)
            return np.log(probabilities) if self.n_outputs_ == 1 else [np.log(one) for one in probabilities]

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """The accuracy: the fraction of correct labels; X may be None."""
        return super().score(np.zeros((len(y), 1)) if X is None else X, y, sample_weight)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True
        tags.no_validation = True
        return tags


class DummyRegressor(MultiOutputMixin, RegressorMixin, _Baseline):
    """Predicts a number without looking at the features.

    Parameters
    ----------
    strategy : {"mean", "median", "quantile", "constant"}, default="mean"
        What to predict.
    constant : int or float or array-like of shape (n_outputs,), default=None
        The number that "constant" predicts.
    quantile : float in [0.0, 1.0], default=None
        The quantile that "quantile" predicts.

    Attributes
    ----------
    constant_ : ndarray of shape (1, n_outputs)
        What is predicted.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all strings.
    n_outputs_ : int
        Number of columns of y.

    Examples
    --------
    >>> from quince import DummyRegressor
    >>> rows = [[0], [1], [2]]
    >>> DummyRegressor(strategy="median").fit(rows, [1.0, 2.0, 9.0]).predict(rows)
    array([2., 2., 2.])
    """

    _settings: ClassVar = {**_Baseline._settings, "quantile": "quantile"}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "strategy": [StrOptions({"mean", "median", "quantile", "constant"})],
        "quantile": [Interval(Real, 0.0, 1.0, closed="both"), None],
        "constant": [Interval(Real, None, None, closed="neither"), "array-like", None],
    }

    def __init__(self, *, strategy: str = "mean", constant: Any = None, quantile: float | None = None) -> None:
        self.strategy = strategy
        self.constant = constant
        self.quantile = quantile

    @learning
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> DummyRegressor:
        """Learns the number to predict from y, which may have several columns; of X only the number of rows counts."""
        validate_data(self, X, skip_check_array=True)
        y = check_array(y, ensure_2d=False, input_name="y")
        if len(y) == 0:
            raise ValueError("y must not be empty.")
        y = y.reshape(-1, 1) if y.ndim == 1 else y
        self.n_outputs_ = y.shape[1]
        check_consistent_length(X, y, sample_weight)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64)
        quantile = self._quantile()
        if self.strategy == "constant" or (weights is not None and quantile is not None):
            constant = self._constant(y.shape[1]) if quantile is None else _weighted_quantile(y, weights, quantile)
            values = np.broadcast_to(constant, self.n_outputs_).astype(np.float64).tolist()
            self._model = known_baseline(values, self._columns())
        else:
            settings = {"strategy": self.strategy} | ({} if quantile is None else {"quantile": quantile})
            rows, target = self._rows(len(y)), columns_of(y)
            self._model = fit("baseline", rows, settings, target=target, weights=weights, threads=1)
            constant = self._model.parameter("values")
            constant = constant.astype(y.dtype) if y.dtype == np.float32 else constant
        self.constant_ = np.reshape(constant, (1, -1))
        return self

    def _quantile(self) -> float | None:
        if self.strategy == "quantile" and self.quantile is None:
            raise ValueError(
                "When using `strategy='quantile', you have to specify the desired quantile in the range [0, 1]."
            )
        return {"median": 0.5, "quantile": self.quantile}.get(self.strategy)

    def _constant(self, outputs: int) -> NDArray[Any]:
        if self.constant is None:
            raise TypeError("Constant target value has to be specified when the constant strategy is used.")
        constant = check_array(self.constant, ensure_2d=False, ensure_min_samples=0)
        if outputs != 1 and constant.shape[0] != outputs:
            raise ValueError(f"Constant target value should have shape ({outputs}, 1).")
        return np.ravel(constant)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The number for each row of X; with return_std also its standard deviation, which is zero."""
        check_is_fitted(self)
        y = np.full((_num_samples(X), self.n_outputs_), self.constant_, dtype=self.constant_.dtype)
        y = np.ravel(y) if self.n_outputs_ == 1 else y
        return (y, np.zeros(y.shape)) if return_std else y

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """R², the share of variance explained; X may be None."""
        return super().score(np.zeros((len(y), 1)) if X is None else X, y, sample_weight)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.regressor_tags.poor_score = True
        tags.no_validation = True
        return tags


def _weighted_quantile(y: NDArray[Any], weights: NDArray[np.float64], quantile: float) -> NDArray[Any]:
    """scikit-learn's quantile of weighted rows: the smallest value at or below which lies this share of the weight.

    The method of the registry averages two values where the share is met exactly: weights of one change nothing there.
    """
    y = y if y.dtype == np.float32 else y.astype(np.float64)
    order = np.argsort(y, axis=0)
    answers = np.empty(y.shape[1], dtype=y.dtype)
    for k, column in enumerate(order.T):
        below = np.cumsum(weights[column].astype(y.dtype))
        place = y.dtype.type(quantile * 100.0) / 100 * below[-1]
        place = place or np.nextafter(place, place + 1)  # rows without weight are not the smallest
        answers[k] = y[column[min(np.searchsorted(below, place), len(y) - 1)], k]
    return answers
