"""Naive Bayes on texts: counts against presence, quince against scikit-learn.

    python bench/texts.py FOLDER

prints, for 20 newsgroups split by date, the accuracy of both kinds in both libraries on the same counts; then, for 2,000 film reviews,
the accuracy of ten-fold cross-validation against the number of words in the vocabulary, as the CSV that the guide draws
(`docs/generator/src/picture/film_reviews.csv`). The folder is the one that `QUINCE_DATA` names in the other benchmarks.
"""

import gzip
import sys
from pathlib import Path

import numpy as np
from sklearn import naive_bayes
from sklearn.model_selection import StratifiedKFold

import quince

KINDS = ("MultinomialNB", "BernoulliNB")
SIZES = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 35_000)


def read(path):
    """Texts and labels of a file with the columns label, id and text; line ends within a text are written out."""
    lines = gzip.decompress(path.read_bytes()).decode().rstrip("\n").split("\n")[1:]
    rows = [line.split("\t") for line in lines]
    return [text.replace("\\n", "\n") for _, _, text in rows], np.array([label for label, _, _ in rows])


def both(kind, X, y, X_test, y_test):
    """The accuracy of the two libraries, whose answers must be the same for every text."""
    ours, theirs = (getattr(library, kind)().fit(X, y).predict(X_test) for library in (quince, naive_bayes))
    if (ours != theirs).any():
        raise SystemExit(f"{kind}: {np.sum(ours != theirs)} of {len(ours)} texts have another label")
    return float(np.mean(ours == y_test))


def by_date(folder):
    (texts, y), (later, y_later) = (read(folder / f"20newsgroups_bydate_{part}.tsv.gz") for part in ("train", "test"))
    words = quince.CountVectorizer()
    X, X_later = words.fit_transform(texts), words.transform(later)
    print(f"20 newsgroups by date: {len(y)} posts, {len(y_later)} later ones, {X.shape[1]} words")
    for kind in KINDS:
        print(f"{kind}: {both(kind, X, y, X_later, y_later):.4f}, the same labels from both libraries")


def by_vocabulary(folder):
    texts, y = read(folder / "movie_reviews_polarity2.tsv.gz")
    print("words,multinomial,bernoulli")
    folds = list(StratifiedKFold(10, shuffle=True, random_state=0).split(texts, y))
    for size in SIZES:
        shares = dict.fromkeys(KINDS, 0.0)
        for train, test in folds:
            words = quince.CountVectorizer(max_features=size)
            X = words.fit_transform([texts[row] for row in train])
            X_test = words.transform([texts[row] for row in test])
            for kind in KINDS:
                shares[kind] += both(kind, X, y[train], X_test, y[test]) * len(test) / len(y)
        print(f"{size},{shares['MultinomialNB']:.4f},{shares['BernoulliNB']:.4f}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    by_date(Path(sys.argv[1]))
    by_vocabulary(Path(sys.argv[1]))
