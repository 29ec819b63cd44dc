"""Polynomial features."""

from __future__ import annotations

__all__ = ["PolynomialFeatures"]

from collections.abc import Iterable
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from quince import _quince, _threads
from quince._base import FLOATS, for_extension
from quince.preprocessing._base import Transformer, from_compressed


class PolynomialFeatures(Transformer):
    """All products of columns up to a degree: of a and b up to degree 2 these are 1, a, b, a², ab, b².

    Parameters, attributes and numbers are scikit-learn's. Sparse X stays sparse, whatever the degree.

    Parameters
    ----------
    degree : int or tuple (min_degree, max_degree), default=2
        The highest degree, or the lowest and the highest.
    interaction_only : bool, default=False
        Whether to leave out products of a column with itself.
    include_bias : bool, default=True
        Whether a column of ones comes first.
    order : {"C", "F"}, default="C"
        The memory order of the answer: by rows or by columns.

    Attributes
    ----------
    powers_ : ndarray of shape (n_output_features_, n_features_in_)
        The power of each column in each product.
    n_output_features_ : int
        Number of products.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X had names that are all strings.

    Examples
    --------
    >>> from quince import PolynomialFeatures
    >>> PolynomialFeatures(2).fit_transform([[2.0, 3.0]])
    array([[1., 2., 3., 4., 6., 9.]])
    """

    _learnt = "n_output_features_"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "degree": [Interval(Integral, 0, None, closed="left"), "array-like"],
        "interaction_only": ["boolean"],
        "include_bias": ["boolean"],
        "order": [StrOptions({"C", "F"})],
    }

    n_output_features_: int

    def __init__(
        self,
        degree: int | tuple[int, int] = 2,
        *,
        interaction_only: bool = False,
        include_bias: bool = True,
        order: Literal["C", "F"] = "C",
    ) -> None:
        self.degree = degree
        self.interaction_only = interaction_only
        self.include_bias = include_bias
        self.order = order

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> PolynomialFeatures:
        """Counts the products."""
        self._forget()
        columns = validate_data(self, X, accept_sparse=True).shape[1]
        self._lowest, self._highest = self._degrees()
        self.n_output_features_ = _quince.count_products(
            columns, self._lowest, self._highest, single=self.interaction_only, constant=self.include_bias
        )
        return self

    def _degrees(self) -> tuple[int, int]:
        degree = self.degree
        if isinstance(degree, Integral):
            if degree == 0 and not self.include_bias:
                raise ValueError(
                    "Setting degree to zero and include_bias to False would result in an empty output array."
                )
            return 0, int(degree)
        if not (isinstance(degree, Iterable) and len(degree) == 2):
            raise ValueError(f"degree must be a non-negative int or tuple (min_degree, max_degree), got {degree}.")
        lowest, highest = degree
        whole = isinstance(lowest, Integral) and isinstance(highest, Integral)
        if not (whole and 0 <= lowest <= highest):
            raise ValueError(
                "degree=(min_degree, max_degree) must be non-negative integers that fulfil min_degree <= max_degree, "
                f"got {degree}."
            )
        if highest == 0 and not self.include_bias:
            raise ValueError(
                "Setting both min_degree and max_degree to zero and include_bias to False would result in an empty "
                "output array."
            )
        return int(lowest), int(highest)

    def _terms(self) -> list[list[int]]:
        """The columns of every product."""
        first = [[]] if self.include_bias else []
        lowest = max(1, self._lowest)
        if self._highest < lowest:
            return first
        return first + _quince.monomials(self.n_features_in_, lowest, self._highest, self.interaction_only)

    @property
    def powers_(self) -> NDArray[np.int64]:
        """The power of each column in each product."""
        check_is_fitted(self)
        terms = self._terms()
        powers = np.zeros((len(terms), self.n_features_in_), dtype=np.int64)
        for row, term in zip(powers, terms, strict=True):
            np.add.at(row, term, 1)
        return powers

    def transform(self, X: Any) -> Any:
        """The products of other rows."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=FLOATS, reset=False, accept_sparse=("csr", "csc"))
        found = _quince.products(
            for_extension(X),
            self._lowest,
            self._highest,
            single=self.interaction_only,
            constant=self.include_bias,
            by_columns=self.order == "F",
            threads=_threads.effective(None),
        )
        if not sparse.issparse(X):
            return found
        matrix = from_compressed(found, self.n_output_features_, X.dtype)
        return matrix.tocsc() if X.format == "csc" else matrix

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """A name for each product: `a^2 b`."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)

        def name(term: list[int]) -> str:
            powers = {j: term.count(j) for j in term}
            return " ".join(names[j] if power == 1 else f"{names[j]}^{power}" for j, power in powers.items()) or "1"

        return np.array([name(term) for term in self._terms()], dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
