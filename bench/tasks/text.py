"""Counting the words of texts: a sparse matrix of counts, vocabulary included."""

import gzip
import importlib
import os
from pathlib import Path

import numpy as np
from scipy import sparse

from task import Contestant, Disagreement, Task

#: A folder with `20newsgroups_bydate_train.tsv.gz` (lines of label, tab, text), for whoever has it.
DATA = "QUINCE_DATA"
NEWSGROUPS = "20newsgroups_bydate_train.tsv.gz"
#: Between two texts.
END = "\x00"


def vectorizer(module):
    """scikit-learn's class, or one that looks like it."""

    def prepare(given):
        CountVectorizer = importlib.import_module(module).CountVectorizer
        texts = given.texts.tobytes().decode().split(END)

        def run():
            model = CountVectorizer()
            counts = model.fit_transform(texts)
            return {"starts": counts.indptr, "columns": counts.indices, "values": counts.data}

        return run

    return prepare


def packed(texts):
    return {"texts": np.frombuffer(END.join(texts).encode(), dtype=np.uint8)}


def made_up():
    """20,000 texts of 150 words, which are as frequent as words are: the k-th with a chance of 1 / (k + 10)."""
    random = np.random.default_rng(300)
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
    lengths = random.integers(2, 12, 60_000)
    words = sorted({"".join(letters[random.integers(0, 26, length)]) for length in lengths})
    random.shuffle(words)
    chances = 1.0 / (np.arange(len(words)) + 10.0)
    drawn = random.choice(len(words), size=(20_000, 150), p=chances / chances.sum())
    return packed([" ".join(words[place] for place in row).capitalize() + "." for row in drawn])


def newsgroups():
    lines = gzip.decompress((Path(os.environ[DATA]) / NEWSGROUPS).read_bytes()).decode().split("\n")
    return packed([line.split("\t", 1)[1] for line in lines if "\t" in line])


def matrix(answer):
    """The counts with the columns of every row in order, which scikit-learn leaves as they were met."""
    width = int(answer["columns"].max()) + 1
    rows = sparse.csr_matrix((answer["values"], answer["columns"], answer["starts"]), (len(answer["starts"]) - 1, width))
    rows.sort_indices()
    return rows


def check(given, reference, answer, dtype):
    ours, theirs = matrix(answer), matrix(reference)
    for name in ("indptr", "indices", "data"):
        if not np.array_equal(getattr(ours, name), getattr(theirs, name)):
            raise Disagreement(f"other {name}")
    return "same matrix"


def task(name, title, arrays):
    return Task(
        name=name,
        title=title,
        arrays=arrays,
        contestants=[
            Contestant("quince", "", vectorizer("quince")),
            Contestant("scikit-learn", "", vectorizer("sklearn.feature_extraction.text")),
        ],
        target=8.0,
        against=("scikit-learn",),
        memory=0.5,
        check=check,
    )


TASKS = [task("text-count", "the words of 20,000 texts of 150 words", made_up)]
if (Path(os.environ.get(DATA, "")) / NEWSGROUPS).is_file():
    TASKS.append(task("text-newsgroups", "the words of 11,314 posts to 20 newsgroups", newsgroups))
