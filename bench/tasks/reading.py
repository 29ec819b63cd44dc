"""Reading a table of numbers, kinds of columns included."""

import tempfile
from pathlib import Path

import numpy as np

from task import Contestant, Disagreement, Task

ROWS, COLUMNS = 600_000, 20


class Means(dict):
    """The means of the columns of a table, worked out after the time was taken."""

    def __init__(self, means):
        self.means = means

    def items(self):
        return {"means": np.array(self.means())}.items()


def file(given):
    """The file, which the system has just written and still holds in memory, and the folder that goes with the process."""
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name) / "numbers.csv"
    path.write_bytes(given.text.tobytes())
    return path, folder


def quince(given):
    import quince

    path, folder = file(given)

    def run(folder=folder):
        table = quince.read(path)
        return Means(lambda: [column["numbers"]["mean"] for column in table.describe()["columns"]])

    return run


def pyarrow(given):
    import pyarrow
    import pyarrow.compute
    import pyarrow.csv

    pyarrow.set_cpu_count(2)
    path, folder = file(given)

    def run(folder=folder):
        table = pyarrow.csv.read_csv(path)
        return Means(lambda: [pyarrow.compute.mean(column).as_py() for column in table.columns])

    return run


def numbers():
    values = np.random.default_rng(400).standard_normal((ROWS, COLUMNS))
    head = ",".join(f"c{j}" for j in range(COLUMNS))
    lines = "\n".join(",".join(map(repr, row)) for row in values.tolist())
    return {"text": np.frombuffer(f"{head}\n{lines}\n".encode(), dtype=np.uint8)}


def check(given, reference, answer, dtype):
    worst = np.abs(answer["means"] - reference["means"]).max()
    if len(answer["means"]) != COLUMNS or not worst < 1e-12:
        raise Disagreement(f"means differ by up to {worst:.0e}")
    return "same means"


TASKS = [
    Task(
        name="csv",
        title="a CSV file of 230 MB, 600,000 x 20",
        arrays=numbers,
        contestants=[Contestant("quince", "", quince), Contestant("pyarrow", "", pyarrow)],
        # At most one and a half times its time.
        target=0.67,
        against=("pyarrow",),
        memory=1.0,
        check=check,
    )
]
