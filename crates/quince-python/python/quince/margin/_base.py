"""The base of all support vector machines."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, column_or_1d, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from quince._base import (
    FLOATS,
    Estimator,
    for_extension,
    names_of,
    warn_if_too_sure,
    weights_of,
    written_class_weights,
)
from quince._quince import Model, fit, linear_outputs, predict
from quince._threads import effective


class SupportVectorMachine(Estimator):
    """Fitting by the registry's method, and scores."""

    #: The name of the method in the registry.
    _method: str
    #: What is said of a fit that ended at its step limit: scikit-learn's sentence, which others look for.
    _not_converged: str

    def _method_settings(self) -> dict[str, Any]:
        raise NotImplementedError

    def _fit_svm(self, X: Any, *, also: dict[str, Any] | None = None, **given: Any) -> Model:
        settings = self._method_settings() | (also or {})
        model = self._in_our_words(fit, self._method, for_extension(X), settings, threads=effective(None), **given)
        if model.stop_reason == "step-limit":
            warnings.warn(self._not_converged.format(self), ConvergenceWarning, stacklevel=3)
        elif model.stop_reason == "stalled":
            remedy = "Rounding leaves no better step: scale the columns, or give a larger tol."
            warnings.warn(remedy, ConvergenceWarning, stacklevel=3)
        warn_if_too_sure(model, stacklevel=3)
        return model

    def _scores(self, X: Any) -> NDArray[np.float64]:
        return predict(self._fitted_model(), for_extension(X), "scores", threads=effective(None))

    def _probabilities(self, X: Any) -> NDArray[np.float64]:
        return predict(self._fitted_model(), for_extension(X), "probabilities", threads=effective(None))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class TwoClasses:
    """Labels of two classes, and class weights."""

    classes_: NDArray[Any]
    class_weight: Any
    #: Whether "balanced" counts rows, whatever they weigh.
    _balances_counts = False

    def _codes(self, y: ArrayLike) -> NDArray[np.int8]:
        """The class code of each row; also sets `classes_`."""
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target "
                f"is multiclass: there are {len(self.classes_)} classes."
            )
        if len(self.classes_) < 2:
            raise ValueError(
                f"The number of classes has to be greater than one; got {len(self.classes_)} class"
            )
        return (y == self.classes_[1]).astype(np.int8)

    def _weights(
        self,
        X: Any,
        y: NDArray[Any],
        codes: NDArray[np.int8],
        sample_weight: ArrayLike | None,
        *,
        partial: bool = False,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """The weight of each class and of each row; rows of a partial fit may be of one class."""
        of_rows = weights_of(sample_weight, X)
        if of_rows is not None and not partial and len(np.unique(codes[of_rows > 0])) < 2:
            raise ValueError("The number of classes has to be greater than one; only one class has any weight")
        counted = None if self._balances_counts else of_rows
        of_classes = compute_class_weight(self.class_weight, classes=self.classes_, y=y, sample_weight=counted)
        if (of_classes != 1.0).any():
            of_rows = of_classes[codes] * (1.0 if of_rows is None else of_rows)
        return of_classes, None if of_rows is None else np.ascontiguousarray(of_rows, dtype=np.float64)

    def _weights_apart(
        self,
        X: Any,
        y: NDArray[Any],
        codes: NDArray[np.int8],
        sample_weight: ArrayLike | None,
        *,
        partial: bool = False,
    ) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """The weight of each class, and what a fit is given of weights: a setting for classes, and those of rows."""
        of_classes, of_both = self._weights(X, y, codes, sample_weight, partial=partial)
        written = written_class_weights(self.classes_, of_classes)
        if (of_classes == 1.0).all() or written is None:
            return of_classes, {"weights": of_both}
        # The library balances the weights of rows.
        same = of_both is None or sample_weight is None or not self._balances_counts
        setting = "balanced" if isinstance(self.class_weight, str) and same else written
        return of_classes, {"weights": weights_of(sample_weight, X), "also": {"class_weights": setting}}

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row of X."""
        scores = self.decision_function(X)  # type: ignore[attr-defined]
        return self.classes_[(scores > 0).astype(np.intp)]

    def _target(self, codes: NDArray[np.int8]) -> dict[str, Any]:
        return {"target": codes.astype(np.uint32), "classes": names_of(self.classes_)}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.classifier_tags.multi_class = False
        return tags


class SparseWeights:
    """Weights of which many may be zero."""

    coef_: Any

    def densify(self) -> Any:
        """Weights as an array, if they were made sparse."""
        check_is_fitted(self)
        if sparse.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self

    def sparsify(self) -> Any:
        """Weights as a sparse matrix, which is smaller where many are zero."""
        check_is_fitted(self)
        self.coef_ = sparse.csr_matrix(self.coef_)
        return self


def by_attributes(X: Any, weights: Any, intercept: Any) -> NDArray[np.float64]:
    """w·x + b by attributes, which a user may have set or made sparse; the bits are those of the model that has them."""
    row = weights.toarray() if sparse.issparse(weights) else np.asarray(weights)
    given = np.reshape(row, (1, -1)).astype(np.float64), np.ravel(intercept)[:1].astype(np.float64)
    return linear_outputs(for_extension(X), *given, threads=effective(None)).ravel()


def checked(estimator: Any, X: Any, y: Any = "no_validation", **how: Any) -> Any:
    """Rows as the extension takes them, and targets."""
    return validate_data(estimator, X, y, accept_sparse="csr", dtype=FLOATS, **how)
