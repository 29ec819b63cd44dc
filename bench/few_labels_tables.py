"""Few labels on tables: does it help to learn from the rows without one?

    python bench/few_labels_tables.py FOLDER

For every table a third of the rows is kept for the test, and of the rest a few keep their label, in six draws. Printed are accuracy
and log loss of the classifier that learns from the labelled rows alone, and of those that learn from all rows: these count as much
as labelled ones, a tenth as much, or every class has two components. The guide's page on mixtures shows the outcome. The folder is
the one that `QUINCE_DATA` names in the other benchmarks.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss

import quince

DRAWS = 6

#: Table, target, and the share of rows that keep their label.
TABLES = (
    ("penguins", "species", 0.08),
    ("iris", "species", 0.10),
    ("wdbc", "diagnosis", 0.05),
    ("mushroom", "edibility", 0.02),
    ("titanic", "Survived", 0.10),
    ("credit_approval", "A16", 0.08),
    ("congressional_votes_1984", "Class", 0.05),
    ("heart_cleveland", "sex", 0.10),
)

#: What is compared: settings, and whether rows without a label are learnt from.
WAYS = (
    ("labelled rows alone", {}, False),
    ("unlabelled=1", {"unlabelled": 1.0}, True),
    ("unlabelled=0.1", {"unlabelled": 0.1}, True),
    ("per_class=2", {"per_class": 2, "unlabelled": 1.0}, True),
)


def draw(table: pd.DataFrame, target: str, share: float, seed: int) -> list[tuple[float, float]]:
    random = np.random.default_rng(seed)
    order = random.permutation(len(table))
    test, train = table.iloc[order[: len(table) // 3]], table.iloc[order[len(table) // 3 :]].copy()
    keeps = random.random(len(train)) <= share
    scores = []
    for _, settings, uses_all in WAYS:
        some = train if uses_all else train[keeps]
        labels = np.where(keeps[keeps | uses_all], some[target].to_numpy(), None)
        model = quince.SemiSupervisedNB(variance_floor=1e-3, calibrate=False, **settings).fit(some.drop(columns=target), labels)
        known = test[test[target].isin(model.classes_)]
        probabilities = model.predict_proba(known.drop(columns=target))
        truth = known[target].to_numpy()
        right = float((model.classes_[probabilities.argmax(axis=1)] == truth).mean())
        scores.append((right, log_loss(truth, np.clip(probabilities, 1e-15, 1), labels=list(model.classes_))))
    return scores


def main(folder: str) -> None:
    warnings.simplefilter("ignore")
    print(f"accuracy and log loss, mean of {DRAWS} draws")
    print(f"{'':34}" + "".join(f"{name:>22}" for name, _, _ in WAYS))
    for name, target, share in TABLES:
        table = pd.read_csv(Path(folder) / f"{name}.csv")
        table = table[table[target].notna()].astype({target: str})
        scores = np.mean([draw(table, target, share, seed) for seed in range(DRAWS)], axis=0)
        cells = "".join(f"{right:>15.3f} {loss:6.2f}" for right, loss in scores)
        print(f"{name} ({100 * share:.0f} % labelled)".ljust(34) + cells, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
