"""Runs the contestants of a task against each other: one process each, alternately, never two at once."""

import json
import select
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import machine
from task import Disagreement, Given, load, save

HERE = Path(__file__).resolve().parent
# A peer this many times slower than the quickest right one is not asked again, unless the target names it.
HOPELESS = 10.0
# Short tasks run for more rounds than asked, for this number of seconds, up to this number of rounds.
EXTRA_SECONDS, EXTRA_ROUNDS = 20.0, 15
# Where even the quickest takes this long, in seconds, being cold costs it little, and its first run counts.
LONG = 5.0


class Failure(Exception):
    """A contestant that is out of the race, in words for the table."""


class TooSlow(Failure):
    pass


class Worker:
    """A contestant's process. It starts with the arrays loaded and everything prepared."""

    def __init__(self, task, contestant, folder, rust_peers=None, python=sys.executable, answers=None):
        self.limit = contestant.limit
        answers = answers or folder / "answers" / contestant.slug
        answers.mkdir(parents=True)
        given, reference = folder / "given", folder / "answers" / task.reference.slug
        if contestant.rust:
            command = [rust_peers, contestant.rust, contestant.dtype or task.dtype, given, answers]
        else:
            command = [python, HERE / "worker.py", task.name, contestant.name, given, answers, reference]
        try:
            self.process = subprocess.Popen(
                [str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
            )
        except OSError as error:
            raise Failure(f"cannot start: {error}") from None
        self.answers = answers
        try:
            self._listen(300.0)
        except Failure:
            self.stop()
            raise

    def run(self):
        """One timed run: what the worker says of it."""
        try:
            self.process.stdin.write(b"run\n")
        except BrokenPipeError:
            pass  # _listen says why
        return self._listen(self.limit)

    def _listen(self, limit):
        ready, _, _ = select.select([self.process.stdout], [], [], limit)
        if not ready:
            raise TooSlow(f"> {limit:.0f} s")
        line = self.process.stdout.readline()
        if not line:
            raise Failure(f"the process ended with code {self.process.wait()}")
        message = json.loads(line)
        if "error" in message:
            raise Failure(" ".join(message["error"].split()))
        return message

    def stop(self):
        self.process.kill()
        self.process.wait()


def race(task, folder, rounds, rust_peers, talk):
    """The rows of the task's table, in the order of its contestants, and what else the report needs to know."""
    given = Given({name: cast(array, task.dtype) for name, array in task.arrays().items()})
    save(folder / "given", given.arrays)

    rows = {contestant.name: new_row(contestant) for contestant in task.contestants}
    workers = {}
    try:
        disturbed = warm_up(task, given, folder, rust_peers, rows, workers, talk)
        racing = who_races(task, rows, workers)
        for name in set(workers) - set(racing):
            workers.pop(name).stop()
        busy = 0
        if quickest(rows, racing) >= LONG:
            busy += count_warm_ups(rows, racing, disturbed)
            rounds -= 1
        busy += run_rounds(workers, rows, racing, rounds, talk)
    finally:
        for worker in workers.values():
            worker.stop()

    reference = load(folder / "answers" / task.reference.slug)
    return {
        "note": task.note(),
        "flops": float(task.flops(given, reference)) if reference else None,
        "memory": task.memory,
        "busy": busy,
        "rows": list(rows.values()),
    }


def warm_up(task, given, folder, rust_peers, rows, workers, talk):
    """Starts every worker and runs it once: for its answer, for its memory, and so that the rounds find it warm.

    Returns the names of those that began on a busy machine.
    """
    disturbed = set()
    # The reference goes first, because others are compared with it and may need to know its answer.
    for contestant in sorted(task.contestants, key=lambda each: each is not task.reference):
        row = rows[contestant.name]
        if contestant.cannot:
            continue
        talk(f"  {contestant.name}: ")
        try:
            worker = Worker(task, contestant, folder, rust_peers)
            workers[contestant.name] = worker
            if not machine.wait_until_quiet():
                disturbed.add(contestant.name)
            first = worker.run()
            row.update(warm_up=round(first["seconds"], 5), memory=first["memory"])
            if first.get("fallback"):
                row["note"] = "fell back to scikit-learn"
            row.update(judge(task, contestant, given, folder, worker))
            talk(f"{first['seconds']:.3f} s, {row['agreement']}\n")
        except Failure as failure:
            row["too_slow" if isinstance(failure, TooSlow) else "error"] = str(failure)
            talk(f"{failure}\n")
            if contestant.name in workers:
                workers.pop(contestant.name).stop()
    return disturbed


def who_races(task, rows, workers):
    """The names of those who go on: all whom the target names, and of the others the right ones not hopelessly slow."""
    named = [name for name in workers if rows[name]["library"] in (*task.against, "quince")]
    right = [name for name in workers if rows[name]["agrees"]]
    bound = HOPELESS * quickest(rows, right)
    return [name for name in workers if name in named or (name in right and rows[name]["warm_up"] <= bound)]


def quickest(rows, names):
    """The shortest warm-up among these; of nobody, 0."""
    return min((rows[name]["warm_up"] for name in names), default=0.0)


def count_warm_ups(rows, racing, disturbed):
    """Makes the warm-up the first run of those who race. Returns how many of these began on a busy machine."""
    for name in racing:
        rows[name]["seconds"].append(rows[name]["warm_up"])
    return len(disturbed.intersection(racing))


def run_rounds(workers, rows, racing, rounds, talk):
    """At least `rounds` rounds, each begun by another contestant. Returns how many runs began on a busy machine."""
    busy, done, started = 0, 0, time.monotonic()
    while racing and (done < rounds or (done < EXTRA_ROUNDS and time.monotonic() - started < EXTRA_SECONDS)):
        first = done % len(racing)
        for name in racing[first:] + racing[:first]:
            busy += not machine.wait_until_quiet()
            try:
                rows[name]["seconds"].append(round(workers[name].run()["seconds"], 5))
            except Failure as failure:
                rows[name]["error"] = str(failure)
                # One that is too slow would go on, and take the cores from the others.
                workers.pop(name).stop()
                racing = [each for each in racing if each != name]
        done += 1
        talk(f"\r  round {done}")
    talk("\n")
    return busy


def new_row(contestant):
    return {
        "contestant": contestant.name,
        "library": contestant.library,
        "dtype": contestant.dtype,
        "seconds": [],
        "agreement": contestant.cannot,
        "agrees": False,
        "cannot": bool(contestant.cannot),
        "note": contestant.note,
    }


def judge(task, contestant, given, folder, worker):
    """Is the answer the reference's? In words, and as a truth."""
    reference = load(folder / "answers" / task.reference.slug)
    if not reference:
        return {"agreement": f"not compared: {task.reference.name} gave no answer", "agrees": False}
    try:
        words = task.check(given, reference, load(worker.answers), contestant.dtype or task.dtype)
        return {"agreement": "reference: " * (contestant is task.reference) + words, "agrees": True}
    except Disagreement as disagreement:
        return {"agreement": str(disagreement), "agrees": False}
    except Exception as error:  # an answer of another shape, say
        return {"agreement": f"cannot be compared: {type(error).__name__}: {error}", "agrees": False}


def cast(array, dtype):
    return np.ascontiguousarray(array, dtype=dtype if array.dtype.kind == "f" else None)
