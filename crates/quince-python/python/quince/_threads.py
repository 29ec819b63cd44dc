"""The number of threads: that of `n_jobs`, `set_threads` or `OMP_NUM_THREADS`, or all processors."""

from __future__ import annotations

__all__ = ["set_threads"]

import warnings
from types import TracebackType

from quince._quince import available_cores

_chosen: int | None = None
#: Whether it has been said that more threads were asked for than can work.
_said = False


class set_threads:  # noqa: N801 - it is called like the function it stands for
    """Sets the number of threads; None goes back to `OMP_NUM_THREADS` or all processors.

    As a context manager it restores the earlier number at the end::

        with quince.set_threads(1):
            model.fit(X, y)

    The results do not depend on the number of threads.
    """

    def __init__(self, threads: int | None) -> None:
        global _chosen
        number = None if threads is None else effective(threads)
        self._before, _chosen = _chosen, number

    def __enter__(self) -> set_threads:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        global _chosen
        _chosen = self._before


def effective(n_jobs: int | None) -> int:
    """joblib's rule for `n_jobs`, as a number of threads; zero stands for the default, which the extension finds."""
    if n_jobs is None:
        return _chosen or 0
    if n_jobs == 0:
        raise ValueError("n_jobs == 0 has no meaning. Use None for the default, or -1 for all processors.")
    cores = available_cores()
    if n_jobs > cores:
        _say_once(f"n_jobs={n_jobs} asks for more threads than this process has cores ({cores}): {cores} work.")
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def _say_once(sentence: str) -> None:
    global _said
    if not _said:
        _said = True
        warnings.warn(sentence, UserWarning, stacklevel=4)
