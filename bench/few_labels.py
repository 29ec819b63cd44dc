"""Few labels and many rows without one: 20 newsgroups by date, naive Bayes against the same that learns from all posts.

    python bench/few_labels.py FOLDER [CSV]

prints, for several numbers of labelled posts a class, the accuracy on the test posts of ten draws of the labelled ones, and writes
them to a file. The guide's page on mixtures shows the outcome. The folder is the one that `QUINCE_DATA` names in the other benchmarks.
"""

import csv
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import quince

DRAWS = 10
COUNTS = (5, 10, 20, 50, 100, 200)


def main(folder: str, output: str | None = None) -> None:
    warnings.simplefilter("ignore")
    train, test = (pd.read_csv(Path(folder) / f"20newsgroups_bydate_{part}.tsv.gz", sep="\t") for part in ("train", "test"))
    words = quince.CountVectorizer(stop_words="english", min_df=2)
    posts, new = words.fit_transform(train["text"].fillna("")), words.transform(test["text"].fillna(""))
    names, classes = np.unique(train["label"], return_inverse=True)
    truth = np.searchsorted(names, test["label"])
    rows = [("labelled", "draw", "naive_bayes", "semi_supervised")]
    for count in COUNTS:
        for draw in range(DRAWS):
            random = np.random.default_rng(draw)
            known = np.full(len(classes), -1)
            for k in range(len(names)):
                known[random.choice(np.flatnonzero(classes == k), count, replace=False)] = k
            alone = quince.MultinomialNB(alpha=0.1).fit(posts[known >= 0], known[known >= 0])
            both = quince.SemiSupervisedNB(family="multinomial", alpha=0.1, tol=1e-4, max_iter=100).fit(posts, known)
            scores = [float((model.predict(new) == truth).mean()) for model in (alone, both)]
            rows.append((count, draw, *(f"{score:.4f}" for score in scores)))
        some = np.array([[float(cell) for cell in row[2:]] for row in rows[1:] if row[0] == count])
        (a, b), (da, db) = some.mean(axis=0), some.std(axis=0, ddof=1)
        print(f"{count} labelled posts a class: naive Bayes {a:.4f} ± {da:.4f}, semi-supervised {b:.4f} ± {db:.4f}", flush=True)
    if output:
        with open(output, "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
