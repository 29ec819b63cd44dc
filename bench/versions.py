"""Two versions of quince on every task of the benchmark: is any slower than it was?

    versions.py BEFORE AFTER          BEFORE and AFTER are Pythons of two environments, each with its quince installed
    versions.py BEFORE AFTER knn      only the tasks whose name contains "knn"

Each version is a process that has loaded the arrays and waits; they run alternately, and the quickest run of each counts.
Prints a table in Markdown. To make the environment of an older version: check it out elsewhere and run `make bench-venv` there.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

import machine

# Rounds for each contestant: at least the first, then as many as fit into the seconds, at most the last.
MIN_ROUNDS, SECONDS, MAX_ROUNDS = 3, 8.0, 40
# A version this much slower is marked.
SLOWER = 1.05


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", help="the Python that has the older quince")
    parser.add_argument("after", help="the Python that has the newer quince")
    parser.add_argument("task", nargs="?", default="", help="part of a task's name")
    arguments = parser.parse_args()
    machine.two_threads()

    # numpy counts its threads when it is imported.
    from tasks import TASKS

    print("| task | before, s | after, s | after / before | median of pairs |\n|---|---|---|---|---|", flush=True)
    for task in TASKS:
        if arguments.task in task.name:
            for row in compare(task, arguments.before, arguments.after):
                print("| " + " | ".join(row) + " |", flush=True)


def compare(task, before, after):
    """A row of the table for each way in which quince does the task."""
    from race import Failure, Worker, cast
    from task import save

    with tempfile.TemporaryDirectory(prefix="quince-versions-") as name:
        folder = Path(name)
        save(folder / "given", {name: cast(array, task.dtype) for name, array in task.arrays().items()})
        for contestant in task.contestants:
            if contestant.library != "quince" or contestant.cannot:
                continue
            workers = []
            title = f"{task.name} {contestant.how}".strip()
            try:
                for version, python in (("before", before), ("after", after)):
                    answers = folder / version / contestant.slug
                    workers.append(Worker(task, contestant, folder, python=python, answers=answers))
                yield measure(title, workers)
            except Failure as failure:
                yield [title, "", "", str(failure), ""]
            finally:
                for worker in workers:
                    worker.stop()


def measure(title, workers):
    for worker in workers:
        worker.run()
    seconds = [[], []]
    started = time.monotonic()
    while len(seconds[0]) < MIN_ROUNDS or (len(seconds[0]) < MAX_ROUNDS and time.monotonic() - started < SECONDS):
        order = (0, 1) if len(seconds[0]) % 2 == 0 else (1, 0)
        for version in order:
            machine.wait_until_quiet()
            seconds[version].append(workers[version].run()["seconds"])
    before, after = map(min, seconds)
    ratio = after / before
    median = statistics.median(new / old for old, new in zip(*seconds, strict=True))
    mark = " slower" if min(ratio, median) > SLOWER else ""
    return [title, f"{before:.4f}", f"{after:.4f}", f"{ratio:.2f}{mark}", f"{median:.2f}"]


if __name__ == "__main__":
    sys.exit(main())
