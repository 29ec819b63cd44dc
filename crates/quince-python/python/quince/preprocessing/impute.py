"""Imputation with one value per column."""

from __future__ import annotations

__all__ = ["SimpleImputer"]

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.utils import Tags
from sklearn.utils._mask import _get_mask
from sklearn.utils._missing import is_pandas_na
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import FLOAT_DTYPES, check_is_fitted, validate_data

from quince import _quince, _threads
from quince._base import FLOATS, for_extension
from quince.preprocessing._categories import counted
from quince.preprocessing._imputer import Imputer


class SimpleImputer(Imputer):
    """Fills the missing values of a column with its mean, median or most frequent value, or with a constant.

    Parameters, attributes and numbers are scikit-learn's.

    Parameters
    ----------
    missing_values : int, float, str, np.nan, None or pandas.NA, default=np.nan
        What stands for a missing value.
    strategy : {"mean", "median", "most_frequent", "constant"} or callable, default="mean"
        What a missing value becomes. "most_frequent" and "constant" take strings, too. A function gets the known values
        of a column.
    fill_value : str or number, default=None
        The constant; None stands for 0, or for "missing_value" in columns of strings.
    copy : bool, default=True
        False writes the answer into X where X can hold it.
    add_indicator : bool, default=False
        Whether to add a missing indicator for each column that had missing values in the fit.
    keep_empty_features : bool, default=False
        Whether a column without any value is filled with 0 (or the constant) rather than left out.

    Attributes
    ----------
    statistics_ : ndarray of shape (n_features,)
        What missing values become; NaN for a column that is left out.
    indicator_ : sklearn.impute.MissingIndicator or None
        The columns that had missing values.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X had names that are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from quince import SimpleImputer
    >>> SimpleImputer().fit_transform([[1.0], [np.nan], [5.0]])
    array([[1.],
           [3.],
           [5.]])
    """

    _learnt = "statistics_"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Imputer._parameter_constraints,
        "strategy": [StrOptions({"mean", "median", "most_frequent", "constant"}), callable],
        "fill_value": "no_validation",
        "copy": ["boolean"],
    }

    statistics_: NDArray[Any]

    def __init__(
        self,
        *,
        missing_values: Any = np.nan,
        strategy: Literal["mean", "median", "most_frequent", "constant"] | Callable[[Any], Any] = "mean",
        fill_value: Any = None,
        copy: bool = True,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
    ) -> None:
        self.missing_values = missing_values
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features
        self.strategy = strategy
        self.fill_value = fill_value
        self.copy = copy

    def _checked(self, X: Any, in_fit: bool) -> Any:
        words = self.strategy in ("most_frequent", "constant")
        dtype: Any = None if words else FLOAT_DTYPES
        if words and isinstance(X, list) and any(isinstance(cell, str) for row in X for cell in row):
            dtype = object
        if not in_fit and self._fit_dtype.kind == "O":
            dtype = self._fit_dtype
        try:
            X = validate_data(
                self,
                X,
                reset=in_fit,
                accept_sparse="csc",
                dtype=dtype,
                force_writeable=not in_fit,
                ensure_all_finite="allow-nan" if self._nan_is_missing() else True,
                copy=self.copy and not in_fit,
            )
        except ValueError as error:
            if "could not convert" not in str(error):
                raise
            sentence = f"Cannot use {self.strategy} strategy with non-numeric data:\n{error}"
            raise ValueError(sentence) from None
        numbers = X.dtype.kind in "fiu"
        if numbers and not is_pandas_na(self.missing_values) and not isinstance(self.missing_values, Real):
            raise ValueError(
                f"'X' and 'missing_values' types are expected to be both numerical. Got X.dtype={X.dtype} and "
                f" type(missing_values)={type(self.missing_values)}."
            )
        if not numbers and X.dtype.kind != "O":
            raise ValueError(
                f"SimpleImputer does not support data with dtype {X.dtype}. Please provide either a numeric array (with "
                "a floating point or integer dtype) or categorical data represented either as an array with integer "
                "dtype or an array of string values with an object dtype."
            )
        if sparse.issparse(X) and self.missing_values == 0:
            raise ValueError(
                "Imputation not possible when missing_values == 0 and input is sparse. Provide a dense array instead."
            )
        if self.strategy == "constant":
            self._check_constant(X, in_fit)
        return X

    def _check_constant(self, X: Any, in_fit: bool) -> None:
        """A constant must be of the kind of the data."""
        if in_fit and self.fill_value is None:
            return
        kind = type(self.fill_value) if in_fit else self._fit_dtype
        if np.can_cast(kind, X.dtype, casting="same_kind"):
            return
        if in_fit:
            raise ValueError(
                f"fill_value={self.fill_value!r} (of type {kind!r}) cannot be cast to the input data that is "
                f"{X.dtype!r}. If fill_value is a Python scalar, instead pass  a numpy scalar (e.g. "
                "fill_value=np.uint8(0) if your data is of type np.uint8). Make sure that both dtypes are of the same kind."
            )
        raise ValueError(
            f"The dtype of the filling value (i.e. {kind!r}) cannot be cast to the input data that is {X.dtype!r}. "
            "Make sure that the dtypes of the input data are of the same kind between fit and transform."
        )

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> SimpleImputer:
        """Learns what missing values become."""
        self._forget()
        X = self._checked(X, in_fit=True)
        self._fit_dtype = X.dtype
        mask = _get_mask(X, self.missing_values)
        statistics = self._of_sparse(X, mask) if sparse.issparse(X) else self._of_dense(X, mask)
        self._learn_missing(mask)
        self.statistics_ = statistics
        return self

    def _constant(self) -> Any:
        if self.fill_value is not None:
            return self.fill_value
        return 0 if self._fit_dtype.kind in "iuf" else "missing_value"

    def _of_dense(self, X: NDArray[Any], mask: NDArray[np.bool_]) -> NDArray[Any]:
        empty = mask.all(axis=0)
        of_empty: Any = 0 if self.keep_empty_features else np.nan
        if self.strategy == "constant":
            statistics = np.full(X.shape[1], self._constant(), dtype=object)
            if not self.keep_empty_features:
                statistics[empty] = np.nan
            return statistics
        if isinstance(self.strategy, str) and X.dtype.kind == "f":
            rows = np.where(mask, np.nan, X) if mask.any() and not self._nan_is_missing() else X
            statistics = self._fill_values(rows)
            return statistics.astype(X.dtype) if self.strategy == "median" else statistics
        statistics = np.empty(X.shape[1], dtype=object if X.dtype == object else np.float64)
        for j in range(X.shape[1]):
            values = X[~mask[:, j], j]
            if callable(self.strategy):
                statistics[j] = self.strategy(values)
            else:
                statistics[j] = _most_frequent(values) if len(values) else of_empty
        return statistics

    def _fill_values(self, rows: Any) -> NDArray[np.float64]:
        """The statistic of each column of numbers, whose missing values are NaN."""
        rows = rows if rows.dtype in FLOATS else rows.astype(np.float64)
        values = _quince.fill_values(for_extension(rows), self.strategy, threads=_threads.effective(None))
        return np.where(np.isnan(values), 0.0, values) if self.keep_empty_features else values

    def _of_sparse(self, X: Any, mask: Any) -> NDArray[Any]:
        """Statistics of a CSC matrix, whose other entries are zeros."""
        if isinstance(self.strategy, str) and self.strategy != "constant":
            rows = X.astype(np.float64)
            rows.data[mask.data] = np.nan
            return self._fill_values(rows)
        statistics = np.empty(X.shape[1])
        for j in range(X.shape[1]):
            stored = slice(X.indptr[j], X.indptr[j + 1])
            values = X.data[stored][~mask.data[stored]]
            values = values[values != 0]
            if self.strategy == "constant":
                gone = bool(mask.data[stored].all()) and not self.keep_empty_features
                statistics[j] = np.nan if gone else self._constant()
            elif len(values) == 0 and self.keep_empty_features:
                statistics[j] = 0
            else:
                statistics[j] = self.strategy(values)
        return statistics

    def _kept(self) -> NDArray[np.bool_]:
        return ~_get_mask(self.statistics_, np.nan)

    def transform(self, X: Any) -> Any:
        """Other rows with their missing values filled."""
        check_is_fitted(self)
        X = self._checked(X, in_fit=False)
        mask = _get_mask(X, self.missing_values)
        kept = np.ones(X.shape[1], dtype=bool) if self.keep_empty_features else self._kept()
        values = self.statistics_[kept].astype(self._fit_dtype, copy=False)
        filled, missing = X, mask
        if not kept.all():
            gone = np.flatnonzero(~kept)
            shown = self.feature_names_in_[gone] if hasattr(self, "feature_names_in_") else gone
            warnings.warn(
                f"Skipping features without any observed values: {shown}. At least one non-missing value is needed for "
                f"imputation with strategy='{self.strategy}'.",
                stacklevel=2,
            )
            filled, missing = X[:, np.flatnonzero(kept)], mask[:, np.flatnonzero(kept)]
        if sparse.issparse(filled):
            there = _get_mask(filled.data, self.missing_values)
            column_of = np.repeat(np.arange(filled.shape[1]), np.diff(filled.indptr))
            filled.data[there] = values[column_of[there]]
        else:
            np.copyto(filled, values.astype(filled.dtype, copy=False), where=missing)
        return self._with_indicator(filled, mask)

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """The missing values put back, where an indicator marks them."""
        check_is_fitted(self)
        if self.indicator_ is None:
            raise ValueError(
                "'inverse_transform' works only when 'SimpleImputer' is instantiated with 'add_indicator=True'. Got "
                f"'add_indicator={self.add_indicator}' instead."
            )
        kept = self._kept()
        missing = np.zeros((X.shape[0], len(kept)), dtype=bool)
        missing[:, self.indicator_.features_] = X[:, kept.sum() :].astype(bool)
        original = np.zeros(missing.shape)
        original[:, kept] = X[:, : kept.sum()]
        original[missing] = self.missing_values
        return original

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _most_frequent(values: NDArray[Any]) -> Any:
    """The most frequent value, the smallest of equally frequent ones."""
    found = counted(values)
    if found is not None:
        different, counts = found
        return _smallest(different[counts == counts.max()])
    # Numbers among objects and words beside numbers, which the extension does not hold.
    try:
        by_value = Counter(values)
    except TypeError as error:
        raise TypeError(f"argument must be a string or a number: {error}") from None
    most = max(by_value.values())
    return _smallest([value for value, count in by_value.items() if count == most])


def _smallest(values: Sequence[Any] | NDArray[Any]) -> Any:
    """The smallest value; where they do not compare, such as words and numbers, by type and text, as scikit-learn has it."""
    try:
        return min(values)
    except TypeError:
        return min(values, key=lambda value: (str(type(value)), str(value)))
