"""What the imputers share: the features that indicate where a value was missing."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.impute import MissingIndicator
from sklearn.utils import Tags
from sklearn.utils._missing import is_pandas_na, is_scalar_nan
from sklearn.utils._param_validation import MissingValues
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from quince.preprocessing._base import Transformer


class Imputer(Transformer):
    """Fills missing values, and may add a missing indicator for each column that had missing values in the fit."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "missing_values": [MissingValues()],
        "add_indicator": ["boolean"],
        "keep_empty_features": ["boolean"],
    }

    indicator_: MissingIndicator | None

    def _learn_missing(self, mask: Any) -> None:
        self.indicator_ = None
        if self.add_indicator:
            self.indicator_ = MissingIndicator(missing_values=self.missing_values, error_on_new=False)
            self.indicator_._fit(mask, precomputed=True)

    def _with_indicator(self, filled: Any, mask: Any) -> Any:
        """What was filled, with the missing indicators beside it."""
        if self.indicator_ is None:
            return filled
        beside = partial(sparse.hstack, format=filled.format) if sparse.issparse(filled) else np.hstack
        return beside((filled, self.indicator_.transform(mask)))

    def _kept(self) -> NDArray[np.bool_]:
        """Which columns are left."""
        raise NotImplementedError

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the columns that are left, and of their missing indicators."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        kept = names[self._kept()]
        if self.indicator_ is None:
            return kept
        return np.concatenate([kept, self.indicator_.get_feature_names_out(names)])

    def _nan_is_missing(self) -> bool:
        return is_pandas_na(self.missing_values) or is_scalar_nan(self.missing_values)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._nan_is_missing()
        return tags
