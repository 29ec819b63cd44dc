"""scikit-learn's estimator checks, on the instances and with the exceptions that it keeps for its own classes."""

from __future__ import annotations

import pytest
import sklearn.dummy
import sklearn.linear_model
from sklearn.base import clone
from sklearn.utils._test_common import instance_generator as theirs
from sklearn.utils.estimator_checks import parametrize_with_checks

import quince

PAIRS = {
    quince.LinearRegression: sklearn.linear_model.LinearRegression,
    quince.Ridge: sklearn.linear_model.Ridge,
    quince.RidgeClassifier: sklearn.linear_model.RidgeClassifier,
    quince.DummyClassifier: sklearn.dummy.DummyClassifier,
    quince.DummyRegressor: sklearn.dummy.DummyRegressor,
}


def same_as_theirs(ours: type, their_estimator):
    return ours(**their_estimator.get_params())


def instances():
    """For each instance that scikit-learn checks of its class, the same of ours; and all its solvers besides."""
    for ours, their in PAIRS.items():
        yield from (same_as_theirs(ours, estimator) for estimator in theirs._construct_instances(their))
        variants = theirs.PER_ESTIMATOR_CHECK_PARAMS.get(their, {}).values()
        seen = []
        for variant in variants:
            for parameters in [variant] if isinstance(variant, dict) else variant:
                if parameters not in seen:
                    seen.append(parameters)
                    yield ours(**parameters)


def expected_failures(estimator) -> dict[str, str]:
    """What scikit-learn lists for its own class, and nothing else."""
    their = PAIRS[type(estimator)](**estimator.get_params())
    return theirs._get_expected_failed_checks(their)


@parametrize_with_checks(list(instances()), expected_failed_checks=expected_failures)
def test_an_estimator_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("ours", PAIRS, ids=lambda cls: cls.__name__)
def test_parameters_and_defaults_are_those_of_scikit_learn(ours):
    assert ours().get_params() == PAIRS[ours]().get_params()


@pytest.mark.parametrize("ours", PAIRS, ids=lambda cls: cls.__name__)
def test_attributes_and_methods_are_those_of_scikit_learn(ours):
    X = [[0.0, 1.0], [1.0, 3.0], [2.0, 2.0], [3.0, 7.0], [4.0, 1.0]]
    y = [0, 1, 0, 1, 1]

    def public(estimator):
        return {name for name in dir(estimator.fit(X, y)) if not name.startswith("_") and hasattr(estimator, name)}

    mine = ours().fit(X, y)
    assert not {name for name in public(PAIRS[ours]()) if not hasattr(mine, name)}
    # Two of our own: the report of the fit, and a file that is safe to share. Output for transformers is for neither.
    assert public(ours()) - public(PAIRS[ours]()) == {"report_", "save"}
    assert not hasattr(ours(), "set_output")


@pytest.mark.parametrize("ours", PAIRS, ids=lambda cls: cls.__name__)
def test_a_wrong_parameter_gets_the_sentence_of_scikit_learn(ours):
    wrong = {"alpha": -1, "tol": "x", "strategy": "nothing", "positive": "no", "solver": "magic", "quantile": 2}
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 0]
    tested = 0
    for name, value in wrong.items():
        if name in ours().get_params():
            with pytest.raises(ValueError) as theirs:
                PAIRS[ours](**{name: value}).fit(X, y)
            with pytest.raises(ValueError) as our:
                ours(**{name: value}).fit(X, y)
            assert str(our.value) == str(theirs.value)
            tested += 1
    assert tested


@pytest.mark.parametrize("ours", PAIRS, ids=lambda cls: cls.__name__)
def test_a_clone_is_unfitted_and_equal(ours):
    estimator = ours().fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    copy = clone(estimator)
    assert copy.get_params() == estimator.get_params()
    assert not hasattr(copy, "n_features_in_")
