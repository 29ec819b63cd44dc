"""Categories of columns: which there are, which are rare, and the code of each cell.

The extension does this for texts and numbers; of other cells (dates, numbers among objects) a dictionary gives the codes.
"""

from __future__ import annotations

import warnings
from itertools import repeat
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags, check_array
from sklearn.utils._missing import is_scalar_nan
from sklearn.utils.validation import _check_feature_names_in, validate_data

from quince import _quince
from quince._quince import Categories, CategoryGroups
from quince.preprocessing._base import Transformer

#: What scikit-learn calls the categories that were too rare for a number of their own.
RARE = "infrequent_sklearn"
#: The code of a cell that has none of the categories.
UNKNOWN = _quince.UNKNOWN_CATEGORY
#: Up to here every whole number is a float64.
EXACT = 2**53


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


def _cells(values: NDArray[Any]) -> Any:
    """Cells as the extension reads them: code points, float64 or objects; None of what is neither text nor number."""
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind == "O":
        return values
    if kind in "US":
        values = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))
        # Bytes are the code points of Latin-1.
        points = values.view(np.uint32 if kind == "U" else np.uint8)
        return points.reshape(len(values), -1 if len(values) else 1).astype(np.uint32, copy=False)
    whole = kind in "iu" and (size < 8 or len(values) == 0 or (values.min() >= -EXACT and values.max() <= EXACT))
    return values.astype(np.float64) if whole or (kind in "bf" and size <= 8) else None


def counted(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]] | None:
    """The different values, sorted, with None and then NaN last, and the number of rows of each; None if they are neither texts nor
    numbers."""
    cells = _cells(values)
    found = None if cells is None else _quince.learn_categories(cells)
    if found is None:
        return None
    rows, counts = found
    return values[rows], counts


def categories_in(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64] | None]:
    """The different values, sorted, with None and then NaN last; and the number of rows of each, if that was counted."""
    found = counted(values)
    return (_sorted(values), None) if found is None else found


def _sorted(values: NDArray[Any]) -> NDArray[Any]:
    """The different values of a column that is neither texts nor numbers."""
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


def _in_extension(categories: NDArray[Any]) -> Categories | None:
    """The categories in the extension, if it can hold them."""
    cells = _cells(categories)
    return None if cells is None else Categories.of(cells)


def codes_of(values: NDArray[Any], categories: NDArray[Any], known: Categories | None) -> NDArray[np.uint32]:
    """The code of each value's category."""
    alike = (values.dtype.kind == "S") == (categories.dtype.kind == "S")
    cells = _cells(values) if known is not None and alike else None
    codes = None if known is None or cells is None else known.codes(cells)
    return _codes_by_dictionary(values, categories) if codes is None else codes


def _codes_by_dictionary(values: NDArray[Any], categories: NDArray[Any]) -> NDArray[np.uint32]:
    """The same for values that are neither texts nor numbers, or not of the kind of the categories."""
    if values.dtype.kind == categories.dtype.kind:
        common = np.result_type(values, categories)
        values, categories = values.astype(common, copy=False), categories.astype(common, copy=False)
    numbers = {category: number for number, category in enumerate(categories.tolist())}
    cells = values.tolist()
    codes = np.fromiter(map(numbers.get, cells, repeat(UNKNOWN)), dtype=np.uint32, count=len(cells))
    if is_scalar_nan(categories[-1]) and values.dtype.kind in "Of":
        # A NaN need not be the same object as another.
        for place in np.flatnonzero(codes == UNKNOWN):
            codes[place] = len(categories) - 1 if is_scalar_nan(cells[place]) else UNKNOWN
    return codes


