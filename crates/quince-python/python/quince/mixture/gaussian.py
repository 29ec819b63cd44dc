"""Mixtures of Gaussians, with scikit-learn's parameters and attributes."""

from __future__ import annotations

__all__ = ["GaussianMixture"]

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from quince._quince import Model
from quince.mixture._base import COUNT, NON_NEGATIVE, OfComponents

#: scikit-learn's words for the shapes of covariances, and whether components share one.
SHAPES = {"full": ("full", False), "tied": ("full", True), "diag": ("diagonal", False), "spherical": ("spherical", False)}
STARTS = {"kmeans": "kmeans", "k-means++": "plus-plus", "random": "random", "random_from_data": "plus-plus"}


class GaussianMixture(OfComponents):
    """A mixture of Gaussians, fitted by EM. Missing values (NaN) are left out of the likelihood, exactly.

    Parameters
    ----------
    n_components : int or "auto", default=1
        The number of components; "auto" takes the number from 1 to 10 with the smallest BIC.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        The shape of covariances: a full one for each component, one shared by all, a variance for each column, or a
        single variance.
    tol : float, default=1e-3
        EM has converged when the mean log likelihood of a row rises by no more than this.
    reg_covar : float, default=1e-6
        Variance floor: this constant is added to all variances.
    max_iter : int, default=100
        The largest number of steps of EM.
    n_init : int, default=1
        The number of starts; the one with the highest likelihood wins.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}, default="kmeans"
        Start from the clusters of k-means, from rows far from each other and the rows nearest to them (also for
        "random_from_data"), or from random responsibilities.
    weights_init : array-like of shape (n_components,), default=None
        The weights to start from.
    means_init : array-like of shape (n_components, n_features), default=None
        The means to start from.
    precisions_init : array-like, default=None
        The inverses of the covariances to start from, in the shape of `precisions_`.
    random_state : int, RandomState instance or None, default=None
        Determines the random numbers.
    warm_start : bool, default=False
        Whether to start where the last fit ended.
    verbose : int, default=0
        Whether to print a summary of the fit.
    verbose_interval : int, default=10
        Accepted for compatibility with scikit-learn.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        The weight of each component, the largest first unless a start is given.
    means_ : ndarray of shape (n_components, n_features)
        The mean of each component.
    covariances_ : ndarray
        The covariances; the shape depends on `covariance_type`.
    precisions_ : ndarray
        Their inverses.
    precisions_cholesky_ : ndarray
        Upper triangular factors of the precisions.
    converged_ : bool
        Whether EM has converged.
    n_iter_ : int
        Number of steps.
    lower_bound_ : float
        The mean log likelihood of a row before the last step.
    lower_bounds_ : list of float
        The same before each step.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all strings.
    report_ : dict
        How the mixture was fitted, and remarks.

    Examples
    --------
    >>> import numpy as np
    >>> from quince import GaussianMixture
    >>> X = np.array([[1.0, 2.0], [1.2, np.nan], [0.8, 0.0], [1.1, 1.5], [10.0, 2.0], [10.1, 4.0], [9.9, 0.0]])
    >>> model = GaussianMixture(n_components=2, random_state=0).fit(X)
    >>> model.predict(X)
    array([0, 0, 0, 0, 1, 1, 1], dtype=int32)
    """

    _settings: ClassVar = {
        "n_components": "k",
        "covariance_type": "covariance",
        "tol": "tolerance",
        "reg_covar": "variance_floor_constant",
        "max_iter": "steps",
        "n_init": "restarts",
        "init_params": "start",
    }
    _accepted: ClassVar = {
        "weights_init": "a start is given to a fit, not to the method",
        "means_init": "a start is given to a fit, not to the method",
        "precisions_init": "a start is given to a fit, not to the method",
        "random_state": "the seed belongs to the run, not to the method",
        "warm_start": "a start is given to a fit, not to the method",
        "verbose": "progress belongs to the run, not to the method",
        "verbose_interval": "progress belongs to the run, not to the method",
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [COUNT, StrOptions({"auto"})],
        "covariance_type": [StrOptions(set(SHAPES))],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "reg_covar": [NON_NEGATIVE],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "n_init": [COUNT],
        "init_params": [StrOptions(set(STARTS))],
        "weights_init": ["array-like", None],
        "means_init": ["array-like", None],
        "precisions_init": ["array-like", None],
        "random_state": ["random_state"],
        "warm_start": ["boolean"],
        "verbose": ["verbose"],
        "verbose_interval": [COUNT],
    }

    means_: NDArray[np.float64]
    covariances_: NDArray[np.float64]
    precisions_: NDArray[np.float64]
    precisions_cholesky_: NDArray[np.float64]
    lower_bounds_: list[float]

    def __init__(
        self,
        n_components: int | str = 1,
        *,
        covariance_type: str = "full",
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        weights_init: ArrayLike | None = None,
        means_init: ArrayLike | None = None,
        precisions_init: ArrayLike | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval

    def _method_settings(self) -> dict[str, Any]:
        shape, shared = SHAPES[self.covariance_type]
        return {
            "k": self.n_components,
            "covariance": shape,
            "shared": shared,
            "tolerance": float(self.tol),
            "variance_floor_constant": float(self.reg_covar),
            "variance_floor": 0.0,
            "steps": int(self.max_iter),
            "restarts": int(self.n_init),
            "start": STARTS[self.init_params],
            # Every step is one of scikit-learn's.
            "accelerate": False,
        }

    def _fit(self, X: Any, weights: NDArray[np.float64] | None) -> Model:
        if self.reg_covar == 0 and (np.nanmax(X, axis=0) == np.nanmin(X, axis=0)).any():
            raise ValueError("A column of X is constant, and so is singular with reg_covar=0. Give a larger reg_covar.")
        return super()._fit(X, weights)

    def _given_start(self, X: Any) -> dict[str, Any]:
        """The start that the last fit or the parameters give."""
        features = X.shape[1]
        again = self.warm_start and self.__sklearn_is_fitted__() and self.n_components != "auto"
        if again and self.means_.shape == (self.n_components, features):
            covariances = self._model_covariances()
            return {"weights": self.weights_.tolist(), "means": self.means_, "covariances": covariances}
        start: dict[str, Any] = {}
        if self.weights_init is not None:
            start["weights"] = self._checked_weights().tolist()
        if self.means_init is not None:
            start["means"] = self._checked(self.means_init, (self.n_components, features), "means")
        if self.precisions_init is not None:
            start["covariances"] = self._covariances_of(features)
        return start

    def _checked(self, array: ArrayLike, shape: tuple[Any, ...], name: str) -> NDArray[np.float64]:
        found = check_array(array, dtype=[np.float64, np.float32], ensure_2d=False, allow_nd=True)
        if found.shape != shape:
            raise ValueError(f"The parameter '{name}' should have the shape of {shape}, but got {found.shape}")
        return np.ascontiguousarray(found, dtype=np.float64)

    def _checked_weights(self) -> NDArray[np.float64]:
        weights = self._checked(self.weights_init, (self.n_components,), "weights")
        if (weights < 0.0).any() or (weights > 1.0).any():
            raise ValueError(
                "The parameter 'weights' should be in the range [0, 1], but got max value "
                f"{weights.min():.5f}, min value {weights.max():.5f}"
            )
        if not np.allclose(np.abs(1.0 - weights.sum()), 0.0):
            raise ValueError(f"The parameter 'weights' should be normalized, but got sum(weights) = {weights.sum():.5f}")
        return weights

    def _covariances_of(self, features: int) -> list[NDArray[np.float64]]:
        """The covariances whose inverses are given."""
        k = self.n_components
        shapes = {"full": (k, features, features), "tied": (features, features), "diag": (k, features), "spherical": (k,)}
        precisions = self._checked(self.precisions_init, shapes[self.covariance_type], f"{self.covariance_type} precision")
        if self.covariance_type in ("diag", "spherical"):
            if (precisions <= 0.0).any():
                raise ValueError(f"'{self.covariance_type} precision' should be positive")
            wide = precisions if precisions.ndim == 2 else np.repeat(precisions[:, None], features, axis=1)
            return [np.ascontiguousarray(1.0 / row[None, :]) for row in wide]
        each = precisions if precisions.ndim == 3 else precisions[None]
        for precision in each:
            if not (np.allclose(precision, precision.T) and (np.linalg.eigvalsh(precision) > 0.0).all()):
                raise ValueError(f"'{self.covariance_type} precision' should be symmetric, positive-definite")
        return [np.ascontiguousarray(np.linalg.inv(precision)) for precision in each]

    def _model_covariances(self) -> list[NDArray[np.float64]]:
        """The covariances of the model, as it takes them."""
        (block,) = self._blocks()
        found = [block[name] for name in block if name.startswith("covariance ")]
        if self.covariance_type in ("diag", "spherical"):
            return [np.ascontiguousarray(np.diag(covariance)[None, :]) for covariance in found]
        return found

    def _learnt(self, model: Model) -> None:
        super()._learnt(model)
        self.lower_bounds_ = model.trace
        if self.verbose:
            print(f"{model.route}, log likelihood of a row {self.lower_bound_}")

    def _from_model(self) -> dict[str, Any]:
        (block,) = self._blocks()
        whole = np.array([block[name] for name in block if name.startswith("covariance ")])
        found = super()._from_model() | {"means_": block["mean"]}
        settings = self._model.settings
        if settings["covariance"] == "full":
            factors = np.array([_factor(covariance) for covariance in whole])
            if settings["shared"]:
                whole, factors = whole[0], factors[0]
            return found | {
                "covariances_": whole,
                "precisions_cholesky_": factors,
                "precisions_": factors @ np.swapaxes(factors, -1, -2),
            }
        variances = np.diagonal(whole, axis1=1, axis2=2).copy()
        if settings["covariance"] == "spherical":
            variances = variances[:, 0].copy()
        return found | {
            "covariances_": variances,
            "precisions_cholesky_": 1.0 / np.sqrt(variances),
            "precisions_": 1.0 / variances,
        }

    def sample(self, n_samples: int = 1) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Samples rows, and says which component each is of."""
        self._fitted_model()
        if n_samples < 1:
            raise ValueError(
                f"Invalid value for 'n_samples': {n_samples} . The sampling requires at least one sample."
            )
        random = check_random_state(self.random_state)
        counts = random.multinomial(n_samples, self.weights_ / self.weights_.sum())
        labels = np.repeat(np.arange(len(counts)), counts)
        roots = np.array([np.linalg.cholesky(np.atleast_2d(c)) for c in self._full_covariances()])
        draws = random.standard_normal((n_samples, self.means_.shape[1]))
        rows = self.means_[labels] + np.einsum("nij,nj->ni", roots[labels], draws)
        return rows, labels

    def _full_covariances(self) -> NDArray[np.float64]:
        """A whole covariance for each component."""
        k, d = self.means_.shape
        if self._model.settings["covariance"] == "full":
            return np.broadcast_to(self.covariances_, (k, d, d))
        variances = self.covariances_ if self.covariances_.ndim == 2 else np.repeat(self.covariances_[:, None], d, axis=1)
        return np.array([np.diag(row) for row in variances])


def _factor(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """P with P Pᵀ = Σ⁻¹, upper triangular."""
    lower = np.linalg.cholesky(covariance)
    return np.linalg.solve(lower, np.eye(len(lower))).T
