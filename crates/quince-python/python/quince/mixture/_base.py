"""What the mixtures share: fitting, predicting, and information criteria."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import DensityMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from quince._base import FLOATS, Estimator, for_extension, learning, seed_of, weights_of
from quince._quince import Model, fit, impute_rows, mixture_criterion, predict
from quince._threads import effective

#: Constraints of parameters that several classes have.
COUNT = Interval(Integral, 1, None, closed="left")
NON_NEGATIVE = Interval(Real, 0, None, closed="left")
NON_NEGATIVE_OR_AUTO = [NON_NEGATIVE, StrOptions({"auto"})]

#: The method's words for how EM is initialised.
STARTS = {"auto": "auto", "kmeans": "kmeans", "k-means++": "plus-plus", "random": "random"}


def number_or_auto(value: float | str) -> float | str:
    """The value of a setting that is a number, or "auto"."""
    return value if isinstance(value, str) else float(value)


class OfComponents(DensityMixin, Estimator):
    """A mixture that is fitted without labels."""

    _takes_sparse: ClassVar[bool] = False

    weights_: NDArray[np.float64]
    converged_: bool
    n_iter_: int
    lower_bound_: float

    def _method_settings(self) -> dict[str, Any]:
        """What the parameters ask of the method, in its words."""
        raise NotImplementedError

    @learning
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fits the mixture to rows X; sample_weight says how much each row counts."""
        X = self._check(X, reset=True)
        weights = weights_of(sample_weight, X)
        if isinstance(X, np.ndarray) and np.isnan(X).all():
            raise ValueError("X has no value: all values are missing (NaN).")
        self._check_count(X)
        self._learnt(self._fit(X, weights))
        return self

    def _check_count(self, X: Any) -> None:
        wanted = getattr(self, "n_components", "auto")
        if wanted != "auto" and X.shape[0] < wanted:
            raise ValueError(
                "Expected n_samples >= n_components but got "
                f"n_components = {wanted}, n_samples = {X.shape[0]}"
            )

    def _seed(self) -> int:
        return seed_of(getattr(self, "random_state", None))

    def _fit(self, X: Any, weights: NDArray[np.float64] | None) -> Model:
        start = self._given_start(X) or None
        settings, seed, threads = self._method_settings(), self._seed(), self._threads()
        given = {"weights": weights, "start": start, "seed": seed, "threads": threads}
        return self._in_our_words(fit, "mixture", X, settings, **given)

    def _given_start(self, X: Any) -> dict[str, Any]:
        """The parameters to start from; none if the method is to find them."""
        return {}

    def _learnt(self, model: Model) -> None:
        self._model = model
        vars(self).update(self._from_model())
        trace = model.trace
        self.converged_ = model.stop_reason == "converged"
        self.n_iter_ = len(trace)
        self.lower_bound_ = trace[-1] if trace else -np.inf
        if not self.converged_:
            warnings.warn(
                "The likelihood was still rising at the last step. Try a larger max_iter or tol, or other starts.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _from_model(self) -> dict[str, Any]:
        return {"weights_": self._model.parameter("weights")}

    def _blocks(self) -> list[dict[str, Any]]:
        return self._model.parameter("blocks")

    def _check(self, X: Any, *, reset: bool) -> Any:
        """Rows as the extension takes them."""
        accept = "csr" if self._takes_sparse else False
        return for_extension(
            validate_data(
                self,
                X,
                reset=reset,
                accept_sparse=accept,
                dtype=FLOATS,
                ensure_all_finite="allow-nan",
                ensure_min_samples=2 if reset else 1,
            )
        )

    def _threads(self) -> int:
        return effective(getattr(self, "n_jobs", None))

    def _ask(self, X: Any, what: str) -> NDArray[Any]:
        check_is_fitted(self)
        return predict(self._model, self._check(X, reset=False), what, threads=self._threads())

    def fit_predict(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> NDArray[np.int32]:
        """Fits the mixture to rows X, and returns the component with the largest responsibility for each."""
        return self.fit(X, sample_weight=sample_weight).predict(X)

    def predict(self, X: Any) -> NDArray[np.int32]:
        """The component with the largest responsibility for each row of X, counted from 0."""
        return self._ask(X, "labels")

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The responsibilities: the probability of each component given each row of X."""
        return self._ask(X, "responsibilities")

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """The logarithm of the density of each row of X: the smaller, the more of an outlier the row is."""
        return self._ask(X, "densities")

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log density of the rows of X."""
        return float(self.score_samples(X).mean())

    def impute(self, X: Any) -> NDArray[np.float64]:
        """The rows of a dense matrix X, with missing values (NaN) imputed given the rest of the row."""
        check_is_fitted(self)
        return impute_rows(self._model, self._check(X, reset=False), threads=self._threads())[0]

    def _criterion(self, X: Any, name: str) -> float:
        check_is_fitted(self)
        return mixture_criterion(self._model, self._check(X, reset=False), name, threads=self._threads())

    def bic(self, X: Any) -> float:
        """The Bayesian information criterion of the rows of X: the smaller the better."""
        return self._criterion(X, "bic")

    def aic(self, X: Any) -> float:
        """Akaike's information criterion of the rows of X: the smaller the better."""
        return self._criterion(X, "aic")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        tags.input_tags.allow_nan = True
        return tags


class OwnMixture(OfComponents):
    """A mixture that scikit-learn has no twin of: what its classes share of parameters, which are settings of the method."""

    _takes_sparse = True
    _settings: ClassVar = {
        "n_components": "k",
        "alpha": "alpha",
        "init_params": "start",
        "n_init": "restarts",
        "max_iter": "steps",
        "tol": "tolerance",
        "accelerate": "accelerate",
    }
    _accepted: ClassVar = {
        "random_state": "the seed belongs to the run, not to the method",
        "n_jobs": "threads belong to the run, not to the method",
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [COUNT, StrOptions({"auto"})],
        "alpha": NON_NEGATIVE_OR_AUTO,
        "init_params": [StrOptions(set(STARTS))],
        "n_init": [COUNT],
        "max_iter": [COUNT],
        "tol": [NON_NEGATIVE],
        "accelerate": ["boolean"],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }

    n_components: int | str
    alpha: float | str
    init_params: str
    n_init: int
    max_iter: int
    tol: float
    accelerate: bool

    def _method_settings(self) -> dict[str, Any]:
        return {
            "k": self.n_components,
            "alpha": number_or_auto(self.alpha),
            "start": STARTS[self.init_params],
            "restarts": int(self.n_init),
            "steps": int(self.max_iter),
            "tolerance": float(self.tol),
            "accelerate": bool(self.accelerate),
        }
