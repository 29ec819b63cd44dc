"""Linear discriminant analysis. Parameters and attributes are scikit-learn's."""

from __future__ import annotations

__all__ = ["LinearDiscriminantAnalysis"]

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from quince._base import FLOATS, Estimator, for_extension, learning, names_of
from quince._quince import Model, fit, known_discriminants, linear_outputs, predict, project_rows
from quince._threads import effective
from quince.bayes._base import labels_of, written
from quince.bayes._gaussian import Matrix, check_estimator, covariance_by, means_by_class


class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, ClassifierMixin, TransformerMixin, Estimator):
    """Linear discriminant analysis: a Gaussian for each class, with a covariance that all classes share.

    Classes are separated by hyperplanes. `transform` projects rows onto the discriminant axes, those that separate the
    classes best.

    Parameters
    ----------
    solver : {'svd', 'lsqr', 'eigen'}, default='svd'
        'svd' leaves out directions without variance within classes; 'lsqr' and 'eigen' take `shrinkage`, and 'lsqr'
        cannot `transform`.
    shrinkage : 'auto' or float, default=None
        The covariance is shrunk by this amount, from 0 to 1, towards a multiple of the identity; 'auto' finds the
        amount by Ledoit and Wolf's rule.
    priors : array-like of shape (n_classes,), default=None
        Class priors; None for the class frequencies in y.
    n_components : int, default=None
        How many discriminant axes `transform` projects onto, at most min(n_classes - 1, n_features).
    store_covariance : bool, default=False
        Whether 'svd' sets `covariance_` too.
    tol : float, default=1e-4
        'svd' leaves out directions with a singular value below this.
    covariance_estimator : estimator, default=None
        An estimator of covariances to use instead, for 'lsqr' and 'eigen'.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    priors_ : ndarray of shape (n_classes,)
        The class priors.
    means_ : ndarray of shape (n_classes, n_features)
        The mean of each class.
    xbar_ : ndarray of shape (n_features,)
        Their mean, weighted by the priors. Only with solver 'svd'.
    covariance_ : ndarray of shape (n_features, n_features)
        The covariance within classes, which all of them share.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights of the features; one row for two classes, positive for the second.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts.
    scalings_ : ndarray of shape (n_features, rank)
        The discriminant axes, in columns, the best first. Not with solver 'lsqr'.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The share of the variance between classes along each axis.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all strings.
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

    _settings: ClassVar = {"shrinkage": "shrinkage", "priors": "priors", "tol": "tolerance"}
    _accepted: ClassVar = {
        "solver": "'svd' asks for discriminant axes and a pooled covariance, 'lsqr' and 'eigen' for one weighted by priors",
        "n_components": "how many columns `transform` gives",
        "store_covariance": "what is shown",
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

    @learning
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
        if self.solver != "svd":
            check_estimator(self.covariance_estimator, self.shrinkage)
        for name in ("covariance_", "xbar_", "scalings_", "explained_variance_ratio_"):
            vars(self).pop(name, None)
        self.priors_ = self._priors(np.bincount(codes))
        self._max_components = self._n_features_out = most if self.n_components is None else self.n_components
        self._type = X.dtype.name
        learn = self._by_method if self.covariance_estimator is None else self._by_estimator
        model = learn(for_extension(X), codes, self._method_settings())
        if self.solver == "eigen" and model.parameter("discriminant_axes")["axes"].shape[1] < X.shape[1]:
            raise np.linalg.LinAlgError("The covariance matrix is singular. Give a shrinkage, or solver='svd'.")
        self._model = model
        vars(self).update(self._from_model())
        if self.solver == "svd" and self.store_covariance:
            settings = {**self._method_settings(), "shared": "weighted", "discriminant_axes": 0}
            self.covariance_ = covariance_of(self._by_method(for_extension(X), codes, settings))
        self.priors_ = self.priors_.astype(X.dtype, copy=False)
        return self

    def _method_settings(self) -> dict[str, Any]:
        """What the parameters ask for, in the method's words."""
        svd, auto = self.solver == "svd", self.shrinkage == "auto"
        return {
            "shared": "pooled" if svd else "weighted",
            "discriminant_axes": max(len(self.classes_) - 1, 1) if svd else 0,
            "tolerance": float(self.tol),
            "shrinkage": "auto" if auto else float(self.shrinkage or 0.0),
            "shrink_to": "variance",
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
        of_classes = (covariance_by(self.covariance_estimator, X[codes == k]) for k in range(len(self.priors_)))
        within = sum(prior * covariance for prior, covariance in zip(self.priors_, of_classes))
        total = covariance_by(self.covariance_estimator, X) if self.solver == "eigen" else None
        priors, names = (self.priors_ / self.priors_.sum()).tolist(), names_of(self.classes_)
        model = known_discriminants(means_by_class(X, codes), within, priors, names, settings, total=total)
        self.covariance_ = within
        return model

    def _from_model(self) -> dict[str, Any]:
        linear, means = self._model.parameter("linear_discriminants"), self._model.parameter("class_means")
        coefficients, intercepts = linear["coefficients"], linear["intercepts"]
        if len(self.classes_) == 2:
            coefficients, intercepts = np.diff(coefficients, axis=0), np.diff(intercepts)
        shown = {"means_": means, "coef_": coefficients, "intercept_": intercepts}
        if self.solver != "lsqr":
            axes = self._model.parameter("discriminant_axes")
            # scikit-learn sorts the ratios by themselves, which matters where shrinkage makes their sum negative.
            found = np.sort(axes["explained_variance_ratio"])[::-1][: self._max_components]
            explained = np.pad(found, (0, self._max_components - len(found)))
            shown |= {"scalings_": axes["axes"], "explained_variance_ratio_": explained}
            if self.solver == "svd":
                shown["xbar_"] = axes["centre"]
        shown = {name: value.astype(self._type, copy=False) for name, value in shown.items()}
        if self.solver != "svd" and self.covariance_estimator is None:
            shown["covariance_"] = covariance_of(self._model)
        return shown

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

    def _ask(self, X: Any, what: str) -> NDArray[np.float64]:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=FLOATS)
        return predict(self._model, for_extension(X), what, threads=effective(None))

    def decision_function(self, X: Any) -> NDArray[Any]:
        """The log posterior of each class up to a constant; for two classes the second minus the first."""
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
        """The rows of X projected onto the discriminant axes."""
        if self.solver == "lsqr":
            raise NotImplementedError("transform not implemented for 'lsqr' solver (use 'svd' or 'eigen').")
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=FLOATS)
        scalings = self.scalings_[:, : self._max_components]
        if self.solver == "svd" and scalings.shape[1]:
            along = project_rows(self._model, for_extension(X), threads=effective(None))[:, : scalings.shape[1]]
        else:
            axes = np.ascontiguousarray(scalings.T, dtype=np.float64)
            along = linear_outputs(for_extension(X), axes, np.zeros(len(axes)), threads=effective(None))
        return along.astype(X.dtype, copy=False)


def covariance_of(model: Model) -> Matrix:
    """The covariance that classes share."""
    (block,) = model.parameter("blocks")
    return block["covariance 0"]
