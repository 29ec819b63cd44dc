"""Quadratic discriminant analysis. Parameters and attributes are scikit-learn's."""

from __future__ import annotations

__all__ = ["QuadraticDiscriminantAnalysis"]

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from quince._base import FLOATS, Estimator, for_extension, learning, names_of
from quince._quince import Model, fit, known_gaussian, predict
from quince._threads import effective
from quince.bayes._base import labels_of, written
from quince.bayes._gaussian import Matrix, check_estimator, covariance_by, means_by_class


class QuadraticDiscriminantAnalysis(ClassifierMixin, Estimator):
    """Quadratic discriminant analysis: a Gaussian with its own mean and covariance for each class.

    The boundaries between classes are quadratic: ellipses, parabolas and hyperbolas.

    Parameters
    ----------
    solver : {'svd', 'eigen'}, default='svd'
        'svd' takes `reg_param`, 'eigen' takes `shrinkage` and `covariance_estimator`.
    shrinkage : 'auto' or float, default=None
        Covariances are shrunk by this amount, from 0 to 1, towards a multiple of the identity; 'auto' finds the amount
        by Ledoit and Wolf's rule.
    priors : array-like of shape (n_classes,), default=None
        Class priors; None for the class frequencies in y.
    reg_param : float, default=0.0
        Covariances are shrunk by this amount, from 0 to 1, towards the identity.
    store_covariance : bool, default=False
        Whether `covariance_` is set.
    tol : float, default=1e-4
        A class with no more variance than this in some direction is refused.
    covariance_estimator : estimator, default=None
        An estimator of covariances to use instead, for 'eigen'.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    priors_ : ndarray of shape (n_classes,)
        The class priors.
    means_ : ndarray of shape (n_classes, n_features)
        The mean of each class.
    covariance_ : list of n_classes ndarrays of shape (n_features, n_features)
        The covariance of each class. Only with `store_covariance`.
    rotations_ : list of n_classes ndarrays of shape (n_features, n_features)
        The principal axes of each class, in columns.
    scalings_ : list of n_classes ndarrays of shape (n_features,)
        The variances along these axes, the largest first.
    n_features_in_, feature_names_in_, report_
        As for `LinearDiscriminantAnalysis`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from quince import QuadraticDiscriminantAnalysis
    >>> X, y = load_iris(return_X_y=True)
    >>> round(QuadraticDiscriminantAnalysis().fit(X, y).score(X, y), 2)
    0.98
    """

    _settings: ClassVar = {"reg_param": "shrinkage", "shrinkage": "shrinkage", "priors": "priors"}
    _accepted: ClassVar = {
        "solver": "what `reg_param` and `shrinkage` draw covariances to",
        "store_covariance": "what is shown",
        "tol": "what is refused",
        "covariance_estimator": "what it finds becomes the covariances of the model",
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "solver": [StrOptions({"svd", "eigen"})],
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both"), None],
        "priors": ["array-like", None],
        "reg_param": [Interval(Real, 0, 1, closed="both")],
        "store_covariance": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "covariance_estimator": [HasMethods("fit"), None],
    }

    classes_: NDArray[Any]
    priors_: NDArray[Any]

    def __init__(
        self,
        *,
        solver: str = "svd",
        shrinkage: str | float | None = None,
        priors: ArrayLike | None = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1.0e-4,
        covariance_estimator: Any = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    @learning
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learns from rows X and their labels y."""
        X, y = validate_data(self, X, y, dtype=FLOATS)
        self.classes_, codes = labels_of(y)
        n_classes = len(self.classes_)
        if n_classes < 2:
            raise ValueError(f"The number of classes has to be greater than one. Got {n_classes} class.")
        if self.solver == "svd" and self.shrinkage is not None:
            raise NotImplementedError("shrinkage not supported with 'svd' solver.")
        if self.solver == "svd" and self.covariance_estimator is not None:
            raise ValueError(
                "covariance_estimator is not supported with solver='svd'. Try solver='eigen' instead."
            )
        counts = np.bincount(codes)
        self.priors_ = counts / len(X) if self.priors is None else self._priors(n_classes)
        if counts.min() == 1:
            alone = self.classes_[counts.argmin()]
            raise ValueError(f"y has only 1 sample in class {alone}, covariance is ill defined.")
        if self.solver == "eigen":
            check_estimator(self.covariance_estimator, self.shrinkage)
        vars(self).pop("covariance_", None)
        learn = self._by_method if self.covariance_estimator is None else self._by_estimator
        model = learn(for_extension(X), codes, self._method_settings())
        for label, count, (scales, _) in zip(self.classes_, counts, model.parameter("principal_axes")):
            if (scales <= self.tol).any():
                self._refuse(label, count)
        self._model = model
        vars(self).update(self._from_model())
        if self.store_covariance:
            (block,) = model.parameter("blocks")
            self.covariance_ = [block[f"covariance {k}"] for k in range(n_classes)]
        return self

    def _method_settings(self) -> dict[str, Any]:
        """What the parameters ask for, in the method's words."""
        share = self.reg_param if self.solver == "svd" else self.shrinkage or 0.0
        return {
            "shrinkage": share if isinstance(share, str) else float(share),
            "shrink_to": "one" if self.solver == "svd" else "variance",
            "singular": "pseudo-inverse",
            "priors": "data" if self.priors is None else written(self.priors_ / self.priors_.sum()),
            "variance_floor": 0.0,
            "calibrate": False,
        }

    def _by_method(self, X: NDArray[Any], codes: NDArray[np.uint32], settings: dict[str, Any]) -> Model:
        names = names_of(self.classes_)
        return self._in_our_words(fit, "gaussian", X, settings, target=codes, classes=names, threads=effective(None))

    def _by_estimator(self, X: NDArray[Any], codes: NDArray[np.uint32], settings: dict[str, Any]) -> Model:
        """The model with the covariances that an estimator of the user's finds."""
        X = X.astype(np.float64, copy=False)
        covariances = [covariance_by(self.covariance_estimator, X[codes == k]) for k in range(len(self.classes_))]
        for label, count, covariance in zip(self.classes_, np.bincount(codes), covariances):
            if np.linalg.eigvalsh(covariance)[0] <= self.tol:
                self._refuse(label, count)
        priors, names = (self.priors_ / self.priors_.sum()).tolist(), names_of(self.classes_)
        return known_gaussian(means_by_class(X, codes), covariances, priors, names, settings)

    def _from_model(self) -> dict[str, Any]:
        axes = self._model.parameter("principal_axes")
        return {
            "means_": self._model.parameter("class_means"),
            "scalings_": [scales for scales, _ in axes],
            "rotations_": [rotation for _, rotation in axes],
        }

    def _priors(self, n_classes: int) -> Matrix:
        priors = np.array(self.priors, dtype=np.float64)
        if len(priors) != n_classes or (priors < 0).any() or not priors.any():
            raise ValueError(f"priors cannot be {self.priors!r}. Give {n_classes} numbers that are not negative.")
        return priors

    def _refuse(self, label: Any, count: int) -> None:
        sentence = f"The covariance matrix of class {label} is not full rank. "
        if self.solver == "svd" and count <= self.n_features_in_:
            raise np.linalg.LinAlgError(
                f"{sentence}When using `solver='svd'` the number of samples in each class should be more than the "
                f"number of features, but class {label} has {count} samples and {self.n_features_in_} features. Try "
                "using `solver='eigen'` and setting the parameter `shrinkage` for regularization."
            )
        which = "shrinkage" if self.solver == "eigen" else "reg_param"
        raise np.linalg.LinAlgError(f"{sentence}Increase the value of `{which}` to reduce the collinearity.")

    def _ask(self, X: Any, what: str) -> NDArray[Any]:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=FLOATS)
        return predict(self._model, for_extension(X), what, threads=effective(None))

    def decision_function(self, X: Any) -> Matrix:
        """The log posterior of each class up to a constant; for two classes the second minus the first."""
        scores = self._ask(X, "scores")
        # scikit-learn leaves out the constant of the Gaussians, and takes priors as given.
        scores += 0.5 * self.n_features_in_ * np.log(2 * np.pi) + np.log(self.priors_.sum())
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable label of each row of X."""
        codes = self._ask(X, "labels")
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> Matrix:
        """The probability of each class for each row of X."""
        return self._ask(X, "probabilities")

    def predict_log_proba(self, X: Any) -> Matrix:
        """The logarithm of the probabilities."""
        scores = self._ask(X, "scores")
        return scores - logsumexp(scores, axis=1, keepdims=True)
