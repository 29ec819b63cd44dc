"""Categories of columns: which there are, which are rare, and the number of each cell's."""

from __future__ import annotations

import warnings
from itertools import repeat
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags, check_array
from sklearn.utils._missing import is_scalar_nan
from sklearn.utils.validation import _check_feature_names_in, validate_data

from quince.preprocessing._base import Transformer

#: What scikit-learn calls the categories that were too rare for a number of their own.
RARE = "infrequent_sklearn"
#: Whole numbers count as near each other if the largest is so far from the smallest at most.
FEW = 1 << 12


def columns_of(X: Any) -> list[NDArray[Any]]:
    """The columns of X as arrays; those of a data frame keep their types."""
    if not (hasattr(X, "iloc") and getattr(X, "ndim", 0) == 2):
        checked = check_array(X, dtype=None, ensure_all_finite="allow-nan")
        if not hasattr(X, "dtype") and np.issubdtype(checked.dtype, np.str_):
            checked = check_array(X, dtype=object, ensure_all_finite="allow-nan")
        return [checked[:, j] for j in range(checked.shape[1])]
    if X.shape[0] == 0:
        check_array(X, dtype=None, ensure_all_finite="allow-nan")
    return [
        check_array(X.iloc[:, j], ensure_2d=False, dtype=None, ensure_all_finite="allow-nan")
        for j in range(X.shape[1])
    ]


def categories_in(values: NDArray[Any]) -> NDArray[Any]:
    """The different values, sorted; None and then NaN come last."""
    if values.dtype != object:
        return np.unique(values)
    try:
        there = set(values)
        missing = {value for value in there if value is None or is_scalar_nan(value)}
        found: list[Any] = sorted(there - missing)
    except TypeError:
        kinds = sorted({type(value).__qualname__ for value in values})
        raise TypeError(
            f"Encoders require their input argument must be uniformly strings or numbers. Got {kinds}"
        ) from None
    found += [None] if None in missing else []
    found += [np.nan] if missing - {None} else []
    array = np.empty(len(found), dtype=object)
    array[:] = found
    return array


def codes_of(values: NDArray[Any], categories: NDArray[Any]) -> NDArray[np.intp]:
    """The number of each value's category; -1 where it is none of them."""
    nan_is = len(categories) - 1 if len(categories) and is_scalar_nan(categories[-1]) else -1
    if categories.dtype == object or values.dtype == object or values.dtype.kind != categories.dtype.kind:
        if not _comparable(values, categories):
            return np.full(len(values), -1, dtype=np.intp)
        numbers = {category: number for number, category in enumerate(categories.tolist())}
        cells = values.tolist()
        codes = np.fromiter(map(numbers.get, cells, repeat(-1)), dtype=np.intp, count=len(cells))
        if nan_is >= 0 and values.dtype.kind in "Of":  # a NaN need not be the same object as another
            for place in np.flatnonzero(codes < 0):
                codes[place] = nan_is if is_scalar_nan(cells[place]) else -1
        return codes
    known = categories[:nan_is] if nan_is >= 0 else categories
    values = np.ascontiguousarray(values)
    if len(known) == 0:
        codes = np.full(len(values), -1, dtype=np.intp)
    elif known.dtype.kind in "iuf" and _near_each_other(known):
        # Looking up in a list is much quicker than searching.
        numbers = np.full(int(known[-1]) - int(known[0]) + 1, -1, dtype=np.intp)
        numbers[known.astype(np.intp) - int(known[0])] = np.arange(len(known))
        within = (values >= known[0]) & (values <= known[-1])
        if values.dtype.kind == "f":
            within &= values == np.floor(values)
        codes = numbers[np.where(within, values, known[0]).astype(np.intp) - int(known[0])]
        codes[~within] = -1
    else:
        order = np.argsort(known, kind="stable")
        codes = np.searchsorted(known, values, sorter=order)
        codes[codes == len(known)] = 0
        codes = order[codes]
        codes[known[codes] != values] = -1
    if nan_is >= 0:
        codes[np.isnan(values)] = nan_is
    return codes


def _near_each_other(known: NDArray[Any]) -> bool:
    """Whether sorted numbers are whole, and few steps apart from the first to the last."""
    least, most = known[0].item(), known[-1].item()
    return abs(least) < 2**52 and most - least < FEW and bool(np.all(known == np.floor(known)))


def _comparable(values: NDArray[Any], categories: NDArray[Any]) -> bool:
    """Whether a value could be a category at all: words are no numbers."""
    kinds = {"U" if kind in "US" else kind for kind in (values.dtype.kind, categories.dtype.kind)}
    return "O" in kinds or "U" not in kinds or len(kinds) == 1


