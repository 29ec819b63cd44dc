"""Polynomial features: the same as scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.preprocessing as theirs
from preprocessing_data import close
from scipy import sparse

import quince

DEGREES = [0, 1, 2, 3, 4, (0, 2), (2, 2), (2, 3), (1, 4), (3, 5)]


@pytest.mark.parametrize("degree", DEGREES, ids=str)
@pytest.mark.parametrize("interaction_only", [False, True])
@pytest.mark.parametrize("include_bias", [False, True])
@pytest.mark.parametrize("data", ["C", "F", "float32", "csr", "csc"])
def test_products_are_those_of_scikit_learn(data, include_bias, interaction_only, degree, rng):
    X = rng.normal(size=(23, 4))
    if data in ("csr", "csc"):
        X = getattr(sparse, f"{data}_matrix")(np.where(rng.random(X.shape) < 0.5, X, 0))
    elif data == "float32":
        X = X.astype(np.float32)
    order = "F" if data == "F" else "C"
    parameters = {"interaction_only": interaction_only, "include_bias": include_bias, "order": order}
    ours, other = quince.PolynomialFeatures(degree, **parameters), theirs.PolynomialFeatures(degree, **parameters)
    try:
        expected = other.fit_transform(X)
    except ValueError as error:
        with pytest.raises(ValueError) as said:
            ours.fit_transform(X)
        if "empty output" in str(error):
            assert str(said.value) == str(error)
        return
    found = ours.fit_transform(X)
    close(found, expected, 1e-5 if data == "float32" else 1e-13)
    assert ours.n_output_features_ == other.n_output_features_ == found.shape[1]
    assert np.array_equal(ours.powers_, other.powers_)
    assert list(ours.get_feature_names_out()) == list(other.get_feature_names_out())
    assert list(ours.get_feature_names_out(list("abcd"))) == list(other.get_feature_names_out(list("abcd")))
    if not sparse.issparse(found) and min(found.shape) > 1:
        assert found.flags[f"{order}_CONTIGUOUS"]


def test_sparse_products_may_have_very_many_columns(rng):
    X = sparse.random(30, 3000, density=0.002, format="csr", random_state=0)
    ours, other = quince.PolynomialFeatures(3).fit(X), theirs.PolynomialFeatures(3).fit(X)
    found, expected = ours.transform(X), other.transform(X)
    assert found.shape == expected.shape and ours.n_output_features_ == other.n_output_features_
    expected.sort_indices()
    assert np.array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.data, expected.data, rtol=1e-13)


@pytest.mark.parametrize("degree", [(1, 2, 3), (2, 1), (-1, 2), (1.0, 2)], ids=str)
def test_a_wrong_degree_gets_the_sentence_of_scikit_learn(degree):
    with pytest.raises(ValueError) as theirs_said:
        theirs.PolynomialFeatures(degree).fit([[1.0]])
    with pytest.raises(ValueError) as said:
        quince.PolynomialFeatures(degree).fit([[1.0]])
    assert str(said.value) == str(theirs_said.value)


def test_too_many_products_are_refused(rng):
    with pytest.raises(ValueError, match="could not even be counted"):
        quince.PolynomialFeatures(30).fit(rng.normal(size=(2, 500)))
