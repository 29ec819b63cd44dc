"""Gaussian models with means and covariances that were found elsewhere."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.covariance import empirical_covariance, ledoit_wolf, shrunk_covariance
from sklearn.preprocessing import StandardScaler

from quince._quince import Model, fit
from quince._threads import effective
from quince.bayes._base import written

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


def embedded(
    means: Matrix,
    factors: list[Matrix],
    counts: NDArray[Any],
    classes: list[str],
    priors: NDArray[Any],
    **settings: Any,
) -> Model:
    """A model of classes with these means, and covariances F Fᵀ for factors F.

    Of each class it learns from few rows that have just these: the mean plus and minus every column of F, each as far
    away as the columns are many, and with as much weight as all rows of the class.
    """
    rows, codes, weights = [], [], []
    for k, (mean, factor) in enumerate(zip(means, factors, strict=True)):
        width = factor.shape[1]
        steps = np.sqrt(width) * factor.T
        made = np.vstack([mean + steps, mean - steps]) if width else mean[None]
        rows.append(made)
        codes += [k] * len(made)
        weights += [counts[k] / len(made)] * len(made)
    given = {"epsilon": 0.0, "calibrate": False, "priors": written(priors), **settings}
    made, target = np.vstack(rows).astype(np.float64), np.array(codes, dtype=np.uint32)
    counted = np.array(weights, dtype=np.float64)
    return fit("gaussian", made, given, target=target, classes=classes, weights=counted)


class Within(NamedTuple):
    """How rows of a class vary about its mean: along `axes` of columns divided by their standard `deviations`, by `scales`."""

    axes: Matrix
    scales: Matrix
    deviations: Matrix

    def white(self) -> Matrix:
        """Directions in which rows of a class have variance one."""
        return self.axes / self.deviations[:, None] / self.scales

    def factor(self) -> Matrix:
        """F of a covariance F Fᵀ that is this along the axes, and has as much variance in all other directions."""
        other = np.sqrt(np.mean(self.scales**2)) if len(self.scales) else 1.0
        whole = self.axes * (self.scales - other) @ self.axes.T + other * np.eye(len(self.axes))
        return self.deviations[:, None] * whole


def linear(
    centre: Matrix, weights: Matrix, within: Within, counts: NDArray[Any], classes: list[str], priors: NDArray[Any]
) -> Model:
    """A model of classes that are told apart by (x - centre) · weights, with a column of features for each class.

    With a covariance C in common, the mean of a class is centre + C · weights. Where directions are left out the means
    do not differ along them, so that any variance will do there. One class has the rows that vary, for all.
    """
    factor = within.factor()
    means = centre + weights @ factor @ factor.T
    varied = int(np.argmax(counts))
    factors = [np.zeros((len(centre), 0))] * len(counts)
    factors[varied] = factor * np.sqrt(counts.sum() / counts[varied])
    return embedded(means, factors, counts, classes, priors, shared="pooled")
