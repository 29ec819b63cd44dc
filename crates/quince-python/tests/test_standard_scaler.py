"""Scaled numbers: the same as scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.preprocessing as theirs
from preprocessing_data import close, with_missing
from scipy import sparse

import quince


def same_scaler(ours, other, rtol=1e-10):
    for name in ("mean_", "var_", "scale_"):
        mine, their = getattr(ours, name), getattr(other, name)
        assert (mine is None) == (their is None), name
        if mine is not None:
            assert mine.dtype == their.dtype
            np.testing.assert_allclose(mine, their, rtol=rtol, atol=1e-12, err_msg=name)
    np.testing.assert_allclose(ours.n_samples_seen_, other.n_samples_seen_, rtol=1e-6)
    assert np.shape(ours.n_samples_seen_) == np.shape(other.n_samples_seen_)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("parameters", [{}, {"with_mean": False}, {"with_std": False}], ids=str)
def test_scaled_numbers_are_those_of_scikit_learn(parameters, order, weighted, dtype, missing, rng):
    X = with_missing(rng, 300, 7, 0.2 if missing else 0).astype(dtype)
    X[:, 2] = 5
    X = np.asarray(X, order=order)
    weights = rng.random(300) if weighted else None
    ours, other = quince.StandardScaler(**parameters), theirs.StandardScaler(**parameters)
    ours.fit(X, sample_weight=weights)
    other.fit(X, sample_weight=weights)
    tolerance = 1e-10 if dtype is np.float64 else 1e-5
    same_scaler(ours, other, tolerance)
    close(ours.transform(X), other.transform(X), tolerance, tolerance)
    again = ours.transform(X)
    close(ours.inverse_transform(again), other.inverse_transform(other.transform(X)), 1e-5, 1e-5)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("parameters", [{}, {"with_std": False}, {"with_mean": False, "with_std": False}], ids=str)
def test_a_scaler_learns_in_parts(parameters, missing, weighted, rng):
    X = with_missing(rng, 200, 5, 0.2 if missing else 0)
    X[:50, 1] = 3.0
    weights = rng.random(200)
    ours, other = quince.StandardScaler(**parameters), theirs.StandardScaler(**parameters)
    for part in np.array_split(np.arange(200), 4):
        weight = weights[part] if weighted and parameters != {"with_mean": False, "with_std": False} else None
        ours.partial_fit(X[part], sample_weight=weight)
        other.partial_fit(X[part], sample_weight=weight)
        same_scaler(ours, other)


def test_a_column_that_begins_without_a_value_is_learnt_later(rng):
    """scikit-learn's has NaN for its mean ever after."""
    X = with_missing(rng, 200, 3)
    X[:50, 1] = X[150:, 2] = np.nan
    parts = quince.StandardScaler()
    for part in np.array_split(X, 4):
        parts.partial_fit(part)
    same_scaler(parts, theirs.StandardScaler().fit(X))


@pytest.mark.parametrize("made", [sparse.csr_matrix, sparse.csc_matrix])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("with_std", [True, False])
def test_sparse_numbers_are_scaled_without_centring(with_std, parts, missing, made, rng):
    X = np.where(rng.random((90, 6)) < 0.3, with_missing(rng, 90, 6, 0.3 if missing else 0), 0.0)
    weights = rng.random(90) if with_std else None
    ours = quince.StandardScaler(with_mean=False, with_std=with_std)
    other = theirs.StandardScaler(with_mean=False, with_std=with_std)
    for part in np.array_split(np.arange(90), parts):
        weight = None if weights is None else weights[part]
        ours.partial_fit(made(X[part]), sample_weight=weight)
        other.partial_fit(made(X[part]), sample_weight=weight)
    same_scaler(ours, other)
    close(ours.transform(made(X)), other.transform(made(X)))
    close(ours.inverse_transform(made(X)), other.inverse_transform(made(X)))
    with pytest.raises(ValueError, match="Cannot center sparse"):
        quince.StandardScaler().fit(made(X))


def test_a_large_offset_costs_no_digits(rng):
    X = rng.normal(size=(5000, 3)) + 1e9
    scaled = quince.StandardScaler().fit_transform(X)
    np.testing.assert_allclose(scaled.std(axis=0), 1, rtol=1e-9)
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-6)


def test_nothing_is_written_into_x_unless_asked(rng):
    X = rng.normal(size=(20, 3))
    before = X.copy()
    quince.StandardScaler().fit_transform(X)
    assert np.array_equal(X, before)
    scaler = quince.StandardScaler(copy=False)
    assert scaler.fit(X).transform(X) is X and not np.array_equal(X, before)