class CategoryEncoder(Transformer):
    """An encoder that knows the categories of each column."""

    categories_: list[NDArray[Any]]
    #: For each column its categories in the extension, or None if that cannot hold them.
    _known: list[Categories | None]
    #: For each column the groups of its categories.
    _groups: list[CategoryGroups]

    def _learn_categories(self, X: Any, *, but_missing: bool) -> None:
        """Finds or checks categories. With `but_missing` NaN is in no group."""
        self._forget()
        validate_data(self, X=X, reset=True, skip_check_array=True)
        columns = columns_of(X)
        self.n_features_in_ = len(columns)
        if not isinstance(self.categories, str) and len(self.categories) != len(columns):
            raise ValueError("Shape mismatch: if categories is an array, it has to be of shape (n_features,).")
        self.categories_, self._known, self._groups = [], [], []
        for j, column in enumerate(columns):
            if isinstance(self.categories, str):
                categories, counts = categories_in(column)
                known = _in_extension(categories)
            else:
                categories, counts = self._given(j, column, self.categories[j]), None
                known = _in_extension(categories)
                self._refuse_unknown(j, column, categories, known)
            self.categories_.append(categories)
            self._known.append(known)
            grouped = len(categories) - (but_missing and is_scalar_nan(categories[-1]))
            if not self._looks_for_rare():
                self._groups.append(CategoryGroups.of(np.zeros(grouped, dtype=bool)))
                continue
            if counts is None:
                counts = _quince.count_categories(codes_of(column, categories, known), len(categories))
            self._groups.append(CategoryGroups(counts[:grouped], self._min_rows(len(column)), self.max_categories))

    def _given(self, j: int, column: NDArray[Any], given: Any) -> NDArray[Any]:
        """Categories of the user, in the given order."""
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
        if len(categories) != len(categories_in(categories)[0]):
            raise ValueError(f"In column {j}, the predefined categories contain duplicate elements.")
        if column.dtype.kind not in "OUS":
            end = -1 if is_scalar_nan(categories[-1]) else None
            if np.any(np.sort(categories[:end]) != categories[:end]):
                raise ValueError("Unsorted categories are not supported for numerical categories")
        return categories

    def _refuse_unknown(
        self, j: int, column: NDArray[Any], categories: NDArray[Any], known: Categories | None
    ) -> None:
        unknown = self.handle_unknown == "error" and codes_of(column, categories, known) == UNKNOWN
        if np.any(unknown):
            raise ValueError(f"Found unknown categories {_listed(column[unknown])} in column {j} during fit")

    def _looks_for_rare(self) -> bool:
        return self.max_categories is not None or self.min_frequency is not None

    def _min_rows(self, rows: int) -> float:
        """Categories in fewer rows are rare."""
        if self.min_frequency is None:
            return 0
        return self.min_frequency if isinstance(self.min_frequency, Integral) else self.min_frequency * rows

    def _rare(self, j: int) -> NDArray[np.intp] | None:
        """The codes of a column's rare categories, if it has any."""
        rare = np.flatnonzero(self._groups[j].is_rare)
        return rare if len(rare) else None

    def _codes(self, X: Any, *, unknown: str, warn: bool = False) -> tuple[list[NDArray[np.uint32]], list[bool]]:
        """The codes of each column's cells, and for each column whether some are unknown.

        `unknown` is "error", or what becomes of unknown ones, for the sentence of the warning.
        """
        columns = columns_of(X)
        validate_data(self, X=X, reset=False, skip_check_array=True)
        codes, unseen = [], []
        for j, (column, categories, known) in enumerate(zip(columns, self.categories_, self._known, strict=True)):
            codes.append(codes_of(column, categories, known))
            without = codes[j] == UNKNOWN
            unseen.append(bool(without.any()))
            if unseen[j] and unknown == "error":
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
        if self._learnt not in vars(self) or not self._looks_for_rare():
            raise AttributeError(f"this {type(self).__name__} groups no categories, and has no infrequent_categories_")
        rare = map(self._rare, range(len(self.categories_)))
        return [
            None if codes is None else categories[codes]
            for categories, codes in zip(self.categories_, rare, strict=True)
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
    return _sorted(values.astype(object)).tolist()
