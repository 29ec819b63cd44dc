"""The golden models of format 1, and what they must answer.

    python make.py                computes the answers, beside the models
    python make.py QUINCE         also writes, by the command QUINCE, the models that are not there yet

The answers come from numpy and scikit-learn, which know nothing of quince: columns are encoded by numpy, methods are fitted by
scikit-learn or written down as their formulas. Format 1 is frozen: models that exist are never written again. The script
`expected.py` does the same for two models of whole example tables.
"""

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy.special import gammaln, logsumexp
from sklearn.cluster import BisectingKMeans, KMeans
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.impute import KNNImputer
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestCentroid
from sklearn.svm import SVC, SVR, OneClassSVM

here = Path(__file__).parent
with open(here / "rows.csv") as file:
    rows = list(csv.DictReader(file))
labels = np.array([row["two"] for row in rows])
classes = sorted(set(labels))
codes = np.array([classes.index(label) for label in labels])
y = np.array([float(row["y"]) for row in rows])
signs = np.where(codes == 1, 1.0, -1.0)
IRIS = "../data/iris.csv"


# The columns as numbers.


def number(name):
    return np.array([np.nan if row[name] == "?" else float(row[name]) for row in rows])


def standard(name):
    values = number(name)
    scaled = (values - np.nanmean(values)) / np.nanstd(values, ddof=1)
    return scaled.reshape(-1, 1)


def filled(name):
    return np.nan_to_num(standard(name))


def most_frequent(values):
    known = [value for value in values if value != "?"]
    return max(sorted(set(known)), key=known.count)


def cells(name):
    values = [row[name] for row in rows]
    return [most_frequent(values) if value == "?" else value for value in values]


def boolean(name):
    return np.array([[1.0 if value == "yes" else 0.0] for value in cells(name)])


def one_hot(name):
    values = cells(name)
    return np.array([[1.0 if value == category else 0.0 for category in sorted(set(values))] for value in values])


def ordinal(name, order):
    ranks = np.array([1.0 + order.index(row[name]) if row[name] != "?" else np.nan for row in rows])
    ranks = np.where(np.isnan(ranks), 1.0 + order.index(most_frequent([row[name] for row in rows])), ranks)
    known = np.array([row[name] != "?" for row in rows])
    return ((ranks - ranks[known].mean()) / ranks[known].std(ddof=1)).reshape(-1, 1)


def counts(name):
    texts = [[] if row[name] == "?" else row[name].split() for row in rows]
    vocabulary = sorted({word for text in texts for word in text if sum(word in other for other in texts) >= 2})
    return np.array([[float(text.count(word)) for word in vocabulary] for text in texts])


def tfidf(name):
    count = counts(name)
    with_word = (count > 0).sum(0)
    weighed = count * (1 + np.log((1 + len(rows)) / (1 + with_word)))
    lengths = np.linalg.norm(weighed, axis=1, keepdims=True)
    return weighed / np.where(lengths > 0, lengths, 1)


def vectors():
    labels, dense = [], np.zeros((16, 7))
    for i, line in enumerate((here / "vectors.svm").read_text().split("\n")[:16]):
        label, *entries = line.split()
        labels.append(int(label))
        for entry in entries:
            place, value = entry.split(":")
            dense[i, int(place) - 1] = float(value)
    return dense, np.where(np.array(labels) == 1, 1.0, -1.0)


everything = np.hstack([filled("a"), filled("b"), filled("d"), filled("n"), boolean("f"), one_hot("c"), tfidf("t")])
two = np.hstack([filled("b"), filled("d")])
plain = np.hstack([number("b").reshape(-1, 1), number("d").reshape(-1, 1)])


# What models answer, by the names of columns of an expected file.


def of_scores(s):
    return {"score:0": -s, "score:1": s}


def of_probabilities(p):
    return {f"probability:{k}": p[:, k] for k in range(p.shape[1])}


def of_joint(log):
    return of_probabilities(np.exp(log - logsumexp(log, axis=1, keepdims=True)))


