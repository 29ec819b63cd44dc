"""Imputation by the nearest neighbours."""

from __future__ import annotations

__all__ = ["KNNImputer"]

from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._mask import _get_mask
from sklearn.utils._param_validation import Hidden, Interval, StrOptions
from sklearn.utils.validation import FLOAT_DTYPES, check_is_fitted, validate_data

from quince import _quince, _threads
from quince.preprocessing._imputer import Imputer


class KNNImputer(Imputer):
    """A missing value becomes the mean of that column in the nearest rows that have a value there.

    The distance of two rows is taken over the columns that both have: the square root of (all columns / shared columns)
    times the sum of squared differences. Where no row shares a column, a missing value becomes the mean of its column.
    Parameters, attributes and numbers are scikit-learn's; `metric` and `weights` take no function. Of equally near rows
    the first are taken.

    Parameters
    ----------
    missing_values : int, float, str, np.nan or None, default=np.nan
        What stands for a missing value.
    n_neighbors : int, default=5
        The number of neighbours.
    weights : {"uniform", "distance"}, default="uniform"
        Whether they all count alike, or by one over their distance.
    metric : "nan_euclidean", default="nan_euclidean"
        The only one there is.
    copy : bool, default=True
        Accepted for compatibility with scikit-learn: X is never written to.
    add_indicator : bool, default=False
        Whether to add a missing indicator for each column that had missing values in the fit.
    keep_empty_features : bool, default=False
        Whether a column without any value becomes 0 rather than being left out.

    Attributes
    ----------
    indicator_ : sklearn.impute.MissingIndicator or None
        The columns that had missing values.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X had names that are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from quince import KNNImputer
    >>> X = [[1.0, 2.0, np.nan], [3.0, 4.0, 3.0], [np.nan, 6.0, 5.0], [8.0, 8.0, 7.0]]
    >>> KNNImputer(n_neighbors=2).fit_transform(X)
    array([[1. , 2. , 4. ],
           [3. , 4. , 3. ],
           [5.5, 6. , 5. ],
           [8. , 8. , 7. ]])
    """

    _learnt = "_donors"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Imputer._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "weights": [StrOptions({"uniform", "distance"}), callable, Hidden(None)],
        "metric": [StrOptions({"nan_euclidean"}), callable],
        "copy": ["boolean"],
    }

    #: The rows of the fit as float64, missing values as NaN.
    _donors: NDArray[np.float64]

    def __init__(
        self,
        *,
        missing_values: Any = np.nan,
        n_neighbors: int = 5,
        weights: Literal["uniform", "distance"] = "uniform",
        metric: Literal["nan_euclidean"] = "nan_euclidean",
        copy: bool = True,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
    ) -> None:
        self.missing_values = missing_values
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.copy = copy

    def _checked(self, X: Any, in_fit: bool) -> tuple[NDArray[Any], NDArray[np.bool_], NDArray[np.float64]]:
        """The rows, where their values are missing, and the rows as float64 with NaN for missing values."""
        for name, value in (("weights", self.weights), ("metric", self.metric)):
            if callable(value):
                known = self._parameter_constraints[name][0]
                raise ValueError(f"{name} cannot be a function here. It takes {known}.")
        finite = "allow-nan" if self._nan_is_missing() else True
        X = validate_data(self, X, reset=in_fit, dtype=FLOAT_DTYPES, ensure_all_finite=finite)
        mask = _get_mask(X, self.missing_values)
        rows = np.array(X, dtype=np.float64, order="C")
        rows[mask] = np.nan
        return X, mask, rows

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> KNNImputer:
        """Keeps the rows that missing values are filled from."""
        self._forget()
        _, mask, rows = self._checked(X, in_fit=True)
        self._valid = ~mask.all(axis=0)
        self._learn_missing(mask)
        self._donors = rows
        return self

    def _kept(self) -> NDArray[np.bool_]:
        return self._valid

    def transform(self, X: Any) -> NDArray[Any]:
        """Other rows with their missing values imputed."""
        check_is_fitted(self)
        X, mask, rows = self._checked(X, in_fit=False)
        valid = self._valid
        if mask[:, valid].any():
            donors = np.ascontiguousarray(self._donors[:, valid])
            rows[:, valid] = _quince.knn_impute(
                np.ascontiguousarray(rows[:, valid]),
                donors,
                min(self.n_neighbors, len(donors)),
                by_distance=self.weights == "distance",
                otherwise=np.nanmean(donors, axis=0).tolist(),
                threads=_threads.effective(None),
            )
        if self.keep_empty_features:
            rows[:, ~valid] = 0.0
        else:
            rows = rows[:, valid]
        return self._with_indicator(rows.astype(X.dtype, copy=False), mask)