class CategoryEncoder(Transformer):
    """An encoder that knows the categories of each column."""

    categories_: list[NDArray[Any]]
    _learnt = "_rare"
    #: For each column the numbers of its rare categories, or None.
    _rare: list[NDArray[np.intp] | None]
    #: For each column the number after grouping of every category, or None where nothing is grouped.
    _grouped: list[NDArray[np.intp] | None]

    def _learn_categories(self, X: Any, *, but_missing: bool) -> None:
        """Finds or checks categories. With `but_missing` NaN is never rare."""
        self._forget()
        validate_data(self, X=X, reset=True, skip_check_array=True)
        columns = columns_of(X)
        self.n_features_in_ = len(columns)
        if not isinstance(self.categories, str) and len(self.categories) != len(columns):
            raise ValueError("Shape mismatch: if categories is an array, it has to be of shape (n_features,).")
        given = None if isinstance(self.categories, str) else self.categories
        self.categories_ = [
            categories_in(column) if given is None else self._checked(j, column, given[j])
            for j, column in enumerate(columns)
        ]
        rare: list[NDArray[np.intp] | None] = [None] * len(columns)
        grouped: list[NDArray[np.intp] | None] = [None] * len(columns)
        if self._groups():
            for j, (column, categories) in enumerate(zip(columns, self.categories_, strict=True)):
                codes = codes_of(column, categories)
                counts = np.bincount(codes[codes >= 0], minlength=len(categories))
                if but_missing and is_scalar_nan(categories[-1]):
                    counts = counts[:-1]
                rare[j] = self._rare_among(counts, len(column))
                if rare[j] is not None:
                    frequent = np.ones(len(counts), dtype=bool)
                    frequent[rare[j]] = False
                    grouped[j] = np.where(frequent, np.cumsum(frequent) - 1, frequent.sum())
        self._grouped = grouped
        self._rare = rare

    def _checked(self, j: int, column: NDArray[Any], given: Any) -> NDArray[Any]:
        """Categories that somebody gave, in the given order."""
        categories = np.array(given, dtype=object if column.dtype.kind == "U" else column.dtype)
        if categories.dtype == object and isinstance(categories[0], bytes) and column.dtype.kind != "S":
            raise ValueError(
                f"In column {j}, the predefined categories have type 'bytes' which is incompatible with values of type "
                f"'{type(column[0]).__name__}'."
            )
        if any(is_scalar_nan(category) for category in categories[:-1]):
            raise ValueError(
                f"Nan should be the last element in user provided categories, see categories {categories} in column "
                f"#{j}"
            )
        if len(categories) != len(categories_in(categories)):
            raise ValueError(f"In column {j}, the predefined categories contain duplicate elements.")
        if column.dtype.kind not in "OUS":
            end = -1 if is_scalar_nan(categories[-1]) else None
            if np.any(np.sort(categories[:end]) != categories[:end]):
                raise ValueError("Unsorted categories are not supported for numerical categories")
        if self.handle_unknown == "error":
            unknown = codes_of(column, categories) < 0
            if unknown.any():
                raise ValueError(
                    f"Found unknown categories {_listed(column[unknown])} in column {j} during fit"
                )
        return categories

    def _groups(self) -> bool:
        return self.max_categories is not None or self.min_frequency is not None

    def _rare_among(self, counts: NDArray[np.intp], rows: int) -> NDArray[np.intp] | None:
        rare = np.zeros(len(counts), dtype=bool)
        if isinstance(self.min_frequency, Integral):
            rare = counts < self.min_frequency
        elif isinstance(self.min_frequency, Real):
            rare = counts < self.min_frequency * rows
        if self.max_categories is not None and self.max_categories < len(counts) - rare.sum() + 1:
            # The feature of the rare ones counts too. Of equally frequent ones the later stay, as in scikit-learn.
            frequent = self.max_categories - 1
            rare[np.argsort(counts, kind="stable")[: len(counts) - frequent]] = True
        return np.flatnonzero(rare) if rare.any() else None

    def _codes(self, X: Any, *, unknown: str, warn: bool = False) -> tuple[NDArray[np.intp], list[bool]]:
        """The number of each cell's category, -1 for unknown ones, and for each column whether there are such.

        `unknown` is "error", or what becomes of unknown ones, for the sentence of the warning.
        """
        columns = columns_of(X)
        validate_data(self, X=X, reset=False, skip_check_array=True)
        codes = np.empty((len(columns[0]), len(columns)), dtype=np.intp)
        unseen = []
        for j, (column, categories) in enumerate(zip(columns, self.categories_, strict=True)):
            codes[:, j] = codes_of(column, categories)
            without = codes[:, j] < 0
            unseen.append(bool(without.any()))
            if unseen[-1] and unknown == "error":
                raise ValueError(
                    f"Found unknown categories {_listed(column[without])} in column {j} during transform"
                )
        if warn and any(unseen):
            as_what = "the infrequent category." if unknown == "infrequent_if_exist" else "all zeros"
            warnings.warn(
                f"Found unknown categories in columns {[j for j, there in enumerate(unseen) if there]} during "
                f"transform. These unknown categories will be encoded as {as_what}",
                UserWarning,
                stacklevel=3,
            )
        return codes, unseen

    @property
    def infrequent_categories_(self) -> list[NDArray[Any] | None]:
        """The rare categories of each column."""
        if self._learnt not in vars(self) or not self._groups():
            raise AttributeError(f"this {type(self).__name__} groups no categories, and has no infrequent_categories_")
        return [
            None if rare is None else categories[rare]
            for categories, rare in zip(self.categories_, self._rare, strict=True)
        ]

    def _names_in(self, input_features: Any) -> NDArray[Any]:
        return _check_feature_names_in(self, input_features)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        return tags


def _listed(values: NDArray[Any]) -> list[Any]:
    """A few of the different values, for a sentence."""
    return categories_in(values.astype(object)).tolist()
