"""What a task of the benchmark is made of. The tasks themselves are in `tasks/`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Contestant:
    """A library and the way it does the task.

    `prepare` gets the task's arrays and returns the function that is timed, which returns the answer: numbers and
    arrays by name. Whatever a user does once (imports, another dtype) belongs in `prepare`; whatever a user does each
    time (building an estimator, fitting it) in the function. A Rust peer has no `prepare` but a job of `rust-peers`.
    """

    library: str
    how: str = ""
    prepare: Callable[["Given"], Callable[[], dict[str, Any]]] | None = None
    rust: str | None = None
    note: str = ""
    # Where it computes in another type than the task asks for; its answer is then judged by that type's precision.
    dtype: str | None = None
    # A contestant that cannot do the task at all stands in the table with the reason.
    cannot: str = ""
    # Seconds after which a run is broken off.
    limit: float = 300.0

    @property
    def name(self):
        return f"{self.library} {self.how}".strip()

    @property
    def slug(self):
        return "".join(letter if letter.isalnum() else "-" for letter in self.name)


@dataclass(frozen=True)
class Task:
    """The same arrays for everyone, who takes part, and when two answers are the same.

    The first contestant after quince is the reference: it runs first, and every answer, quince's too, is compared with
    its. `target` is how many times faster quince should be than the best of the libraries named in `against`.
    """

    name: str
    title: str
    arrays: Callable[[], dict[str, np.ndarray]]
    contestants: list[Contestant]
    target: float
    against: tuple[str, ...]
    # Given arrays, reference's answer, an answer and its dtype: in words, how they agree; or raises Disagreement.
    check: Callable[["Given", dict[str, Any], dict[str, Any], str], str]
    # Multiplications and additions that the plain method needs, given the arrays and the reference's answer; zero where
    # there are none to speak of.
    flops: Callable[["Given", dict[str, Any]], float] = lambda given, reference: 0.0
    # What of a peer's memory quince may use, at most.
    memory: float = 1.0
    dtype: str = "float64"
    # A sentence about the arrays for the report, asked for once they are made.
    note: Callable[[], str] = lambda: ""

    @property
    def reference(self):
        return next(contestant for contestant in self.contestants if contestant.library != "quince")


class Disagreement(Exception):
    """An answer that is not the reference's, in words for the table."""


@dataclass
class Given:
    """The arrays of a task as attributes, and `reference`, the answer of the reference where it is known already."""

    arrays: dict[str, np.ndarray]
    reference: dict[str, Any] = field(default_factory=dict)

    def __getattr__(self, name):
        try:
            return self.__dict__["arrays"][name]
        except KeyError:
            raise AttributeError(f"this task has no array {name!r}") from None


def save(folder, arrays):
    """Writes arrays and numbers by name, a .npy file each."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)


def load(folder):
    """Reads what `save` or a Rust peer wrote."""
    return {path.stem: np.load(path) for path in sorted(folder.glob("*.npy"))}
