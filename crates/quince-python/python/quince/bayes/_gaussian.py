"""Means and covariances of Gaussian classes, as scikit-learn estimates them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.covariance import empirical_covariance, ledoit_wolf, shrunk_covariance
from sklearn.preprocessing import StandardScaler

from quince._quince import Model, fit
from quince._threads import effective

Matrix = NDArray[np.float64]


def covariance_of(X: Matrix, shrinkage: Any, estimator: Any) -> Matrix:
    """The covariance of rows as scikit-learn estimates it."""
    if estimator is not None:
        if shrinkage is not None and shrinkage != 0:
            raise ValueError(
                "covariance_estimator and shrinkage parameters are not None. Only one of the two can be set."
            )
        estimator.fit(X)
        if not hasattr(estimator, "covariance_"):
            raise ValueError(f"{type(estimator).__name__} does not have a covariance_ attribute")
        return np.asarray(estimator.covariance_)
    if isinstance(shrinkage, str):
        scaler = StandardScaler()
        drawn = ledoit_wolf(scaler.fit_transform(X))[0]
        return scaler.scale_[:, None] * drawn * scaler.scale_
    plain = np.atleast_2d(empirical_covariance(X))
    return plain if shrinkage is None else shrunk_covariance(plain, shrinkage)


def fitted(
    X: NDArray[Any], codes: NDArray[np.uint32], classes: list[str], **settings: Any
) -> tuple[Model, dict[str, Any]] | None:
    """A model that has learnt from rows, and its parameters; None if a column is constant, or a covariance singular."""
    settings = {"epsilon": 0.0, "calibrate": False, **settings}
    try:
        model = fit("gaussian", X, settings, target=codes, classes=classes, threads=effective(None))
    except ValueError:
        return None
    blocks = [block for block in model.parameter("blocks") if block["family"] == "gaussian"]
    # The method leaves a constant column out, which is right for it, and counts for whoever wants its covariance.
    return (model, blocks[0]) if blocks and len(blocks[0]["columns"]) == X.shape[1] else None


class Within(NamedTuple):
    """How rows of a class vary about its mean: along `axes` of columns divided by their standard `deviations`, by `scales`."""

    axes: Matrix
    scales: Matrix
    deviations: Matrix

    def white(self) -> Matrix:
        """Directions in which rows of a class have variance one."""
        return self.axes / self.deviations[:, None] / self.scales
