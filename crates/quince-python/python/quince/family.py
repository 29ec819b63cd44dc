"""Distributions as plain values: to fit to data, to ask for probabilities, to sample from.

>>> from quince.family import Normal
>>> height = Normal(170, 10)
>>> round(height.cumulative(180) - height.cumulative(160), 3)
0.683
>>> Normal.fit([10, 8, 10, 10, 11, 11])
Normal(mean=10.0, standard_deviation=1.0)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quince import _quince


def _numbers(values: ArrayLike) -> NDArray[np.float64]:
    return np.ascontiguousarray(np.asarray(values, dtype=np.float64).ravel())


def _rows(values: ArrayLike) -> NDArray[np.float64]:
    return np.atleast_2d(np.ascontiguousarray(np.asarray(values, dtype=np.float64)))


class Distribution:
    """A distribution of one number. `x` may be a number or an array; the answer has its shape."""

    def _inner(self) -> Any:
        raise NotImplementedError

    def __post_init__(self) -> None:
        # What is no distribution is refused here.
        self._inner()

    def log_density(self, x: ArrayLike) -> Any:
        """The logarithm of the density at x (for counts, of the probability); -inf where x is impossible."""
        return self._each(self._inner().log_density, x)

    def density(self, x: ArrayLike) -> Any:
        """The density at x; for counts, the probability."""
        return np.exp(self.log_density(x))

    def cumulative(self, x: ArrayLike) -> Any:
        """The probability of x or less."""
        return self._each(self._inner().cumulative, x)

    def sample(self, n: int = 1, *, seed: int = 0) -> NDArray[np.float64]:
        """Samples n values."""
        return self._inner().sample(n, seed)

    @property
    def variance(self) -> float:
        """The variance."""
        return float(self._inner().variance)

    @staticmethod
    def _each(at: Any, x: ArrayLike) -> Any:
        found = at(_numbers(x)).reshape(np.shape(x))
        return float(found) if found.ndim == 0 else found


@dataclass(frozen=True)
class Normal(Distribution):
    """The normal distribution."""

    mean: float = 0.0
    standard_deviation: float = 1.0

    def _inner(self) -> Any:
        return _quince.Single.normal(self.mean, self.standard_deviation)

    @classmethod
    def fit(cls, values: ArrayLike, *, unbiased: bool = False) -> Normal:
        """The maximum likelihood estimate; with `unbiased`, the variance is divided by n - 1."""
        found = _quince.Single.normal_of(_numbers(values), unbiased)
        return cls(found.mean, float(np.sqrt(found.variance)))


@dataclass(frozen=True)
class Poisson(Distribution):
    """The Poisson distribution: the number of events that happen `rate` times on average."""

    rate: float

    def _inner(self) -> Any:
        return _quince.Single.poisson(self.rate)

    @property
    def mean(self) -> float:
        """The mean, which is the rate."""
        return self.rate

    @classmethod
    def fit(cls, counts: ArrayLike) -> Poisson:
        """The maximum likelihood estimate."""
        return cls(_quince.Single.poisson_of(_numbers(counts)).mean)


@dataclass(frozen=True)
class Binomial(Distribution):
    """The binomial distribution: the number of successes in `tries` trials; with one trial, a Bernoulli distribution."""

    tries: int
    probability: float

    def _inner(self) -> Any:
        return _quince.Single.binomial(float(self.tries), self.probability)

    @property
    def mean(self) -> float:
        """The mean."""
        return self.tries * self.probability

    @classmethod
    def fit(cls, tries: int, successes: ArrayLike) -> Binomial:
        """The maximum likelihood estimate from these successes in this many trials each."""
        found = _quince.Single.binomial_of(float(tries), _numbers(successes))
        return cls(tries, found.mean / max(tries, 1))


@dataclass(frozen=True)
class Beta(Distribution):
    """The beta distribution: what is known of a probability after `a` - 1 successes and `b` - 1 failures."""

    a: float
    b: float

    def _inner(self) -> Any:
        return _quince.Single.beta(self.a, self.b)

    @property
    def mean(self) -> float:
        """The mean."""
        return self.a / (self.a + self.b)


class Gaussian:
    """The multivariate normal distribution."""

    def __init__(self, mean: ArrayLike, covariance: ArrayLike) -> None:
        self._inner = _quince.Gaussian.of(_numbers(mean), _rows(covariance))

    @classmethod
    def fit(cls, rows: ArrayLike, *, unbiased: bool = False) -> Gaussian:
        """The maximum likelihood estimate; with `unbiased`, the covariance is divided by n - 1."""
        found = _quince.Gaussian.fit(_rows(rows), unbiased)
        return cls(found.mean, found.covariance)

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean."""
        return self._inner.mean

    @property
    def covariance(self) -> NDArray[np.float64]:
        """The covariance."""
        return self._inner.covariance

    def log_density(self, rows: ArrayLike) -> NDArray[np.float64]:
        """The logarithm of the density at each row."""
        rows = _rows(rows)
        if rows.shape[1] != len(self.mean):
            raise ValueError(f"rows of {rows.shape[1]} numbers do not go with a mean of {len(self.mean)}")
        return self._inner.log_density(rows)

    def sample(self, n: int = 1, *, seed: int = 0) -> NDArray[np.float64]:
        """Samples n rows."""
        return self._inner.sample(n, seed)

    def __reduce__(self) -> Any:
        return Gaussian, (self.mean, self.covariance)

    def __repr__(self) -> str:
        return f"Gaussian(mean={self.mean.tolist()}, covariance={self.covariance.tolist()})"


