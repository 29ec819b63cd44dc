"""Mixtures for data frames with native columns, each with its own family."""

from __future__ import annotations

__all__ = ["MixedMixture"]

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from quince._quince import Table
from quince.bayes.mixed import as_columns, as_table, explanation, families
from quince.mixture._base import NON_NEGATIVE, OwnMixture


class MixedMixture(OwnMixture):
    """A mixture for data frames with native columns: numbers, counts, yes/no, categories, texts and missing values.

    All numbers together are one Gaussian, small counts are Poisson, categories categorical and texts multinomial, unless
    `family` says otherwise. A matrix is a table of numbers, in which NaN is missing.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        The number of components; "auto" takes the number from 1 to 10 with the smallest criterion.
    family : str or dict, default="auto"
        The family of columns, as for `MixedNB` (without "kernel-density" and "markov-chain").
    covariance : {"full", "diagonal", "spherical"}, default="full"
        The shape of the covariances of numbers, where no family is given.
    shared : bool, default=False
        Whether components share a covariance.
    criterion : {"bic", "aic", "icl"}, default="bic"
        The information criterion that selects the number of components.
    init_params : {"auto", "kmeans", "k-means++", "random"}, default="auto"
        Start from the clusters of k-means, from rows far from each other, or from random responsibilities; "auto"
        alternates between the first and the last.
    n_init : int, default=4
        The number of starts; the one with the highest likelihood wins.
    max_iter : int, default=500
        The largest number of steps of EM.
    tol : float, default=1e-6
        Done when the log likelihood of a row, on average, rises by no more than this.
    variance_floor : float, default=1e-6
        This share of each column's variance over all rows is added to the variances of all components.
    variance_floor_constant : float, default=0.0
        What is added to all variances besides.
    alpha : float or "auto", default="auto"
        Additive smoothing: the pseudocount of every category, bin, word and answer; 1 is Laplace's rule; "auto" is 1, but
        0.1 of words.
    accelerate : bool, default=True
        Whether to accelerate EM by squared extrapolation, as long as the likelihood does not fall by it.
    random_state : int, RandomState instance or None, default=None
        Determines the random numbers.
    n_jobs : int, default=None
        Number of threads; -1 for all processors, None for `quince.set_threads`, `OMP_NUM_THREADS` or all processors.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        The weight of each component, the largest first.
    converged_, n_iter_, lower_bound_, n_features_in_, feature_names_in_, report_
        As for `GaussianMixture`.

    Examples
    --------
    >>> import pandas as pd
    >>> from quince import MixedMixture
    >>> size = [20, 21, None, 22, 60, 61, 64, 58, 62]
    >>> frame = pd.DataFrame({"size": size, "colour": ["red", "red", "red", None] + ["blue"] * 5})
    >>> MixedMixture(2, random_state=0).fit_predict(frame)
    array([1, 1, 1, 1, 0, 0, 0, 0, 0], dtype=int32)
    """

    _settings: ClassVar = {
        **OwnMixture._settings,
        **{name: name for name in ("family", "covariance", "shared", "criterion")},
        **{name: name for name in ("variance_floor", "variance_floor_constant")},
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **OwnMixture._parameter_constraints,
        "family": [str, dict],
        "covariance": [StrOptions({"full", "diagonal", "spherical"})],
        "shared": ["boolean"],
        "criterion": [StrOptions({"bic", "aic", "icl"})],
        "variance_floor": [NON_NEGATIVE],
        "variance_floor_constant": [NON_NEGATIVE],
    }

    #: Whether a data frame was learnt from, whose columns are found by name.
    _of_table: bool

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        family: str | Mapping[Any, str] = "auto",
        covariance: str = "full",
        shared: bool = False,
        criterion: str = "bic",
        init_params: str = "auto",
        n_init: int = 4,
        max_iter: int = 500,
        tol: float = 1e-6,
        variance_floor: float = 1e-6,
        variance_floor_constant: float = 0.0,
        alpha: float | str = "auto",
        accelerate: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.family = family
        self.covariance = covariance
        self.shared = shared
        self.criterion = criterion
        self.init_params = init_params
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.variance_floor = variance_floor
        self.variance_floor_constant = variance_floor_constant
        self.alpha = alpha
        self.accelerate = accelerate
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _method_settings(self) -> dict[str, Any]:
        return super()._method_settings() | {
            "family": self.family if isinstance(self.family, str) else families(self.family, self._of_table),
            "covariance": self.covariance,
            "shared": bool(self.shared),
            "criterion": self.criterion,
            "variance_floor": float(self.variance_floor),
            "variance_floor_constant": float(self.variance_floor_constant),
        }

    def _check(self, X: Any, *, reset: bool) -> Any:
        table = as_table(self, X, reset)
        return super()._check(X, reset=reset) if table is None else table

    def icl(self, X: Any) -> float:
        """The integrated completed likelihood: BIC plus twice the entropy of the responsibilities, so that overlapping
        components cost more. The smaller the better."""
        return self._criterion(X, "icl")

    def explain(self, X: Any = None, row: int = 0) -> dict[str, Any]:
        """What the components are like or, of one row of X (counted from 0), the evidence for its component.

        A dict of sentences and tables.
        """
        return explanation(self._fitted_model(), None if X is None else self._check(X, reset=False), row)

    def imputed_values(self, X: Any) -> list[dict[str, Any]]:
        """The imputed missing values of a data frame: for each its row, column, value, standard_deviation and probability."""
        self._fitted_model()
        X = self._check(X, reset=False)
        if not isinstance(X, Table):
            raise ValueError("X is no data frame. MixtureImputer fills the missing values of matrices.")
        return self._model.imputed_values(X, n_jobs=self.n_jobs)

    def impute(self, X: Any) -> Any:
        """The rows of X, with missing values imputed given the rest of the row: a matrix, or a copy of a pandas frame."""
        check_is_fitted(self)
        if not isinstance(self._check(X, reset=False), Table):
            return super().impute(X)
        if not hasattr(X, "iloc"):
            raise TypeError(f"X is a {type(X).__name__}. Give a matrix or a pandas frame, or see imputed_values(X).")
        filled, places = X.copy(), {str(name): place for place, name in enumerate(X.columns)}
        by_column: dict[int, list[dict[str, Any]]] = {}
        for cell in self.imputed_values(X):
            by_column.setdefault(places[cell["column"]], []).append(cell)
        for place, cells in by_column.items():
            column = X.iloc[:, place].copy()
            column.iloc[[cell["row"] for cell in cells]] = in_its_type(column, [cell["value"] for cell in cells])
            filled.isetitem(place, column)
        return filled

    def sample(self, n: int = 1, component: int | None = None) -> dict[str, NDArray[Any]]:
        """Samples n rows: a dict of columns, the last of which has the components, counted from 0."""
        model = self._fitted_model()
        if component is not None and not 0 <= component < len(self.weights_):
            raise ValueError(f"There is no component {component}. They are counted from 0 to {len(self.weights_) - 1}.")
        return as_columns(model.sample(n, label=None if component is None else str(component), seed=self._seed()))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def in_its_type(column: Any, values: list[Any]) -> list[Any]:
    """Numbers, answers and words in the type of a pandas column."""
    known = column.dropna().unique()
    if {True, False}.issuperset(known):
        numbers = column.dtype.kind in "iuf"
        spelled: dict[Any, Any] = {"yes": 1 if numbers else True, "no": 0 if numbers else False}
    elif column.dtype.kind in "iu":
        spelled = {value: round(value) for value in values}
    else:
        spelled = {str(one): one for one in known}
    return [spelled.get(value, value) for value in values]
