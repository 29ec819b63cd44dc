"""Bayes classifiers for data frames with native columns: a family for each, or one Gaussian for all numbers."""

from __future__ import annotations

__all__ = ["GaussianClassifier", "MixedNB"]

import os
import warnings
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_y, check_consistent_length

from quince._base import names_of, seed_of, weights_of
from quince._quince import Model, Table, leave_one_out
from quince.bayes._base import NO_LABELS, THREADS, Bayes, labels_of, written


def is_frame(X: Any) -> bool:
    """Whether X is a data frame, or polars' plan of one, which has no stream until it is collected."""
    lazy = type(X).__name__ == "LazyFrame" and type(X).__module__.partition(".")[0] == "polars"
    return lazy or hasattr(X, "__arrow_c_stream__")


def as_table(estimator: Any, X: Any, reset: bool) -> Table | None:
    """X as a table, if it is a data frame, or if the estimator has learnt from one; None for a matrix."""
    if isinstance(X, str | os.PathLike):
        raise ValueError("X cannot be the path of a file here. Give quince.read(path).")
    table = isinstance(X, Table) or is_frame(X)
    if reset:
        estimator._of_table = table
    elif table != estimator._of_table:
        if estimator._of_table:
            kind = type(X).__name__
            raise ValueError(f"The model has learnt from a data frame, and X is a {kind}. Give a data frame.")
        table = False  # scikit-learn looks at the names and takes the numbers
    if not table:
        return None
    X = X if isinstance(X, Table) else Table(X)
    if reset:
        ignored = [name for name, kind in X.kinds.items() if kind == "ignored"]
        if ignored:
            warnings.warn(
                f"not learnt from: {', '.join(ignored)}. Table(X) shows why; Table(X, kinds={{{ignored[0]!r}: "
                "'category'}) takes a column all the same, and Table(X, drop=[...]) leaves it out in silence.",
                UserWarning,
                stacklevel=5,
            )
        estimator.n_features_in_ = len(X.columns)
        estimator.feature_names_in_ = np.array(X.columns, dtype=object)
    return X


def explanation(model: Model, X: Any, row: int) -> dict[str, Any]:
    """What a model has learnt or, of one row of X (counted from 0), the evidence for its class."""
    if X is None:
        return model.explain()
    if not 0 <= row < X.shape[0]:
        raise ValueError(f"There is no row {row}. X has {X.shape[0]} rows, counted from 0.")
    return model.explain(X, row=row)


def as_columns(drawn: dict[str, list[Any]]) -> dict[str, NDArray[Any]]:
    """Rows sampled from a model: numbers as numbers, all else as objects."""
    words = {name: any(isinstance(cell, str) for cell in cells) for name, cells in drawn.items()}
    return {name: np.array(cells, dtype=object if words[name] else None) for name, cells in drawn.items()}


