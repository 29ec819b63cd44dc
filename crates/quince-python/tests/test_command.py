"""A file that an estimator saved says through the command what the estimator says in Python, bit for bit."""

from __future__ import annotations

import inspect
import json
import subprocess

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from test_checks import instances

import quince
from quince._base import names_of
from quince.files import estimators

#: Classes whose features are counts.
COUNTS = {"CategoricalNB", "MultinomialMixture", "MultinomialNB", "PoissonNB"}
#: Classes that take sparse features as words.
SPARSE_COUNTS = {"MixedMixture", "MixedNB", "SemiSupervisedNB"}
#: Parameters that only a matrix of another kind goes with.
OTHER_KINDS = {"precomputed"}
#: What several columns of labels are drawn by: numpy's generator, which the command has not.
DRAWN = {"stratified", "uniform"}
#: Settings that scikit-learn's checks have no instance of.
MORE = [
    quince.DummyClassifier(strategy="stratified", random_state=3),
    quince.DummyClassifier(strategy="uniform", random_state=3),
    quince.DummyClassifier(strategy="most_frequent"),
    quince.DummyRegressor(strategy="median"),
    quince.DummyRegressor(strategy="quantile", quantile=0.3),
    quince.KNeighborsClassifier(3, metric="cosine", algorithm="brute"),
    quince.KNeighborsClassifier(3, metric="chebyshev", algorithm="kd_tree"),
    quince.KNeighborsRegressor(3, p=3, metric_params={"w": [1.0, 0.5, 2.0, 0.0, 1.0]}),
]


def variants():
    """Every instance that scikit-learn's checks run on, whose class is saved."""
    seen = set()
    known = estimators()
    for estimator in [*instances(), *MORE, *(cls() for cls in known.values())]:
        cls = known.get(type(estimator).__name__)
        text = repr(estimator)
        if cls is type(estimator) and text not in seen and not OTHER_KINDS & set(map(str, estimator.get_params().values())):
            seen.add(text)
            yield estimator


def rows_for(estimator, dtype):
    rng = np.random.default_rng(3)
    groups = np.arange(90) % 3
    if type(estimator).__name__ in COUNTS:
        return rng.poisson(1.0 + 2.0 * (groups[:, None] == np.arange(5) % 3)).astype(dtype), groups
    X = rng.normal(size=(90, 5)) + 1.5 * (groups[:, None] == np.arange(5) % 3)
    return np.where(rng.random(X.shape) < 0.2, 0.0, X).astype(dtype), groups


def targets_for(estimator, groups):
    """Targets of each kind that the class learns."""
    if is_classifier(estimator):
        tags = estimator.__sklearn_tags__()
        yield "two words", np.array(["no", "yes"])[(groups > 0).astype(int)]
        yield "two numbers", (groups > 0).astype(int)
        yield "two truths", groups > 0
        yield "two signs", np.where(groups > 0, 1.0, -1.0)
        if tags.classifier_tags.multi_label or tags.target_tags.multi_output:
            if getattr(estimator, "strategy", None) not in DRAWN:
                yield "two columns", np.column_stack([groups > 0, groups > 1]).astype(int)
        if tags.classifier_tags.multi_class:
            yield "three words", np.array(["b", "a", "c"])[groups]
            yield "three numbers", groups * 10
    elif is_regressor(estimator):
        numbers = groups + np.linspace(0, 1, len(groups))
        yield "numbers", numbers
        if estimator.__sklearn_tags__().target_tags.multi_output:
            yield "two outputs", np.column_stack([numbers, -(numbers**2)])
    else:
        yield "nothing", None


def said_by_command(command, path, X):
    """The answers of the command, one dict per row."""
    table = path.with_suffix(".csv")
    lines = [",".join(f'"{name}"' for name in quince.Model.load(path).columns)]
    lines += [",".join(repr(float(x)) for x in row) for row in X]
    table.write_text("\n".join(lines) + "\n")
    return answers_of(command, path)


