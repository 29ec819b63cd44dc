"""Saved estimators: a quince model whose notes say which class it was, with which parameters and attributes."""

from __future__ import annotations

__all__ = ["load"]

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from quince._quince import Model

if TYPE_CHECKING:
    from quince._base import Estimator


def load(path: str | os.PathLike[str]) -> Estimator | Model:
    """Opens a saved model. No code in it is ever run.

    A file that an estimator saved comes back as that estimator, any other (from the command `quince train`, or from
    `quince.train`) as a `quince.Model`.
    """
    model = Model.load(path)
    notes = model.notes
    about = notes.get("python") if isinstance(notes, dict) else None
    known = estimators()
    if not isinstance(about, dict) or about.get("class") not in known:
        return model
    try:
        parameters, attributes = decode(about["params"]), decode(about["attributes"])
        estimator = known[about["class"]](**parameters)
        estimator.__setstate__({**parameters, **attributes, "_model": model})
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{os.fspath(path)}: the notes of the Python package are not right ({error!r}).") from error
    return estimator


def save(estimator: Estimator, state: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Writes an estimator's model with its state in the notes."""
    parameters = estimator.get_params(deep=False)
    attributes = {
        name: value
        for name, value in state.items()
        if name not in parameters and name != "_model" and not name.startswith("_sklearn")
    }
    about = {
        "class": type(estimator).__name__,
        "params": {name: encode(value, name) for name, value in parameters.items()},
        "attributes": {name: encode(value, name) for name, value in attributes.items()},
    }
    # A model of a table has the names of its columns, in its own order.
    names = [] if state.get("_of_table") else [str(name) for name in state.get("feature_names_in_", ())]
    notes = json.dumps({"python": about}, allow_nan=False)
    state["_model"].annotated(notes, names or None).save(path)


def estimators() -> dict[str, type[Estimator]]:
    """The classes that a file may name: the estimators that the package shows, and no other."""
    import quince
    from quince._base import Estimator

    shown = {name: getattr(quince, name) for name in quince.__all__}
    return {name: cls for name, cls in shown.items() if isinstance(cls, type) and issubclass(cls, Estimator)}


def encode(value: Any, name: str) -> Any:
    """A parameter or attribute as JSON. What JSON has no word for is an object with one key that says what it is."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.ndarray):
        items = value.ravel().tolist()
        if value.dtype.kind not in "bi":  # those are JSON already, and may be very many
            items = [encode(item, name) for item in items]
        return {"array": items, "dtype": value.dtype.str, "shape": list(value.shape)}
    if isinstance(value, np.generic):
        return {"scalar": encode(value.item(), name), "dtype": value.dtype.str}
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else {"int": str(value)}
    if isinstance(value, float):
        return value if np.isfinite(value) else {"float": str(value)}
    if isinstance(value, list | tuple):
        return {type(value).__name__: [encode(item, name) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(key, name), encode(item, name)] for key, item in value.items()]}
    raise ValueError(
        f"{name} is a {type(value).__name__}, which a model file cannot hold. "
        "Use numbers, words, lists or arrays (for random_state an int), or pickle the estimator."
    )


def decode(value: Any) -> Any:
    """The inverse of `encode`. A plain object is a dict with words for keys, as at the top of the notes."""
    if not isinstance(value, dict):
        return value
    if "array" in value and "dtype" in value:
        items = [decode(item) for item in value["array"]]
        return np.array(items, dtype=plain(value["dtype"])).reshape(value["shape"])
    if "scalar" in value and "dtype" in value:
        return plain(value["dtype"]).type(decode(value["scalar"]))
    if len(value) == 1:
        ((kind, content),) = value.items()
        if kind in ("int", "float"):
            return int(content) if kind == "int" else float(content)
        if kind in ("list", "tuple"):
            items = [decode(item) for item in content]
            return items if kind == "list" else tuple(items)
        if kind == "dict":
            return {decode(key): decode(item) for key, item in content}
    return {name: decode(item) for name, item in value.items()}


def plain(name: str) -> np.dtype[Any]:
    """A dtype of Booleans, numbers or words (an object array holds those, too)."""
    dtype = np.dtype(name)
    if dtype.kind not in "biufUO" or dtype.names is not None:
        raise ValueError(f"{name} is no type of numbers or words")
    return dtype
