"""Naive Bayes on matrices of numbers, one family for all columns. Parameters and attributes are scikit-learn's."""

from __future__ import annotations

__all__ = ["BernoulliNB", "GaussianNB", "MultinomialNB"]

import warnings
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_non_negative

from quince.bayes._base import Bayes, checked, written


class GaussianNB(Bayes):
    """Naive Bayes with a normal distribution for each column and class.

    NaN is a missing value, which is left out of the likelihood. Not in scikit-learn.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), default=None
        Class priors; None for the class frequencies in y.
    var_smoothing : float, default=1e-9
        Variance floor: this fraction of the largest variance of a feature is added to every variance.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Number of rows of each class, or the sum of their weights.
    class_prior_ : ndarray of shape (n_classes,)
        The class priors.
    theta_ : ndarray of shape (n_classes, n_features)
        The mean of each feature in each class.
    var_ : ndarray of shape (n_classes, n_features)
        The variance of each feature in each class, `epsilon_` included.
    epsilon_ : float
        The variance floor, which is added to variances: `var_smoothing` times the largest variance of a feature over all
        rows learnt so far, with their weights. (scikit-learn takes the last batch of `partial_fit`, without weights.)
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all strings.
    report_ : dict
        How the answer was found, and remarks.

    Examples
    --------
    >>> from quince import GaussianNB
    >>> model = GaussianNB().fit([[1.0], [2.0], [3.0], [7.0], [8.0], [9.0]], ["low"] * 3 + ["high"] * 3)
    >>> model.predict([[2.5], [6.0]])
    array(['low', 'high'], dtype='<U4')
    >>> model.theta_
    array([[8.],
           [2.]])
    """

    _settings: ClassVar = {"priors": "priors", "var_smoothing": "variance_floor"}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "priors": ["array-like", None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
    }
    _finite = False  # the extension refuses infinity, and says where it is

    def __init__(self, *, priors: ArrayLike | None = None, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    def _start(
        self, X: Any, classes: NDArray[Any], codes: NDArray[np.uint32], weights: NDArray[np.float64] | None
    ) -> None:
        if self.priors is not None:
            checked(self.priors, len(classes))
        super()._start(X, classes, codes, weights)

    def _method_settings(self) -> dict[str, Any]:
        settings = {
            "family": "normal",
            "variance_floor": float(self.var_smoothing),
            "variance_floor_of": "largest",
            "calibrate": False,
        }
        if self.priors is not None:
            priors = np.asarray(self.priors, dtype=np.float64)
            settings["priors"] = written(priors / priors.sum())
        return settings

    def _from_model(self) -> dict[str, Any]:
        (block,) = self._blocks("normal")
        count, log_prior = self._of_classes()
        return {
            "class_count_": count,
            "class_prior_": np.exp(log_prior),
            "theta_": block["mean"],
            "var_": block["variance"],
            "epsilon_": float(block["variance_floor"].max()),
        }


class Counting(Bayes):
    """What families of counts share."""

    _settings: ClassVar = {"alpha": "alpha", "fit_prior": "priors", "class_prior": "priors"}
    _accepted: ClassVar = {"force_alpha": "the method takes an alpha of any size"}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
        "force_alpha": ["boolean"],
    }

    _family: ClassVar[str]

    alpha: float
    fit_prior: bool
    class_prior: ArrayLike | None

    def _start(
        self, X: Any, classes: NDArray[Any], codes: NDArray[np.uint32], weights: NDArray[np.float64] | None
    ) -> None:
        if self.class_prior is not None and len(np.ravel(self.class_prior)) != len(classes):
            raise ValueError("Number of priors must match number of classes.")
        super()._start(X, classes, codes, weights)

    def _method_settings(self) -> dict[str, Any]:
        priors = "data" if self.fit_prior else "equal"
        if self.class_prior is not None:
            given = np.ravel(np.asarray(self.class_prior, dtype=np.float64))
            priors = written(given / given.sum())
        return {"family": self._family, "alpha": self._alpha(), "priors": priors, "calibrate": False}

    def _alpha(self) -> float:
        alphas = np.ravel(np.asarray(self.alpha, dtype=np.float64))
        if not isinstance(self.alpha, Real) and len(alphas) != self.n_features_in_:
            raise ValueError(
                "When alpha is an array, it should contains `n_features`. "
                f"Got {len(alphas)} elements instead of {self.n_features_in_}."
            )
        if alphas.min() < 0:
            raise ValueError("All values in alpha must be greater than 0.")
        if alphas.min() != alphas.max():
            raise ValueError("An alpha for each feature is not there yet. Give one number for all.")
        least = 1e-10
        if alphas[0] < least and not getattr(self, "force_alpha", True):
            warnings.warn(
                f"alpha too small will result in numeric errors, setting alpha = {least:.1e}. Use `force_alpha=True` "
                "to keep alpha unchanged.",
                stacklevel=2,
            )
            return least
        return float(alphas[0])

    def _from_model(self) -> dict[str, Any]:
        count, log_prior = self._of_classes()
        return {"class_count_": count, "class_log_prior_": log_prior}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


