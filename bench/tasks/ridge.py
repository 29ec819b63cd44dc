"""Ridge regression of correlated columns with an intercept, alpha 1."""

import importlib

import numpy as np

from arrays import mixture
from task import Contestant, Disagreement, Task


def estimator(module, **settings):
    """scikit-learn's class, or one that looks like it."""

    def prepare(given):
        Ridge = importlib.import_module(module).Ridge

        def run():
            model = Ridge(alpha=1.0, **settings).fit(given.rows, given.target)
            return {"coefficients": model.coef_, "intercept": model.intercept_}

        return run

    return prepare


def arrays():
    (rows,) = mixture(200, 3, 200, 200_000)
    random = np.random.default_rng(201)
    target = rows @ random.standard_normal(200) + 3.0 + random.standard_normal(len(rows))
    return {"rows": rows, "target": target}


def flops(given, reference):
    """Half of the Gram matrix: it is symmetric."""
    height, width = given.rows.shape
    return float(height) * width * (width + 1)


def check(given, reference, answer, dtype):
    ours = np.append(answer["coefficients"], answer["intercept"])
    theirs = np.append(reference["coefficients"], reference["intercept"])
    difference = np.max(np.abs(ours - theirs)) / np.max(np.abs(theirs))
    if not difference <= 1e-8:
        raise Disagreement(f"coefficients differ by {difference:.0e}")
    return f"coefficients to {difference:.0e}"


TASKS = [
    Task(
        name="ridge",
        title="200,000 x 200, alpha 1",
        arrays=arrays,
        contestants=[
            Contestant("quince", "", estimator("quince")),
            Contestant("scikit-learn", "Cholesky", estimator("sklearn.linear_model", solver="cholesky")),
            Contestant("scikit-learn-intelex", "", estimator("sklearnex.linear_model", n_jobs=2)),
            Contestant("linfa", "elastic net", rust="ridge-linfa", limit=20.0, note="coordinate descent"),
            Contestant("smartcore", "Cholesky", rust="ridge-smartcore", limit=20.0),
        ],
        target=1.3,
        against=("scikit-learn", "scikit-learn-intelex"),
        flops=flops,
        check=check,
    )
]
