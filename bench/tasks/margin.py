"""Support vector machines: the dual with an RBF kernel, linear SVMs on texts, and stochastic descent."""

import gzip
import importlib
import os
from pathlib import Path

import numpy as np
from scipy import sparse

from task import Contestant, Disagreement, Task

DATA = "QUINCE_DATA"


def noisy_blobs(seed, rows, columns, centre_deviation, wrong):
    """Twenty blobs, every other of one class, and a share of labels that are wrong."""
    random = np.random.default_rng(seed)
    centres = centre_deviation * random.standard_normal((20, columns))
    blob = random.integers(20, size=rows)
    labels = np.where(blob % 2 == 0, 1.0, -1.0)
    labels[random.random(rows) < wrong] *= -1
    return {"rows": centres[blob] + random.standard_normal((rows, columns)), "labels": labels}


def libsvm_file(name):
    def arrays():
        from sklearn.datasets import load_svmlight_file

        rows, labels = load_svmlight_file(gzip.open(Path(os.environ[DATA]) / name))
        return packed(rows.tocsr()) | {"labels": labels}

    return arrays


def packed(rows):
    rows.sort_indices()
    return {"starts": rows.indptr, "columns": rows.indices, "values": rows.data, "width": np.array(rows.shape[1])}


def features(given):
    if "rows" in given.arrays:
        return given.rows
    shape = (len(given.starts) - 1, int(np.ravel(given.width)[0]))
    return sparse.csr_matrix((given.values, given.columns, given.starts), shape)


def kernel_svm(module, tolerance):
    """scikit-learn's class, or one that looks like it."""

    def prepare(given):
        SVC = importlib.import_module(module).SVC
        rows = features(given)

        def run():
            model = SVC(C=1.0, kernel="rbf", gamma="scale", cache_size=1000, tol=tolerance).fit(rows, given.labels)
            beta = model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else model.dual_coef_
            return {"support": model.support_, "beta": np.ravel(beta)}

        return run

    return prepare


def objective(given, answer):
    """Σ|β| - ½ βᵀKβ in double precision, with kernels by their definition."""
    rows = features(given)
    width = rows.shape[1]
    if sparse.issparse(rows):
        variance = rows.multiply(rows).mean() - rows.mean() ** 2
    else:
        variance = rows.var()
    gamma = 1.0 / (width * variance)
    beta = np.asarray(answer["beta"], dtype=np.float64)
    supports = rows[answer["support"]]
    squares = supports.multiply(supports).sum(axis=1) if sparse.issparse(supports) else (supports**2).sum(axis=1)
    squares = np.asarray(squares).ravel()
    total = 0.0
    for first in range(0, len(beta), 1000):
        part = slice(first, first + 1000)
        products = supports[part] @ supports.T
        products = products.toarray() if sparse.issparse(products) else products
        kernels = np.exp(-gamma * np.maximum(squares[part, None] + squares[None, :] - 2.0 * products, 0.0))
        total += beta[part] @ (kernels @ beta)
    return np.abs(beta).sum() - 0.5 * total


def same_dual(given, reference, answer, dtype):
    ours, theirs = objective(given, answer), objective(given, reference)
    difference = (theirs - ours) / abs(theirs)
    if not difference <= 1e-6:
        raise Disagreement(f"the dual objective is {difference:.0e} below")
    return f"dual objective {ours:.4f}, {len(answer['beta'])} support vectors"


def rbf(name, title, arrays, limit=300.0):
    return Task(
        name=name,
        title=title,
        arrays=arrays,
        contestants=[
            Contestant("quince", "", kernel_svm("quince", 1e-3)),
            Contestant("scikit-learn", "LIBSVM", kernel_svm("sklearn.svm", 1e-3), limit=limit),
            Contestant("scikit-learn-intelex", "", kernel_svm("sklearnex.svm", 1e-3), limit=limit),
        ],
        target=1.5,
        against=("scikit-learn", "scikit-learn-intelex"),
        check=same_dual,
        # Kernels that are kept in a gigabyte are the price of the speed; LIBSVM keeps as many and is slower to fill them.
        memory=4.0,
    )


def documents():
    """20,000 documents of 40 to 260 words from 50,000, weighed and scaled, and labels that no weights can tell apart."""
    random = np.random.default_rng(5)
    rows, words = 20_000, 50_000
    cumulative = np.cumsum(1.0 / np.arange(1, words + 1) ** 1.05)
    lengths = random.integers(40, 260, rows)
    drawn = np.searchsorted(cumulative / cumulative[-1], random.random(lengths.sum())).clip(0, words - 1)
    counts = sparse.csr_matrix((np.ones(len(drawn)), (np.repeat(np.arange(rows), lengths), drawn)), (rows, words))
    counts.sum_duplicates()
    seen = np.bincount(counts.indices, minlength=words)
    counts.data *= (np.log((1 + rows) / (1 + seen)) + 1.0)[counts.indices]
    norms = np.sqrt(np.add.reduceat(counts.data**2, counts.indptr[:-1]))
    counts.data /= np.repeat(norms, np.diff(counts.indptr))
    scores = counts @ random.standard_normal(words)
    noisy = scores + 0.3 * scores.std() * random.standard_normal(rows)
    labels = np.where(noisy > np.median(scores), 1.0, -1.0)
    labels[random.random(rows) < 0.05] *= -1
    return packed(counts) | {"labels": labels}


