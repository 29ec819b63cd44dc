"""Mixtures: steps of EM from the same start, with missing values, and of words."""

import functools
import gzip
import importlib
import os
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.special import log_softmax

from task import Contestant, Disagreement, Task
from tasks.bayes import DATA, matrix

COMPONENTS = 10
STEPS = 20
NEWSGROUPS = "20newsgroups_bydate_train.tsv.gz"


def clouds(missing):
    """100,000 rows about ten means, each cloud with a covariance of its own; and a start that is the same for everyone."""
    random = np.random.default_rng(700)
    rows, columns = 100_000, 20
    means = 1.5 * random.standard_normal((COMPONENTS, columns))
    mixes = random.standard_normal((COMPONENTS, columns, columns)) / np.sqrt(columns)
    of = random.integers(COMPONENTS, size=rows)
    values = means[of] + np.einsum("nij,nj->ni", mixes[of], random.standard_normal((rows, columns)))
    values += 0.3 * random.standard_normal((rows, columns))
    start = values[random.choice(rows, COMPONENTS, replace=False)]
    precision = np.linalg.inv(np.cov(values.T))
    with_missing = values.copy()
    with_missing[random.random(values.shape) < missing] = np.nan
    return {"rows": values, "with_missing": with_missing, "start": start, "precision": precision}


def estimator(module, rows="rows"):
    def prepare(given):
        GaussianMixture = importlib.import_module(module).GaussianMixture
        settings = {
            "weights_init": np.full(COMPONENTS, 1 / COMPONENTS),
            "means_init": given.start,
            "precisions_init": np.stack([given.precision] * COMPONENTS),
            "max_iter": STEPS,
            "tol": 0.0,
        }
        # A start that is given in part would have k-means find the rest.
        values = getattr(given, rows)

        def run():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = GaussianMixture(COMPONENTS, init_params="random", **settings).fit(values)
            return {"means": model.means_, "bound": np.array(model.lower_bound_)}

        return run

    return prepare


def same_mixture(given, reference, answer, dtype):
    difference = float(np.max(np.abs(answer["means"] - reference["means"])))
    if not difference <= 1e-7:
        raise Disagreement(f"means differ by {difference:.0e}")
    return f"means to {difference:.0e}"


def any_mixture(given, reference, answer, dtype):
    """Missing values change what is learnt; tests compare it with a slow loop over rows."""
    if not (np.isfinite(answer["means"]).all() and np.isfinite(answer["bound"])):
        raise Disagreement("the likelihood is not finite")
    return f"log likelihood of a row {float(answer['bound']):.2f}"


def posts():
    """20 newsgroups, for whoever has them; otherwise as many documents of as many words."""
    folder = Path(os.environ.get(DATA, ""))
    if (folder / NEWSGROUPS).is_file():
        from sklearn.feature_extraction.text import CountVectorizer

        lines = gzip.decompress((folder / NEWSGROUPS).read_bytes()).decode().split("\n")
        texts = [line.split("\t", 1)[1] for line in lines if "\t" in line]
        counts = CountVectorizer().fit_transform(texts).astype(np.float64)
    else:
        random = np.random.default_rng(701)
        rows, words = 11_314, 130_000
        chances = np.cumsum(1.0 / (np.arange(words) + 10.0))
        lengths = random.poisson(280, rows)
        places = np.searchsorted(chances, chances[-1] * random.random(lengths.sum()))
        counts = sparse.csr_matrix(
            (np.ones(len(places)), (np.repeat(np.arange(rows), lengths), np.minimum(places, words - 1))), (rows, words)
        )
        counts.sum_duplicates()
    return {
        "starts": counts.indptr,
        "columns": counts.indices,
        "values": counts.data,
        "shape": np.array(counts.shape),
    }


TOPICS = 20


def topics(given):
    from quince import MultinomialMixture

    rows = matrix(given)

    def run():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = MultinomialMixture(TOPICS, init_params="random", max_iter=STEPS, tol=0.0, random_state=0).fit(rows)
        return {
            "responsibilities": model.predict_proba(rows[:1000]),
            "logs": model.feature_log_prob_,
            "weights": model.weights_,
        }

    return run


def products(given):
    """What every step needs at least: rows times words, and words times rows."""
    rows = matrix(given)
    random = np.random.default_rng(0)
    logs, responsibilities = random.random((rows.shape[1], TOPICS)), random.random((rows.shape[0], TOPICS))
    back = rows.T.tocsr()

    def run():
        for _ in range(STEPS):
            scores, counts = rows @ logs, back @ responsibilities
        return {"sizes": np.array([scores.sum(), counts.sum()])}

    return run


def check_topics(given, reference, answer, dtype):
    if "sizes" in answer:
        return "two products a step"
    rows = matrix(given)[:1000]
    expected = np.exp(log_softmax(rows @ answer["logs"].T + np.log(answer["weights"]), axis=1))
    difference = float(np.max(np.abs(expected - answer["responsibilities"])))
    if not difference <= 1e-8:
        raise Disagreement(f"responsibilities differ by {difference:.0e}")
    return f"responsibilities to {difference:.0e}"


TASKS = [
    Task(
        name="gaussian-mixture",
        title="mixture of 10 Gaussians, full covariances, 100,000 x 20, 20 steps of EM from the same start",
        arrays=functools.partial(clouds, 0.1),
        contestants=[
            Contestant("quince", "", estimator("quince")),
            Contestant("scikit-learn", "", estimator("sklearn.mixture")),
        ],
        target=8.0,
        against=("scikit-learn",),
        check=same_mixture,
    ),
    Task(
        name="gaussian-mixture-missing",
        title="the same with a tenth of the values missing, against the time without",
        arrays=functools.partial(clouds, 0.1),
        contestants=[
            Contestant("quince", "", estimator("quince", "with_missing")),
            Contestant("none missing", "by quince", estimator("quince")),
        ],
        target=0.25,
        against=("none missing",),
        check=any_mixture,
        # What each component expects of a few rows, and the order of all by what they lack, come on top.
        memory=2.0,
    ),
    Task(
        name="multinomial-mixture",
        title="mixture of 20 multinomials, 20 newsgroups, 20 steps of EM, against two sparse-dense products a step",
        arrays=posts,
        contestants=[Contestant("quince", "", topics), Contestant("two products", "by scipy", products)],
        target=1 / 3,
        against=("two products",),
        check=check_topics,
        # The products have no sums to keep, and nothing of their own for every thread.
        memory=4.0,
    ),
]
