"""Covariances that a user's estimator finds, for the classes of discriminant analysis."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def check_estimator(estimator: Any, shrinkage: Any) -> None:
    """An error if both an estimator of covariances and a shrinkage are given."""
    if estimator is not None and shrinkage is not None and shrinkage != 0:
        raise ValueError("covariance_estimator and shrinkage parameters are not None. Only one of the two can be set.")


def covariance_by(estimator: Any, X: Matrix) -> Matrix:
    """The covariance of rows that the estimator finds, symmetric not only up to rounding."""
    estimator.fit(X)
    if not hasattr(estimator, "covariance_"):
        raise ValueError(f"{type(estimator).__name__} does not have a covariance_ attribute")
    covariance = np.asarray(estimator.covariance_, dtype=np.float64)
    return np.ascontiguousarray((covariance + covariance.T) / 2)


def means_by_class(X: Matrix, codes: NDArray[np.uint32]) -> Matrix:
    """The mean of the rows of each class."""
    return np.array([X[codes == k].mean(axis=0) for k in range(codes.max() + 1)])
