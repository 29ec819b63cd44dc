"""Distributions against scipy's, and joint tables worked out on paper."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from quince.family import Beta, Binomial, Gaussian, Joint, Multinomial, Normal, Poisson

COUNTS = np.arange(0.0, 30.0)
NUMBERS = np.linspace(-6.0, 8.0, 41)
SHARES = np.linspace(0.02, 0.98, 33)


@pytest.mark.parametrize(
    ("ours", "theirs", "x"),
    [
        (Normal(1.5, 2.0), stats.norm(1.5, 2.0), NUMBERS),
        (Poisson(7.25), stats.poisson(7.25), COUNTS),
        (Binomial(20, 0.3), stats.binom(20, 0.3), COUNTS),
        (Binomial(1, 0.8), stats.bernoulli(0.8), COUNTS[:4]),
        (Beta(2.5, 0.75), stats.beta(2.5, 0.75), SHARES),
    ],
    ids=repr,
)
def test_densities_and_moments_are_scipys(ours, theirs, x):
    log_density = theirs.logpdf if hasattr(theirs.dist, "logpdf") else theirs.logpmf
    assert_allclose(ours.log_density(x), log_density(x), rtol=1e-11, atol=1e-12)
    assert_allclose(ours.density(x), np.exp(log_density(x)), rtol=1e-11, atol=1e-15)
    assert_allclose(ours.cumulative(x), theirs.cdf(x), rtol=1e-8, atol=1e-12)
    assert_allclose([ours.mean, ours.variance], theirs.stats("mv"), rtol=1e-12)
    assert isinstance(ours.density(x[2]), float) and ours.density(x.reshape(1, -1)).shape == (1, len(x))
    assert pickle.loads(pickle.dumps(ours)) == ours
    draws = ours.sample(5000, seed=3)
    assert abs(draws.mean() - ours.mean) < 5 * np.sqrt(ours.variance / 5000)
    assert (ours.sample(9, seed=1) == ours.sample(9, seed=1)).all()


def test_fits_are_those_of_maximum_likelihood(rng):
    values = rng.normal(3.0, 2.0, 200)
    assert_allclose((Normal.fit(values).mean, Normal.fit(values).standard_deviation), stats.norm.fit(values))
    assert_allclose(Normal.fit(values, unbiased=True).variance, values.var(ddof=1))
    counts = rng.poisson(4.0, 200)
    assert_allclose(Poisson.fit(counts).rate, counts.mean())
    assert_allclose(Binomial.fit(20, counts).probability, counts.mean() / 20)
    rows = rng.normal(size=(50, 3)) @ rng.normal(size=(3, 3))
    ours = Gaussian.fit(rows)
    assert_allclose(ours.covariance, np.cov(rows.T, bias=True), atol=1e-12)
    theirs = stats.multivariate_normal(rows.mean(axis=0), np.cov(rows.T, bias=True))
    assert_allclose(ours.log_density(rows), theirs.logpdf(rows), rtol=1e-10)
    assert_allclose(pickle.loads(pickle.dumps(ours)).mean, ours.mean)
    assert ours.sample(4).shape == (4, 3)
    words = Multinomial.fit([[3, 1, 1, 2]])
    assert_allclose(np.exp(words.log_probability([3, 1, 1, 2])), [0.05508], atol=5e-6)
    assert words.sample(7, 5).sum(axis=1).tolist() == [7.0] * 5


def test_an_urn_as_a_joint_table():
    urn = Joint.from_conditional([3 / 4, 1 / 4], [[2 / 3, 1 / 3], [1, 0]])
    assert_allclose(urn.table, [[1 / 2, 1 / 4], [1 / 4, 0]])
    assert_allclose((urn.rows, urn.columns), ([3 / 4, 1 / 4], [3 / 4, 1 / 4]))
    assert_allclose(urn.given_column(0), [2 / 3, 1 / 3])
    assert urn.given_row(5) is None and not urn.is_independent()
    assert_allclose(urn.correlation([0, 1], [0, 1]), -1 / 3)


def test_what_is_no_distribution_is_refused():
    for wrong, sentence in [
        (lambda: Normal(0, 0), "setting 'standard_deviation' cannot be 0"),
        (lambda: Poisson.fit([0.5]), "setting 'counts' cannot be 0.5"),
        (lambda: Beta(0, 1), "setting 'a' cannot be 0"),
        (lambda: Gaussian([0, 0], [[1, 1], [1, 1]]), "not positive definite"),
        (lambda: Gaussian([0, 0], [[1, 0], [0, 1]]).log_density([1, 2, 3]), "do not go with a mean of 2"),
        (lambda: Joint([[0, 0]]), "a joint table holds probabilities"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            wrong()