class OfTables(Bayes):
    """A classifier of data frames with native columns, and of matrices."""

    priors: str | Sequence[float]

    #: Whether a data frame was learnt from, whose columns are found by name.
    _of_table: bool

    def _priors(self) -> str:
        return self.priors if isinstance(self.priors, str) else written(self.priors)

    def _check(self, X: Any, y: Any = NO_LABELS, reset: bool = True) -> Any:
        table = as_table(self, X, reset)
        if table is None:
            return super()._check(X, y, reset)
        X = table
        if y is NO_LABELS:
            return X
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        y = _check_y(y, estimator=self)
        check_consistent_length(X, y)
        return X, y

    def leave_one_out(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> NDArray[np.float64]:
        """The probability of each class for each row of X, by a model that has learnt from all the others.

        This is exact, and about as quick as a fit: each row is subtracted from the sufficient statistics. There is one
        column per class, in sorted order. It is exact only where nothing else has seen the row: families are given,
        `calibrate=False`, and nothing follows from all rows together (chosen families and their bins, bandwidths, axes,
        rates towards which a Poisson is smoothed, what is expected of missing values in a Gaussian). Else a ValueError says
        so. Vocabularies and variance floors are those of all rows. The estimator itself is not changed.
        """
        given = clone(self)
        X, y = given._check(X, y)
        classes, codes = labels_of(y)
        return leave_one_out(
            self._method,
            X,
            given._method_settings(),
            target=codes,
            classes=names_of(classes),
            weights=weights_of(sample_weight, X),
            threads=self._threads(),
        )

    def explain(self, X: Any = None, row: int = 0) -> dict[str, Any]:
        """What the model has learnt or, of one row of X (counted from 0), the evidence for its class.

        A dict of sentences and tables.
        """
        return explanation(self._fitted_model(), None if X is None else self._check(X, reset=False), row)

    def sample(self, n: int = 1, label: Any = None, random_state: Any = 0) -> dict[str, NDArray[Any]]:
        """Samples n rows from the model: a dict of columns, the last of which has the labels.

        With a label, all rows are of that class. Columns of numbers are numbers (NaN for a constant column, of which the
        model says nothing), all others strings. The column of labels is called `y`, or `y_` if `y` is taken.
        """
        model = self._fitted_model()
        if not isinstance(n, Integral) or n < 0:
            raise ValueError(f"n cannot be {n!r}. It takes a whole number of at least 0.")
        if label is not None:
            (known,) = np.nonzero(self.classes_ == label)
            if not len(known):
                raise ValueError(f"There is no class {label!r}. The classes are {self.classes_.tolist()}.")
            label = names_of(self.classes_)[known[0]]
        drawn, names = model.sample(n, label=label, seed=seed_of(random_state)), names_of(self.classes_)
        columns = as_columns(drawn)
        columns[model.target] = self.classes_[[names.index(word) for word in drawn[model.target]]]
        return columns

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class MixedNB(OfTables):
    """Naive Bayes with a family for each column, for data frames with native columns.

    Numbers, counts, yes/no, categories and texts each have a family that suits them; where a column of numbers could
    have several, the one with the largest leave-one-out likelihood is selected. Missing values are left out. A matrix is a table of
    numbers, in which NaN is missing; a sparse matrix is a table of counts of words or of yes and no.

    Parameters
    ----------
    family : str or dict, default="auto"
        The family of columns: "auto", "normal", "poisson", "bernoulli", "categorical", "multinomial", "histogram" (bins
        of equal width), "quantiles" (bins with equal numbers of rows) or "kernel-density"; and for several columns
        together "gaussian", which takes ":diagonal", ":spherical", ":mean" and ":pooled", or "markov-chain". A single
        name is for all columns that can have it, `{"age": "normal", ("height", "weight"): "gaussian:pooled"}` or
        `"age=normal,height+weight=gaussian:pooled"` for some, and the key "*" for all others. The columns of a matrix
        are named by their number, or "x0", "x1" ...
    alpha : float, default=1.0
        Additive smoothing: the pseudocount of every category, bin, word and answer; 1 is Laplace's rule, 0 no smoothing.
    p : float, default=0.5
        The prior proportion of yes in yes/no columns, with the weight of 2 alpha rows.
    threshold : float, default=0.0
        The family "bernoulli" takes numbers above this as yes.
    categories : int, default=0
        The least number of categories of the family "categorical" in columns of numbers, from 0 on.
    bins : int or "auto", default="auto"
        The number of bins of the families "histogram" and "quantiles".
    bandwidth : float, default=0.0
        The bandwidth of the family "kernel-density"; 0 follows from the standard deviation of the values.
    variance_floor : float, default=1e-9
        This share of a column's variance is added to the variance of each class.
    variance_floor_of : {"each", "largest"}, default="each"
        Whether that is a share of each column's variance or of the largest.
    priors : {"data", "equal"} or array-like of shape (n_classes,), default="data"
        Class priors: the class frequencies in y, all equal, or one for each class.
    calibrate : bool, default=True
        Whether probabilities are calibrated on rows that were left out, so that they are not overconfident; False is
        Bayes' rule alone. `partial_fit` keeps the calibration of the first rows.
    n_jobs : int, default=None
        Number of threads; -1 for all processors, None for `quince.set_threads`, `OMP_NUM_THREADS` or all processors.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Number of rows of each class, or the sum of their weights.
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithms of the class priors; -inf for a class without rows.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X had any.
    report_ : dict
        How the answer was found, and remarks.

    Examples
    --------
    >>> import pandas as pd
    >>> from quince import MixedNB
    >>> cities = ["Oslo", "Oslo", "Rome", "Rome", None, "Rome"]
    >>> frame = pd.DataFrame({"age": [20, 30, None, 60, 70, 65], "city": cities})
    >>> model = MixedNB(family={"age": "normal"}).fit(frame, ["a", "a", "a", "b", "b", "b"])
    >>> model.predict(pd.DataFrame({"city": ["Oslo", None], "age": [None, 66]}))
    array(['a', 'b'], dtype='<U1')
    """

    _settings: ClassVar = {
        **{name: name for name in ("family", "alpha", "p", "threshold", "categories", "bins", "bandwidth")},
        **{name: name for name in ("variance_floor", "variance_floor_of", "priors", "calibrate")},
    }
    _accepted: ClassVar = {"n_jobs": THREADS}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "family": [str, dict],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "p": [Interval(Real, 0, 1, closed="both")],
        "threshold": [Interval(Real, None, None, closed="neither")],
        "categories": [Interval(Integral, 0, None, closed="left")],
        "bins": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "bandwidth": [Interval(Real, 0, None, closed="left")],
        "variance_floor": [Interval(Real, 0, None, closed="left")],
        "variance_floor_of": [StrOptions({"each", "largest"})],
        "priors": [StrOptions({"data", "equal"}), "array-like"],
        "calibrate": ["boolean"],
        "n_jobs": [None, Integral],
    }
    _takes_sparse = True

    def __init__(
        self,
        *,
        family: str | Mapping[Any, str] = "auto",
        alpha: float = 1.0,
        p: float = 0.5,
        threshold: float = 0.0,
        categories: int = 0,
        bins: int | str = "auto",
        bandwidth: float = 0.0,
        variance_floor: float = 1e-9,
        variance_floor_of: str = "each",
        priors: str | Sequence[float] = "data",
        calibrate: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.family = family
        self.alpha = alpha
        self.p = p
        self.threshold = threshold
        self.categories = categories
        self.bins = bins
        self.bandwidth = bandwidth
        self.variance_floor = variance_floor
        self.variance_floor_of = variance_floor_of
        self.priors = priors
        self.calibrate = calibrate
        self.n_jobs = n_jobs

    def _method_settings(self) -> dict[str, Any]:
        return {
            "family": self.family if isinstance(self.family, str) else families(self.family, self._of_table),
            "alpha": float(self.alpha),
            "p": float(self.p),
            "threshold": float(self.threshold),
            "categories": int(self.categories),
            "bins": self.bins if self.bins == "auto" else int(self.bins),
            "bandwidth": float(self.bandwidth),
            "variance_floor": float(self.variance_floor),
            "variance_floor_of": self.variance_floor_of,
            "priors": self._priors(),
            "calibrate": bool(self.calibrate),
        }

    def _from_model(self) -> dict[str, Any]:
        count, log_prior = self._of_classes()
        return {"class_count_": count, "class_log_prior_": log_prior}


def families(by_column: Mapping[Any, str], of_table: bool) -> str:
    """Families by column, or by several columns, as the method reads them."""
    parts = [family for columns, family in by_column.items() if isinstance(columns, str) and columns == "*"]
    for columns, family in by_column.items():
        if not isinstance(columns, str) or columns != "*":
            names = [_name(column, of_table) for column in (columns if isinstance(columns, tuple) else (columns,))]
            parts.append(f"{'+'.join(names)}={family}")
    return ",".join(parts)


def _name(column: Any, of_table: bool) -> str:
    if isinstance(column, Integral):
        return f'"{column}"' if of_table else f"x{column}"
    if not isinstance(column, str) or '"' in column:
        raise ValueError(f"family names the column {column!r}, which it cannot. Give another name to the column.")
    return f'"{column}"'


class GaussianClassifier(OfTables):
    """A Gaussian for each class over all columns of numbers; other columns are independent of them given the class.

    With a covariance for each class it is quadratic discriminant analysis, with a shared one linear discriminant
    analysis. Columns of other kinds (categories, yes/no, texts) have families of their own, as in `MixedNB`. A missing
    value is left out; in learning it counts as its expectation given the rest of its row.

    Parameters
    ----------
    covariance : {"full", "diagonal", "spherical", "nearest-mean"}, default="full"
        The shape of covariances: any symmetric positive definite matrix, a variance for each column, one variance for
        all columns, or one variance for all columns and classes, with equal priors.
    shared : {"no", "mean", "weighted", "pooled"}, default="no"
        Whether classes share a covariance: each has its own, or they share the mean of theirs, that mean weighted by the
        priors, or the pooled one of all rows about their class's mean.
    unbiased : bool, default=False
        Whether to divide by the number of rows less one (of a pooled covariance, less one for each class).
    variance_floor : float, default=1e-6
        This share of each column's variance over all rows is added to the variances of all classes.
    shrinkage : float or "auto", default=0.0
        Covariances are shrunk by this amount, from 0 to 1, towards a diagonal; "auto" finds the amount for each class by
        Ledoit and Wolf's rule, in units of the columns' standard deviations.
    shrink_to : {"diagonal", "variance", "one"}, default="diagonal"
        That diagonal: the variances of the columns over all rows times the mean ratio of the class's to them, so that
        units do not matter; or for all columns the mean of the class's variances, or one.
    singular : {"refuse", "pseudo-inverse"}, default="refuse"
        What becomes of a full covariance without full rank: it is refused, or its pseudo-inverse is taken, which leaves
        out the directions in which rows do not vary.
    pca : int, default=0
        Project numbers onto this many principal axes first; 0 for none.
    discriminant_axes : int, default=0
        Project numbers onto this many discriminant axes first, those that separate the classes best; 0 for none.
    tolerance : float, default=1e-4
        Discriminant axes leave out directions in which standardised columns have no more standard deviation within
        classes than this, and those along which class means vary by no more than this fraction of the most.
    alpha : float, default=1.0
        Additive smoothing: the pseudocount of every category, word and answer, for columns that are not numbers.
    priors : {"data", "equal"} or array-like of shape (n_classes,), default="data"
        Class priors: the class frequencies in y, all equal, or one for each class.
    calibrate : bool, default=True
        Whether probabilities are calibrated on rows that were left out, so that they are not overconfident; False is
        Bayes' rule alone. `partial_fit` keeps the calibration of the first rows.
    n_jobs : int, default=None
        Number of threads; -1 for all processors, None for `quince.set_threads`, `OMP_NUM_THREADS` or all processors.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_, n_features_in_, feature_names_in_, report_
        As for `MixedNB`.
    means_ : ndarray of shape (n_classes, n_numbers)
        The mean of each column of numbers that varies, or along each principal axis.
    covariance_ : ndarray of shape (n_numbers, n_numbers) or list of such arrays
        The covariance of all classes, or of each.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from quince import GaussianClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(GaussianClassifier(shared="pooled").fit(X, y).score(X, y), 2)
    0.98
    """

    _method = "gaussian"
    _settings: ClassVar = {
        name: name
        for name in (
            "covariance", "shared", "unbiased", "variance_floor", "shrinkage", "shrink_to", "singular", "pca",
            "discriminant_axes", "tolerance", "alpha", "priors", "calibrate",
        )
    }
    _accepted: ClassVar = {"n_jobs": THREADS}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "covariance": [StrOptions({"full", "diagonal", "spherical", "nearest-mean"})],
        "shared": [StrOptions({"no", "mean", "weighted", "pooled"})],
        "unbiased": ["boolean"],
        "variance_floor": [Interval(Real, 0, None, closed="left")],
        "shrinkage": [Interval(Real, 0, 1, closed="both"), StrOptions({"auto"})],
        "shrink_to": [StrOptions({"diagonal", "variance", "one"})],
        "singular": [StrOptions({"refuse", "pseudo-inverse"})],
        "pca": [Interval(Integral, 0, None, closed="left")],
        "discriminant_axes": [Interval(Integral, 0, None, closed="left")],
        "tolerance": [Interval(Real, 0, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "priors": [StrOptions({"data", "equal"}), "array-like"],
        "calibrate": ["boolean"],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        *,
        covariance: str = "full",
        shared: str = "no",
        unbiased: bool = False,
        variance_floor: float = 1e-6,
        shrinkage: float | str = 0.0,
        shrink_to: str = "diagonal",
        singular: str = "refuse",
        pca: int = 0,
        discriminant_axes: int = 0,
        tolerance: float = 1e-4,
        alpha: float = 1.0,
        priors: str | Sequence[float] = "data",
        calibrate: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.covariance = covariance
        self.shared = shared
        self.unbiased = unbiased
        self.variance_floor = variance_floor
        self.shrinkage = shrinkage
        self.shrink_to = shrink_to
        self.singular = singular
        self.pca = pca
        self.discriminant_axes = discriminant_axes
        self.tolerance = tolerance
        self.alpha = alpha
        self.priors = priors
        self.calibrate = calibrate
        self.n_jobs = n_jobs

    def _method_settings(self) -> dict[str, Any]:
        return {
            "covariance": self.covariance,
            "shared": self.shared,
            "unbiased": bool(self.unbiased),
            "variance_floor": float(self.variance_floor),
            "shrinkage": self.shrinkage if isinstance(self.shrinkage, str) else float(self.shrinkage),
            "shrink_to": self.shrink_to,
            "singular": self.singular,
            "pca": int(self.pca),
            "discriminant_axes": int(self.discriminant_axes),
            "tolerance": float(self.tolerance),
            "alpha": float(self.alpha),
            "priors": self._priors(),
            "calibrate": bool(self.calibrate),
        }

    def _from_model(self) -> dict[str, Any]:
        count, log_prior = self._of_classes()
        means = np.empty((len(count), 0))
        covariances = [np.empty((0, 0))]
        for block in self._blocks("gaussian"):
            means = block["mean"]
            covariances = [block[name] for name in block if name.startswith("covariance ")]
        shared = self._model.settings["shared"] != "no" or self._model.settings["covariance"] == "nearest-mean"
        return {
            "class_count_": count,
            "class_log_prior_": log_prior,
            "means_": means,
            "covariance_": covariances[0] if shared else covariances,
        }