class MultinomialNB(Counting):
    """Naive Bayes for counts, such as those of words: a multinomial distribution for each class.

    Parameters
    ----------
    alpha : float, default=1.0
        Additive smoothing: the pseudocount of every feature; 1 is Laplace's rule, 0 no smoothing.
    force_alpha : bool, default=True
        Whether an alpha below 1e-10 is kept; otherwise it is set to 1e-10, with a warning.
    fit_prior : bool, default=True
        Whether class priors are the class frequencies in y; otherwise all classes that have rows have the same prior.
    class_prior : array-like of shape (n_classes,), default=None
        Class priors; None for those that `fit_prior` gives.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Number of rows of each class, or the sum of their weights.
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithms of the class priors; -inf for a class without rows.
    feature_count_ : ndarray of shape (n_classes, n_features)
        The sum of the counts of each feature in each class.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Logarithms of the probabilities of the features.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all strings.
    report_ : dict
        How the answer was found, and remarks.

    Examples
    --------
    >>> from quince import CountVectorizer, MultinomialNB
    >>> words = CountVectorizer()
    >>> X = words.fit_transform(["buy now", "buy cheap now", "see you at lunch", "lunch at noon"])
    >>> model = MultinomialNB().fit(X, ["spam", "spam", "ham", "ham"])
    >>> model.predict(words.transform(["lunch now at noon"]))
    array(['ham'], dtype='<U4')
    """

    _family = "multinomial"
    _takes_sparse = True
    _finite = True

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _check_rows(self, X: Any) -> Any:
        check_non_negative(X, "MultinomialNB (input X)")
        return X

    def _from_model(self) -> dict[str, Any]:
        (block,) = self._blocks("multinomial")
        return super()._from_model() | {"feature_count_": block["count"], "feature_log_prob_": block["log"]}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


class BernoulliNB(Counting):
    """Naive Bayes for features that are yes or no: a Bernoulli distribution for each class and feature.

    Parameters
    ----------
    alpha : float, default=1.0
        Additive smoothing: the pseudocount of yes and of no; 1 is Laplace's rule, 0 no smoothing.
    force_alpha : bool, default=True
        Whether an alpha below 1e-10 is kept; otherwise it is set to 1e-10, with a warning.
    binarize : float or None, default=0.0
        Numbers above this are yes; None for X of zeros and ones.
    fit_prior : bool, default=True
        Whether class priors are the class frequencies in y; otherwise all classes that have rows have the same prior.
    class_prior : array-like of shape (n_classes,), default=None
        Class priors; None for those that `fit_prior` gives.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_
        As for `MultinomialNB`.
    feature_count_ : ndarray of shape (n_classes, n_features)
        Number of rows with yes.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Logarithms of the probabilities of yes.
    n_features_in_, feature_names_in_, report_
        As for `MultinomialNB`.

    Examples
    --------
    >>> from quince import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1], [0, 1]], ["a", "a", "b", "b"])
    >>> model.predict_proba([[1, 0]]).round(3)
    array([[0.857, 0.143]])
    """

    _settings: ClassVar = {**Counting._settings, "binarize": "threshold"}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Counting._parameter_constraints,
        "binarize": [None, Interval(Real, 0, None, closed="left")],
    }
    _family = "bernoulli"
    _takes_sparse = True
    _finite = True

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _method_settings(self) -> dict[str, Any]:
        return super()._method_settings() | {"threshold": float(self.binarize or 0.0)}

    def _check_rows(self, X: Any) -> Any:
        values = X.data if sparse.issparse(X) else X
        if self.binarize is None and not ((values == 0) | (values == 1)).all():
            raise ValueError("With binarize=None, X takes zeros and ones only. Give the number above which X is yes.")
        return X

    def _from_model(self) -> dict[str, Any]:
        (block,) = self._blocks("bernoulli")
        return super()._from_model() | {"feature_count_": block["count"], "feature_log_prob_": block["log_yes"]}
