"""Mixtures of multinomials, for counts of words."""

from __future__ import annotations

__all__ = ["MultinomialMixture"]

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils.validation import check_non_negative

from quince.mixture._base import OwnMixture


class MultinomialMixture(OwnMixture):
    """A mixture of multinomials: every row of counts comes from a component with its own probabilities of words.

    Dense rows may have missing values (NaN), which count as their expectation given the rest of the row.

    Parameters
    ----------
    n_components : int or "auto", default=1
        The number of components; "auto" takes the number from 1 to 10 with the smallest BIC.
    alpha : float or "auto", default="auto"
        Additive smoothing: the pseudocount of every word in every component; 1 is Laplace's rule, 0 no smoothing, "auto" 0.1.
    tol : float, default=1e-4
        EM has converged when the mean log likelihood of a row rises by no more than this.
    max_iter : int, default=200
        The largest number of steps of EM.
    n_init : int, default=1
        The number of starts; the one with the highest likelihood wins.
    init_params : {"auto", "kmeans", "k-means++", "random"}, default="kmeans"
        Start from the clusters of k-means, from rows far from each other and the rows nearest to them, or from random
        responsibilities; "auto" alternates between the first and the last.
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
    feature_log_prob_ : ndarray of shape (n_components, n_features)
        The logarithm of the probability of each word in each component.
    converged_, n_iter_, lower_bound_, n_features_in_, feature_names_in_, report_
        As for `GaussianMixture`.

    Examples
    --------
    >>> from quince import MultinomialMixture
    >>> counts = [[5, 0, 1], [4, 1, 0], [0, 6, 5], [1, 5, 7]]
    >>> MultinomialMixture(n_components=2, random_state=0).fit_predict(counts)
    array([1, 1, 0, 0], dtype=int32)
    """

    feature_log_prob_: NDArray[np.float64]

    def __init__(
        self,
        n_components: int | str = 1,
        *,
        alpha: float | str = "auto",
        tol: float = 1e-4,
        max_iter: int = 200,
        n_init: int = 1,
        init_params: str = "kmeans",
        accelerate: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.accelerate = accelerate
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _method_settings(self) -> dict[str, Any]:
        return super()._method_settings() | {"family": "multinomial"}

    def _check(self, X: Any, *, reset: bool) -> Any:
        X = super()._check(X, reset=reset)
        check_non_negative(X if sparse.issparse(X) else np.nan_to_num(X), f"{type(self).__name__} (input X)")
        return X

    def _from_model(self) -> dict[str, Any]:
        (block,) = self._blocks()
        return super()._from_model() | {"feature_log_prob_": block["log"]}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
