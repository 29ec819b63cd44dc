"""Bayes classifiers: a fit, and the labels of the same rows."""

import functools
import gzip
import importlib
import io
import os
from pathlib import Path

import numpy as np
from scipy import sparse

from task import Contestant, Disagreement, Task

#: A folder with `adult_train.csv.gz`, for whoever has it.
DATA = "QUINCE_DATA"
ADULT = "adult_train.csv.gz"

#: This number of rows is also asked for their probabilities, to see that the two mean the same.
ROWS_WITH_PROBABILITIES = 1000


def estimator(module, name, **settings):
    """scikit-learn's class, or one that looks like it."""

    def prepare(given):
        Classifier = getattr(importlib.import_module(module), name)
        rows = matrix(given)

        def run():
            model = Classifier(**settings).fit(rows, given.target)
            return {"labels": model.predict(rows), "probabilities": model.predict_proba(rows[:ROWS_WITH_PROBABILITIES])}

        return run

    return prepare


def matrix(given):
    """The rows, which lie as compressed rows if they are sparse."""
    if "starts" not in given.arrays:
        return given.rows
    width = int(given.shape[1])
    return sparse.csr_matrix((given.values, given.columns, given.starts), shape=(len(given.starts) - 1, width))


def clouds(seed, rows, columns, classes, correlated):
    """Rows about the mean of their class; correlated, each class has a covariance of its own."""
    random = np.random.default_rng(seed)
    target = random.integers(classes, size=rows)
    means = 0.5 * random.standard_normal((classes, columns))
    values = random.standard_normal((rows, columns))
    if correlated:
        for each in range(classes):
            here = np.flatnonzero(target == each)
            mix = np.eye(columns) + random.standard_normal((columns, columns)) / (3 * np.sqrt(columns))
            values[here] = values[here] @ mix
    values += means[target]
    return {"rows": values, "target": target}


def documents():
    """100,000 documents of about 80 words from 50,000, as frequent as words are; a third of them are those of the class."""
    random = np.random.default_rng(600)
    rows, words, classes = 100_000, 50_000, 20
    target = random.integers(classes, size=rows)
    lengths = random.poisson(80, rows)
    chances = np.cumsum(1.0 / (np.arange(words) + 10.0))
    places = np.searchsorted(chances, chances[-1] * random.random(lengths.sum()))
    places = np.minimum(places, words - 1)
    documents = np.repeat(np.arange(rows), lengths)
    own = np.stack([random.permutation(words) for _ in range(classes)])
    of_class = random.random(len(places)) < 1 / 3
    places = np.where(of_class, own[target[documents], places], places)
    counts = sparse.csr_matrix((np.ones(len(places)), (documents, places)), shape=(rows, words))
    counts.sum_duplicates()
    return {
        "starts": counts.indptr,
        "columns": counts.indices,
        "values": counts.data,
        "shape": np.array(counts.shape),
        "target": target,
    }


def check(given, reference, answer, dtype):
    difference = np.max(np.abs(answer["probabilities"] - reference["probabilities"]))
    if not difference <= 1e-8:
        raise Disagreement(f"probabilities differ by {difference:.0e}")
    others = int(np.sum(answer["labels"] != reference["labels"]))
    # Where two classes are equally likely but for rounding, either label will do.
    if others > len(given.target) / 100_000:
        raise Disagreement(f"{others} labels differ")
    return f"probabilities to {difference:.0e}" + (f", {others} labels differ" if others else "")


def task(name, title, arrays, module, classifier, target, **settings):
    return Task(
        name=name,
        title=title,
        arrays=arrays,
        contestants=[
            Contestant("quince", "", estimator("quince", classifier, **settings)),
            Contestant("scikit-learn", "", estimator(module, classifier, **settings)),
        ],
        target=target,
        against=("scikit-learn",),
        check=check,
    )


NAIVE, DISCRIMINANT = "sklearn.naive_bayes", "sklearn.discriminant_analysis"
TASKS = [
    task(
        "gaussian-nb",
        "naive Bayes, normal, 500,000 x 50, 10 classes",
        functools.partial(clouds, 601, 500_000, 50, 10, False),
        NAIVE,
        "GaussianNB",
        10.0,
    ),
    task(
        "qda",
        "quadratic discriminants, 200,000 x 50, 5 classes",
        functools.partial(clouds, 602, 200_000, 50, 5, True),
        DISCRIMINANT,
        "QuadraticDiscriminantAnalysis",
        4.0,
    ),
    task(
        "lda",
        "linear discriminants, 200,000 x 50, 5 classes",
        functools.partial(clouds, 603, 200_000, 50, 5, True),
        DISCRIMINANT,
        "LinearDiscriminantAnalysis",
        2.0,
    ),
    task(
        "multinomial-nb",
        "naive Bayes of counts, 100,000 sparse documents, 50,000 words, 20 classes",
        documents,
        NAIVE,
        "MultinomialNB",
        1.5,
    ),
    task(
        "bernoulli-nb",
        "naive Bayes of presence, 100,000 sparse documents, 50,000 words, 20 classes",
        documents,
        NAIVE,
        "BernoulliNB",
        1.5,
    ),
]


def adult():
    """The bytes of a table with numbers, categories and missing values."""
    return {"table": np.frombuffer(gzip.decompress((Path(os.environ[DATA]) / ADULT).read_bytes()), dtype=np.uint8)}


def table_and_labels(given):
    from pyarrow import csv

    missing = csv.ConvertOptions(null_values=["?"], strings_can_be_null=True)
    table = csv.read_csv(io.BytesIO(given.table.tobytes()), convert_options=missing)
    return table.drop_columns("income"), table["income"].to_numpy()


def mixed():
    """Families are given and likelihoods count in full, so that a fit is one pass over the rows and nothing else."""
    from quince import MixedNB

    return MixedNB(family="normal", calibrate=False, variance_floor=0.0)


def leaving_out(given):
    table, labels = table_and_labels(given)
    return lambda: {"probabilities": mixed().leave_one_out(table, labels)}


def one_fit(given):
    table, labels = table_and_labels(given)
    return lambda: {"prior": mixed().fit(table, labels).class_log_prior_}


def check_left_out(given, reference, answer, dtype):
    """A few rows are left out by hand."""
    if "prior" in answer:
        return "a fit"
    (table, labels), furthest = table_and_labels(given), 0.0
    for row in (0, 1000, 20_000):
        rest = np.delete(np.arange(len(labels)), row)
        alone = mixed().fit(table.take(rest), labels[rest]).predict_proba(table.slice(row, 1))
        furthest = max(furthest, float(np.max(np.abs(answer["probabilities"][row] - alone))))
    if not furthest <= 1e-9:
        raise Disagreement(f"probabilities differ by {furthest:.0e}")
    return f"probabilities to {furthest:.0e}"


if (Path(os.environ.get(DATA, "")) / ADULT).is_file():
    TASKS.append(
        Task(
            name="leave-one-out",
            title="naive Bayes of the native columns of adult, 32,561 rows, each left out once, against one fit",
            arrays=adult,
            contestants=[Contestant("quince", "", leaving_out), Contestant("one fit", "of quince", one_fit)],
            target=0.2,
            against=("one fit",),
            check=check_left_out,
            # A probability for every row and class, and the likelihoods they are made of.
            memory=4.0,
        )
    )
