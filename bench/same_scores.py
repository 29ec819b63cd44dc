"""Decision values of quince's SVC beside LIBSVM's, both to a tolerance of 1e-6, on subsamples of a9a, w8a and letter.

    python bench/same_scores.py FOLDER

The folder has a9a.libsvm.gz, w8a.libsvm.gz and letter_recognition.csv.gz. LIBSVM keeps its kernels in single precision, so its own
answer is known to about seven digits of the largest sums.
"""

import gzip
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.svm import SVC as Libsvm

import quince


def libsvm_file(path: Path):
    return load_svmlight_file(gzip.open(path))


def letters(path: Path):
    """The first half of the alphabet against the second."""
    table = np.genfromtxt(gzip.open(path, "rt"), delimiter=",", dtype=str, skip_header=1)
    letter = next(j for j in range(table.shape[1]) if table[0, j].isalpha())
    return np.delete(table, letter, axis=1).astype(float), np.where(table[:, letter] <= "M", -1.0, 1.0)


def main(folder: Path) -> None:
    tables = {name: libsvm_file(folder / f"{name}.libsvm.gz") for name in ("a9a", "w8a")}
    tables["letter"] = letters(folder / "letter_recognition.csv.gz")
    worst = 0.0
    for name, (rows, labels) in tables.items():
        for seed in range(3):
            order = np.random.default_rng(seed).permutation(len(labels))
            train, test = order[:3000], order[3000:6000]
            for kernel in ({"kernel": "rbf"}, {"kernel": "poly", "degree": 2, "coef0": 1.0}, {"kernel": "linear", "C": 0.1}):
                how = {"gamma": "scale", "tol": 1e-6, "cache_size": 1000} | kernel
                ours = quince.SVC(**how).fit(rows[train], labels[train])
                theirs = Libsvm(**how).fit(rows[train], labels[train])
                apart = np.abs(ours.decision_function(rows[test]) - theirs.decision_function(rows[test])).max()
                worst = max(worst, apart)
                print(f"{name:6} sample {seed} {kernel['kernel']:6} {len(ours.support_):5} support vectors, "
                      f"scores of other rows apart by {apart:.1e} at most")
    print(f"the worst of all: {worst:.1e}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