class Multinomial:
    """The multinomial distribution: how often each of several outcomes occurs, such as words or the faces of a die."""

    def __init__(self, probabilities: ArrayLike) -> None:
        self._inner = _quince.Multinomial.of(_numbers(probabilities))

    @classmethod
    def fit(cls, rows: ArrayLike) -> Multinomial:
        """The maximum likelihood estimate from rows of counts; NaN is a missing value, which is left out."""
        return cls(_quince.Multinomial.fit(_rows(rows)).probabilities)

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The probability of each outcome."""
        return self._inner.probabilities

    def log_probability(self, rows: ArrayLike) -> NDArray[np.float64]:
        """The logarithm of the probability of each row of counts, given its sum."""
        return self._inner.log_probability(_rows(rows))

    def sample(self, length: int, n: int = 1, *, seed: int = 0) -> NDArray[np.float64]:
        """Samples n rows of counts, each with the sum `length`."""
        return self._inner.sample(length, n, seed)

    def __reduce__(self) -> Any:
        return Multinomial, (self.probabilities,)

    def __repr__(self) -> str:
        return f"Multinomial({self.probabilities.tolist()})"


class Joint:
    """The joint distribution of two variables: a table with a row for each value of one and a column for each of the other."""

    def __init__(self, table: ArrayLike) -> None:
        self._inner = _quince.Joint.of(_rows(table))

    @classmethod
    def from_conditional(cls, prior: ArrayLike, conditional: ArrayLike) -> Joint:
        """From the marginal probabilities of the rows and, for each row, the conditional probabilities of the columns."""
        return cls(_quince.Joint.from_conditional(_numbers(prior), _rows(conditional)).table)

    @property
    def table(self) -> NDArray[np.float64]:
        """The joint probabilities."""
        return self._inner.table

    @property
    def rows(self) -> NDArray[np.float64]:
        """The marginal probabilities of the rows."""
        return self._inner.rows

    @property
    def columns(self) -> NDArray[np.float64]:
        """The marginal probabilities of the columns."""
        return self._inner.columns

    def given_row(self, row: int) -> NDArray[np.float64] | None:
        """The conditional probabilities of the columns given a row; None if that has probability zero."""
        return self._inner.given_row(row)

    def given_column(self, column: int) -> NDArray[np.float64] | None:
        """The conditional probabilities of the rows given a column, by Bayes' rule; None if that has probability zero."""
        return self._inner.given_column(column)

    def is_independent(self, tolerance: float = 1e-12) -> bool:
        """Whether rows and columns are independent."""
        return self._inner.is_independent(tolerance)

    def correlation(self, of_rows: ArrayLike, of_columns: ArrayLike) -> float | None:
        """The correlation of numbers that stand for the rows and the columns; None if one of them is constant."""
        return self._inner.correlation(_numbers(of_rows), _numbers(of_columns))

    def __reduce__(self) -> Any:
        return Joint, (self.table,)

    def __repr__(self) -> str:
        return f"Joint({self.table.tolist()})"


__all__ = ["Beta", "Binomial", "Distribution", "Gaussian", "Joint", "Multinomial", "Normal", "Poisson"]
