"""The benchmark: quince and its peers on the same arrays, in the same run. `make bench` starts it, on Linux.

    run.py                  every task
    run.py knn              the tasks whose name contains "knn"; the others keep their results
    run.py knn --arrays D   only writes the arrays, for a profiler: D/knn-low/train.npy and so on
    run.py --render         only writes RESULTS.md again from results.json and notes.md

MNIST comes from a package of npm; where npm cannot be asked, QUINCE_DATA=DIR names a folder with its file
train-images-idx3-ubyte.

Every contestant is a process that has loaded the arrays and waits (`worker.py`). They run alternately, each round begun by
another, each run on a quiet machine, after a warm-up that also measures memory and gives the answer (`race.py`). What a
task is stands in `task.py`, the tasks in `tasks/`.
"""

import argparse
import importlib.metadata
import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import machine

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RESULTS = HERE / "results.json"


def main():
    arguments = read_arguments()
    machine.two_threads()

    # numpy counts its threads when it is imported.
    import report
    from race import cast, race
    from task import save
    from tasks import TASKS

    def write(results):
        order = [task.name for task in TASKS if task.name in results["tasks"]]
        results["tasks"] = {name: results["tasks"][name] for name in order}
        used = {task["run"] for task in results["tasks"].values()}
        results["runs"] = {commit: run for commit, run in results["runs"].items() if commit in used}
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        notes = HERE / "notes.md"
        (HERE / "RESULTS.md").write_text(report.render(results, notes.read_text() if notes.exists() else ""))

    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"tasks": {}, "runs": {}}
    if arguments.render:
        write(results)
        return
    tasks = [task for task in TASKS if arguments.task in task.name]
    if not tasks:
        sys.exit(f"no task has {arguments.task!r} in its name; there are: {', '.join(task.name for task in TASKS)}")
    if arguments.arrays:
        for task in tasks:
            save(arguments.arrays / task.name, {name: cast(array, task.dtype) for name, array in task.arrays().items()})
        return

    commit = describe_commit()
    results["runs"][commit] = {"commit": commit, "machine": machine.describe(), "versions": versions()}
    machine.wait_until_quiet()
    peak = machine.product_peak()
    talk("product peak: " + ", ".join(f"{dtype} {speed / 1e9:.0f} GF/s" for dtype, speed in peak.items()) + "\n")
    for task in tasks:
        talk(f"{task.name}: {task.title}, {task.dtype}\n")
        with tempfile.TemporaryDirectory(prefix="quince-bench-") as folder:
            outcome = race(task, Path(folder), arguments.rounds, arguments.rust_peers, talk)
        results["tasks"][task.name] = {
            "title": task.title,
            "dtype": task.dtype,
            "target": task.target,
            "against": task.against,
            "peak": peak[task.dtype],
            "run": commit,
            **outcome,
        }
        # After every task, so that what is measured stays measured.
        write(results)
    print(report.summary(results))
    print("\nbench/RESULTS.md has the rest.")


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", nargs="?", default="", help="part of a task's name")
    parser.add_argument("--rounds", type=int, default=5, help="at least this number of rounds (default 5)")
    parser.add_argument("--arrays", type=Path, metavar="DIR", help="write the arrays there and stop")
    parser.add_argument("--render", action="store_true", help="write RESULTS.md from results.json and stop")
    parser.add_argument(
        "--rust-peers",
        type=Path,
        metavar="EXE",
        default=ROOT / "target" / "rust-peers" / "release" / "rust-peers",
        help="the program of the Rust peers",
    )
    return parser.parse_args()


def talk(words):
    print(words, end="", file=sys.stderr, flush=True)


def describe_commit():
    """The commit this was built from; a plus sign says that something in crates/ had changed since."""

    def git(*words):
        return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True).stdout.strip()

    changed = git("status", "--porcelain", "crates")
    return (git("rev-parse", "--short=10", "HEAD") or "unknown") + ("+" if changed else "")


def versions():
    """Of Python, the Rust compiler, every peer, and quince."""
    found = {"Python": sys.version.split()[0]}
    for line in (HERE / "requirements.txt").read_text().splitlines():
        name = line.partition("==")[0].strip()
        if name and not name.startswith("#"):
            found[name] = importlib.metadata.version(name)
    try:
        found["quince"] = importlib.metadata.version("quince")
    except importlib.metadata.PackageNotFoundError:
        found["quince"] = "not installed"
    for package in tomllib.loads((HERE / "rust-peers" / "Cargo.lock").read_text())["package"]:
        if package["name"].startswith("linfa") or package["name"] == "smartcore":
            found[package["name"]] = package["version"]
    rustc = subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.split()
    found["rustc"] = rustc[1] if len(rustc) > 1 else "unknown"
    return found


if __name__ == "__main__":
    main()
