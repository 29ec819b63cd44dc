"""Support vector machines against LIBSVM, LIBLINEAR and scikit-learn's gradient descent."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model
import sklearn.svm
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.utils import compute_class_weight

import quince

EXACT = {"tol": 1e-6, "cache_size": 500}


def classes(rows: int = 300, features: int = 5, seed: int = 0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, features))
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + 0.5 * random.normal(size=rows) > 0, "yes", "no")
    return X, y


@pytest.fixture(scope="module")
def tumours():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


KERNELS = [
    {"kernel": "rbf"},
    {"kernel": "rbf", "gamma": 0.7},
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 2, "coef0": 1.0},
    {"kernel": "poly", "degree": 4, "gamma": "auto"},
    {"kernel": "sigmoid", "gamma": 0.02, "coef0": -0.5},
]


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_classes_have_the_scores_of_libsvm(kernel, C):
    X, y = classes()
    if kernel["kernel"] == "sigmoid" and C > 1:
        pytest.skip("the kernel is not positive, and the problem then has more than one optimum")
    exact = EXACT | {"tol": 1e-9 if C > 1 else 1e-6}
    ours = quince.SVC(C=C, **kernel, **exact).fit(X, y)
    theirs = sklearn.svm.SVC(C=C, **kernel, **exact).fit(X, y)
    scores = theirs.decision_function(X)
    scale = max(1.0, np.abs(scores).max())
    free = np.abs(np.abs(ours.dual_coef_.ravel()) - C) > 1e-9 * C
    on_edge = np.abs(np.abs(ours.decision_function(X)[ours.support_[free]]) - 1.0).max(initial=0.0)
    assert on_edge < 2e-6, "support vectors between their bounds are on the edge of the margin"
    if C > 1 and kernel["kernel"] != "rbf":
        # LIBSVM keeps kernels in single precision, which such a C shows where they are large: its own are off the edge.
        theirs_free = np.abs(np.abs(theirs.dual_coef_.ravel()) - C) > 1e-9 * C
        assert np.abs(np.abs(scores[theirs.support_[theirs_free]]) - 1.0).max() > on_edge
        return
    np.testing.assert_allclose(ours.decision_function(X), scores, atol=2e-5 * scale)
    new = classes(seed=1)[0]
    np.testing.assert_allclose(ours.decision_function(new), theirs.decision_function(new), atol=5e-5 * scale)
    assert (ours.predict(new) == theirs.predict(new)).mean() > 0.99


def test_attributes_are_those_of_libsvm(tumours):
    X, y = tumours
    for data in (X, sparse.csr_matrix(X)):
        ours = quince.SVC(kernel="linear", C=0.1, **EXACT).fit(data, y)
        theirs = sklearn.svm.SVC(kernel="linear", C=0.1, **EXACT).fit(data, y)
        np.testing.assert_array_equal(ours.support_, theirs.support_)
        np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
        dense = [one.toarray() if sparse.issparse(one) else one for one in (ours.dual_coef_, theirs.dual_coef_)]
        np.testing.assert_allclose(dense[0], dense[1], atol=1e-4)
        dense = [one.toarray() if sparse.issparse(one) else one for one in (ours.coef_, theirs.coef_)]
        np.testing.assert_allclose(dense[0], dense[1], atol=1e-5)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
        vectors = [one.toarray() if sparse.issparse(one) else one for one in (ours.support_vectors_, theirs.support_vectors_)]
        np.testing.assert_array_equal(*vectors)
        assert ours.fit_status_ == theirs.fit_status_ == 0
        assert ours.shape_fit_ == theirs.shape_fit_


def test_weights_of_rows_and_classes_are_those_of_libsvm():
    X, y = classes()
    weights = np.random.default_rng(3).uniform(0.0, 3.0, len(X))
    weights[::7] = 0.0
    for class_weight in (None, "balanced", {"yes": 3.0}):
        ours = quince.SVC(class_weight=class_weight, **EXACT).fit(X, y, weights)
        theirs = sklearn.svm.SVC(class_weight=class_weight, **EXACT).fit(X, y, weights)
        np.testing.assert_allclose(ours.class_weight_, theirs.class_weight_)
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-5)


@pytest.mark.parametrize("kernel", KERNELS[:4], ids=str)
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0])
def test_numbers_are_those_of_libsvm(kernel, epsilon):
    X, y = load_diabetes(return_X_y=True)
    X, y = StandardScaler().fit_transform(X)[:200], (y[:200] - y.mean()) / y.std()
    ours = quince.SVR(epsilon=epsilon, **kernel, **EXACT).fit(X, y)
    theirs = sklearn.svm.SVR(epsilon=epsilon, **kernel, **EXACT).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=2e-5 * max(1.0, np.abs(theirs.predict(X)).max()))


@pytest.mark.parametrize("nu", [0.05, 0.5, 0.9])
def test_novelty_is_that_of_libsvm(nu):
    X, _ = classes()
    ours = quince.OneClassSVM(nu=nu, **EXACT).fit(X)
    theirs = sklearn.svm.OneClassSVM(nu=nu, **EXACT).fit(X)
    scale = np.abs(theirs.decision_function(X)).max()
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5 * scale)
    np.testing.assert_allclose(ours.offset_, theirs.offset_, rtol=1e-5)
    # Support vectors on the edge have a score of zero, up to the tolerance.
    assert (ours.decision_function(X) < -1e-5 * scale).mean() <= nu
    assert len(ours.support_) >= nu * len(X)
    np.testing.assert_array_equal(ours.predict(X), np.where(ours.decision_function(X) >= 0, 1, -1))


def test_a_kernel_may_be_given_or_be_a_function():
    X, y = classes(120)
    new = classes(40, seed=1)[0]
    plain = quince.SVC(kernel="rbf", gamma=0.5, **EXACT).fit(X, y)

    def kernel(a, b):
        return np.exp(-0.5 * ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))

    given = quince.SVC(kernel="precomputed", **EXACT).fit(kernel(X, X), y)
    called = quince.SVC(kernel=kernel, **EXACT).fit(X, y)
    np.testing.assert_allclose(given.decision_function(kernel(new, X)), plain.decision_function(new), atol=1e-5)
    np.testing.assert_allclose(called.decision_function(new), plain.decision_function(new), atol=1e-5)


def test_single_precision_rows_and_sparse_rows_give_the_same_model():
    X, y = classes()
    X = X.astype(np.float32)
    X[np.abs(X) < 1.0] = 0.0
    plain = quince.SVC(**EXACT).fit(X.astype(np.float64), y).decision_function(X.astype(np.float64))
    np.testing.assert_allclose(quince.SVC(**EXACT).fit(X, y).decision_function(X), plain, atol=1e-5)
    packed = sparse.csr_matrix(X.astype(np.float64))
    np.testing.assert_allclose(quince.SVC(**EXACT).fit(packed, y).decision_function(packed), plain, atol=1e-5)


def test_a_hard_margin_separates_or_says_that_it_cannot():
    X, y = [[5, 1], [5, 2], [7, 2], [7, 3]], [0, 0, 1, 1]
    toy = quince.SVC(kernel="linear", C=np.inf, leave_one_out="always").fit(X, y)
    np.testing.assert_allclose(toy.coef_, [[1, 0]], atol=1e-6)
    facts = dict(toy.report_["facts"])
    assert facts["leave-one-out error"] == 0.0
    with pytest.raises(ValueError, match="cannot be separated"):
        quince.SVC(kernel="linear", C=np.inf).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])


def test_probabilities_agree_with_the_label(tumours):
    X, y = tumours
    for model in (quince.SVC(probability=True), quince.LinearSVC(probability=True, max_iter=10_000)):
        model.fit(X, y)
        probabilities = model.predict_proba(X)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
        np.testing.assert_array_equal(probabilities.argmax(axis=1), model.predict(X))
    with pytest.raises(AttributeError, match="predict_proba"):
        quince.SVC().fit(X, y).predict_proba(X)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_linear_classes_are_those_of_liblinear(tumours, loss, make):
    X, y = tumours
    exact = {"tol": 1e-9, "max_iter": 1_000_000, "C": 0.1, "intercept_scaling": 2.0, "dual": True}
    theirs = sklearn.svm.LinearSVC(loss=loss, **exact).fit(make(X), y)
    straight = "interior" if loss == "hinge" else "Newton"
    for dual, route in [(True, "coordinate descent"), (False, straight), ("auto", "")]:
        ours = quince.LinearSVC(loss=loss, **exact | {"dual": dual}).fit(make(X), y)
        assert route in ours.report_["route"]
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_linear_numbers_are_those_of_liblinear(loss):
    X, y = load_diabetes(return_X_y=True)
    X, y = StandardScaler().fit_transform(X), y / 100
    exact = {"tol": 1e-10, "max_iter": 1_000_000, "C": 0.1, "epsilon": 0.1, "dual": True}
    ours = quince.LinearSVR(loss=loss, **exact).fit(X, y)
    theirs = sklearn.svm.LinearSVR(loss=loss, **exact).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)


SGD = [
    {},
    {"loss": "squared_hinge", "learning_rate": "constant", "eta0": 0.001},
    {"loss": "perceptron", "learning_rate": "constant", "eta0": 0.1},
    {"loss": "log_loss", "learning_rate": "invscaling", "eta0": 0.5, "power_t": 0.3},
    {"loss": "modified_huber", "learning_rate": "constant", "eta0": 0.001},
    {"penalty": "l1", "alpha": 0.01},
    {"penalty": "elasticnet", "alpha": 0.01, "l1_ratio": 0.4},
    {"penalty": None, "learning_rate": "constant", "eta0": 0.01},
    {"average": True},
    {"average": 50},
    {"fit_intercept": False},
    {"class_weight": {0: 2.0}},
]


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("how", SGD, ids=str)
def test_steps_in_the_order_of_the_rows_are_those_of_scikit_learn(tumours, how, make):
    X, y = tumours
    if how.get("average") and make is sparse.csr_matrix:
        pytest.skip("scikit-learn takes the mean of the constant before its last step there")
    same = {"shuffle": False, "max_iter": 7, "tol": None, **how}
    ours = quince.SGDClassifier(**same).fit(make(X), y)
    theirs = sklearn.linear_model.SGDClassifier(**same).fit(make(X), y)
    scale = np.abs(theirs.coef_).max()
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-8 * scale)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-8 * max(scale, np.abs(theirs.intercept_).max()))
    assert ours.n_iter_ == theirs.n_iter_ and ours.t_ == theirs.t_


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("class_weight", ["balanced", {"yes": 3.0, "no": 0.7}], ids=str)
def test_class_weights_of_sgd_are_a_saved_setting_with_the_bits_of_weights_of_rows(class_weight, make):
    X, y = classes()
    X, of_rows = make(X), np.random.default_rng(1).uniform(0.0, 2.0, len(y))
    for own in (None, of_rows):
        by_class = compute_class_weight(class_weight, classes=np.unique(y), y=y, sample_weight=own)
        same = by_class[(y == "yes").astype(int)] * (1.0 if own is None else own)
        ours = quince.SGDClassifier(class_weight=class_weight, random_state=0).fit(X, y, sample_weight=own)
        theirs = quince.SGDClassifier(random_state=0).fit(X, y, sample_weight=same)
        assert ours._fitted_model().settings["class_weights"] != "none"
        assert ours.coef_.tobytes() == theirs.coef_.tobytes() and ours.intercept_ == theirs.intercept_
        assert ours.n_iter_ == theirs.n_iter_
    if class_weight == "balanced":
        return
    ours, theirs = (quince.SGDClassifier(class_weight=one, random_state=0) for one in (class_weight, None))
    one_class = np.flatnonzero(y == "yes")
    for part in (np.arange(100), one_class, np.arange(100, 300)):
        ours.partial_fit(X[part], y[part], classes=["no", "yes"])
        same = by_class[(y[part] == "yes").astype(int)]
        theirs.partial_fit(X[part], y[part], classes=["no", "yes"], sample_weight=same)
    assert ours.coef_.tobytes() == theirs.coef_.tobytes() and ours.intercept_ == theirs.intercept_


def test_parts_of_the_rows_one_after_another_are_one_pass():
    X, y = classes()
    ours, theirs = quince.SGDClassifier(shuffle=False), sklearn.linear_model.SGDClassifier(shuffle=False)
    for part in (slice(0, 100), slice(100, 300)):
        ours.partial_fit(X[part], y[part], classes=["no", "yes"])
        theirs.partial_fit(X[part], y[part], classes=["no", "yes"])
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)
    assert ours.t_ == theirs.t_


def test_all_three_ways_have_one_optimum(tumours):
    X, y = tumours
    C = 0.05
    kernel = quince.SVC(kernel="linear", C=C, **EXACT).fit(X, y)
    walked = quince.SGDClassifier(alpha=1 / (C * len(X)), average=True, max_iter=2000, tol=None, random_state=0).fit(X, y)
    sign = np.where(y == 1, 1.0, -1.0)

    def objective(model):
        margins = sign * model.decision_function(X)
        return 0.5 * (model.coef_**2).sum() + C * np.maximum(0.0, 1.0 - margins).sum()

    facts = dict(kernel.report_["facts"])
    assert objective(kernel) == pytest.approx(facts["primal"], rel=1e-9)
    assert facts["gap"] <= 1e-4 * facts["primal"]
    assert facts["dual"] <= objective(walked) <= 1.002 * facts["dual"]


def test_implicit_steps_come_near_the_optimum_far_from_zero():
    """Four points whose optimum is known: w = (1, 0), b = -6, and an objective of 1/2 where C is 1, so alpha 1/4."""
    X, y = np.array([[5.0, 1.0], [5.0, 2.0], [7.0, 2.0], [7.0, 3.0]]), np.array([-1, -1, 1, 1])
    how = {"alpha": 0.25, "average": True, "max_iter": 20_000, "tol": None, "random_state": 0}
    model = quince.SGDClassifier(learning_rate="implicit", **how).fit(X, y)
    losses = np.maximum(0.0, 1.0 - y * model.decision_function(X))
    assert 0.5 <= 0.5 * (model.coef_**2).sum() + losses.sum() <= 0.5005
    assert model._model.settings["lambda"] == 0.25


def test_steps_that_diverge_are_warned_of_and_implicit_ones_do_not():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="steps were too large"):
        quince.SGDClassifier("squared_hinge", learning_rate="constant", eta0=1e-5, max_iter=3, random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = quince.SGDClassifier("squared_hinge", learning_rate="implicit", average=True, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_squared_hinge_with_its_defaults_is_better_than_no_weights(seed):
    """Columns of wdbc as they are, from thousandths to thousands: explicit steps end at weights of 1e16."""
    X, y = load_breast_cancer(return_X_y=True)

    def check(model):
        margins = np.where(y == 1, 1.0, -1.0) * model.decision_function(X)
        assert (np.maximum(0.0, 1.0 - margins) ** 2).mean() < 1.0
        assert model.score(X, y) > np.bincount(y).max() / len(y) + 0.1

    with pytest.warns(ConvergenceWarning, match="Explicit steps have diverged"):
        model = quince.SGDClassifier("squared_hinge", random_state=seed).fit(X, y)
    check(model)
    same = quince.SGDClassifier("squared_hinge", learning_rate="implicit", average=True, random_state=seed).fit(X, y)
    assert model.coef_.tobytes() == same.coef_.tobytes() and model.n_iter_ == same.n_iter_
    parts = quince.SGDClassifier("squared_hinge", random_state=seed)
    order = np.random.default_rng(seed).permutation(len(y))
    for part in np.array_split(np.tile(order, 4), 40):
        parts.partial_fit(X[part], y[part], classes=[0, 1])
    check(parts)


def test_probabilities_by_rows_that_were_learnt_are_warned_of():
    X, y = classes()
    some = np.concatenate([np.flatnonzero(y == "no"), np.flatnonzero(y == "yes")[:2]])
    said = "Class 'yes' has only 2 rows"
    with pytest.warns(UserWarning, match=said):
        quince.SVC(probability=True).fit(X[some], y[some])
    table = pd.DataFrame(X[some], columns=list("abcde")).assign(y=y[some])
    with pytest.warns(UserWarning, match=said):
        quince.train(table, "y", "linear-svm")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quince.SVC().fit(X[some], y[some])
        quince.train(table, "y", "linear-svm", {"probabilities": False})
        quince.SVC(probability=True).fit(X, y)


@pytest.mark.parametrize("threads", [2, 8])
def test_the_number_of_threads_changes_no_bit(threads):
    X, y = classes(3000, 8)
    fits = [lambda: quince.SVC().fit(X, y).dual_coef_, lambda: quince.SVR().fit(X, X[:, 0]).dual_coef_]
    fits += [lambda: quince.OneClassSVM().fit(X).dual_coef_, lambda: quince.LinearSVC(random_state=0).fit(X, y).coef_]
    for fit in fits:
        with quince.set_threads(1):
            alone = fit()
        with quince.set_threads(threads):
            together = fit()
        np.testing.assert_array_equal(alone, together)


def test_more_than_two_classes_are_refused_with_a_sentence():
    with pytest.raises(ValueError, match="Only binary classification"):
        quince.SVC().fit([[0.0], [1.0], [2.0]], [0, 1, 2])


def test_a_model_that_was_cut_short_goes_on():
    random = np.random.default_rng(3)
    rows = random.standard_normal((400, 4))
    y = np.where(rows[:, 0] * rows[:, 1] + 0.5 * random.standard_normal(400) > 0, "yes", "no")
    table = pd.DataFrame(rows, columns=list("abcd")).assign(y=y)
    how = {"probabilities": False, "leave_one_out": "never"}
    with pytest.warns(ConvergenceWarning):
        short = quince.train(table, "y", "svm", how | {"steps": 20})
    assert short.report["stop"] == "step-limit"
    resumed = quince.train(table, resume=short, settings={"steps": 0})
    whole = quince.train(table, "y", "svm", how)
    assert resumed.report["stop"] == "converged"
    assert resumed.target == "y"
    dual = [dict(model.report["facts"])["dual"] for model in (short, resumed, whole)]
    assert dual[0] < dual[1] == pytest.approx(dual[2], rel=1e-4)
    with pytest.raises(ValueError, match="trained on other rows"):
        quince.train(table[:300], resume=short)
    with pytest.raises(ValueError, match="leave out model"):
        quince.train(table, model="ridge", resume=short)
    with pytest.raises(ValueError, match="cannot go on"):
        quince.train(table, resume=quince.train(table, "y", "ridge"))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_few_columns_are_finished_also_where_c_is_large(loss):
    X, y = classes(2000, 8)
    ours = quince.LinearSVC(loss=loss, C=100.0, tol=1e-6).fit(X, y)
    assert ("interior" if loss == "hinge" else "Newton") in ours.report_["route"]
    # However many epochs liblinear may run, it is not below.
    peer = sklearn.svm.LinearSVC(loss=loss, C=100.0, dual=loss == "hinge", tol=1e-6, max_iter=20_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer.fit(X, y)

    def objective(model):
        margins = np.maximum(0, 1 - np.where(y == "yes", 1, -1) * model.decision_function(X))
        losses = margins.sum() if loss == "hinge" else (margins**2).sum()
        return 0.5 * (np.sum(model.coef_**2) + model.intercept_[0] ** 2) + 100.0 * losses

    assert objective(ours) <= objective(peer) * (1 + 1e-7)


def test_a_fit_that_is_not_finished_warns_and_its_file_can_be_resumed(tmp_path):
    X, y = classes(400)
    table = pd.DataFrame(X, columns=list("abcde")).assign(y=y)
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        short = quince.train(table, "y", "svm", {"steps": 5})
    short.save(tmp_path / "short.quince")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert quince.train(table, resume=tmp_path / "short.quince", settings={"steps": 0}).report["stop"] == "converged"


def test_settings_may_be_written_as_python_has_them():
    X, y = classes(200)
    table = pd.DataFrame(X, columns=list("abcde")).assign(y=y)
    one = quince.train(table, "y", "svm", {"class_weights": {"yes": 2.0, "no": 0.5}})
    assert one.settings["class_weights"] == "yes=2.0,no=0.5"
    assert quince.train(table, "y", "svm", {"c": np.inf, "gamma": 5.0}).settings["c"] == "infinite"
    with pytest.raises(ValueError, match="number of seconds"):
        quince.train(table, "y", "svm", budget="1s")
    with pytest.raises(ValueError, match="number of seconds"):
        quince.compare(table, "y", ["svm"], budget="1s")


def test_a_one_class_svm_finds_novel_rows():
    X, _ = classes(100)
    model = quince.train(pd.DataFrame(X, columns=list("abcde")), None, "one-class-svm")
    assert "novel rows" in repr(model)
    with pytest.raises(ValueError, match="novel rows have no target"):
        model.evaluate(pd.DataFrame(X, columns=list("abcde")))