def of_numbers(values):
    return {"number:0": values}


def baseline_classes():
    prior = np.bincount(codes) / len(codes)
    return of_probabilities(np.tile(prior, (len(rows), 1)))


def knn_manhattan():
    weighted = two * [1.0, 0.5]
    return of_probabilities(KNeighborsClassifier(4, metric="manhattan").fit(weighted, codes).predict_proba(weighted))


def knn_classes(x):
    share = KNeighborsClassifier(3).fit(x, codes).predict_proba(x)
    # One more vote is divided over the classes.
    return of_probabilities((3 * share + 1 / 2) / (3 + 1))


def prior():
    return np.log(np.bincount(codes) / len(codes))


def by_class(log_likelihood):
    """ln p(x | class) of every row, from a function of the rows of a class that gives ln p of all rows."""
    return np.stack([log_likelihood(codes == k) for k in (0, 1)], axis=1)


def normal_log(values):
    def of(own):
        known = values[own & ~np.isnan(values)]
        mean, variance = known.mean(), known.var()
        log = -0.5 * (np.log(2 * np.pi * variance) + (values - mean) ** 2 / variance)
        return np.where(np.isnan(values), 0.0, log)

    return by_class(of)


def poisson_log(values):
    overall = values.mean()

    def of(own):
        rate = (values[own].sum() + overall) / (own.sum() + 1)
        return values * np.log(rate) - rate - gammaln(values + 1)

    return by_class(of)


def category_log(name):
    values = np.array([row[name] for row in rows])
    names = sorted(set(values) - {"?"})

    def of(own):
        known = values[own & (values != "?")]
        p = {name: ((known == name).sum() + 1) / (len(known) + len(names)) for name in names}
        return np.array([0.0 if value == "?" else np.log(p[value]) for value in values])

    return by_class(of)


def words_log(name):
    count = counts(name)

    def of(own):
        p = (count[own].sum(0) + 1) / (count[own].sum() + count.shape[1])
        return count @ np.log(p)

    return by_class(of)


def window_log(values, width):
    def of(own):
        z = (values[:, None] - values[own][None, :]) / width
        return logsumexp(-0.5 * z**2, axis=1) - np.log(own.sum() * width * np.sqrt(2 * np.pi))

    return by_class(of)


def chain_log(first, second):
    """ln p(a | class) + ln p(b | a, class). Missing values are left out: what follows one has its own share of the class."""
    a, b = [[row[name] for row in rows] for name in (first, second)]
    names = [sorted(set(a) - {"?"}), sorted(set(b) - {"?"})]

    def share(values, wanted, names):
        known = [value for value in values if value in names]
        return (known.count(wanted) + 1) / (len(known) + len(names))

    def of(own):
        pairs = [(u, v) for o, u, v in zip(own, a, b) if o]
        starts, ends = [u for u, _ in pairs], [v for _, v in pairs]

        def log(u, v):
            start = 0.0 if u == "?" else np.log(share(starts, u, names[0]))
            before = ends if u == "?" else [after for value, after in pairs if value == u]
            return start + (0.0 if v == "?" else np.log(share(before, v, names[1])))

        return np.array([log(u, v) for u, v in zip(a, b)])

    return by_class(of)


def naive_bayes():
    log = normal_log(number("a")) + normal_log(number("b")) + poisson_log(number("n"))
    return of_joint(prior() + log + category_log("f") + category_log("c") + words_log("t"))


def discriminant(model):
    return of_probabilities(model.fit(plain, codes).predict_proba(plain))


def svc(x, target, **settings):
    return of_scores(SVC(tol=1e-10, **settings).fit(x, target).decision_function(x))


def clusters(x, k):
    best = KMeans(k, n_init=50, tol=0, random_state=1).fit(x)
    order = np.argsort(-np.bincount(best.labels_), kind="stable")
    far = best.transform(x)[:, order]
    return {"cluster": far.argmin(1)} | {f"distance:{c}": far[:, c] for c in range(k)}


