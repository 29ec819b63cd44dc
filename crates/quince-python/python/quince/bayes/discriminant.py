"""Linear discriminant analysis. Parameters and attributes are scikit-learn's."""

from __future__ import annotations

__all__ = ["LinearDiscriminantAnalysis"]

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from quince._base import FLOATS, Estimator, for_extension, names_of
from quince._quince import Model, known_axes, linear_outputs, predict, project_rows
from quince._threads import effective
from quince.bayes._base import labels_of, written
from quince.bayes._gaussian import Matrix, Within, covariance_of, fitted

#: Where columns of standard deviation one leave a direction with less than this, directions are found from the rows: their
#: covariance has only half the digits.
MIN_SCALE = 1e-3

#: A direction with less than this share of the largest variance has nothing but rounding.
MIN_VARIANCE = 1e-14


class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, ClassifierMixin, TransformerMixin, Estimator):
    """Classes with means of their own and one covariance in common, which are parted by planes.

    `transform` lays rows along the directions that part the classes best.

    Parameters
    ----------
    solver : {'svd', 'lsqr', 'eigen'}, default='svd'
        'svd' leaves out directions in which rows of a class do not differ; 'lsqr' and 'eigen' take `shrinkage`, and
        'lsqr' cannot transform.
    shrinkage : 'auto' or float, default=None
        The covariance is drawn by this share towards a multiple of the identity; 'auto' finds the share by Ledoit and
        Wolf's rule.
    priors : array-like of shape (n_classes,), default=None
        How frequent the classes are taken to be; None for as frequent as in y.
    n_components : int, default=None
        How many directions `transform` gives, at most min(n_classes - 1, n_features).
    store_covariance : bool, default=False
        Whether 'svd' shows `covariance_` too.
    tol : float, default=1e-4
        A direction with a singular value below this is left out by 'svd'.
    covariance_estimator : estimator, default=None
        Finds covariances instead, for 'lsqr' and 'eigen'.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    priors_ : ndarray of shape (n_classes,)
        How frequent the classes are taken to be.
    means_ : ndarray of shape (n_classes, n_features)
        The mean of each class.
    xbar_ : ndarray of shape (n_features,)
        The mean of these. Only with solver 'svd'.
    covariance_ : ndarray of shape (n_features, n_features)
        The covariance of rows about the mean of their class.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights of the features; one row for two classes, positive for the second.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The constants.
    scalings_ : ndarray of shape (n_features, rank)
        The directions that part the classes, the best first. Not with solver 'lsqr'.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        How much of the variance of the means lies along each.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all words.
    report_ : dict
        How the answer was found, and remarks.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from quince import LinearDiscriminantAnalysis
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearDiscriminantAnalysis().fit(X, y)
    >>> round(model.score(X, y), 2)
    0.98
    >>> model.transform(X).shape
    (150, 2)
    """

    _settings: ClassVar = {"shrinkage": "shrinkage", "priors": "priors"}
    _accepted: ClassVar = {
        "solver": "which formula of scikit-learn's is followed where they differ",
        "n_components": "how many columns `transform` gives",
        "store_covariance": "what is shown",
        "tol": "which directions 'svd' leaves out; the model then lies along the others",
        "covariance_estimator": "what it finds becomes the covariance of the model",
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "solver": [StrOptions({"svd", "lsqr", "eigen"})],
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both"), None],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "priors": ["array-like", None],
        "store_covariance": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "covariance_estimator": [HasMethods("fit"), None],
    }

    classes_: NDArray[Any]
    priors_: NDArray[Any]
    means_: NDArray[Any]
    coef_: NDArray[Any]
    intercept_: NDArray[Any]
    scalings_: NDArray[Any]

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: str | float | None = None,
        priors: ArrayLike | None = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learns from rows X and their labels y."""
        X, y = validate_data(self, X, y, ensure_min_samples=2, dtype=FLOATS)
        self.classes_, codes = labels_of(y)
        n_classes = len(self.classes_)
        if len(X) == n_classes:
            raise ValueError("The number of samples must be more than the number of classes.")
        most = min(n_classes - 1, X.shape[1])
        if self.n_components is not None and self.n_components > most:
            raise ValueError("n_components cannot be larger than min(n_features, n_classes - 1).")
        if self.solver == "svd" and self.shrinkage is not None:
            raise NotImplementedError("shrinkage not supported with 'svd' solver.")
        if self.solver == "svd" and self.covariance_estimator is not None:
            raise ValueError("covariance estimator is not supported with svd solver. Try another solver")
        for name in ("covariance_", "xbar_", "scalings_", "explained_variance_ratio_"):
            vars(self).pop(name, None)
        self.priors_ = self._priors(np.bincount(codes))
        self._max_components = self._n_features_out = most if self.n_components is None else self.n_components
        solve = self._solve_svd if self.solver == "svd" else self._solve_covariance
        axes = solve(for_extension(X), codes)
        centre = self.priors_ @ self.means_
        given = {"shared": "pooled", "epsilon": 0.0, "calibrate": False, "priors": self._written()}
        if isinstance(self.shrinkage, Real):
            given["shrinkage"] = float(self.shrinkage)
        shares = (self.priors_ / self.priors_.sum()).tolist()
        arrays = centre.tolist(), np.ascontiguousarray(axes), np.ascontiguousarray(self.means_, dtype=np.float64)
        model = known_axes(*arrays, shares, names_of(self.classes_), given)
        if n_classes == 2:
            self.coef_ = np.diff(self.coef_, axis=0)
            self.intercept_ = np.diff(self.intercept_)
        for name in ("priors_", "means_", "xbar_", "coef_", "intercept_", "scalings_", "explained_variance_ratio_"):
            if name in vars(self):
                setattr(self, name, getattr(self, name).astype(X.dtype, copy=False))
        self._model = model
        return self

    def _priors(self, counts: NDArray[np.int64]) -> Matrix:
        n_classes = len(counts)
        if self.priors is None:
            return counts / counts.sum()
        priors = np.asarray(self.priors, dtype=np.float64)
        if len(priors) != n_classes:
            raise ValueError(f"There are {len(priors)} priors for {n_classes} classes. Give one for each class.")
        if (priors < 0).any():
            raise ValueError("priors must be non-negative")
        if abs(priors.sum() - 1.0) > 1e-5:
            warnings.warn("The priors do not sum to 1. Renormalizing", UserWarning, stacklevel=4)
            priors = priors / priors.sum()
        return priors

    def _solve_svd(self, X: NDArray[Any], codes: NDArray[np.uint32]) -> Matrix:
        """Finds means and coefficients, and gives the axes that part the classes."""
        classes, n_classes = names_of(self.classes_), len(self.classes_)
        found, within = fitted(X, codes, classes, shared="pooled", priors=self._written()), None
        if found is not None:
            _, block = found
            self.means_ = block["mean"]
            within = self._from_covariance(block["covariance 0"])
        exact = within is not None
        if within is None:
            X = X.astype(np.float64, copy=False)
            self.means_ = np.array([X[codes == k].mean(axis=0) for k in range(n_classes)])
            within = self._from_rows(X - self.means_[codes])
        if self.store_covariance:
            pooled = exact and self.priors is None
            self.covariance_ = block["covariance 0"] if pooled else self._class_covariance(X, codes)
        self.xbar_ = self.priors_ @ self.means_
        self.scalings_, singular_values = self._axes(within.white(), len(X))
        shares = singular_values**2 / max(np.sum(singular_values**2), np.finfo(float).tiny)
        self.explained_variance_ratio_ = shares[: self._max_components]
        centred = (self.means_ - self.xbar_) @ self.scalings_
        self.coef_ = centred @ self.scalings_.T
        with np.errstate(divide="ignore"):
            self.intercept_ = -0.5 * np.sum(centred**2, axis=1) + np.log(self.priors_)
        self.intercept_ = self.intercept_ - self.xbar_ @ self.coef_.T
        return self.scalings_

    def _axes(self, white: Matrix, rows: int) -> tuple[Matrix, Matrix]:
        """Those directions in which rows of a class have variance one and the means lie apart, and how far apart."""
        n_classes = len(self.classes_)
        factor = 1.0 if n_classes == 1 else 1.0 / (n_classes - 1)
        centred = self.means_ - self.priors_ @ self.means_
        apart = np.sqrt(rows * self.priors_ * factor)[:, None] * centred
        _, singular_values, axes = linalg.svd(apart @ white, full_matrices=False)
        rank = int(np.sum(singular_values > self.tol * singular_values[0])) if len(singular_values) else 0
        return white @ axes.T[:, :rank], singular_values

    def _from_covariance(self, covariance: Matrix) -> Within | None:
        """How rows vary within a class; None if too many digits would be lost."""
        deviations = np.sqrt(np.diag(covariance))
        scales, axes = linalg.eigh(covariance / np.outer(deviations, deviations))
        if np.sqrt(max(scales[0], 0.0)) <= max(self.tol, MIN_SCALE):
            return None
        return Within(axes[:, ::-1], np.sqrt(scales[::-1]), deviations)

    def _from_rows(self, centred: Matrix) -> Within:
        deviations = centred.std(axis=0)
        deviations[deviations == 0] = 1.0
        _, scales, axes = linalg.svd(centred / deviations / np.sqrt(len(centred)), full_matrices=False)
        rank = int(np.sum(scales > self.tol))
        return Within(axes[:rank].T, scales[:rank], deviations)

    def _solve_covariance(self, X: NDArray[Any], codes: NDArray[np.uint32]) -> Matrix:
        """Finds means, covariance and coefficients, and gives the axes that part the classes."""
        classes, found = names_of(self.classes_), None
        if self.priors is None and not isinstance(self.shrinkage, str) and self.covariance_estimator is None:
            settings = {"shrinkage": float(self.shrinkage or 0.0), "priors": self._written()}
            found = fitted(X, codes, classes, shared="pooled", **settings)
        if found is not None:
            _, block = found
            self.means_, self.covariance_ = block["mean"], block["covariance 0"]
        else:
            X = X.astype(np.float64, copy=False)
            self.means_ = np.array([X[codes == k].mean(axis=0) for k in range(len(classes))])
            self.covariance_ = self._class_covariance(X, codes)
        if self.solver == "lsqr":
            self.coef_ = linalg.lstsq(self.covariance_, self.means_.T)[0].T
        else:
            total = covariance_of(X.astype(np.float64, copy=False), self.shrinkage, self.covariance_estimator)
            eigenvalues, axes = linalg.eigh(total - self.covariance_, self.covariance_)
            self.explained_variance_ratio_ = np.empty(0)
            if self._max_components:
                self.explained_variance_ratio_ = np.sort(eigenvalues / eigenvalues.sum())[::-1][: self._max_components]
            self.scalings_ = axes[:, np.argsort(eigenvalues)[::-1]]
            self.coef_ = self.means_ @ self.scalings_ @ self.scalings_.T
        white = self._white()
        if found is None:
            self.coef_ = self.means_ @ white @ white.T
        with np.errstate(divide="ignore"):
            self.intercept_ = -0.5 * np.sum(self.means_ * self.coef_, axis=1) + np.log(self.priors_)
        return self._axes_of_means(white)

    def _axes_of_means(self, white: Matrix) -> Matrix:
        """Directions in which rows of a class have variance one, as far as the means differ along them."""
        centred = (self.means_ - self.priors_ @ self.means_) @ white
        _, singular_values, axes = linalg.svd(centred, full_matrices=False)
        rank = int(np.sum(singular_values > np.finfo(float).eps * singular_values[0])) if len(singular_values) else 0
        return white @ axes.T[:, :rank]

    def _white(self) -> Matrix:
        """The directions in which rows of a class have variance one.

        Directions without any variance say nothing, as in scikit-learn's least squares.
        """
        scales, axes = linalg.eigh(self.covariance_)
        kept = scales > MIN_VARIANCE * max(scales[-1], 0.0)
        if not kept.any():
            raise linalg.LinAlgError("The covariance matrix is singular. Give a shrinkage, or solver='svd'.")
        return Within(axes[:, kept], np.sqrt(scales[kept]), np.ones(len(scales))).white()

    def _class_covariance(self, X: NDArray[Any], codes: NDArray[np.uint32]) -> Matrix:
        """The covariances of the classes, weighed by their priors."""
        given = self.shrinkage, self.covariance_estimator
        X = X.astype(np.float64, copy=False)
        return sum(prior * covariance_of(X[codes == k], *given) for k, prior in enumerate(self.priors_))

    def _written(self) -> str:
        return "data" if self.priors is None else written(self.priors_ / self.priors_.sum())

    def _ask(self, X: Any, what: str) -> NDArray[np.float64]:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=FLOATS)
        return predict(self._model, for_extension(X), what, threads=effective(None))

    def decision_function(self, X: Any) -> NDArray[Any]:
        """ln of the probability of each class, but for a constant; for two classes the second less the first."""
        scores = self._ask(X, "scores")
        if len(self.classes_) == 2:
            return scores[:, 1] - scores[:, 0]
        # The model has log densities; what all classes have in common is replaced by that of scikit-learn's formula.
        base = int(np.argmax(self.priors_))
        X = validate_data(self, X, reset=False, dtype=FLOATS)
        plane = self.coef_[base : base + 1].astype(np.float64), self.intercept_[base : base + 1].astype(np.float64)
        scores = scores - scores[:, base : base + 1] + linear_outputs(for_extension(X), *plane, threads=effective(None))
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable label of each row of X."""
        codes = self._ask(X, "labels")
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class for each row of X."""
        return self._ask(X, "probabilities")

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithm of the probabilities, not below that of the smallest normal number."""
        scores = self._ask(X, "scores")
        return np.maximum(scores - logsumexp(scores, axis=1, keepdims=True), np.log(np.finfo(np.float64).smallest_normal))

    def transform(self, X: Any) -> NDArray[Any]:
        """Rows along the directions that part the classes best."""
        if self.solver == "lsqr":
            raise NotImplementedError("transform not implemented for 'lsqr' solver (use 'svd' or 'eigen').")
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=FLOATS)
        if self.solver == "svd" and self.scalings_.shape[1]:
            along = project_rows(self._model, for_extension(X), threads=effective(None)).astype(X.dtype, copy=False)
        else:
            along = X @ self.scalings_
        return along[:, : self._max_components]
