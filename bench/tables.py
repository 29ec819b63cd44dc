"""Naive Bayes on tables as people have them, against scikit-learn's naive Bayes classes after the usual preparation.

    python bench/tables.py FOLDER [NAME ...]

prints, for each table in the folder, the log loss of ten-fold cross-validation on the same folds. The guide's page on naive Bayes
shows the outcome. The tables are those of the folder that `QUINCE_DATA` names in the other benchmarks.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, MinMaxScaler, OneHotEncoder, OrdinalEncoder

from quince import MixedNB

#: File, target, and columns that name a row rather than tell something of it.
TABLES = {
    "adult": ("adult_train.csv.gz", "income", []),
    "titanic": ("titanic.csv", "Survived", ["PassengerId", "Name", "Ticket", "Cabin"]),
    "votes": ("congressional_votes_1984.csv", "Class", []),
    "credit": ("credit_approval.csv", "A16", []),
    "heart": ("heart_cleveland.csv", "num", []),
    "penguins": ("penguins.csv", "species", []),
}
#: More categories than any column has; the last stands for those that training rows did not have.
CATEGORIES = 64


def prepared(frame, of_numbers, of_categories, classifier):
    """Missing values imputed, numbers and categories brought into the shape that a class needs."""
    numbers = list(frame.select_dtypes("number"))
    others = [name for name in frame if name not in numbers]
    filled = make_pipeline(SimpleImputer(strategy="median"), *of_numbers)
    frequent = make_pipeline(SimpleImputer(strategy="most_frequent"), of_categories)
    return make_pipeline(ColumnTransformer([("n", filled, numbers), ("c", frequent, others)]), classifier)


def ways(frame):
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=CATEGORIES - 1)

    def bins(count, encode):
        return [KBinsDiscretizer(count, encode=encode, strategy="quantile")]

    yield "GaussianNB", prepared(frame, [], one_hot, GaussianNB())
    yield "BernoulliNB", prepared(frame, bins(5, "onehot-dense"), one_hot, BernoulliNB())
    yield "MultinomialNB", prepared(frame, [MinMaxScaler(clip=True)], one_hot, MultinomialNB())
    yield "ComplementNB", prepared(frame, [MinMaxScaler(clip=True)], one_hot, ComplementNB())
    for count in (5, 10):
        classifier = CategoricalNB(min_categories=CATEGORIES)
        yield f"CategoricalNB, {count} bins", prepared(frame, bins(count, "ordinal"), codes, classifier)


def loss(model, frame, target, folds):
    def of_fold(train, test):
        chances = model.fit(frame.iloc[train], target[train]).predict_proba(frame.iloc[test])
        return log_loss(target[test], chances, labels=np.unique(target))

    return np.mean([of_fold(train, test) for train, test in folds])


def main(folder, *names):
    warnings.simplefilter("ignore")
    for name in names or TABLES:
        file, column, apart = TABLES[name]
        frame = pd.read_csv(Path(folder) / file, na_values=["?", "NA", ""], skipinitialspace=True).drop(columns=apart)
        target = frame.pop(column).astype(str).to_numpy()
        others = frame.select_dtypes(exclude="number").columns
        frame[others] = frame[others].astype(object)
        folds = list(StratifiedKFold(10, shuffle=True, random_state=0).split(frame, target))
        found = {way: loss(model, frame, target, folds) for way, model in ways(frame)}
        print(f"{name}, {len(frame)} rows: MixedNB {loss(MixedNB(), frame, target, folds):.4f}")
        for way, value in sorted(found.items(), key=lambda pair: pair[1]):
            print(f"    {way} {value:.4f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