def answers_of(command, path):
    table = path.with_suffix(".csv")
    done = subprocess.run(
        [command, "predict", str(path), str(table), "--json"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def said_by_python(model, X):
    """The same by the estimator: a dict of columns."""
    if is_classifier(model) and model.predict(X).ndim == 2:
        # The columns of several targets follow each other: chances of classes, or scores of labels.
        several = np.hstack(model.predict_proba(X)) if hasattr(model, "predict_proba") else model.decision_function(X)
        return {f"predicted_y_{k + 1}": several[:, k] for k in range(several.shape[1])}
    if is_classifier(model):
        names = dict(zip(model.classes_.tolist(), names_of(model.classes_)))
        said = {"predicted_y": [names[label] for label in model.predict(X).tolist()]}
        if hasattr(model, "predict_proba"):
            said |= {f"probability_{name}": model.predict_proba(X)[:, k] for k, name in enumerate(names.values())}
        return said
    if is_regressor(model):
        numbers = model.predict(X)
        if numbers.ndim == 1:
            return {"predicted_y": numbers}
        return {f"predicted_y_{k + 1}": numbers[:, k] for k in range(numbers.shape[1])}
    if hasattr(model, "kneighbors"):
        return {"predicted_y": model.kneighbors(X, 1, return_distance=False).ravel()}
    labels = model.predict(X)
    if hasattr(model, "offset_"):
        return {"novel": np.where(labels < 0, "yes", "no"), "score": model.decision_function(X)}
    own = np.arange(len(labels)), labels
    if hasattr(model, "predict_proba"):
        return {
            "cluster": labels + 1,
            "responsibility": model.predict_proba(X)[own],
            "log_density": model.score_samples(X),
        }
    return {"cluster": labels + 1, "distance": model.transform(X)[own]}


def assert_same_bits(answers, said, about):
    for name, expected in said.items():
        expected = np.asarray(expected)
        got = np.array([row[name] for row in answers]).astype(expected.dtype)
        assert got.tobytes() == expected.tobytes(), (about, name, got[got != expected], expected[got != expected])


def assert_honest(answers, model, about):
    """No scores are shown as probabilities."""
    if not hasattr(model, "predict_proba"):
        shown = [name for name in answers[0] if name.startswith("probability_")]
        assert not shown, (about, shown)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", list(variants()), ids=lambda estimator: repr(estimator)[:80])
def test_the_command_says_what_python_says(command, tmp_path, estimator):
    weighted = "sample_weight" in inspect.signature(estimator.fit).parameters
    takes_sparse = estimator.__sklearn_tags__().input_tags.sparse
    for dtype in (np.float64, np.float32):
        numbers, groups = rows_for(estimator, dtype)
        for kind, y in targets_for(estimator, groups):
            for form in ["dense", "columns", *(["sparse"] if takes_sparse else [])]:
                counted = form == "sparse" and type(estimator).__name__ in SPARSE_COUNTS
                X = np.round(abs(numbers)) if counted else numbers
                rows = {"dense": X, "columns": np.asfortranarray(X), "sparse": sparse.csr_matrix(X)}[form]
                weights = {"sample_weight": np.linspace(0.5, 2, len(X))} if weighted and kind.startswith("t") else {}
                model = clone(estimator).fit(rows, y, **weights) if y is not None else clone(estimator).fit(rows)
                path = tmp_path / "model.quince"
                smoothed = kind == "two columns" and getattr(estimator, "smoothing", 0.0) > 0.0
                if smoothed or any(map(callable, estimator.get_params().values())):
                    with pytest.raises(ValueError, match="which a model file cannot hold|nothing that a model file holds"):
                        model.save(path)
                    continue
                model.save(path)
                about = f"{estimator!r} {np.dtype(dtype)} {kind} {form}"
                answers = said_by_command(command, path, X)
                assert_same_bits(answers, said_by_python(model, rows), about)
                assert_honest(answers, model, about)


def frame_for(groups):
    """Numbers, counts, categories, yes/no, and missing values in all of them."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=90) + groups,
            "visits": rng.poisson(2.0 + 3.0 * (groups == 1)).astype(float),
            "zip": np.array(["007", "7", "0.5"])[(groups + (rng.random(90) < 0.2)) % 3],
            "open": np.where(rng.random(90) < 0.3 + 0.2 * groups, "yes", "no"),
        }
    )
    return frame.mask(rng.random(frame.shape) < 0.05)


TABLE_CLASSES = ["GaussianClassifier", "MixedMixture", "MixedNB", "SemiSupervisedNB"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TABLE_CLASSES)
def test_the_command_says_what_python_says_of_a_data_frame(command, tmp_path, name):
    groups = np.arange(90) % 3
    frame = frame_for(groups)
    estimator = estimators()[name]()
    for kind, y in targets_for(estimator, groups):
        model = estimator.fit(frame, y) if y is not None else estimator.fit(frame)
        path = tmp_path / "model.quince"
        model.save(path)
        frame.to_csv(path.with_suffix(".csv"), index=False)
        answers = answers_of(command, path)
        assert_same_bits(answers, said_by_python(model, frame), f"{name} {kind}")
        assert_honest(answers, model, f"{name} {kind}")


def test_every_class_is_among_them():
    assert {type(estimator).__name__ for estimator in variants()} == set(estimators())
