"""From a table to a model, and to a leaderboard of models."""

from __future__ import annotations

__all__ = ["Comparison", "compare", "train"]

import math
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from numbers import Integral, Real
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from quince import _quince
from quince._base import warn_if_too_sure
from quince._quince import Model
from quince._threads import effective


def train(
    data: Any,
    target: str | None = None,
    model: str | None = None,
    settings: Mapping[str, Any] | None = None,
    *,
    resume: Model | str | os.PathLike[str] | None = None,
    task: str | None = None,
    weight: str | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    budget: float | None = None,
) -> Model:
    """Learns one column of a table from all others; without a target, finds clusters of its rows.

    Parameters
    ----------
    data : data frame (pandas, polars, pyarrow or any other with Arrow's C stream), `quince.Table` or path of a CSV file
        Numbers, counts, yes/no, categories and texts, with missing values. What they become is learnt here, kept in the model,
        and applied by column name when it predicts.
    target : str, optional
        The column to learn; a whole number or a tuple where the columns of the frame are called so. Rows without it are left out. None to find clusters of rows, whose numbers `predict` gives.
    model : str, optional
        A method: one of `quince.models()`; "ridge" if not given, or without a target "kmeans".
    settings : dict
        Its settings by name; what is not given has its default. "class_weights" may be a dict of labels and numbers, and
        "infinite" an infinite number.
    resume : Model or path of one, optional
        A model that a budget has cut short, to go on from: with the same rows and target, and with its method and
        settings, except for those that are given.
    task : {"classification", "regression"}, optional
        What the target is, if the rule should not decide: whole numbers with few different values are classes.
    weight : str, optional
        A column that says how much each row counts.
    seed : int
        Everything random follows from it.
    n_jobs : int, optional
        Number of threads; -1 for all processors. The answer does not depend on it.
    budget : float, optional
        Seconds after which the best answer so far is returned, with a ConvergenceWarning, or TimeoutError raised if there
        is none.
    """
    _check_seed(seed)
    _check_budget(budget)
    if model is not None:
        _check_method(model)
    if resume is not None:
        if not isinstance(resume, Model):
            resume = Model.load(resume)
        if model not in (None, resume.method):
            raise ValueError(f"The model to go on from is of {resume.method!r} and not of {model!r}: leave out model.")
        target = resume.target if target is None else target
    learnt = _quince.train(
        data,
        _column(target),
        model or ("kmeans" if target is None else "ridge"),
        _plain(settings),
        resume=resume,
        task=task,
        weight=_column(weight),
        seed=seed,
        threads=effective(n_jobs),
        budget=budget,
    )
    _warn_if_unfinished(learnt)
    warn_if_too_sure(learnt, stacklevel=2)
    return learnt


def _column(name: Any) -> str | None:
    """The name of a column as Arrow has it, which knows no whole numbers and tuples."""
    if hasattr(name, "__len__") and not isinstance(name, str | tuple):
        raise TypeError(
            f"A column is given by its name, and this is a {type(name).__name__}. Put it into the table, for example "
            "frame.assign(y=y), and give the name 'y'."
        )
    return None if name is None else str(name)


def _check_method(name: Any) -> None:
    if not isinstance(name, str):
        raise TypeError(
            f"A method is given by its name, one of quince.models(), and this is a {type(name).__name__}. Give a name such as "
            "'ridge', and settings such as {'alpha': 3.0}."
        )


def _warn_if_unfinished(learnt: Model) -> None:
    why = {"budget": "the budget ran out", "stalled": "rounding leaves no better step"}.get(learnt.stop_reason)
    if learnt.stop_reason == "step-limit" and not learnt.certificate_holds:
        why = "it has made all steps that it may"
    if why is not None:
        remarks = "".join(f"; {remark}" for remark in learnt.remarks[:1])
        warnings.warn(f"{learnt.method} is not finished: {why}{remarks}.", ConvergenceWarning, stacklevel=3)