def bisected(x, k):
    """Bisecting k-means: a row descends the tree, and is told its distances from the centres of the leaves."""
    best = BisectingKMeans(k, n_init=50, tol=0, random_state=1).fit(x)
    order = np.argsort(-np.bincount(best.labels_), kind="stable")
    return {"cluster": np.argsort(order)[best.predict(x)]} | {f"distance:{c}": best.transform(x)[:, order[c]] for c in range(k)}


def mixture(k):
    with open(here / IRIS) as file:
        x = np.array([[float(cell) for cell in row[:4]] for row in list(csv.reader(file))[1:]])
    # The values are rounded to tenths, and the variance of that error, 0.1²/12, is part of the model.
    best = GaussianMixture(k, reg_covar=0.01 / 12, tol=1e-14, max_iter=100000, n_init=10, random_state=1).fit(x)
    order = np.argsort(-best.weights_)
    responsibilities = best.predict_proba(x)[:, order]
    return {f"responsibility:{c}": responsibilities[:, c] for c in range(k)} | {"log_density": best.score_samples(x)}


def one_class():
    model = OneClassSVM(nu=0.2, gamma=0.5, tol=1e-12).fit(two)
    return {"novelty": model.decision_function(two)}


def neighbours_filled():
    x = np.hstack([standard("a"), filled("b"), filled("d")])
    return of_numbers(Ridge(1.0).fit(x := KNNImputer(n_neighbors=5).fit_transform(x), y).predict(x))


def squares():
    a, b = filled("b")[:, 0], filled("d")[:, 0]
    x = np.stack([a, b, a * a, a * b, b * b], axis=1)
    return of_numbers(Ridge(1.0).fit(x, y).predict(x))


def drop(*names):
    return [word for name in names for word in ("--drop", name)]


ALL = ["--target", "two"] + drop("y")
NUMBERS = ["--target", "y"] + drop("two", "a", "n", "f", "c", "t")
CLASSES = ["--target", "two"] + drop("y", "a", "n", "f", "c", "t")
GROUPS = drop("y", "two", "a", "n", "f", "c", "t")
TIGHT = ["--set", "tolerance=1e-10"]


def train(table, *words):
    return lambda quince, model: [quince, "train", table, *words, "--output", model]


def cluster(table, *words):
    return lambda quince, model: [quince, "cluster", table, *words, "--save", model]


def bayes(family, *keep):
    others = [name for name in ("a", "b", "d", "n", "f", "c", "t") if name not in keep]
    words = ["--target", "two"] + drop("y", *others)
    return train("rows.csv", *words, "--model", "naive-bayes", "--family", family, "--set", "variance_floor=0", "--set", "calibrate=false")


