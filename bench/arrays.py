"""The arrays the tasks run on: made from fixed seeds, the same on every machine and in every run."""

import functools
import gzip
import os
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent


def mixture(seed, components, columns, *sizes):
    """One array of rows for each size, all drawn from one mixture of correlated Gaussians.

    Half as many hidden directions as columns, each component with its own, and a little noise around them: near rows
    are really near, as in tables people have, and unlike isotropic noise, in which every row is as far as any other.
    """
    random = np.random.default_rng(seed)
    centres = 2.0 * random.standard_normal((components, columns))
    hidden = max(1, columns // 2)
    directions = random.standard_normal((components, hidden, columns)) / np.sqrt(hidden)
    drawn = []
    for size in sizes:
        rows = 0.2 * random.standard_normal((size, columns))
        component = random.integers(components, size=size)
        for each in range(components):
            here = np.flatnonzero(component == each)
            rows[here] += centres[each] + random.standard_normal((len(here), hidden)) @ directions[each]
        drawn.append(rows)
    return drawn


def blobs(seed, clusters, columns, rows, spread):
    """Round clusters of unit variance whose centres lie `spread` apart per column: below about 1 they overlap."""
    random = np.random.default_rng(seed)
    centres = spread * random.standard_normal((clusters, columns))
    return centres[random.integers(clusters, size=rows)] + random.standard_normal((rows, columns))


def starting_rows(seed, rows, clusters):
    """Distinct rows to start k-means from."""
    order = np.random.default_rng(seed).permutation(len(rows))
    chosen = rows[order[: 2 * clusters]]
    _, first = np.unique(chosen, axis=0, return_index=True)
    return np.ascontiguousarray(chosen[np.sort(first)[:clusters]])


@functools.cache
def mnist():
    """The 60,000 training pictures of MNIST, values 0 to 255, or a stand-in of that shape; and which of the two."""
    folder = Path(os.environ.get("QUINCE_DATA") or ROOT.parent / "shared" / "data")
    path = folder / "mnist_train.csv.gz"
    if not path.exists():
        random = np.random.default_rng(784)
        strokes = random.standard_normal((40, 784)) * 60.0
        pictures = random.standard_normal((60_000, 40)) @ strokes - 40.0
        return pictures.clip(0, 255).round(), "a synthetic stand-in: mnist_train.csv.gz was not found in $QUINCE_DATA"
    with gzip.open(path, "rb") as file:
        file.readline()
        # Several times faster than np.loadtxt; a line ends with a comma more, because one separator is all it knows.
        values = np.fromstring(file.read().replace(b"\n", b","), dtype=np.float64, sep=",")
    # The first column is the label.
    return np.ascontiguousarray(values.reshape(60_000, 785)[:, 1:]), "MNIST"
