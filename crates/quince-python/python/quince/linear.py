"""Linear models: the prediction is a weighted sum of the features.

`LinearRegression` has the smallest sum of squared errors, `Ridge` adds alpha times the squared length of the
coefficients, and `RidgeClassifier` learns a class as +1 for its rows and -1 for all others. Parameters, defaults and
attributes are scikit-learn's. The solver follows from X and is direct, except for coordinate descent with `positive=True`
and conjugate gradients for sparse X with a penalty and more than 1000 rows and columns. Parameters of scikit-learn's
solvers are accepted and checked, but have no effect.
"""

from __future__ import annotations

__all__ = ["LinearRegression", "Ridge", "RidgeClassifier"]

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils import Tags, column_or_1d, compute_class_weight, compute_sample_weight
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from quince._base import FLOATS, Estimator, columns_of, for_extension, learning, names_of, written_class_weights
from quince._quince import Model, fit, linear_outputs, with_coefficients
from quince._threads import effective

SPARSE = ("csr", "csc", "coo")


class _LinearModel(Estimator):
    """Fitting and predicting, whatever the loss."""

    coef_: NDArray[Any]
    intercept_: Any

    #: Settings that no parameter stands for, with the reason.
    _implied: ClassVar = {"probabilities": "numbers have none, and scikit-learn's classifier shows none"}

    #: Whether coefficients and intercept of a single output are shown without the axis of outputs.
    _flat_coef: bool
    _flat_intercept: bool
    _type: str

    def _fit(
        self, method: str, X: Any, y: NDArray[Any], weights: NDArray[Any] | None, settings: dict[str, Any], **given: Any
    ) -> Model:
        if weights is not None:
            weights = np.ascontiguousarray(weights, dtype=np.float64)
        model = fit(method, for_extension(X), settings, target=y, weights=weights, **given)
        if model.stop_reason not in ("computed", "converged"):
            warnings.warn(" ".join(model.remarks), ConvergenceWarning, stacklevel=3)
        return model

    def _take(self, model: Model, dtype: Any) -> None:
        self._model, self._type = model, dtype.name
        vars(self).update(self._from_model())

    def _from_model(self) -> dict[str, Any]:
        coefficients = np.ascontiguousarray(self._model.parameter("coefficients").T, dtype=self._type)
        intercept = self._model.parameter("intercept").astype(self._type)
        return {
            "coef_": coefficients[0] if self._flat_coef else coefficients,
            "intercept_": 0.0 if not self.fit_intercept else intercept[0] if self._flat_intercept else intercept,
        }

    def _outputs(self, X: Any, exact: bool = False) -> NDArray[Any]:
        """X @ coef_ + intercept_, in the precision of X unless exact."""
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, accept_sparse=SPARSE, dtype=FLOATS, reset=False)
        coefficients, intercept = self._parameters()
        outputs = linear_outputs(
            for_extension(X), coefficients, intercept, threads=effective(getattr(self, "n_jobs", None))
        )
        if not exact:
            outputs = outputs.astype(np.result_type(X.dtype, np.asarray(self.coef_).dtype), copy=False)
        return outputs.ravel() if np.ndim(self.coef_) == 1 else outputs

    def _parameters(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The model's coefficients and intercepts; those of the attributes, where a user has set them."""
        if "_model" in vars(self):
            known = self._from_model()
            if all(np.array_equal(getattr(self, name), value) for name, value in known.items()):
                return np.ascontiguousarray(self._model.parameter("coefficients").T), self._model.parameter("intercept")
        coefficients = np.atleast_2d(np.asarray(self.coef_, dtype=np.float64))
        return coefficients, np.array(np.broadcast_to(np.ravel(self.intercept_), len(coefficients)), dtype=np.float64)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class LinearRegression(MultiOutputMixin, RegressorMixin, _LinearModel):
    """Ordinary least squares: the coefficients with the smallest sum of squared errors.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to add an intercept to the weighted sum.
    copy_X : bool, default=True
        Accepted for compatibility with scikit-learn: X is never written to.
    tol : float, default=1e-6
        For dense X, directions with a singular value below this fraction of the largest are left out; for sparse X only
        those of rounding errors.
    n_jobs : int, default=None
        Number of threads; -1 for all processors, None for `quince.set_threads`, `OMP_NUM_THREADS` or all processors.
    positive : bool, default=False
        Allow no coefficient below zero.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        The coefficients.
    intercept_ : float or ndarray of shape (n_targets,)
        The intercept; 0.0 with `fit_intercept=False`.
    rank_ : int
        Rank of X without its column means. Dense X only.
    singular_ : ndarray of shape (min(n_samples, n_features),)
        Singular values of X without its column means, computed when first read. Dense X only.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all strings.
    report_ : dict
        How the answer was found, how exact it is, and remarks.

    Examples
    --------
    >>> import numpy as np
    >>> from quince import LinearRegression
    >>> X = np.array([[1.0, 1.0], [1.0, 2.0], [2.0, 2.0], [2.0, 3.0]])
    >>> line = LinearRegression().fit(X, X @ [1, 2] + 3)
    >>> line.coef_.round(6)
    array([1., 2.])
    >>> line.predict([[3, 5]]).round(6)
    array([16.])
    """

    _settings: ClassVar = {"fit_intercept": "intercept", "positive": "positive", "tol": "tolerance"}
    _accepted: ClassVar = {
        "copy_X": "X is never written to",
        "n_jobs": "threads belong to the run, not to the method",
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "fit_intercept": ["boolean"],
        "copy_X": ["boolean"],
        "n_jobs": [None, Integral],
        "positive": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        positive: bool = False,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive

    @learning
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> LinearRegression:
        """Fits to rows X (dense or sparse) and targets y, of which there may be several columns.

        sample_weight says how much each row counts.
        """
        threads = effective(self.n_jobs)
        X, y = validate_data(
            self, X, y, accept_sparse=SPARSE, dtype=FLOATS, y_numeric=True, multi_output=True
        )
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=X.dtype, ensure_non_negative=True)
        self._flat_coef = self._flat_intercept = y.ndim == 1
        dense = not sparse.issparse(X)
        settings = {
            "intercept": self.fit_intercept,
            "positive": self.positive,
            "tolerance": float(self.tol) if dense else 0.0,
        }
        self._take(self._fit("least-squares", X, columns_of(y), weights, settings, threads=threads), X.dtype)
        for name in ("rank_", "singular_"):
            vars(self).pop(name, None)
        self._has_spectrum = dense and not self.positive
        if self._has_spectrum:
            self.rank_ = self._model.parameter("rank")
        return self

    def __getattr__(self, name: str) -> Any:
        # Singular values cost more than the fit. They become an attribute like any other when somebody reads it; a
        # property would be read by everyone who looks through the attributes, such as the display in a notebook.
        if name == "singular_" and vars(self).get("_has_spectrum"):
            self.singular_ = self._model.parameter("singular_values").astype(self._type)
            return self.singular_
        return super().__getattribute__(name)  # raises the error that brought us here

    def predict(self, X: Any) -> NDArray[Any]:
        """The predicted numbers for rows X."""
        return self._outputs(X)

    def __getstate__(self) -> dict[str, Any]:
        if vars(self).get("_has_spectrum"):
            self.singular_  # noqa: B018 - read, and so worked out: a saved model does not know it
        return super().__getstate__()


class _Ridge(_LinearModel):
    """What ridge regression and classification share."""

    _settings: ClassVar = {"alpha": "alpha", "fit_intercept": "intercept", "positive": "positive"}
    _accepted: ClassVar = {
        "copy_X": "X is never written to",
        "max_iter": "the solution is direct",
        "tol": "the solution is direct",
        "solver": "checked and shown in solver_; the solution is direct whatever it says",
        "random_state": "nothing is drawn at random",
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        "fit_intercept": ["boolean"],
        "copy_X": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="left")],
        "solver": [StrOptions({"auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"})],
        "positive": ["boolean"],
        "random_state": ["random_state"],
    }

    def _fit_ridge(
        self,
        X: Any,
        y: NDArray[Any],
        outputs: int,
        weights: NDArray[Any] | None,
        also: dict[str, Any] | None = None,
        **given: Any,
    ) -> None:
        self.solver_ = self._solver(sparse.issparse(X))
        iterates = self.solver_ in ("lsqr", "sag", "saga")
        self.n_iter_ = np.ones(outputs, dtype=np.int32) if iterates else None
        self._flat_coef, self._flat_intercept = outputs == 1, self._flat_intercept and outputs == 1
        settings = {"intercept": self.fit_intercept, "positive": self.positive, "probabilities": False, **(also or {})}
        alphas = np.broadcast_to(self._alphas(outputs), outputs)
        distinct = np.unique(alphas)
        models = [
            self._fit("ridge", X, y, weights, {**settings, "alpha": alpha}, threads=effective(None), **given)
            for alpha in distinct.tolist()
        ]
        model = models[-1]
        if len(distinct) > 1:
            # Of each model the outputs that have its alpha.
            which = np.searchsorted(distinct, alphas), np.arange(outputs)
            coefficients = np.stack([one.parameter("coefficients").T for one in models])[which]
            intercept = np.stack([one.parameter("intercept") for one in models])[which]
            model = with_coefficients(model, np.ascontiguousarray(coefficients), intercept.tolist())
        self._take(model, X.dtype)

    def _solver(self, is_sparse: bool) -> str:
        """The name that scikit-learn would show, and its refusals."""
        if self.solver == "lbfgs" and not self.positive:
            raise ValueError("'lbfgs' solver can be used only when positive=True. Please use another solver.")
        if self.positive:
            if self.solver not in ("auto", "lbfgs"):
                raise ValueError(
                    f"solver='{self.solver}' does not support positive fitting. Please"
                    " set the solver to 'auto' or 'lbfgs', or set `positive=False`"
                )
            return "lbfgs"
        if self.solver == "auto":
            return "sparse_cg" if is_sparse else "cholesky"
        return self.solver

    def _alphas(self, outputs: int) -> list[float]:
        alphas = np.ravel(np.asarray(self.alpha, dtype=np.float64))
        if len(alphas) not in (1, outputs):
            raise ValueError(
                f"Number of targets and number of penalties do not correspond: {len(alphas)} != {outputs}"
            )
        if not (np.isfinite(alphas) & (alphas >= 0)).all():
            raise ValueError(f"alpha must be finite and at least 0. Got {self.alpha!r}.")
        return alphas.tolist()


