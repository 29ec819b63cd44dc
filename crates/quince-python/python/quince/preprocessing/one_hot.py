"""One-hot encoding: a feature for each category."""

from __future__ import annotations

__all__ = ["OneHotEncoder"]

from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.utils import check_array
from sklearn.utils._missing import is_scalar_nan
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from quince import _quince, _threads
from quince._base import FLOATS, for_extension
from quince._quince import CategoryGroups
from quince.preprocessing._categories import RARE, UNKNOWN, CategoryEncoder


class OneHotEncoder(CategoryEncoder):
    """A column for each category: 1 where a row has it, 0 elsewhere.

    Parameters, attributes and numbers are scikit-learn's. A missing value (NaN or None) is a category of its own.

    Parameters
    ----------
    categories : "auto" or list of array-like, default="auto"
        The categories of each column; "auto" takes those in X, sorted.
    drop : {"first", "if_binary"} or array-like of shape (n_features,), default=None
        A category of each column without a feature: the first, the first of two, or the given one.
    sparse_output : bool, default=True
        Whether the result is a scipy CSR matrix rather than an array.
    dtype : type, default=np.float64
        The type of the numbers.
    handle_unknown : {"error", "ignore", "infrequent_if_exist", "warn"}, default="error"
        What becomes of a category that was not in the fit: an error, all zeros, the feature of rare categories
        (zeros if there is none), or that with a warning.
    min_frequency : int or float, default=None
        Categories in fewer rows (or a smaller share of them) are rare and share a feature.
    max_categories : int, default=None
        At most this many features per column, including that of rare categories.
    feature_name_combiner : "concat" or callable, default="concat"
        How a name is made from a column and a category: `column_category`, or by a function of both.

    Attributes
    ----------
    categories_ : list of ndarray
        The categories of each column.
    drop_idx_ : ndarray of shape (n_features,) or None
        The number of the category without a feature.
    infrequent_categories_ : list of ndarray
        The rare categories of each column, if any are looked for.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X had names that are all strings.

    Examples
    --------
    >>> from quince import OneHotEncoder
    >>> OneHotEncoder(sparse_output=False).fit_transform([["Oslo"], ["Bergen"]])
    array([[0., 1.],
           [1., 0.]])
    """

    _learnt = "_dropped"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "categories": [StrOptions({"auto"}), list],
        "drop": [StrOptions({"first", "if_binary"}), "array-like", None],
        "dtype": "no_validation",
        "handle_unknown": [StrOptions({"error", "ignore", "infrequent_if_exist", "warn"})],
        "max_categories": [Interval(Integral, 1, None, closed="left"), None],
        "min_frequency": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            None,
        ],
        "sparse_output": ["boolean"],
        "feature_name_combiner": [StrOptions({"concat"}), callable],
    }

    #: For each column the group of the category without a feature, or None.
    _dropped: list[int | None]

    def __init__(
        self,
        *,
        categories: Literal["auto"] | list[ArrayLike] = "auto",
        drop: Literal["first", "if_binary"] | ArrayLike | None = None,
        sparse_output: bool = True,
        dtype: Any = np.float64,
        handle_unknown: Literal["error", "ignore", "infrequent_if_exist", "warn"] = "error",
        min_frequency: float | None = None,
        max_categories: int | None = None,
        feature_name_combiner: Literal["concat"] | Callable[[Any, Any], str] = "concat",
    ) -> None:
        self.categories = categories
        self.sparse_output = sparse_output
        self.dtype = dtype
        self.handle_unknown = handle_unknown
        self.drop = drop
        self.min_frequency = min_frequency
        self.max_categories = max_categories
        self.feature_name_combiner = feature_name_combiner

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> OneHotEncoder:
        """Learns the categories of each column."""
        self._learn_categories(X, but_missing=False)
        widths = [len(groups) for groups in self._groups]
        if self.drop is None:
            dropped: list[int | None] = [None] * len(widths)
        elif isinstance(self.drop, str):
            dropped = [0 if self.drop == "first" or width == 2 else None for width in widths]
        else:
            dropped = self._given_drops()
        self.drop_idx_ = None
        if self.drop is not None:
            self.drop_idx_ = np.empty(len(widths), dtype=object)
            for j, (group, groups) in enumerate(zip(dropped, self._groups, strict=True)):
                self.drop_idx_[j] = None if group is None else np.flatnonzero(groups.of_categories == group)[0]
        self._dropped = dropped
        return self

    def _given_drops(self) -> list[int | None]:
        given = np.asarray(self.drop, dtype=object)
        if len(given) != self.n_features_in_:
            raise ValueError(
                f"`drop` should have length equal to the number of features ({self.n_features_in_}), got {len(given)}"
            )
        drops: list[int | None] = []
        missing = []
        for j, (wanted, categories) in enumerate(zip(given, self.categories_, strict=True)):
            nan = is_scalar_nan(wanted)
            same = [is_scalar_nan(category) if nan else category == wanted for category in categories]
            if not any(same):
                missing.append(f"Category: {j}, Feature: {wanted}")
                continue
            code, groups = same.index(True), self._groups[j]
            if groups.is_rare[code]:
                raise ValueError(f"Unable to drop category {wanted!r} from feature {j} because it is infrequent")
            drops.append(int(groups.of_categories[code]))
        if missing:
            raise ValueError(
                "The following categories were supposed to be dropped, but were not found in the training data.\n"
                + "\n".join(missing)
            )
        return drops

    def _names_of_groups(self, j: int) -> NDArray[Any]:
        """The categories of a column after the rare ones were put together."""
        categories, rare = self.categories_[j], self._rare(j)
        if rare is None:
            return categories
        return np.append(np.delete(categories, rare).astype(object), RARE)

    def transform(self, X: Any) -> Any:
        """The features of other rows."""
        check_is_fitted(self)
        output = _get_output_config("transform", estimator=self)["dense"]
        if output != "default" and self.sparse_output:
            raise ValueError(
                f"{output.capitalize()} output does not support sparse data. Set sparse_output=False to output "
                f"{output} dataframes or disable {output.capitalize()} output via"
                '` ohe.set_output(transform="default").'
            )
        unknown = "infrequent_if_exist" if self.handle_unknown == "warn" else self.handle_unknown
        warn = self.handle_unknown == "warn" or (self.drop is not None and unknown != "error")
        codes, _ = self._codes(X, unknown=unknown, warn=warn)
        as_rare, threads = unknown == "infrequent_if_exist", _threads.effective(None)
        if not self.sparse_output:
            dtype = np.float64 if np.dtype(self.dtype) == np.float64 else np.float32
            rows = np.zeros((len(codes[0]), self._width()), dtype=dtype)
            _quince.one_hot_dense(codes, self._columns(), rows, unknown_as_rare=as_rare, threads=threads)
            return rows.astype(self.dtype, copy=False)
        starts, places = _quince.one_hot_sparse(codes, self._columns(), unknown_as_rare=as_rare, threads=threads)
        ones = np.ones(len(places), dtype=self.dtype)
        matrix = sparse.csr_matrix((ones, places, starts), shape=(len(codes[0]), self._width()), copy=False)
        matrix.has_sorted_indices = True
        return matrix

    def _columns(self) -> list[tuple[CategoryGroups, int | None]]:
        """The groups of each column, and the one without a feature."""
        return list(zip(self._groups, self._dropped, strict=True))

    def _width(self) -> int:
        return sum(len(groups) - (dropped is not None) for groups, dropped in self._columns())

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """The categories of rows of features; None where it was unknown."""
        check_is_fitted(self)
        X = check_array(X, accept_sparse="csr", dtype=FLOATS)
        width = self._width()
        if X.shape[1] != width:
            raise ValueError(f"Shape of the passed X data is not correct. Expected {width} columns, got {X.shape[1]}.")
        names = [self._names_of_groups(j) for j in range(self.n_features_in_)]
        out = np.empty((X.shape[0], len(names)), dtype=np.result_type(*[groups.dtype for groups in names]))
        nobody = {}
        for j, groups in enumerate(_quince.one_hot_groups(for_extension(X), self._columns())):
            zeros = groups == UNKNOWN
            out[:, j] = names[j][np.where(zeros, 0, groups)]
            if not zeros.any():
                continue
            if self.handle_unknown == "ignore" or (self.handle_unknown != "error" and self._rare(j) is None):
                nobody[j] = zeros
            elif self.drop is None:
                raise ValueError(
                    f"Samples {np.flatnonzero(zeros)} can not be inverted when drop=None and handle_unknown='error' "
                    "because they contain all zeros"
                )
        if nobody:
            out = out.astype(object)
            for j, zeros in nobody.items():
                out[zeros, j] = None
        return out

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """A name for each feature: `city_Oslo`."""
        check_is_fitted(self)
        names = []
        for j, column in enumerate(self._names_in(input_features)):
            groups, dropped = self._names_of_groups(j), self._dropped[j]
            for category in groups if dropped is None else np.delete(groups, dropped):
                if callable(self.feature_name_combiner):
                    name = self.feature_name_combiner(column, category)
                    if not isinstance(name, str):
                        raise TypeError(
                            "When `feature_name_combiner` is a callable, it should return a Python string. Got "
                            f"{type(name)}."
                        )
                else:
                    name = f"{column}_{category}"
                names.append(name)
        return np.array(names, dtype=object)
