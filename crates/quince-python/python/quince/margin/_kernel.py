"""The base of support vector machines with any kernel."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from quince.margin._base import SupportVectorMachine, checked

KERNELS = {"linear": "linear", "poly": "polynomial", "rbf": "rbf", "sigmoid": "sigmoid", "precomputed": "precomputed"}

KERNEL_CONSTRAINTS: dict[str, Any] = {
    "kernel": [StrOptions(set(KERNELS)), callable],
    "degree": [Interval(Integral, 0, None, closed="left")],
    "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "tol": [Interval(Real, 0.0, None, closed="neither")],
    "shrinking": ["boolean"],
    "cache_size": [Interval(Real, 0, None, closed="neither")],
    "verbose": ["verbose"],
    "max_iter": [Interval(Integral, -1, None, closed="left")],
}
BIAS_RULE = StrOptions({"mean", "median"})


class KernelSVM(SupportVectorMachine):
    """Kernels, and attributes of support vectors."""

    _method = "svm"
    _not_converged = (
        "Solver terminated early (max_iter={0.max_iter}). "
        "Consider pre-processing your data with StandardScaler or MinMaxScaler."
    )
    _accepted: ClassVar = {"verbose": "progress belongs to the run, not to the method"}

    support_: NDArray[np.int32]
    support_vectors_: Any
    dual_coef_: Any
    intercept_: NDArray[np.float64]
    n_support_: NDArray[np.int32]
    fit_status_: int
    shape_fit_: tuple[int, ...]

    def _kernel_settings(self) -> dict[str, Any]:
        return {
            "kernel": "precomputed" if callable(self.kernel) else KERNELS[self.kernel],
            "degree": int(self.degree),
            "gamma": self.gamma if isinstance(self.gamma, str) else float(self.gamma),
            "constant": float(self.coef0),
            "tolerance": float(np.clip(self.tol, 1e-12, 1.0)),
            "steps": 0 if self.max_iter == -1 else max(1, int(self.max_iter)),
            "cache": float(np.clip(self.cache_size, 1.0, 1e6)),
            "shrinking": bool(self.shrinking),
            "bias": self.bias,
        }

    def _rows(self, X: Any) -> Any:
        """Rows as the kernel sees them: a kernel that is a function is called."""
        if not callable(self.kernel):
            return X
        if sparse.issparse(X):
            raise TypeError("Sparse input is not supported when kernel is callable.")
        return np.ascontiguousarray(self.kernel(X, self._fit_rows), dtype=np.float64)

    def _learn(self, X: Any, **target: Any) -> None:
        if self.kernel == "precomputed" and sparse.issparse(X):
            raise TypeError("Sparse precomputed kernels are not supported.")
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} matrix."
            )
        vars(self).pop("_fit_rows", None)
        if callable(self.kernel):
            self._fit_rows = X.copy()
        self._sparse = sparse.issparse(X)
        self.shape_fit_ = X.shape
        self._model = self._fit_svm(self._rows(X), **target)
        self.fit_status_ = int(self._model.stop_reason != "converged")
        vars(self).update(self._from_model())

    def _from_model(self) -> dict[str, Any]:
        indices = self._model.parameter("support_indices")
        beta = self._model.parameter("coefficients")
        vectors = self._vectors()
        # Support vectors of the first class stand before those of the second.
        order = np.argsort(beta > 0, kind="stable") if self._model.task == "classification" else np.arange(len(beta))
        coefficients = beta[order][None, :]
        found = {
            "support_": indices[order],
            "support_vectors_": vectors[order] if vectors.shape[0] == len(order) else vectors,
            "dual_coef_": sparse.csr_matrix(coefficients) if self._sparse else coefficients,
            "intercept_": np.array([self._model.parameter("bias")]),
            "n_support_": self._counts(beta),
        }
        return found

    def _counts(self, beta: NDArray[np.float64]) -> NDArray[np.int32]:
        return np.array([len(beta)], dtype=np.int32)

    def _vectors(self) -> Any:
        """The support vectors; none if the kernel is precomputed."""
        if self._model.settings["kernel"] == "precomputed":
            return np.empty((0, 0))
        return self._model.parameter("support_vectors")

    @property
    def coef_(self) -> Any:
        """Weights of the features, of a linear kernel."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        check_is_fitted(self)
        weights = self.dual_coef_ @ self.support_vectors_
        if not sparse.issparse(weights):
            weights.flags.writeable = False
        return weights

    @property
    def n_iter_(self) -> Any:
        """Number of SMO steps."""
        return self._shown_steps(self._fitted_model().parameter("steps"))

    def _shown_steps(self, steps: int) -> Any:
        return steps

    def _asked(self, X: Any) -> NDArray[np.float64]:
        return self._scores(self._queries(X))

    def _queries(self, X: Any) -> Any:
        """Rows to be asked about, as the kernel sees them."""
        check_is_fitted(self)
        X = checked(self, X, reset=False)
        if self.kernel == "precomputed" and X.shape[1] != self.shape_fit_[0]:
            raise ValueError(
                f"X.shape[1] = {X.shape[1]} should be equal to {self.shape_fit_[0]}, "
                "the number of samples at training time"
            )
        return self._rows(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags
