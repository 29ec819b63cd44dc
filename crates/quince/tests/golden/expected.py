"""Computes with numpy and scikit-learn what two golden models of whole example tables must answer: python expected.py

Independent of quince: standardising by numpy (N - 1), words by a pattern of its own, ridge by scikit-learn.
The models were written by `quince train` (format 1):
    quince train examples/data/iris.csv --target species --model ridge -o format-1-ridge-iris.quince
    quince train examples/data/film_reviews.csv.gz --target label --model ridge --set alpha=10 --text review=counts -o format-1-ridge-films.quince
"""

import csv
import gzip
from pathlib import Path

import numpy as np
import regex
from sklearn.linear_model import Ridge

here = Path(__file__).parent
data = here / "../../../../examples/data"


def indicators(labels):
    classes = sorted(set(labels))
    return np.array([[1.0 if label == c else -1.0 for c in classes] for label in labels])


def write(name, scores):
    with open(here / f"{name}.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([f"score:{k}" for k in range(scores.shape[1])])
        writer.writerows([[repr(float(s)) for s in row] for row in scores])


with open(data / "iris.csv") as file:
    rows = list(csv.reader(file))[1:]
x = np.array([[float(cell) for cell in row[:4]] for row in rows])
x = (x - x.mean(0)) / x.std(0, ddof=1)
y = indicators([row[4] for row in rows])
write("format-1-ridge-iris", Ridge(alpha=1.0).fit(x, y).predict(x))

with gzip.open(data / "film_reviews.csv.gz", "rt") as file:
    rows = list(csv.DictReader(file))
# Unicode's word boundaries (UAX 29). The pattern keeps a quotation mark before a letter, which is no part of a word.
texts = [[w.strip("'") for w in regex.split(r"(?w)\b", row["review"].lower()) if regex.search(r"[\p{L}\p{N}]", w)] for row in rows]
documents = {}
for text in texts:
    for w in set(text):
        documents[w] = documents.get(w, 0) + 1
vocabulary = {w: k for k, w in enumerate(sorted(w for w, n in documents.items() if n >= 2))}
x = np.zeros((len(texts), len(vocabulary)))
for i, text in enumerate(texts):
    for w in text:
        if w in vocabulary:
            x[i, vocabulary[w]] += 1
y = indicators([row["label"] for row in rows])
write("format-1-ridge-films", Ridge(alpha=10.0, solver="cholesky").fit(x, y).predict(x))
