"""A data frame in, features out."""

from __future__ import annotations

__all__ = ["TableEncoder"]

import os
from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils import Tags, column_or_1d
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from quince import _quince, _threads
from quince._quince import Table
from quince.preprocessing._base import Transformer, from_compressed


class TableEncoder(Transformer):
    """Makes features of a data frame: numbers, counts, yes/no, categories, texts, and missing values in all of them.

    What becomes of a column follows from its kind, which is found as `quince.Table` finds it: numbers are standardised
    (by the sample standard deviation, with n - 1), categories get a feature each, texts one feature per word. All of it is
    learnt from the rows of the fit. `transform` finds columns by name, so their order does not matter and there may be
    others.

    A scipy CSR matrix comes out if anything is sparse (texts, categories of more than 32 values), else an array. The
    dense features come first.

    Parameters
    ----------
    kinds : dict of str, default=None
        Kinds that overrule those found, by column: "number", "count", "yes/no", "category", "text", "ignored".
    drop : list of str, default=None
        Columns to leave out.
    encode : dict of str, default=None
        How columns become features, where that differs from the default: `{"age": "log,fill=median",
        "review": "counts,stem=english"}`. The column "*" stands for all that can have the setting.
    degree : int, default=1
        Polynomial features: products of up to this many numbers.
    missing : {"filled", "kept"}, default="filled"
        Whether missing values are filled by the rule of their column, or stay as NaN (in dense features) for a learner that
        takes them.
    n_jobs : int, default=None
        Number of threads; -1 for all processors, None for `quince.set_threads`, `OMP_NUM_THREADS` or all processors.

    Attributes
    ----------
    kinds_ : dict of str
        The kind of each column that is used.
    left_out_ : dict of str
        The reason why each column that is not used is left out: dates, row numbers, keys, constants, numbers as strings of which most rows
        have one of their own, and what was dropped. A warning names them, too, but for those that were dropped.
    n_features_in_ : int
        Number of columns in the fit, including those left out.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names.

    Examples
    --------
    >>> import pandas as pd
    >>> from quince import TableEncoder
    >>> frame = pd.DataFrame({"age": [20.0, 30.0, 40.0, None], "city": ["Oslo", "Bergen", "Oslo", None]})
    >>> encoder = TableEncoder(kinds={"city": "category"}).fit(frame)
    >>> encoder.get_feature_names_out()
    array(['age', 'city=Bergen', 'city=Oslo'], dtype=object)
    >>> encoder.transform(frame)
    array([[-1.,  0.,  1.],
           [ 0.,  1.,  0.],
           [ 1.,  0.,  1.],
           [ 0.,  0.,  1.]])
    """

    _learnt = "_encoder"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kinds": [dict, None],
        "drop": [list, tuple, None],
        "encode": [dict, None],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "missing": [StrOptions({"filled", "kept"})],
        "n_jobs": [None, Integral],
    }

    _encoder: _quince.TableEncoder

    def __init__(
        self,
        *,
        kinds: Mapping[str, str] | None = None,
        drop: Iterable[str] | None = None,
        encode: Mapping[str, str] | None = None,
        degree: int = 1,
        missing: Literal["filled", "kept"] = "filled",
        n_jobs: int | None = None,
    ) -> None:
        self.kinds = kinds
        self.drop = drop
        self.encode = encode
        self.degree = degree
        self.missing = missing
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Learns from a table. y, if it has classes, is used only where words are selected (`select=` of a text)."""
        self.fit_transform(X, y)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learns from a table, and returns its features."""
        self._forget()
        _refuse_path(X)
        asked = {
            "kinds": dict(self.kinds or {}),
            "drop": list(self.drop or []),
            "encode": dict(self.encode or {}),
            "degree": self.degree,
        }
        # A table of ours may have settings of its own, which stay unless others are given.
        own = isinstance(X, Table) and not any(asked[name] for name in ("kinds", "drop", "encode")) and self.degree == 1
        table = X if own else Table(X, **asked)
        codes, classes = _classes_of(y, len(table))
        encoder, features, left_out = _quince.learn_table(
            table,
            codes=codes,
            classes=classes,
            kept=self.missing == "kept",
            threads=_threads.effective(self.n_jobs),
        )
        self.n_features_in_ = len(table.columns)
        self.feature_names_in_ = np.array(table.columns, dtype=object)
        self.left_out_ = dict(left_out)
        self._encoder = encoder
        self._names = np.array(encoder.feature_names, dtype=object)
        return self._as_matrix(features)

    def transform(self, X: Any) -> Any:
        """The features of other rows, whose columns are found by name."""
        check_is_fitted(self)
        _refuse_path(X)
        return self._as_matrix(
            self._encoder.encode(X, kept=self.missing == "kept", threads=_threads.effective(self.n_jobs))
        )

    def _as_matrix(self, features: Any) -> Any:
        return from_compressed(features, len(self._names)) if isinstance(features, tuple) else features

    @property
    def kinds_(self) -> dict[str, str]:
        """The kind of each column that is used."""
        if self._learnt not in vars(self):
            raise AttributeError("this TableEncoder is not fitted, and has no kinds_")
        return self._encoder.columns

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """A name for each feature: `age`, `city=Oslo`, `review: good`."""
        check_is_fitted(self)
        if input_features is not None and list(input_features) != list(self.feature_names_in_):
            raise ValueError("input_features is not equal to feature_names_in_")
        return self._names.copy()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.no_validation = True
        return tags


def _classes_of(y: Any, rows: int) -> tuple[NDArray[np.uint32] | None, int]:
    """The class of each row, if y has classes at all."""
    if y is None:
        return None, 0
    if len(y) != rows:
        raise ValueError(f"there are {rows} rows and {len(y)} labels. Give every row one label.")
    if type_of_target(y) not in ("binary", "multiclass"):
        return None, 0
    classes, codes = np.unique(column_or_1d(y), return_inverse=True)
    return codes.astype(np.uint32), len(classes)


def _refuse_path(X: Any) -> None:
    if isinstance(X, str | os.PathLike):
        raise ValueError("X cannot be the path of a file here. Give quince.read(path).")
