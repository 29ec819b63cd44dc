"""Parameters and settings agree by what they do: each parameter changes the setting it stands for, within the same range."""

from __future__ import annotations

import inspect
import math
import re
import warnings
from numbers import Integral, Real

import numpy as np
import pytest
from sklearn.utils import all_estimators
from sklearn.utils._param_validation import Interval, StrOptions

import quince
from quince.files import estimators

THEIRS = dict(all_estimators())
RNG = np.random.default_rng(0)
ROWS = np.abs(RNG.standard_normal((24, 3)))
LABELS = (ROWS[:, 0] > np.median(ROWS[:, 0])).astype(int)
OF_COUNTS = ("CategoricalNB", "PoissonNB", "MultinomialNB", "MultinomialMixture")
PARAMETERS = [(cls, name) for cls in estimators().values() for name in cls._settings]
IDS = [f"{cls.__name__}-{name}" for cls, name in PARAMETERS]


def fitted(cls: type, **parameters):
    known = inspect.signature(cls).parameters
    given = {"n_clusters": 2, "random_state": 0, **parameters}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = np.floor(3 * ROWS) if cls.__name__ in OF_COUNTS else ROWS
        return cls(**{name: value for name, value in given.items() if name in known}).fit(rows, LABELS)


def settings(cls: type, **parameters) -> dict:
    return fitted(cls, **parameters)._fitted_model().settings


#: Values other than the default, where none follows from the constraints or it takes another parameter to be used.
OTHER: dict[str, list[dict]] = {
    "priors": [{"priors": [0.3, 0.7]}],
    "class_prior": [{"class_prior": [0.3, 0.7]}],
    "shrinkage": [{"shrinkage": 0.5, "solver": "eigen"}, {"shrinkage": 0.5}],
    "class_weight": [{"class_weight": {0: 1.0, 1: 3.0}}],
    "epsilon": [{"epsilon": 0.3}],
    "p": [{"p": 4}, {"p": 0.25}],
    "constant": [{"constant": 1, "strategy": "constant"}],
    "quantile": [{"quantile": 0.3, "strategy": "quantile"}],
    "family": [{"family": "normal"}],
    "categories": [{"categories": 7}],
    "metric_params": [{"metric_params": {"w": [1.0, 2.0, 3.0]}}],
    "n_neighbors": [{"n_neighbors": 4}],
}
#: What the model has learnt instead of a setting, so that no setting needs to change.
NOT_SAVED = {
    "DummyRegressor.constant": "the model is made of the value itself",
    "NearestNeighbors.n_neighbors": "a question, not a model, has a number of neighbours",
}


def other_values(cls: type, name: str) -> list[dict]:
    """Parameters of which one at least is allowed and says something else than the default."""
    default = inspect.signature(cls).parameters[name].default
    values = []
    for constraint in cls._parameter_constraints.get(name, []):
        if isinstance(constraint, StrOptions):
            values += [word for word in sorted(constraint.options) if word != default]
        elif constraint == "boolean":
            values += [boolean for boolean in (True, False) if boolean is not default]
        elif isinstance(constraint, Interval) and constraint.type is Integral:
            values.append(default + 1 if isinstance(default, int) and default > 0 else 3)
        elif isinstance(constraint, Interval):
            values.append(default / 2 if isinstance(default, float) and default > 0 else 0.3)
    given = [one for one in OTHER.get(name, []) if set(one) <= set(inspect.signature(cls).parameters)]
    return given + [{name: value} for value in values]


@pytest.mark.parametrize(("cls", "name"), PARAMETERS, ids=IDS)
def test_a_parameter_that_is_not_its_default_changes_the_saved_settings(cls, name):
    if f"{cls.__name__}.{name}" in NOT_SAVED:
        return
    setting, tried = cls._settings[name], []
    for parameters in other_values(cls, name):
        try:
            before, after = settings(cls)[setting], settings(cls, **parameters)[setting]
        except (ValueError, TypeError, NotImplementedError) as error:
            tried.append(f"{parameters}: {error}")
            continue
        if before != after:
            return
        tried.append(f"{parameters}: {setting} is {after!r}, as it was")
    pytest.fail(f"no value of {name} changes the setting {setting}: {tried}")


