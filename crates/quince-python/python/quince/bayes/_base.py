"""What the Bayes classifiers share: fitting, incremental learning, and predicting."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from quince._base import FLOATS, Estimator, for_extension, learning, names_of, weights_of
from quince._quince import Model, fit, predict, update
from quince._threads import effective

#: What stands for labels where there are none to be checked; None is what somebody forgot.
NO_LABELS: Any = object()

#: The reason why a class has `n_jobs`.
THREADS = "threads belong to the run, not to the method"


def written(priors: ArrayLike) -> str:
    """Priors as the method reads them, for example `0.2,0.8`."""
    return ",".join(repr(float(prior)) for prior in np.ravel(np.asarray(priors)))


def labels_of(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.uint32]]:
    """The different labels, sorted, and which of them each row has."""
    if y.dtype.kind in "iu" and y.size and (span := int(y.max()) - int(y.min())) < len(y):
        # Whole numbers close together are counted, which is much quicker than sorting.
        places = np.subtract(y, y.min(), dtype=np.intp, casting="unsafe")
        seen = np.zeros(span + 1, dtype=bool)
        seen[places] = True
        classes = np.flatnonzero(seen).astype(y.dtype) + y.min()
        if len(classes) <= len(y) // 2:  # of more classes scikit-learn warns
            return classes, (np.cumsum(seen) - 1).astype(np.uint32)[places]
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes.astype(np.uint32)


def codes_of(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.uint32]:
    """The number of each row's class."""
    known = np.isin(y, classes)
    if not known.all():
        unknown = np.unique(y[~known])
        raise ValueError(f"The target label(s) {unknown} in y do not exist in the initial classes {classes}")
    return np.searchsorted(classes, y).astype(np.uint32)


class Bayes(ClassifierMixin, Estimator):
    """A classifier that holds a fitted model of the method `naive-bayes` or `gaussian`."""

    _method: ClassVar[str] = "naive-bayes"
    #: Whether a scipy matrix is taken.
    _takes_sparse: ClassVar[bool] = False
    #: What scikit-learn is to refuse before the extension looks: NaN and infinity, infinity, or nothing.
    _finite: ClassVar[bool | str] = "allow-nan"

    classes_: NDArray[Any]

    def _method_settings(self) -> dict[str, Any]:
        """What the parameters ask for, in the method's words."""
        raise NotImplementedError

    @learning
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learns from rows X and their labels y; sample_weight says how much each row counts."""
        X, y = self._check(X, y)
        self._start(X, *labels_of(y), weights_of(sample_weight, X))
        return self

    @learning
    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learns from more rows, in addition to those of earlier calls.

        The first call must list all classes in `classes`.
        """
        first = not self.__sklearn_is_fitted__()
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        known = unique_labels(classes) if first else self.classes_
        if not first and classes is not None and not np.array_equal(known, unique_labels(classes)):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {self.classes_!r}"
            )
        X, y = self._check(X, y, reset=first)
        check_classification_targets(y)
        weights = weights_of(sample_weight, X)
        if first:
            self._start(X, known, codes_of(y, known), weights)
        else:
            self._learnt(self._update(X, codes_of(y, known), weights), known)
        return self

    def _start(
        self, X: Any, classes: NDArray[Any], codes: NDArray[np.uint32], weights: NDArray[np.float64] | None
    ) -> None:
        self._learnt(self._fit(X, codes, names_of(classes), weights), classes)

    def _fit(
        self, X: Any, codes: NDArray[np.uint32], classes: list[str], weights: NDArray[np.float64] | None
    ) -> Model:
        settings, threads = self._method_settings(), self._threads()
        given = {"target": codes, "classes": classes, "weights": weights, "threads": threads}
        return self._in_our_words(fit, self._method, X, settings, **given)

    def _update(self, X: Any, codes: NDArray[np.uint32], weights: NDArray[np.float64] | None) -> Model:
        classes = names_of(self.classes_)
        return update(self._model, X, target=codes, classes=classes, weights=weights, threads=self._threads())

    def _learnt(self, model: Model, classes: NDArray[Any]) -> None:
        self._model, self.classes_ = model, classes
        vars(self).update(self._from_model())
        if model.stop_reason == "step-limit":
            warnings.warn(". ".join(model.remarks), ConvergenceWarning, stacklevel=5)

    def _check(self, X: Any, y: Any = NO_LABELS, reset: bool = True) -> Any:
        """Rows (and labels) as the extension takes them."""
        accept = "csr" if self._takes_sparse else False
        finite = self._finite if not sparse.issparse(X) else True
        given: dict[str, Any] = {"accept_sparse": accept, "dtype": FLOATS, "ensure_all_finite": finite}
        if y is NO_LABELS:
            return for_extension(self._check_rows(validate_data(self, X, reset=reset, **given)))
        X, y = validate_data(self, X, y, reset=reset, **given)
        return for_extension(self._check_rows(X)), y

    def _check_rows(self, X: Any) -> Any:
        """What a class requires of numbers, besides being numbers."""
        return X

    def _threads(self) -> int:
        return effective(getattr(self, "n_jobs", None))

    def _ask(self, X: Any, what: str) -> NDArray[Any]:
        check_is_fitted(self)
        return predict(self._model, self._check(X, reset=False), what, threads=self._threads())

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable label of each row of X."""
        codes = self._ask(X, "labels")
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class for each row of X."""
        return self._ask(X, "probabilities")

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithm of the probabilities, finite even where a probability underflows to zero."""
        scores = self._ask(X, "scores")
        return scores - logsumexp(scores, axis=1, keepdims=True)

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """ln P(class) + ln p(row | class), for each row of X and class."""
        return self._ask(X, "scores")

    def _blocks(self, family: str) -> list[dict[str, Any]]:
        return [block for block in self._model.parameter("blocks") if block["family"] == family]

    def _of_classes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The total weight of the rows of each class, and the logarithm of its prior."""
        return self._model.parameter("class_weights"), self._model.parameter("log_priors")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        tags.input_tags.allow_nan = self._finite is not True
        return tags


def checked(priors: Sequence[float] | NDArray[Any], classes: int) -> NDArray[np.float64]:
    """Priors with scikit-learn's refusals."""
    priors = np.asarray(priors, dtype=np.float64)
    if len(priors) != classes:
        raise ValueError("Number of priors must match number of classes.")
    if not np.isclose(priors.sum(), 1.0):
        raise ValueError("The sum of the priors should be 1.")
    if (priors < 0).any():
        raise ValueError("Priors must be non-negative.")
    return priors
