"""Standardised columns: with mean 0 and standard deviation 1."""

from __future__ import annotations

__all__ = ["StandardScaler"]

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import OneToOneFeatureMixin, _fit_context
from sklearn.utils import Tags
from sklearn.utils.validation import _check_sample_weight, check_array, check_is_fitted, validate_data

from quince import _quince, _threads
from quince._base import FLOATS, for_extension
from quince.preprocessing._base import Transformer

#: The number of values that are looked at together: they stay in the cache.
VALUES_AT_A_TIME = 1 << 16


class StandardScaler(OneToOneFeatureMixin, Transformer):
    """Subtracts the mean of each column and divides by its standard deviation: z = (x - mean) / sd.

    Missing values (NaN) are left out of both, and stay. A constant column is only centred. Parameters, attributes
    and numbers are scikit-learn's. Means and squares are summed about a first mean, so that a large offset costs no
    digits, on all cores.

    Parameters
    ----------
    copy : bool, default=True
        False writes the answer into X where X can hold it.
    with_mean : bool, default=True
        Whether to subtract the mean. Sparse X cannot be centred: give False.
    with_std : bool, default=True
        Whether to divide by the standard deviation.

    Attributes
    ----------
    mean_, var_, scale_ : ndarray of shape (n_features,) or None
        Mean and variance of each column, and what it is divided by.
    n_samples_seen_ : int or ndarray of shape (n_features,)
        The number of rows, or the sum of their weights; an array if columns have different numbers of missing values.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X had names that are all strings.

    Examples
    --------
    >>> from quince import StandardScaler
    >>> StandardScaler().fit_transform([[0.0, 5.0], [2.0, 5.0]])
    array([[-1.,  0.],
           [ 1.,  0.]])
    """

    _learnt = "n_samples_seen_"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "copy": ["boolean"],
        "with_mean": ["boolean"],
        "with_std": ["boolean"],
    }

    mean_: NDArray[np.float64] | None
    var_: NDArray[np.float64] | None
    scale_: NDArray[np.float64] | None
    n_samples_seen_: Any

    def __init__(self, *, copy: bool = True, with_mean: bool = True, with_std: bool = True) -> None:
        self.with_mean = with_mean
        self.with_std = with_std
        self.copy = copy

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> StandardScaler:
        """Learns mean and standard deviation of each column."""
        self._forget()
        return self.partial_fit(X, y, sample_weight)

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> StandardScaler:
        """Learns from more rows, in addition to those seen before."""
        first = self._learnt not in vars(self)
        X = validate_data(
            self, X, accept_sparse=("csr", "csc"), dtype=FLOATS, ensure_all_finite="allow-nan", reset=first
        )
        if sparse.issparse(X) and self.with_mean:
            raise ValueError(
                "Cannot center sparse matrices: pass `with_mean=False` instead. See docstring for motivation and "
                "alternatives."
            )
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64)
        found = _quince.column_moments(for_extension(X), weights=weights, threads=_threads.effective(None))
        if not first:
            seen = np.broadcast_to(self.n_samples_seen_, X.shape[1]).astype(np.float64)
            mean, var = (self.mean_, self.var_) if self._keeps_moments() else found[1:]
            found = _quince.merge_moments((seen, mean, np.zeros_like(mean) if var is None else var), found)
        seen, mean, var = found
        if self._keeps_moments(X):
            self.mean_, self.var_ = mean, var if self.with_std else None
        else:
            self.mean_ = self.var_ = None
        self.scale_ = _divisor(seen, mean, var) if self.with_std else None
        seen = seen.astype(np.int64 if weights is None and np.all(seen == np.floor(seen)) else X.dtype)
        self.n_samples_seen_ = seen[0] if len(seen) and np.all(seen == seen[0]) else seen
        return self

    def _keeps_moments(self, X: Any = None) -> bool:
        return self.with_std or (self.with_mean and not sparse.issparse(X))

    def transform(self, X: Any, copy: bool | None = None) -> Any:
        """Centres and scales other rows."""
        check_is_fitted(self)
        copy = self.copy if copy is None else copy
        X = validate_data(
            self,
            X,
            reset=False,
            accept_sparse="csr",
            dtype=FLOATS,
            copy=copy and sparse.issparse(X),
            force_writeable=not copy,
            ensure_all_finite="allow-nan",
        )
        if not sparse.issparse(X):
            return _shifted(X, self.mean_ if self.with_mean else None, self.scale_, copy)
        if self.with_mean:
            raise ValueError(
                "Cannot center sparse matrices: pass `with_mean=False` instead. See docstring for motivation and "
                "alternatives."
            )
        if self.scale_ is not None:
            X.data /= self.scale_.astype(X.dtype)[X.indices]
        return X

    def inverse_transform(self, X: Any, copy: bool | None = None) -> Any:
        """The numbers as they were before `transform`."""
        check_is_fitted(self)
        copy = self.copy if copy is None else copy
        X = check_array(
            X,
            accept_sparse="csr",
            dtype=FLOATS,
            copy=copy,
            force_writeable=True,
            ensure_all_finite="allow-nan",
        )
        if X.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {X.shape[1]} features, but {type(self).__name__} expects {self.n_features_in_}.")
        if sparse.issparse(X):
            if self.with_mean:
                raise ValueError(
                    "Cannot uncenter sparse matrices: pass `with_mean=False` instead See docstring for motivation and "
                    "alternatives."
                )
            if self.scale_ is not None:
                X.data *= self.scale_.astype(X.dtype)[X.indices]
            return X
        if self.scale_ is not None:
            X *= self.scale_.astype(X.dtype)
        if self.with_mean:
            X += self.mean_.astype(X.dtype)
        return X

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = not self.with_mean
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _shifted(X: NDArray[Any], mean: Any, scale: Any, copy: bool) -> NDArray[Any]:
    """(X - mean) / scale, in the precision of X, some rows at a time."""
    out = np.empty_like(X) if copy else X
    if mean is None and scale is None:
        if copy:
            out[...] = X
        return out
    mean = None if mean is None else mean.astype(X.dtype)
    scale = None if scale is None else scale.astype(X.dtype)
    for rows in _parts(X):
        part, to = X[rows], out[rows]
        if mean is not None:
            part = np.subtract(part, mean, out=to)
        if scale is not None:
            np.divide(part, scale, out=to)
    return out


def _parts(X: NDArray[Any]) -> list[slice]:
    """Rows to be processed together; all of them where columns lie one after another."""
    rows, columns = X.shape
    some = max(1, VALUES_AT_A_TIME // max(1, columns)) if X.flags.c_contiguous else max(1, rows)
    return [slice(start, start + some) for start in range(0, rows, some)]


def _divisor(seen: NDArray[Any], mean: NDArray[Any], var: NDArray[Any]) -> NDArray[np.float64]:
    """The standard deviation; 1 for a column that is constant but for rounding, by scikit-learn's bound."""
    eps = np.finfo(np.float64).eps
    constant = var <= seen * eps * var + (seen * mean * eps) ** 2
    return np.where(constant, 1.0, np.sqrt(var))
