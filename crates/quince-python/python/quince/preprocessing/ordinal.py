"""Ordinal encoding: a number for each category."""

from __future__ import annotations

__all__ = ["OrdinalEncoder"]

from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OneToOneFeatureMixin, _fit_context
from sklearn.utils import check_array
from sklearn.utils._mask import _get_mask
from sklearn.utils._missing import is_scalar_nan
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from quince.preprocessing._categories import RARE, UNKNOWN, CategoryEncoder


class OrdinalEncoder(OneToOneFeatureMixin, CategoryEncoder):
    """The number of a category, from 0, in sorted or in given order.

    Parameters, attributes and numbers are scikit-learn's.

    Parameters
    ----------
    categories : "auto" or list of array-like, default="auto"
        The categories of each column in their order; "auto" takes those in X, sorted.
    dtype : type, default=np.float64
        The type of the numbers.
    handle_unknown : {"error", "use_encoded_value"}, default="error"
        What becomes of a category that was not in the fit: an error, or `unknown_value`.
    unknown_value : int or np.nan, default=None
        The number of unknown categories.
    encoded_missing_value : int or np.nan, default=np.nan
        The number of a missing value (NaN).
    min_frequency : int or float, default=None
        Categories in fewer rows (or a smaller share of them) are rare and share the number after all others.
    max_categories : int, default=None
        At most this many numbers per column, including that of rare categories; missing values are not counted.

    Attributes
    ----------
    categories_ : list of ndarray
        The categories of each column.
    infrequent_categories_ : list of ndarray
        The rare categories of each column, if any are looked for.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X had names that are all strings.

    Examples
    --------
    >>> from quince import OrdinalEncoder
    >>> OrdinalEncoder(categories=[["small", "large"]]).fit_transform([["large"], ["small"]])
    array([[1.],
           [0.]])
    """

    _learnt = "_missing"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "categories": [StrOptions({"auto"}), list],
        "dtype": "no_validation",
        "encoded_missing_value": [Integral, type(np.nan)],
        "handle_unknown": [StrOptions({"error", "use_encoded_value"})],
        "unknown_value": [Integral, type(np.nan), None],
        "max_categories": [Interval(Integral, 1, None, closed="left"), None],
        "min_frequency": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            None,
        ],
    }

    #: For each column that has NaN among its categories, the number of it.
    _missing: dict[int, int]

    def __init__(
        self,
        *,
        categories: Literal["auto"] | list[ArrayLike] = "auto",
        dtype: Any = np.float64,
        handle_unknown: Literal["error", "use_encoded_value"] = "error",
        unknown_value: float | None = None,
        encoded_missing_value: float = np.nan,
        min_frequency: float | None = None,
        max_categories: int | None = None,
    ) -> None:
        self.categories = categories
        self.dtype = dtype
        self.handle_unknown = handle_unknown
        self.unknown_value = unknown_value
        self.encoded_missing_value = encoded_missing_value
        self.min_frequency = min_frequency
        self.max_categories = max_categories

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> OrdinalEncoder:
        """Learns the categories of each column."""
        self._check_unknown_value()
        self._learn_categories(X, but_missing=True)
        missing = {j: len(names) - 1 for j, names in enumerate(self.categories_) if is_scalar_nan(names[-1])}
        used = [int(np.sum(~groups.is_rare)) for groups in self._groups]
        if self.handle_unknown == "use_encoded_value" and any(0 <= self.unknown_value < count for count in used):
            raise ValueError(
                f"The used value for unknown_value {self.unknown_value} is one of the values already used for encoding "
                "the seen categories."
            )
        if missing:
            self._check_missing_value(missing, used)
        self._missing = missing
        return self

    def _check_unknown_value(self) -> None:
        if self.handle_unknown != "use_encoded_value":
            if self.unknown_value is not None:
                raise TypeError(
                    "unknown_value should only be set when handle_unknown is 'use_encoded_value', got "
                    f"{self.unknown_value}."
                )
        elif is_scalar_nan(self.unknown_value):
            if np.dtype(self.dtype).kind != "f":
                raise ValueError(
                    f"When unknown_value is np.nan, the dtype parameter should be a float dtype. Got {self.dtype}."
                )
        elif not isinstance(self.unknown_value, Integral):
            raise TypeError(
                "unknown_value should be an integer or np.nan when handle_unknown is 'use_encoded_value', got "
                f"{self.unknown_value}."
            )

    def _check_missing_value(self, missing: dict[int, int], used: list[int]) -> None:
        if is_scalar_nan(self.encoded_missing_value):
            if np.dtype(self.dtype).kind != "f":
                raise ValueError(
                    f"There are missing values in features {list(missing)}. For OrdinalEncoder to encode missing "
                    f"values with dtype: {self.dtype}, set encoded_missing_value to a non-nan value, or set dtype to a float"
                )
            return
        taken: Any = [j for j in missing if 0 <= self.encoded_missing_value < used[j]]
        if taken:
            if hasattr(self, "feature_names_in_"):
                taken = self.feature_names_in_[taken]
            raise ValueError(
                f"encoded_missing_value ({self.encoded_missing_value}) is already used to encode a known category in "
                f"features: {taken}"
            )

    def transform(self, X: Any) -> NDArray[Any]:
        """The numbers of other rows' categories."""
        check_is_fitted(self)
        columns, unseen = self._codes(X, unknown=self.handle_unknown)
        out = np.empty((len(columns[0]), len(columns)), dtype=self.dtype)
        for j, (codes, groups) in enumerate(zip(columns, self._groups, strict=True)):
            # What is unknown or missing gets its value below, whatever it is here.
            numbers = np.where(codes == UNKNOWN, 0, codes) if unseen[j] else codes
            out[:, j] = numbers if self._rare(j) is None else groups.of_categories.take(numbers, mode="clip")
            if j in self._missing:
                out[codes == self._missing[j], j] = self.encoded_missing_value
            if unseen[j]:
                out[codes == UNKNOWN, j] = self.unknown_value
        return out

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """The categories of numbers; None where it was unknown."""
        check_is_fitted(self)
        X = check_array(X, ensure_all_finite="allow-nan")
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                "Shape of the passed X data is not correct. "
                f"Expected {self.n_features_in_} columns, got {X.shape[1]}."
            )
        all_rare = [self._rare(j) for j in range(self.n_features_in_)]
        out = np.empty(X.shape, dtype=np.result_type(*[names.dtype for names in self.categories_]))
        if self.handle_unknown == "use_encoded_value" or any(rare is not None for rare in all_rare):
            out = out.astype(object)
        for j, (names, rare) in enumerate(zip(self.categories_, all_rare, strict=True)):
            numbers = X[:, j]
            left = np.ones(len(numbers), dtype=bool)
            if j in self._missing:
                missing = _get_mask(numbers, self.encoded_missing_value)
                out[missing, j] = names[-1]
                left &= ~missing
                names = names[:-1]
            if self.handle_unknown == "use_encoded_value":
                unknown = left & _get_mask(numbers, self.unknown_value)
                out[unknown, j] = None
                left &= ~unknown
            if rare is not None:
                names = np.append(np.delete(names, rare).astype(object), RARE)
            out[left, j] = names[numbers[left].astype(np.int64)]
        return out
