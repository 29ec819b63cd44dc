"""Every class is registered once, and every parameter of one is a setting of its method, or says why it is not."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import pytest
from sklearn.base import BaseEstimator

import quince
from quince.files import estimators


#: What finds rows and predicts nothing: it is saved as the model of another class, whose settings it has.
STANDS_ON = {"NearestNeighbors": "knn"}


def methods_of(cls: type) -> list[dict]:
    methods = quince.models()
    if cls.__name__ in STANDS_ON:
        return [methods[STANDS_ON[cls.__name__]]]
    return [about for about in methods.values() if cls.__name__ in about["python"]]


@pytest.mark.parametrize("cls", estimators().values(), ids=estimators())
def test_every_parameter_is_a_setting_or_is_accepted_for_a_reason(cls):
    (method,) = methods_of(cls)
    parameters = set(inspect.signature(cls).parameters)
    assert parameters == set(cls._settings) | set(cls._accepted)
    assert not set(cls._settings) & set(cls._accepted)
    assert set(cls._settings.values()) <= set(method["settings"])
    assert all(cls._accepted.values())


@pytest.mark.parametrize("method", quince.models())
def test_every_setting_has_a_parameter_in_every_class_that_needs_it(method):
    about = quince.models()[method]
    shown = set().union(*(getattr(quince, name)._settings.values() for name in about["python"]))
    shown |= set().union(*(getattr(getattr(quince, name), "_implied", {}) for name in about["python"]))
    assert shown == set(about["settings"])


def public_modules():
    for found in pkgutil.walk_packages(quince.__path__, "quince."):
        if not any(part.startswith("_") for part in found.name.split(".")):
            yield importlib.import_module(found.name)


@pytest.mark.parametrize("module", list(public_modules()), ids=lambda module: module.__name__)
def test_an_estimator_is_shown_by_its_module_and_by_the_package(module):
    """A class is registered in the `__all__` of its module, and all else follows. Who forgets that, forgets this test."""
    for name, cls in vars(module).items():
        if isinstance(cls, type) and issubclass(cls, BaseEstimator) and cls.__module__ == module.__name__:
            bases_others = any(other.__module__.startswith("quince.") for other in cls.__subclasses__())
            assert name in module.__all__ or name.startswith("_") or bases_others
    if module.__name__ != "quince.family":
        assert set(module.__all__) <= set(quince.__all__)


def test_what_is_shown_is_there_and_shown_once():
    assert len(quince.__all__) == len(set(quince.__all__))
    assert all(hasattr(quince, name) for name in quince.__all__)


def test_every_class_that_the_registry_names_is_there_and_no_other():
    named = {name for about in quince.models().values() for name in about["python"]}
    assert named | set(STANDS_ON) == set(estimators()) <= set(quince.__all__)


@pytest.mark.parametrize("cls", [quince.LinearRegression, quince.Ridge], ids=lambda cls: cls.__name__)
def test_defaults_are_those_of_the_method(cls):
    (method,) = methods_of(cls)
    for parameter, setting in cls._settings.items():
        if parameter == "tol":
            continue  # scikit-learn's own default; the method leaves out rounding only
        assert cls().get_params()[parameter] == method["settings"][setting]["default"]


def test_every_class_documents_its_parameters():
    for cls in estimators().values():
        assert all(parameter in cls.__doc__ for parameter in inspect.signature(cls).parameters)