class Ridge(MultiOutputMixin, RegressorMixin, _Ridge):
    """Least squares with an L2 penalty: alpha times the squared length of the coefficients is added to the error.

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,), default=1.0
        What the squared length of the coefficients costs (the L2 penalty), for all targets or for each; 0 is least
        squares.
    fit_intercept : bool, default=True
        Whether to add an intercept, which is not penalised, to the weighted sum.
    copy_X : bool, default=True
        Accepted for compatibility with scikit-learn: X is never written to.
    max_iter, tol, random_state
        Accepted for compatibility with scikit-learn: the solver needs none of them.
    solver : {'auto', 'svd', 'cholesky', 'lsqr', 'sparse_cg', 'sag', 'saga', 'lbfgs'}, default='auto'
        Checked as in scikit-learn and shown in `solver_`; the solver follows from X, and `report_` names it.
    positive : bool, default=False
        Allow no coefficient below zero.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        The coefficients.
    intercept_ : float or ndarray of shape (n_targets,)
        The intercept; 0.0 with `fit_intercept=False`.
    n_iter_ : None or ndarray of shape (n_targets,)
        One for the solvers that count iterations in scikit-learn, else None.
    solver_ : str
        The solver's name, as scikit-learn would show it.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all strings.
    report_ : dict
        How the answer was found, how exact it is, and remarks.

    Examples
    --------
    >>> import numpy as np
    >>> from quince import Ridge
    >>> X = np.array([[1.0, 1.0], [1.0, 2.0], [2.0, 2.0], [2.0, 3.0]])
    >>> Ridge(alpha=0.1).fit(X, X @ [1, 2] + 3).coef_.round(3)
    array([0.992, 1.908])
    """

    _implied: ClassVar = {**_Ridge._implied, "class_weights": "numbers have no classes"}

    def __init__(
        self,
        alpha: float | ArrayLike = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        solver: str = "auto",
        positive: bool = False,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state

    @learning
    def fit(self, X: Any, y: ArrayLike, sample_weight: float | ArrayLike | None = None) -> Ridge:
        """Fits to rows X (dense or sparse) and targets y, of which there may be several columns.

        sample_weight says how much each row counts.
        """
        X, y = validate_data(
            self, X, y, accept_sparse=SPARSE, dtype=FLOATS, y_numeric=True, multi_output=True
        )
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=X.dtype)
        targets = columns_of(y)
        self._flat_intercept = y.ndim == 1
        self._fit_ridge(X, targets, targets.shape[1], weights)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The predicted numbers for rows X."""
        return self._outputs(X)


class RidgeClassifier(ClassifierMixin, _Ridge):
    """Ridge regression as a classifier: +1 for the rows of a class and -1 for all others, the largest output wins.

    Parameters
    ----------
    alpha : float, default=1.0
        What the squared length of the coefficients costs (the L2 penalty).
    fit_intercept : bool, default=True
        Whether to add an intercept, which is not penalised, to the weighted sum.
    copy_X : bool, default=True
        Accepted for compatibility with scikit-learn: X is never written to.
    max_iter, tol, random_state
        Accepted for compatibility with scikit-learn: the solver needs none of them.
    class_weight : dict or 'balanced', default=None
        Weights of the classes; with 'balanced', all classes have the same total weight.
    solver : {'auto', 'svd', 'cholesky', 'lsqr', 'sparse_cg', 'sag', 'saga', 'lbfgs'}, default='auto'
        Checked as in scikit-learn and shown in `solver_`; the solver follows from X, and `report_` names it.
    positive : bool, default=False
        Allow no coefficient below zero.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    coef_ : ndarray of shape (n_features,) or (n_classes, n_features)
        The coefficients; one row for two classes, positive for the second.
    intercept_ : float or ndarray of shape (1,) or (n_classes,)
        The intercepts; 0.0 with `fit_intercept=False`.
    n_iter_, solver_, n_features_in_, feature_names_in_, report_
        As for `Ridge`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from quince import RidgeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(RidgeClassifier().fit(X, y).score(X, y), 2)
    0.85
    """

    _settings: ClassVar = {**_Ridge._settings, "class_weight": "class_weights"}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_Ridge._parameter_constraints,
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    #: None, or for several labels a row whether y was "dense" or "sparse".
    _labels: str | None

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        class_weight: dict[Any, float] | str | None = None,
        solver: str = "auto",
        positive: bool = False,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.solver = solver
        self.positive = positive
        self.random_state = random_state

    @learning
    def fit(self, X: Any, y: ArrayLike, sample_weight: float | ArrayLike | None = None) -> RidgeClassifier:
        """Fits to rows X (dense or sparse) and labels y, or, for several labels per row, a matrix of zeros and ones.

        sample_weight says how much each row counts.
        """
        X, y = validate_data(self, X, y, accept_sparse=SPARSE, dtype=FLOATS, multi_output=True)
        binarizer = LabelBinarizer(pos_label=1, neg_label=-1)
        indicators = binarizer.fit_transform(y)
        several = binarizer.y_type_.startswith("multilabel")
        if not several:
            y = column_or_1d(y, warn=True)
        self.classes_ = binarizer.classes_
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=X.dtype)
        self._flat_intercept = False
        self._labels = ("sparse" if sparse.issparse(y) else "dense") if several else None
        outputs = indicators.shape[1]
        if several or len(self.classes_) < 2:
            dense = indicators.toarray() if sparse.issparse(indicators) else indicators
            self._fit_ridge(X, columns_of(dense), outputs, self._weighed_by_class(y, weights))
        else:
            codes = np.searchsorted(self.classes_, y).astype(np.uint32)
            given = self._weights_apart(y, weights) if self.class_weight else {"weights": weights}
            self._fit_ridge(X, codes, outputs, classes=names_of(self.classes_), **given)
        return self

    def _weighed_by_class(self, y: NDArray[Any], weights: NDArray[Any] | None) -> NDArray[Any] | None:
        """Weights of rows, times those of their classes."""
        if not self.class_weight:
            return weights
        by_class = compute_sample_weight(self.class_weight, y)
        return by_class if weights is None else weights * by_class

    def _weights_apart(self, y: NDArray[Any], weights: NDArray[Any] | None) -> dict[str, Any]:
        """What a fit is given of weights: a setting for those of classes, and those of rows."""
        written = written_class_weights(
            self.classes_, compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        )
        if written is None:
            return {"weights": self._weighed_by_class(y, weights)}
        # scikit-learn balances numbers of rows here, whatever they weigh.
        setting = "balanced" if isinstance(self.class_weight, str) and weights is None else written
        return {"weights": weights, "also": {"class_weights": setting}}

    def decision_function(self, X: Any) -> NDArray[Any]:
        """The output for each class; for two classes one output, positive for the second."""
        scores = self._outputs(X)
        return scores.ravel() if scores.ndim > 1 and scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The predicted labels for rows X."""
        scores = self._outputs(X, exact=True)
        scores = scores.ravel() if scores.ndim > 1 and scores.shape[1] == 1 else scores
        if self._labels is not None:
            chosen = (scores > 0).astype(int).reshape(len(scores), -1)
            return sparse.csr_matrix(chosen) if self._labels == "sparse" else chosen
        indices = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[indices]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
