"""What the classes that prepare features share."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin


class Transformer(TransformerMixin, BaseEstimator):
    """A transformer that counts as fitted once its fit has come to its end."""

    #: The attribute that a fit sets last.
    _learnt: str

    def __sklearn_is_fitted__(self) -> bool:
        return self._learnt in vars(self)

    def _forget(self) -> None:
        """A fit that fails must not leave an earlier one behind."""
        vars(self).pop(self._learnt, None)


def from_compressed(compressed: tuple[Any, Any, Any], width: int, dtype: Any = np.float64) -> sparse.csr_matrix:
    """A matrix from what the extension gives of one: starts, columns (rising within a row) and values."""
    starts, columns, values = compressed
    small = max(width, int(starts[-1])) <= np.iinfo(np.int32).max
    index = np.int32 if small else np.int64
    parts = (values.astype(dtype, copy=False), columns.astype(index, copy=False), starts.astype(index, copy=False))
    matrix = sparse.csr_matrix(parts, shape=(len(starts) - 1, width), copy=False)
    matrix.has_sorted_indices = True
    return matrix
