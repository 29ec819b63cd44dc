"""What all estimators share: arrays for the extension, and a state that is the bytes of a saved model."""

from __future__ import annotations

import functools
import os
import re
import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from quince import files
from quince._quince import Model

#: The types of features that the extension takes without conversion.
FLOATS = (np.float64, np.float32)


def for_extension(X: Any) -> Any:
    """X as the extension takes it. Dense arrays stay where they are unless they run backwards in memory."""
    if sparse.issparse(X):
        return X.tocsr()
    forward = all(stride >= 0 and stride % X.itemsize == 0 for stride in X.strides)
    return X if forward and X.flags.aligned else np.array(X, order="C")


def seed_of(random_state: Any) -> int:
    """The seed of a run: a whole number is the seed itself, as on the command line."""
    random = check_random_state(random_state)
    return int(random_state if isinstance(random_state, Integral) else random.randint(np.iinfo(np.int32).max))


def columns_of(y: NDArray[Any]) -> NDArray[np.float64]:
    """Targets as float64, one column per output."""
    return np.ascontiguousarray(y.reshape(len(y), -1), dtype=np.float64)


def weights_of(sample_weight: ArrayLike | None, X: Any) -> NDArray[np.float64] | None:
    """The weight of each row of X, never negative; None if all count alike."""
    if sample_weight is None:
        return None
    return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)


def names_of(classes: NDArray[Any]) -> list[str]:
    """Class labels as words, as a table would have them: 1.0 is `1`."""

    def name(label: Any) -> str:
        whole = isinstance(label, float) and label.is_integer()
        return str(int(label)) if whole else str(label)

    return [name(label) for label in classes.tolist()]


def written_class_weights(classes: NDArray[Any], of_classes: NDArray[np.float64]) -> str | None:
    """The setting `class_weights` for weights of classes; None where it has no words for them, and rows are to be weighed."""
    names = names_of(classes)
    if (of_classes <= 0).any() or any("," in name or name != name.strip() for name in names):
        return None
    return ",".join(f"{name}={weight!r}" for name, weight in zip(names, of_classes.tolist(), strict=True))


def warn_if_too_sure(model: Model, stacklevel: int) -> None:
    """Warns of probabilities that were calibrated by rows that the model has learnt: the report says why."""
    for remark in model.remarks:
        if "probabilities come from the rows learnt from" in remark:
            warnings.warn(f"{remark[0].upper()}{remark[1:]}.", UserWarning, stacklevel=stacklevel + 1)


def _same(one: Any, other: Any) -> bool:
    """Whether two attributes are equal: arrays, or lists of arrays of different shapes."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if sparse.issparse(one) or sparse.issparse(other):
        return sparse.issparse(one) and sparse.issparse(other) and one.shape == other.shape and (one != other).nnz == 0
    return np.array_equal(one, other)


def learning(fit: Any) -> Any:
    """A method that learns from rows: as scikit-learn's `_fit_context` it checks parameters first; and where it fails or is
    interrupted, the estimator is as it was, with its model, its classes and its columns."""

    @functools.wraps(fit)
    def wrapper(estimator: Any, *arguments: Any, **named: Any) -> Any:
        goes_on = fit.__name__ == "partial_fit" and estimator.__sklearn_is_fitted__()
        if not goes_on and not get_config()["skip_parameter_validation"]:
            estimator._validate_params()
        before = vars(estimator).copy()
        try:
            return fit(estimator, *arguments, **named)
        except BaseException:
            vars(estimator).clear()
            vars(estimator).update(before)
            raise

    return wrapper


class Estimator(BaseEstimator):
    """An estimator that holds a fitted `quince.Model` and is saved and pickled as that model's bytes."""

    #: Parameters that are settings of the method in quince's registry, by name.
    _settings: ClassVar[dict[str, str]] = {}
    #: Parameters that scikit-learn has and quince needs not, with the reason.
    _accepted: ClassVar[dict[str, str]] = {}

    _model: Model

    def _in_our_words(self, call: Callable[..., Any], *arguments: Any, **given: Any) -> Any:
        """Calls the extension. What it refuses of a setting is said of the parameter that the setting comes from."""
        try:
            return call(*arguments, **given)
        except ValueError as error:
            said = re.fullmatch(r"setting '(\w+)' (.*)", str(error), flags=re.DOTALL)
            names = [name for name, setting in self._settings.items() if said and setting == said[1]]
            if said is None or len(names) != 1:
                raise
            raise ValueError(f"The '{names[0]}' parameter of {type(self).__name__} {said[2]}") from None

    def _from_model(self) -> dict[str, Any]:
        """Attributes that follow from the fitted model, so that no state needs to hold them."""
        return {}

    @property
    def report_(self) -> dict[str, Any]:
        """The report of the fit: how the answer was found, how exact it is, and remarks."""
        return self._fitted_model().report

    def _fitted_model(self) -> Model:
        check_is_fitted(self)
        return self._model

    def __sklearn_is_fitted__(self) -> bool:
        # A fit that failed may have left attributes behind, by which scikit-learn would take it for a success.
        return "_model" in vars(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Saves the fitted estimator in one file, which `quince.load` and the command `quince` open.

        The file holds numbers and words only: opening it never runs code. It is replaced as a whole: there is always the
        old file or the new one.
        """
        self._fitted_model()
        state = self.__getstate__()
        changed = [name for name in self._from_model() if name in state]
        if changed:
            raise ValueError(
                f"{changed[0]} was changed after the fit, and the saved model would not have the change. "
                "Fit again, or pickle the estimator."
            )
        files.save(self, state, path)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "_model" in state:
            for name, value in self._from_model().items():
                if name in state and _same(state[name], value):
                    del state[name]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_model" in state:
            for name, value in self._from_model().items():
                vars(self).setdefault(name, value)
