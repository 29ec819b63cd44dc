"""Classes from few labels and many rows without one."""

from __future__ import annotations

__all__ = ["SemiSupervisedNB"]

import warnings
from collections.abc import Mapping
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, _safe_indexing
from sklearn.utils._missing import is_pandas_na
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_y, check_consistent_length, check_is_fitted, validate_data

from quince._base import FLOATS, Estimator, for_extension, learning, names_of, weights_of
from quince._quince import Model, fit
from quince._threads import effective
from quince.bayes.mixed import as_table, explanation, families
from quince.mixture._base import COUNT, NON_NEGATIVE, NON_NEGATIVE_OR_AUTO, number_or_auto

#: Stands for the class of a row that has none, in the extension.
UNKNOWN = np.uint32(2**32 - 1)


class SemiSupervisedNB(ClassifierMixin, Estimator):
    """Naive Bayes that learns from rows without a label, too: by EM, where a label limits the components of its row.

    A row has no label where y is -1 (of whole numbers), NaN or None; `score` leaves such rows out. With labels for all
    rows and one component per class it is `MixedNB`, but for the rows that it is calibrated by.

    Parameters
    ----------
    family : str or dict, default="auto"
        The family of columns, as for `MixedNB` (without "kernel-density" and "markov-chain"); "auto" selects families by the
        rows with a label.
    unlabelled : float or "auto", default="auto"
        The weight of a row without a label relative to one with a label; "auto" takes the one of 0, 0.01, 0.1 and 1 under
        which held-out labels are most probable. Rows without a label can do harm where families do not fit.
    per_class : int, default=1
        The number of components of every class.
    alpha : float or "auto", default="auto"
        What is added to every count of a category, bin, word or answer; 1 is Laplace's rule, and "auto".
    variance_floor : float, default=1e-9
        This share of each column's variance over all rows is added to the variances of all classes.
    calibrate : bool, default=True
        Whether probabilities are calibrated on held-out rows with a label, so that they are not overconfident.
    max_iter : int, default=500
        The largest number of steps of EM.
    tol : float, default=1e-6
        EM has converged when the mean log likelihood of a row rises by no more than this.
    accelerate : bool, default=True
        Whether to accelerate EM by squared extrapolation, as long as the likelihood does not fall by it.
    n_jobs : int, default=None
        Number of threads; -1 for all processors, None for `quince.set_threads`, `OMP_NUM_THREADS` or all processors.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    weights_ : ndarray of shape (n_classes * per_class,)
        The weight of each component.
    n_iter_ : int
        Number of steps of EM; 1 if there was nothing to iterate.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X had any.
    report_ : dict
        How the answer was found, and remarks.

    Examples
    --------
    >>> from quince import SemiSupervisedNB
    >>> X = [[1.0], [9.0], [1.2], [0.8], [1.1], [9.3], [8.8], [9.1]]
    >>> y = [0, 1, -1, -1, -1, -1, -1, -1]
    >>> SemiSupervisedNB(family="normal", variance_floor=0.01).fit(X, y).predict([[2.0], [7.0]])
    array([0, 1])
    """

    _settings: ClassVar = {
        **{name: name for name in ("family", "unlabelled", "per_class", "alpha", "variance_floor", "calibrate")},
        "max_iter": "steps",
        "tol": "tolerance",
        "accelerate": "accelerate",
    }
    _accepted: ClassVar = {"n_jobs": "threads belong to the run, not to the method"}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "family": [str, dict],
        "unlabelled": NON_NEGATIVE_OR_AUTO,
        "per_class": [COUNT],
        "alpha": NON_NEGATIVE_OR_AUTO,
        "variance_floor": [NON_NEGATIVE],
        "calibrate": ["boolean"],
        "max_iter": [COUNT],
        "tol": [NON_NEGATIVE],
        "accelerate": ["boolean"],
        "n_jobs": [None, Integral],
    }

    classes_: NDArray[Any]
    weights_: NDArray[np.float64]
    n_iter_: int
    _of_table: bool

    def __init__(
        self,
        *,
        family: str | Mapping[Any, str] = "auto",
        unlabelled: float | str = "auto",
        per_class: int = 1,
        alpha: float | str = "auto",
        variance_floor: float = 1e-9,
        calibrate: bool = True,
        max_iter: int = 500,
        tol: float = 1e-6,
        accelerate: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.family = family
        self.unlabelled = unlabelled
        self.per_class = per_class
        self.alpha = alpha
        self.variance_floor = variance_floor
        self.calibrate = calibrate
        self.max_iter = max_iter
        self.tol = tol
        self.accelerate = accelerate
        self.n_jobs = n_jobs

    def _method_settings(self) -> dict[str, Any]:
        return {
            "family": self.family if isinstance(self.family, str) else families(self.family, self._of_table),
            "unlabelled": number_or_auto(self.unlabelled),
            "per_class": int(self.per_class),
            "alpha": number_or_auto(self.alpha),
            "variance_floor": float(self.variance_floor),
            "calibrate": bool(self.calibrate),
            "steps": int(self.max_iter),
            "tolerance": float(self.tol),
            "accelerate": bool(self.accelerate),
        }

    @learning
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learns from rows X, of which some have a label in y; sample_weight says how much each row counts."""
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        X = self._check(X, reset=True)
        y = np.asarray(y)
        y = y.ravel() if y.ndim == 1 else _check_y(y, estimator=self)
        check_consistent_length(X, y)
        known = with_labels(y)
        if y.dtype.kind in "US" and (wrong := sorted({"", "-1", "nan", "None"} & set(y.astype(str)))):
            raise ValueError(
                f"y has '{wrong[0]}' as a label, a word like the others. Give None to rows without a label, in an array of objects."
            )
        if not known.any():
            raise ValueError("No row has a label. Give at least some rows a label, or use MixedMixture.")
        labels = y[known]
        labels = labels if labels.dtype != object else np.array(labels.tolist())
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        all_codes = np.full(len(y), UNKNOWN, dtype=np.uint32)
        all_codes[known] = codes
        self._learnt(
            self._in_our_words(
                fit,
                "mixture",
                X,
                self._method_settings(),
                target=all_codes,
                classes=names_of(self.classes_),
                weights=weights_of(sample_weight, X),
                threads=effective(self.n_jobs),
            )
        )
        return self

    def _learnt(self, model: Model) -> None:
        self._model = model
        self.n_iter_ = max(1, len(model.trace))
        if model.stop_reason == "step-limit":
            warnings.warn(
                "The likelihood was still rising at the last step. Try a larger max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
        vars(self).update(self._from_model())

    def _from_model(self) -> dict[str, Any]:
        return {"weights_": self._model.parameter("weights")}

    def _check(self, X: Any, *, reset: bool) -> Any:
        table = as_table(self, X, reset)
        if table is not None:
            return table
        return for_extension(
            validate_data(self, X, reset=reset, accept_sparse="csr", dtype=FLOATS, ensure_all_finite="allow-nan")
        )

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class for each row of X."""
        check_is_fitted(self)
        return self._model.predict_proba(self._check(X, reset=False), n_jobs=self.n_jobs)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable label of each row of X."""
        codes = self.predict_proba(X).argmax(axis=1)
        return self.classes_[codes]

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The accuracy on the rows of X that have a label in y."""
        y = np.asarray(y)
        known = np.flatnonzero(with_labels(y))
        if len(known) == len(y):
            return super().score(X, y, sample_weight)
        if not len(known):
            raise ValueError("No row has a label. Give rows whose label is known.")
        labels = np.array(y[known].tolist()) if y.dtype == object else y[known]
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        return super().score(_safe_indexing(X, known), labels, weights)

    def explain(self, X: Any = None, row: int = 0) -> dict[str, Any]:
        """What the model has learnt or, of one row of X (counted from 0), the evidence for its class."""
        return explanation(self._fitted_model(), None if X is None else self._check(X, reset=False), row)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def with_labels(y: NDArray[Any]) -> NDArray[np.bool_]:
    """Which rows have a label: not -1 (where labels are whole numbers), NaN or None."""
    if y.dtype.kind in "iu":
        return y != -1
    if y.dtype.kind == "f":
        return ~np.isnan(y)
    if y.dtype.kind == "O":
        return np.array([not (label is None or is_pandas_na(label) or label != label or label == -1) for label in y.tolist()])
    return np.ones(len(y), dtype=bool)