def linear_svm(module, loss, tolerance, dual):
    def prepare(given):
        LinearSVC = importlib.import_module(module).LinearSVC
        rows = features(given)

        def run():
            model = LinearSVC(loss=loss, dual=dual, tol=tolerance, max_iter=100_000, random_state=0)
            model.fit(rows, given.labels)
            return {"weights": np.ravel(model.coef_), "constant": model.intercept_}

        return run

    return prepare


def same_primal(squared):
    def primal(given, answer):
        weights, constant = answer["weights"], float(np.ravel(answer["constant"])[0])
        lost = np.maximum(0.0, 1.0 - given.labels * (features(given) @ weights + constant))
        return 0.5 * (weights @ weights + constant**2) + (lost**2 if squared else lost).sum()

    def check(given, reference, answer, dtype):
        ours, theirs = primal(given, answer), primal(given, reference)
        difference = (ours - theirs) / theirs
        if not difference <= 1e-6:
            raise Disagreement(f"the objective is {difference:.0e} above")
        return f"objective {ours:.5f}"

    return check


def table():
    """60,000 x 54: columns that depend on each other, as those of tables do, and labels that no weights can tell apart."""
    random = np.random.default_rng(7)
    rows = random.standard_normal((60_000, 54)) @ random.standard_normal((54, 54)) / 3.0
    noisy = rows @ random.standard_normal(54) + 20.0 * random.standard_normal(len(rows))
    return {"rows": rows, "labels": np.where(noisy > 0, 1.0, -1.0)}


def linear(name, title, arrays, loss, tolerance, dual=True):
    return Task(
        name=name,
        title=title,
        arrays=arrays,
        contestants=[
            Contestant("quince", "", linear_svm("quince", loss, tolerance, "auto")),
            Contestant("scikit-learn", "LIBLINEAR", linear_svm("sklearn.svm", loss, tolerance, dual)),
        ],
        target=2.0,
        against=("scikit-learn",),
        check=same_primal(loss == "squared_hinge"),
        memory=2.0,
    )


def many_rows():
    random = np.random.default_rng(6)
    rows = random.standard_normal((500_000, 50))
    labels = np.where(rows @ random.standard_normal(50) + 2.0 * random.standard_normal(len(rows)) > 0, 1.0, -1.0)
    return {"rows": rows, "labels": labels}


def walk(module):
    def prepare(given):
        SGDClassifier = importlib.import_module(module).SGDClassifier

        def run():
            model = SGDClassifier(loss="hinge", alpha=1e-4, max_iter=5, tol=None, random_state=0)
            model.fit(given.rows, given.labels)
            return {"weights": np.ravel(model.coef_), "constant": model.intercept_}

        return run

    return prepare


def as_good(given, reference, answer, dtype):
    def loss(answer):
        scores = given.rows @ answer["weights"] + float(np.ravel(answer["constant"])[0])
        return np.maximum(0.0, 1.0 - given.labels * scores).mean() + 0.5e-4 * (answer["weights"] ** 2).sum()

    ours, theirs = loss(answer), loss(reference)
    if not ours <= 1.01 * theirs:
        raise Disagreement(f"the objective is {ours:.5f} and not {theirs:.5f}")
    return f"objective {ours:.5f}"


TASKS = [
    rbf("svm-few", "RBF, 12,000 x 50, few support vectors", lambda: noisy_blobs(1, 12_000, 50, 1.0, 0.01)),
    rbf("svm-many", "RBF, 12,000 x 50, many support vectors", lambda: noisy_blobs(2, 12_000, 50, 0.5, 0.25)),
    rbf("svm-large", "RBF, 100,000 x 20", lambda: noisy_blobs(3, 100_000, 20, 1.0, 0.05), limit=600.0),
    linear("linear-svm-hinge", "hinge loss, 20,000 documents of 50,000 words", documents, "hinge", 1e-5),
    linear("linear-svm-squared", "squared hinge loss, 20,000 documents of 50,000 words", documents, "squared_hinge", 1e-3),
    # LIBLINEAR's primal, which is its best where there are few columns; for the hinge loss it has none and takes minutes.
    linear("linear-svm-table", "squared hinge loss, 60,000 x 54", table, "squared_hinge", 1e-4, dual=False),
    Task(
        name="sgd-hinge",
        title="hinge loss, 500,000 x 50, five passes",
        arrays=many_rows,
        contestants=[
            Contestant("quince", "", walk("quince")),
            Contestant("scikit-learn", "", walk("sklearn.linear_model")),
        ],
        target=3.0,
        against=("scikit-learn",),
        check=as_good,
    ),
]
for name in ("a9a", "w8a"):
    if (Path(os.environ.get(DATA, "")) / f"{name}.libsvm.gz").is_file():
        TASKS.append(rbf(f"svm-{name}", f"RBF, {name}", libsvm_file(f"{name}.libsvm.gz"), limit=600.0))