def domain_of(cls: type, name: str) -> Interval | None:
    """The numbers that the setting takes, by its own words."""
    stands_on = {"NearestNeighbors": "knn"}
    method = next(
        about
        for method, about in quince.models().items()
        if cls.__name__ in about["python"] or stands_on.get(cls.__name__) == method
    )
    words = method["settings"][cls._settings[name]]["domain"]
    kind = Integral if "whole" in words else Real
    number = r"(-?[\d.e]+)"
    if found := re.search(rf"number from {number} to {number}", words):
        return Interval(kind, float(found[1]), float(found[2]), closed="both")
    if found := re.search(rf"number of at least {number}", words):
        return Interval(kind, int(found[1]) if kind is Integral else float(found[1]), None, closed="left")
    if found := re.search(rf"number above {number}", words):
        return Interval(kind, float(found[1]), None, closed="neither")
    return Interval(kind, None, None, closed="neither") if words.startswith("a number") else None


def interval_of(cls: type, name: str) -> Interval | None:
    return next((one for one in cls._parameter_constraints.get(name, []) if isinstance(one, Interval)), None)


def contains(interval: Interval, value: float) -> bool:
    left = -math.inf if interval.left is None else interval.left
    right = math.inf if interval.right is None else interval.right
    above = value >= left if interval.closed in ("left", "both") else value > left
    return above and (value <= right if interval.closed in ("right", "both") else value < right)


def edges(*intervals: Interval) -> list[float]:
    """The ends of intervals, and what is just beside them."""
    whole = all(interval.type is Integral for interval in intervals)
    ends = {end for interval in intervals for end in (interval.left, interval.right) if end is not None}
    beside = {end + step for end in ends for step in ((-1, 1) if whole else (-1e-7, 1e-7))}
    return sorted(int(end) if whole else float(end) for end in ends | beside)


NUMBERS = [
    (cls, name)
    for cls, name in PARAMETERS
    if interval_of(cls, name) is not None and domain_of(cls, name) is not None
]
#: Parameters that are more than their setting under another name, with what becomes of them.
ADAPTED = {
    "tol": "scikit-learn's may be anything; the nearest tolerance that can be reached is taken",
    "cache_size": "scikit-learn's may be anything; the nearest size that can be had is taken",
    "max_iter": "-1 or 0 of scikit-learn's is a word of its own",
    "nu": "scikit-learn's may be anything above 0; the setting ends where rounding begins",
    "SGDClassifier.alpha": "may be 0, and the setting is above it",
    "average": "is a number of steps or a Boolean",
    "eta0": "is checked with the learning rate that uses it",
}
#: What else it takes for all numbers to be allowed.
WITH = {
    "LinearDiscriminantAnalysis.shrinkage": {"solver": "eigen"},
    "QuadraticDiscriminantAnalysis.shrinkage": {"solver": "eigen"},
    "DummyRegressor.quantile": {"strategy": "quantile"},
    "MixedMixture.variance_floor": {"covariance": "diagonal"},
    "SGDClassifier.alpha": {"learning_rate": "constant", "eta0": 0.1},
}
#: Where scikit-learn has no twin to agree with, and the class allows less than the method.
NARROWER: dict[str, str] = {}


@pytest.mark.parametrize(("cls", "name"), NUMBERS, ids=[f"{cls.__name__}-{name}" for cls, name in NUMBERS])
def test_a_parameter_takes_the_numbers_that_its_setting_takes(cls, name):
    """At the ends of both ranges: what the method refuses is refused in the parameter's name, what it takes is taken."""
    ours, domain = interval_of(cls, name), domain_of(cls, name)
    adapted = name in ADAPTED or f"{cls.__name__}.{name}" in ADAPTED
    for value in edges(ours, domain):
        parameters = {name: value, **WITH.get(f"{cls.__name__}.{name}", {})}
        allowed = contains(ours, value) and (adapted or contains(domain, value))
        if allowed:
            fitted(cls, **parameters)
        else:
            with pytest.raises(ValueError, match=f"'{name}' parameter of {cls.__name__}"):
                fitted(cls, **parameters)
        narrower = contains(domain, value) and not contains(ours, value)
        if narrower and not adapted and f"{cls.__name__}.{name}" not in NARROWER:
            theirs = THEIRS.get(cls.__name__)
            assert theirs is not None, f"{name} refuses {value}, and its setting takes it"
            refused = [one for one in theirs._parameter_constraints[name] if isinstance(one, Interval)]
            assert not any(contains(one, value) for one in refused), f"{name} refuses {value}, scikit-learn takes it"