def _plain(settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """Settings as the registry takes them, which has neither dicts nor infinite numbers."""
    if settings is not None and not isinstance(settings, Mapping):
        raise TypeError(f"Settings are a dict of names and values, and these are a {type(settings).__name__}.")

    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            return ",".join(f"{label}={number}" for label, number in value.items())
        return "infinite" if isinstance(value, Real) and value == math.inf else value

    return {name: plain(value) for name, value in (settings or {}).items()}


def _check_budget(budget: float | None) -> None:
    if budget is not None and (not isinstance(budget, Real) or isinstance(budget, bool)):
        raise ValueError(f"budget cannot be {budget!r}. It takes a number of seconds, such as 2.5.")


def compare(
    data: Any,
    target: str,
    models: Sequence[str] | Mapping[str, Mapping[str, Any]] | None = None,
    *,
    folds: int | str = 10,
    hold_out: float | None = None,
    by: str | None = None,
    task: str | None = None,
    weight: str | None = None,
    group: str | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    budget: float | None = None,
) -> Comparison:
    """Cross-validates methods on the same folds of a table.

    Parameters
    ----------
    data, target, task, weight, seed, n_jobs, budget
        As for `train`.
    models : list of str, or dict of settings by method, optional
        The methods; if not given, all that learn this kind of target.
    folds : int or "loo"
        Number of folds, or leave-one-out.
    hold_out : float, optional
        Instead of folds, the fraction of the rows to test on once.
    group : str, optional
        A column of groups whose rows always stay in one fold, such as those of a person or a place.
    by : str, optional
        The metric to rank by: log-loss (the default), accuracy, f1 or area for classes, rmse (the default) or r2 for
        numbers.
    """
    if folds != "loo" and (isinstance(folds, bool) or not isinstance(folds, int) or folds < 2):
        raise ValueError(f"folds cannot be {folds!r}. It takes a whole number of at least 2, or 'loo'.")
    _check_seed(seed)
    _check_budget(budget)
    if isinstance(models, str):
        models = [models]
    pairs = None
    if models is not None:
        if len(models) == 0:
            raise ValueError("models is empty. Name at least one method, or leave it out to compare all that learn the target.")
        for name in models:
            _check_method(name)
        settings = models if isinstance(models, Mapping) else {}
        pairs = [(name, _plain(settings.get(name))) for name in models]
    result = _quince.compare(
        data,
        _column(target),
        pairs,
        folds=str(folds),
        hold_out=hold_out,
        by=by,
        task=task,
        weight=_column(weight),
        group=_column(group),
        seed=seed,
        threads=effective(n_jobs),
        budget=budget,
    )
    return Comparison(result)


class Comparison:
    """A leaderboard, the best method first. Printing it shows it; `rows` and `to_dict` give its numbers."""

    def __init__(self, result: dict[str, Any]) -> None:
        self._result = result

    @property
    def best(self) -> str:
        """The name of the best method."""
        return self._result["entrants"][0]["method"]

    @property
    def warnings(self) -> list[str]:
        """Warnings about the folds."""
        return self._result["warnings"]

    @property
    def left_out(self) -> list[str]:
        """Methods that learn such a target and were not compared, with the reason, where no method was named."""
        return self._result["left_out"]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One dict per method, the best first: its metrics (mean, and `..._sd` over folds), seconds, settings."""
        return [self._row(entrant) for entrant in self._result["entrants"]]

    @staticmethod
    def _row(entrant: dict[str, Any]) -> dict[str, Any]:
        row = {"model": entrant["method"]}
        for name, statistics in entrant["metrics"].items():
            row[name], row[f"{name}_sd"] = statistics["mean"], statistics["standard_deviation"]
        for name in ("fit_seconds", "predict_seconds", "folds", "settings", "problem"):
            row[name] = entrant[name]
        return row

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain dicts and lists."""
        return self._result

    def __len__(self) -> int:
        return len(self._result["entrants"])

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def _cells(self) -> list[list[str]]:
        ranked = [entrant for entrant in self._result["entrants"] if entrant["folds"] > 0]
        metrics = list(ranked[0]["metrics"]) if ranked else []
        cells = [["", "model", *metrics, "fit", "predict"]]
        for place, entrant in enumerate(ranked, 1):
            scores = [_mean_and_deviation(entrant["metrics"].get(metric)) for metric in metrics]
            seconds = [_seconds(entrant["fit_seconds"]), _seconds(entrant["predict_seconds"])]
            cells.append([str(place), entrant["method"], *scores, *seconds])
        return cells

    def _heading(self) -> str:
        result = self._result
        ways = {1: "tested once", result["rows"]: "leave-one-out"}
        way = ways.get(result["folds"], f"{result['folds']} folds, mean ± sd")
        return f"{result['target']} from {result['rows']} rows, by {result['by']} ({way})"

    def _remarks(self) -> list[str]:
        remarks = [f"note: {reason}" for reason in self.left_out]
        remarks += [f"warning: {warning}" for warning in self.warnings]
        for entrant in self._result["entrants"]:
            if entrant["problem"]:
                tested = f"{entrant['folds']} of {self._result['folds']} folds" if entrant["folds"] else "no result"
                remarks.append(f"{entrant['method']}: {tested}: {entrant['problem']}")
        return remarks

    def __repr__(self) -> str:
        cells = self._cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]
        return "\n".join([self._heading(), *lines, *self._remarks()])

    def _repr_html_(self) -> str:
        head, *body = ("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self._cells())
        remarks = "".join(f"<p>{escape(remark)}</p>" for remark in self._remarks())
        head = head.replace("td>", "th>")
        return f"<p>{escape(self._heading())}</p><table>{head}{''.join(body)}</table>{remarks}"


def _check_seed(seed: int) -> None:
    if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= seed < 2**64:
        raise ValueError(f"seed cannot be {seed!r}. It takes a whole number of at least 0.")


def _mean_and_deviation(statistics: dict[str, Any] | None) -> str:
    if statistics is None:
        return "-"
    mean, deviation = statistics["mean"], statistics["standard_deviation"]
    if deviation is None:
        return f"{mean:.4g}"
    rounding = abs(mean) * 1e-12
    return f"{mean:.4g} ± {deviation if deviation > rounding else 0:.2g}"


def _seconds(seconds: float) -> str:
    return f"{seconds * 1000:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
