"""Naive Bayes on matrices of category numbers, and of counts with a rate for each column."""

from __future__ import annotations

__all__ = ["CategoricalNB", "PoissonNB"]

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval

from quince._quince import Model, widen_categories
from quince.bayes.naive import Counting


class CategoricalNB(Counting):
    """Naive Bayes for categories, numbered 0, 1, 2 ...: a categorical distribution for each class and feature.

    NaN is a missing value, which is left out, and so is a category that was never seen. Not in scikit-learn.

    Parameters
    ----------
    alpha : float, default=1.0
        Additive smoothing: the pseudocount of every category; 1 is Laplace's rule, 0 no smoothing.
    force_alpha : bool, default=True
        Whether an alpha below 1e-10 is kept; otherwise it is set to 1e-10, with a warning.
    fit_prior : bool, default=True
        Whether class priors are the class frequencies in y; otherwise all classes that have rows have the same prior.
    class_prior : array-like of shape (n_classes,), default=None
        Class priors; None for those that `fit_prior` gives.
    min_categories : int or array-like of shape (n_features,), default=None
        The least number of categories of each column; None for as many as there are in X.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_
        As for `MultinomialNB`.
    category_count_ : list of n_features ndarrays of shape (n_classes, n_categories)
        How often each category occurs.
    feature_log_prob_ : list of n_features ndarrays of shape (n_classes, n_categories)
        Logarithms of the probabilities of the categories.
    n_categories_ : ndarray of shape (n_features,)
        Number of categories of each column.
    n_features_in_, feature_names_in_, report_
        As for `MultinomialNB`.

    Examples
    --------
    >>> from quince import CategoricalNB
    >>> model = CategoricalNB().fit([[0, 2], [0, 1], [1, 0], [1, 0]], ["a", "a", "b", "b"])
    >>> model.predict([[0, 0], [1, 2]])
    array(['a', 'b'], dtype='<U1')
    >>> model.n_categories_
    array([2, 3])
    """

    _settings: ClassVar = {**Counting._settings, "min_categories": "categories"}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Counting._parameter_constraints,
        "min_categories": [None, "array-like", Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="left")],
    }
    _family = "categorical"

    n_categories_: NDArray[np.int64]
    category_count_: list[NDArray[np.float64]]

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
        min_categories: int | ArrayLike | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories

    def _method_settings(self) -> dict[str, Any]:
        one = isinstance(self.min_categories, Integral)
        return super()._method_settings() | {"categories": int(self.min_categories) if one else 0}

    def _check_rows(self, X: Any) -> Any:
        X = np.trunc(X)  # as scikit-learn does
        if (X < 0).any():
            raise ValueError("Negative values in data passed to CategoricalNB (input X).")
        return X

    def _least(self) -> NDArray[np.int64]:
        """The least number of categories of each column."""
        least = np.array(1 if self.min_categories is None else self.min_categories)
        if not np.issubdtype(least.dtype, np.signedinteger):
            raise ValueError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
        if least.shape not in ((), (self.n_features_in_,)):
            raise ValueError(
                f"'min_categories' should have shape ({self.n_features_in_},) when an array-like is provided. "
                f"Got {least.shape} instead."
            )
        return np.broadcast_to(least, self.n_features_in_).astype(np.int64)

    def _fit(
        self, X: Any, codes: NDArray[np.uint32], classes: list[str], weights: NDArray[np.float64] | None
    ) -> Model:
        model = super()._fit(X, codes, classes, weights)
        least = self._least()
        return model if np.ndim(self.min_categories) == 0 else widen_categories(model, least.tolist())

    def _update(self, X: Any, codes: NDArray[np.uint32], weights: NDArray[np.float64] | None) -> Model:
        seen = np.nanmax(np.vstack([X, self.n_categories_ - 1]), axis=0).astype(np.int64) + 1
        if (seen > self.n_categories_).any():
            self._model = widen_categories(self._model, seen.tolist())
        return super()._update(X, codes, weights)

    def _from_model(self) -> dict[str, Any]:
        (block,) = self._blocks("categorical")
        columns = range(len(block["columns"]))
        counts = [block[f"count {j}"] for j in columns]
        return super()._from_model() | {
            "category_count_": counts,
            "feature_log_prob_": [block[f"log {j}"] for j in columns],
            "n_categories_": np.array([count.shape[1] for count in counts], dtype=np.int64),
        }

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        return tags


class PoissonNB(Counting):
    """Naive Bayes for counts, each column with its own rate: a Poisson distribution for each class and feature.

    NaN is a missing value, which is left out.

    Parameters
    ----------
    alpha : float, default=1.0
        Smoothing: the rate of a class is what it would be with this many more rows, which have the mean of all classes.
    fit_prior : bool, default=True
        Whether class priors are the class frequencies in y; otherwise all classes that have rows have the same prior.
    class_prior : array-like of shape (n_classes,), default=None
        Class priors; None for those that `fit_prior` gives.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_
        As for `MultinomialNB`.
    rate_ : ndarray of shape (n_classes, n_features)
        The mean count of each column in each class, smoothed.
    n_features_in_, feature_names_in_, report_
        As for `MultinomialNB`.

    Examples
    --------
    >>> from quince import PoissonNB
    >>> model = PoissonNB(alpha=0).fit([[0], [2], [5], [9]], ["few", "few", "many", "many"])
    >>> model.rate_
    array([[1.],
           [7.]])
    >>> model.predict([[1], [6]])
    array(['few', 'many'], dtype='<U4')
    """

    _accepted: ClassVar = {}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0, None, closed="left")],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
    }
    _family = "poisson"

    def __init__(
        self, *, alpha: float = 1.0, fit_prior: bool = True, class_prior: ArrayLike | None = None
    ) -> None:
        self.alpha = alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _check_rows(self, X: Any) -> Any:
        wrong = X[~np.isnan(X) & ((X < 0) | (X != np.trunc(X)))]
        if len(wrong):
            what = "Negative values" if wrong.min() < 0 else "Values that are not whole"
            raise ValueError(f"{what} in data passed to PoissonNB (input X), which takes counts.")
        return X

    def _from_model(self) -> dict[str, Any]:
        (block,) = self._blocks("poisson")
        return super()._from_model() | {"rate_": block["rate"]}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