# Name, table to predict, how near answers must be, the command that wrote the model, and the answers.
CASES = [
    ("baseline-classes", "rows.csv", 1e-12, train("rows.csv", *CLASSES, "--model", "baseline"), baseline_classes),
    ("baseline-drawn", "rows.csv", 1e-12, train("rows.csv", *CLASSES, "--model", "baseline", "--set", "strategy=uniform"), lambda: of_probabilities(np.full((len(rows), 2), 1 / 2))),
    ("baseline-numbers", "rows.csv", 1e-12, train("rows.csv", *NUMBERS, "--model", "baseline"), lambda: of_numbers(np.full(len(rows), y.mean()))),
    ("least-squares-classes", "rows.csv", 1e-9, train("rows.csv", *CLASSES, "--model", "least-squares"), lambda: of_scores(LinearRegression().fit(two, signs).predict(two))),
    ("least-squares-numbers", "rows.csv", 1e-9, train("rows.csv", *NUMBERS, "--model", "least-squares"), lambda: of_numbers(LinearRegression().fit(two, y).predict(two))),
    ("ridge-all-kinds", "rows.csv", 1e-9, train("rows.csv", *ALL, "--model", "ridge"), lambda: of_scores(Ridge(1.0).fit(everything, signs).predict(everything))),
    ("ridge-numbers", "rows.csv", 1e-9, train("rows.csv", *NUMBERS, "--model", "ridge", "--set", "alpha=3"), lambda: of_numbers(Ridge(3.0).fit(two, y).predict(two))),
    ("ridge-degree", "rows.csv", 1e-9, train("rows.csv", *NUMBERS, "--model", "ridge", "--degree", "2"), squares),
    ("ridge-neighbours", "rows.csv", 1e-9, train("rows.csv", "--target", "y", *drop("two", "n", "f", "c", "t"), "--model", "ridge", "--encode", "a=fill=neighbours"), neighbours_filled),
    ("ridge-order", "rows.csv", 1e-9, train("rows.csv", "--target", "y", *drop("two", "a", "d", "n", "f", "t"), "--model", "ridge", "--encode", "c=order=red:green:blue"), lambda: of_numbers(Ridge(1.0).fit(x := np.hstack([filled("b"), ordinal("c", ["red", "green", "blue"])]), y).predict(x))),
    ("ridge-vectors", "vectors.svm", 1e-9, train("vectors.svm", "--target", "label", "--model", "ridge"), lambda: of_scores(Ridge(1.0).fit(*vectors()).predict(vectors()[0]))),
    ("knn-classes", "rows.csv", 1e-12, train("rows.csv", *CLASSES, "--model", "knn", "--set", "k=3"), lambda: knn_classes(two)),
    ("knn-manhattan", "rows.csv", 1e-12, train("rows.csv", *CLASSES, "--model", "knn", "--set", "k=4", "--set", "metric=manhattan", "--set", "feature_weights=1,0.5", "--set", "smoothing=0"), knn_manhattan),
    ("knn-numbers", "rows.csv", 1e-12, train("rows.csv", *NUMBERS, "--model", "knn", "--set", "k=3"), lambda: of_numbers(KNeighborsRegressor(3).fit(two, y).predict(two))),
    ("knn-vectors", "vectors.svm", 1e-12, train("vectors.svm", "--target", "label", "--task", "regression", "--model", "knn", "--set", "k=3"), lambda: of_numbers(KNeighborsRegressor(3).fit(vectors()[0], (vectors()[1] + 1) / 2).predict(vectors()[0]))),
    ("naive-bayes-all-kinds", "rows.csv", 1e-9, bayes("a=normal,b=normal,n=poisson", "a", "b", "n", "f", "c", "t"), naive_bayes),
    ("naive-bayes-chain", "rows.csv", 1e-9, bayes("f+c=markov-chain", "f", "c"), lambda: of_joint(prior() + chain_log("f", "c"))),
    ("naive-bayes-window", "rows.csv", 1e-9, train("rows.csv", *CLASSES, *drop("d"), "--model", "naive-bayes", "--family", "kernel-density", "--set", "bandwidth=0.7", "--set", "calibrate=false"), lambda: of_joint(prior() + window_log(number("b"), 0.7))),
    ("gaussian-full", "rows.csv", 1e-9, train("rows.csv", *CLASSES, "--model", "gaussian", "--set", "variance_floor=0", "--set", "unbiased=true", "--set", "calibrate=false"), lambda: gaussians(1)),
    ("gaussian-pooled", "rows.csv", 1e-9, train("rows.csv", *CLASSES, "--model", "gaussian", "--set", "shared=pooled", "--set", "variance_floor=0", "--set", "calibrate=false"), lambda: discriminant(LinearDiscriminantAnalysis(solver="lsqr"))),
    ("nearest-centroid", "rows.csv", 1e-9, train("rows.csv", *CLASSES, "--model", "nearest-centroid", "--set", "shrink=0.5", "--set", "priors=data"), lambda: of_probabilities(NearestCentroid(shrink_threshold=0.5, priors="empirical").fit(two, codes).predict_proba(two))),
    ("svm-classes", "rows.csv", 1e-6, train("rows.csv", *CLASSES, "--model", "svm", "--set", "gamma=0.5", "--set", "standardise=false", *TIGHT), lambda: svc(two, codes, gamma=0.5)),
    ("svm-numbers", "rows.csv", 1e-6, train("rows.csv", *NUMBERS, "--model", "svm", "--set", "gamma=0.5", "--set", "standardise=false", *TIGHT), lambda: of_numbers(SVR(gamma=0.5, tol=1e-10).fit(two, y).predict(two))),
    ("svm-words", "rows.csv", 1e-6, train("rows.csv", "--target", "two", *drop("y", "a", "b", "d", "n", "f", "c"), "--model", "svm", "--set", "gamma=0.5", "--set", "standardise=false", *TIGHT), lambda: svc(tfidf("t"), codes, gamma=0.5)),
    ("svm-polynomial", "rows.csv", 1e-6, train("rows.csv", *CLASSES, "--model", "svm", "--set", "kernel=polynomial", "--set", "degree=2", "--set", "gamma=0.5", "--set", "constant=1", "--set", "standardise=false", *TIGHT), lambda: svc(two, codes, kernel="poly", degree=2, gamma=0.5, coef0=1.0)),
    ("linear-svm-classes", "rows.csv", 1e-6, train("rows.csv", *CLASSES, "--model", "linear-svm", "--set", "standardise=false", *TIGHT), lambda: svc(two, codes, kernel="linear")),
    ("linear-svm-numbers", "rows.csv", 1e-6, train("rows.csv", *NUMBERS, "--model", "linear-svm", "--set", "standardise=false", *TIGHT), lambda: of_numbers(SVR(kernel="linear", tol=1e-10).fit(two, y).predict(two))),
    ("kmeans-lloyd", "rows.csv", 1e-9, cluster("rows.csv", *GROUPS, "--method", "kmeans", "-k", "3", "--set", "restarts=50", "--set", "tolerance=0"), lambda: clusters(two, 3)),
    ("kmeans-bisecting", "rows.csv", 1e-9, cluster("rows.csv", *GROUPS, "--method", "kmeans", "-k", "4", "--set", "algorithm=bisecting", "--set", "restarts=50", "--set", "tolerance=0"), lambda: bisected(two, 4)),
    ("mixture-clusters", IRIS, 1e-6, cluster(IRIS, "--drop", "species", "--method", "mixture", "-k", "2", "--family", "sepal_length+sepal_width+petal_length+petal_width=gaussian", "--set", "variance_floor=0", "--set", "steps=100000", "--set", "tolerance=1e-14"), lambda: mixture(2)),
    ("mixture-classes", "rows.csv", 1e-9, train("rows.csv", *CLASSES, "--model", "mixture", "--family", "b+d=gaussian", "--set", "variance_floor=0", "--set", "calibrate=false"), lambda: gaussians(0)),
    ("one-class-svm", "rows.csv", 1e-6, cluster("rows.csv", *GROUPS, "--method", "one-class-svm", "--set", "nu=0.2", "--set", "gamma=0.5", *TIGHT), one_class),
]


def gaussians(less):
    """A Gaussian density for each class, with squares divided by the number of rows less this."""

    def of(own):
        mean, covariance = plain[own].mean(0), np.cov(plain[own].T, ddof=less)
        away = plain - mean
        squares = np.einsum("ij,jk,ik->i", away, np.linalg.inv(covariance), away)
        return -0.5 * (squares + np.linalg.slogdet(covariance)[1]) - np.log(2 * np.pi)

    return of_joint(prior() + by_class(of))


def main(arguments):
    if arguments:
        quince = str(Path(arguments[0]).resolve())
        for name, _, _, command, _ in CASES:
            model = here / f"format-1-{name}.quince"
            if not model.exists():
                subprocess.run(command(quince, model.name), cwd=here, check=True)
    with open(here / "cases.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["name", "table", "tolerance"])
        writer.writerows([name, table, repr(tolerance)] for name, table, tolerance, _, _ in CASES)
    for name, _, _, _, answers in CASES:
        columns = answers()
        with open(here / f"format-1-{name}.csv", "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows([repr(value.item()) for value in row] for row in zip(*columns.values()))


main(sys.argv[1:])
