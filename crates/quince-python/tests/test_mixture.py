"""Mixtures: scikit-learn's numbers from the same start, missing values, labels as masks, and data frames with native columns."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import sklearn.mixture
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import KNNImputer, SimpleImputer

import quince

X, Y = load_iris(return_X_y=True)
SHAPES = ("full", "tied", "diag", "spherical")


def blobs(seed=0, rows=400, columns=4, groups=3):
    random = np.random.default_rng(seed)
    centres, mix = random.normal(size=(groups, columns)) * 3, random.normal(size=(columns, columns)) * 0.7
    labels = random.integers(groups, size=rows)
    return centres[labels] + random.normal(size=(rows, columns)) @ mix, labels


def same_start(X, shape, groups=3):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        first = sklearn.mixture.GaussianMixture(
            groups, covariance_type=shape, max_iter=1, init_params="random", random_state=0
        ).fit(X)
    return {"weights_init": first.weights_, "means_init": first.means_, "precisions_init": first.precisions_}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_from_the_same_start_numbers_are_those_of_scikit_learn(shape, dtype):
    X = blobs()[0].astype(dtype)
    given = {"covariance_type": shape, **same_start(X.astype(np.float64), shape), "max_iter": 40, "tol": 0}
    # Ours reckons with doubles whatever it is given.
    theirs = sklearn.mixture.GaussianMixture(3, **given).fit(X.astype(np.float64))
    ours = quince.GaussianMixture(3, **given).fit(X)
    for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_", "lower_bound_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-8, atol=1e-10)
    assert ours.n_iter_ == theirs.n_iter_ and not ours.converged_
    wide = X.astype(np.float64)
    np.testing.assert_allclose(ours.predict_proba(wide), theirs.predict_proba(wide), atol=1e-10)
    np.testing.assert_allclose(ours.score_samples(wide), theirs.score_samples(wide), rtol=1e-10)
    np.testing.assert_array_equal(ours.predict(wide), theirs.predict(wide))
    for name in ("bic", "aic", "score"):
        assert getattr(ours, name)(wide) == pytest.approx(getattr(theirs, name)(wide), rel=1e-10)
    np.testing.assert_allclose(ours.lower_bounds_, theirs.lower_bounds_, rtol=1e-10)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_likelihood_rises_to_where_scikit_learn_ends(shape):
    X, _ = blobs(1)
    given = {"covariance_type": shape, **same_start(X, shape), "max_iter": 500, "tol": 1e-8}
    theirs, ours = (kind(3, **given).fit(X) for kind in (sklearn.mixture.GaussianMixture, quince.GaussianMixture))
    assert ours.converged_ and ours.n_iter_ == theirs.n_iter_
    assert ours.lower_bound_ == pytest.approx(theirs.lower_bound_, abs=1e-9)
    assert np.all(np.diff(ours.lower_bounds_) > -1e-6)


def test_the_number_of_components_is_found():
    X, labels = blobs(2, rows=600)
    model = quince.GaussianMixture("auto", random_state=0).fit(X)
    assert len(model.weights_) == 3
    assert (np.diff(model.weights_) <= 0).all()
    found = model.predict(X)
    assert all(len(np.unique(found[labels == group])) <= 2 for group in range(3))


def test_missing_values_are_left_out_of_densities():
    X, _ = blobs(3)
    model = quince.GaussianMixture(3, random_state=0).fit(X)
    some = X[:20].copy()
    some[:, 1] = np.nan
    # Without a column the density is that of the margins.
    theirs = sklearn.mixture.GaussianMixture(3).fit(X)
    keep = [0, 2, 3]
    theirs.weights_, theirs.means_ = model.weights_, model.means_[:, keep]
    theirs.covariances_ = model.covariances_[:, keep][:, :, keep]
    theirs.precisions_cholesky_ = np.array([np.linalg.inv(np.linalg.cholesky(c)).T for c in theirs.covariances_])
    theirs.n_features_in_ = 3
    np.testing.assert_allclose(model.score_samples(some), theirs.score_samples(X[:20][:, keep]), rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba(some), theirs.predict_proba(X[:20][:, keep]), atol=1e-9)


def test_one_component_with_missing_values_is_what_slow_em_finds():
    random = np.random.default_rng(4)
    X = random.normal(size=(80, 3)) @ random.normal(size=(3, 3)) + [1, 2, 3]
    X[random.random(X.shape) < 0.2] = np.nan
    X = X[~np.isnan(X).all(axis=1)]
    model = quince.GaussianMixture(1, reg_covar=0.0, tol=1e-13, max_iter=3000).fit(X)
    mean, covariance = np.nanmean(X, axis=0), np.diag(np.nanvar(X, axis=0))
    for _ in range(3000):
        sums, squares = np.zeros(3), np.zeros((3, 3))
        for row in X:
            o, m = ~np.isnan(row), np.isnan(row)
            full, left = row.copy(), np.zeros((3, 3))
            if m.any():
                solve = covariance[np.ix_(m, o)] @ np.linalg.inv(covariance[np.ix_(o, o)])
                full[m] = mean[m] + solve @ (row[o] - mean[o])
                left[np.ix_(m, m)] = covariance[np.ix_(m, m)] - solve @ covariance[np.ix_(o, m)]
            sums += full
            squares += np.outer(full, full) + left
        mean = sums / len(X)
        covariance = squares / len(X) - np.outer(mean, mean)
    np.testing.assert_allclose(model.means_[0], mean, atol=1e-6)
    np.testing.assert_allclose(model.covariances_[0], covariance, atol=1e-6)


def test_weights_are_rows_again():
    X, _ = blobs(5)
    repeats = np.arange(len(X)) % 3
    start = same_start(X, "full")
    weighted = quince.GaussianMixture(3, tol=1e-8, max_iter=300, **start).fit(X, sample_weight=repeats)
    repeated = quince.GaussianMixture(3, tol=1e-8, max_iter=300, **start).fit(np.repeat(X, repeats, axis=0))
    np.testing.assert_allclose(weighted.means_, repeated.means_, atol=1e-6)


def test_a_warm_start_goes_on():
    X, _ = blobs(6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = quince.GaussianMixture(3, max_iter=1, warm_start=True, random_state=0, tol=1e-9).fit(X)
        bounds = [model.lower_bound_] + [model.fit(X).lower_bound_ for _ in range(5)]
    assert np.all(np.diff(bounds) > -1e-12) and bounds[-1] > bounds[0]


def test_samples_have_the_moments_of_the_mixture():
    X, _ = blobs(7)
    for shape in SHAPES:
        model = quince.GaussianMixture(2, covariance_type=shape, random_state=0).fit(X)
        rows, labels = model.sample(20_000)
        np.testing.assert_allclose(rows.mean(axis=0), model.weights_ @ model.means_, atol=0.15)
        assert set(labels) == {0, 1}
        np.testing.assert_allclose(np.bincount(labels) / len(labels), model.weights_, atol=0.02)


def test_saved_mixtures_say_the_same(tmp_path):
    X, labels = blobs(8)
    X[::9, 1] = np.nan
    counts = np.random.default_rng(0).poisson(3.0, size=(50, 6)).astype(float)
    few = np.where(np.arange(len(X)) % 5 == 0, labels, -1)
    for model, rows in (
        (quince.GaussianMixture(3, random_state=0).fit(X), X),
        (quince.MultinomialMixture(2, random_state=0).fit(counts), counts),
        (quince.MixedMixture(3, random_state=0).fit(X), X),
        (quince.SemiSupervisedNB(family="normal").fit(X, few), X),
    ):
        model.save(tmp_path / "m.quince")
        again = quince.load(tmp_path / "m.quince")
        assert type(again) is type(model)
        np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))


def test_topics_are_found_dense_and_sparse():
    random = np.random.default_rng(9)
    topics = random.dirichlet(np.full(40, 0.2), size=3)
    labels = random.integers(3, size=300)
    counts = np.array([random.multinomial(30, topics[label]) for label in labels], dtype=float)
    dense = quince.MultinomialMixture(3, random_state=0).fit(counts)
    thin = quince.MultinomialMixture(3, random_state=0).fit(sparse.csr_matrix(counts))
    for model, rows in ((dense, counts), (thin, sparse.csr_matrix(counts))):
        found = model.predict(rows)
        assert max(np.bincount(found[labels == 0])) / (labels == 0).sum() > 0.98
        np.testing.assert_allclose(np.exp(model.feature_log_prob_).sum(axis=1), 1.0)
    sentences = quince.MixedMixture(3, family="multinomial", random_state=0).fit(sparse.csr_matrix(counts)).explain()
    assert all("x: x" in sentence for sentence in sentences["sentences"])
    order = [np.argmin(((np.exp(dense.feature_log_prob_) - topic) ** 2).sum(axis=1)) for topic in topics]
    np.testing.assert_allclose(np.exp(dense.feature_log_prob_[order]), topics, atol=0.03)


def test_counts_with_missing_values_are_imputed():
    # The worked example T5 of the Rust tests.
    rows = np.array([[3, 5, 6, 2], [0, np.nan, 3, 1], [1, 2, np.nan, 6.0]])
    model = quince.MultinomialMixture(1, alpha=0.0, tol=0.0, max_iter=2000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        filled = model.fit(rows).impute(rows)
    assert filled[1, 1] == pytest.approx(1.1347, abs=5e-5)
    assert filled[2, 2] == pytest.approx(6.6750, abs=5e-5)


def test_all_labels_with_one_component_are_naive_bayes():
    X, y = load_iris(return_X_y=True)
    for family in ("normal", "auto", "histogram"):
        bayes = quince.MixedNB(family=family, calibrate=False).fit(X, y)
        mixture = quince.SemiSupervisedNB(family=family, calibrate=False).fit(X, y)
        np.testing.assert_allclose(mixture.predict_proba(X), bayes.predict_proba(X), atol=1e-12)
    X[::11, 2] = np.nan
    bayes = quince.MixedNB(family="gaussian", calibrate=False, variance_floor=1e-3).fit(X, y)
    mixture = quince.SemiSupervisedNB(family="gaussian", variance_floor=1e-3, tol=1e-10, calibrate=False).fit(X, y)
    np.testing.assert_allclose(mixture.predict_proba(X), bayes.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("unknown", [-1, None, np.nan, pd.NA])
def test_rows_without_a_label_help(unknown):
    random = np.random.default_rng(1)
    topics = random.dirichlet(np.full(60, 0.3), size=3)
    truth = np.tile([0, 1, 2], 300)
    counts = np.array([random.multinomial(4, topics[label]) for label in truth], dtype=float)
    labels = np.array([int(label) if i < 3 else unknown for i, label in enumerate(truth)], dtype=object)
    labels = labels.astype(int) if isinstance(unknown, int) else labels
    model = quince.SemiSupervisedNB(family="multinomial").fit(counts, labels)
    alone = quince.MultinomialNB().fit(counts[:3], truth[:3])
    assert model.score(counts, truth) > alone.score(counts, truth) + 0.05
    assert model.classes_.tolist() == [0, 1, 2]


def test_a_label_is_needed():
    with pytest.raises(ValueError, match="No row has a label"):
        quince.SemiSupervisedNB().fit([[1.0], [2.0]], [-1, -1])


def penguins():
    return pd.DataFrame({
        "size": [20, 21, None, 22, 19, 60, 61, 64, None, 62],
        "visits": [0, 1, 0, 2, 1, 5, 7, None, 6, 8],
        "colour": ["red", "red", "red", None, "red", "blue", "blue", "blue", "blue", None],
        "tame": [True, True, True, True, False, False, False, None, False, False],
    })


def test_data_frames_go_in_as_they_are():
    frame = penguins()
    model = quince.MixedMixture(2, random_state=0).fit(frame)
    found = model.predict(frame)
    assert len(set(found[:5])) == len(set(found[5:])) == 1 and found[0] != found[5]
    assert "colour" in " ".join(model.explain()["sentences"])
    assert "colour" in str(model.explain(frame, row=0))
    imputed = {(cell["row"], cell["column"]): cell for cell in model.imputed_values(frame)}
    assert len(imputed) == int(frame.isna().sum().sum())
    assert imputed[(3, "colour")]["value"] == "red" and imputed[(3, "colour")]["probability"] > 0.7
    assert 55 < float(imputed[(8, "size")]["value"]) < 66 and imputed[(8, "size")]["standard_deviation"] < 12
    drawn = model.sample(5, component=int(found[0]))
    assert set(drawn["cluster"]) == {found[0]} and len(drawn["size"]) == 5
    for name in ("bic", "aic", "icl", "score"):
        assert np.isfinite(getattr(model, name)(frame))
    with pytest.raises(ValueError, match="no row 99"):
        model.explain(frame, row=99)


def test_a_bayes_classifier_imputes_missing_values_too():
    frame = penguins()
    model = quince.train(frame.assign(kind=["a"] * 5 + ["b"] * 5), "kind", model="naive-bayes")
    imputed = {(cell["row"], cell["column"]): cell["value"] for cell in model.imputed_values(frame)}
    assert imputed[(3, "colour")] == "red" and imputed[(9, "colour")] == "blue"
    ridge = quince.train(frame[["visits", "size"]].dropna(), "size", model="ridge")
    with pytest.raises(ValueError, match="'ridge' cannot impute missing values"):
        ridge.imputed_values(frame)


def test_training_on_a_target_with_missing_values_uses_all_rows():
    random = np.random.default_rng(3)
    kind = np.tile(["a", "b"], 150)
    frame = pd.DataFrame({"x": random.normal(size=300) + 4 * (kind == "b"), "kind": kind})
    frame.loc[10:, "kind"] = None
    with pytest.warns(UserWarning, match="290 rows have no 'kind'; what they are like is learnt from all the same"):
        model = quince.train(frame, "kind", model="mixture", settings={"family": "normal"})
    assert (model.predict(frame) == kind).mean() > 0.95


def test_irises_are_filled_better_than_by_means_and_neighbours():
    X = load_iris().data
    errors = []
    for seed in range(5):
        missing = np.random.default_rng(seed).random(X.shape) < 0.2
        with_missing = np.where(missing, np.nan, X)
        fillers = (SimpleImputer(), KNNImputer(), quince.MixtureImputer())
        errors.append([
            np.sqrt(np.mean((((filler.fit_transform(with_missing) - X) / X.std(axis=0))[missing]) ** 2)) for filler in fillers
        ])
    mean, neighbours, mixture = np.mean(errors, axis=0)
    assert mixture < 0.8 * neighbours < mean


def test_the_imputer_says_how_sure_it_is():
    random = np.random.default_rng(0)
    x = random.normal(size=2000)
    X = np.column_stack([x, 2 * x + random.normal(size=2000), random.normal(size=2000)])
    truth, missing = X.copy(), random.random(X.shape) < 0.2
    X[missing] = np.nan
    imputer = quince.MixtureImputer(n_components=1).fit(X)
    deviation, off = imputer.standard_deviation(X), np.abs(imputer.transform(X) - truth)
    assert np.isnan(deviation[~missing]).all() and (deviation[missing] > 0).all()
    # Two thirds of what is normal lie within a deviation.
    assert np.mean(off[missing] < deviation[missing]) == pytest.approx(0.683, abs=0.03)


def test_refusals():
    X, _ = blobs(1, rows=20)
    with pytest.raises(ValueError, match="n_samples >= n_components"):
        quince.GaussianMixture(30).fit(X)
    with pytest.raises(ValueError, match="shape"):
        quince.GaussianMixture(3, means_init=np.zeros((2, 4))).fit(X)
    with pytest.raises(ValueError, match="normalized"):
        quince.GaussianMixture(3, weights_init=[0.5, 0.5, 0.5]).fit(X)
    with pytest.raises(ValueError, match="positive-definite"):
        quince.GaussianMixture(2, precisions_init=[-np.eye(4)] * 2).fit(X)
    with pytest.raises(ValueError, match="Negative values"):
        quince.MultinomialMixture(2).fit(X)
    with pytest.raises(ValueError, match="cannot be markov-chain in a mixture"):
        quince.MixedMixture(2, family="markov-chain").fit(X)
    with pytest.raises(ValueError, match="infinity"):
        quince.GaussianMixture(2).fit([[0.0], [np.inf], [1.0]])
    with pytest.raises(ValueError, match="constant"):
        quince.GaussianMixture(2, reg_covar=0.0).fit(np.column_stack([X, np.ones(20)]))
    with pytest.raises(ValueError, match="path of a file"):
        quince.MixedMixture(2).fit("table.csv")


def test_a_frame_is_filled_and_rows_are_made_up_in_its_own_types():
    frame = pd.DataFrame({
        "size": [20.5, 21.0, None, 22.5, 60.0, 61.0, 64.5, 58.0, 62.0, 61.5],
        "colour": ["red", "red", "red", None] + ["blue"] * 6,
        "kind": pd.Categorical(["a", "a", "a", "a", None, "b", "b", "b", "b", "b"]),
        "big": [False, False, False, False, True, None, True, True, True, True],
        "cluster": [1.5, 2.5, 1.25, 3.5, 1.75, 2.0, 1.0, 3.0, 2.25, 1.1],
    })
    model = quince.MixedMixture(2, random_state=0).fit(frame)
    filled = model.impute(frame)
    assert not filled.isna().any().any() and frame.isna().sum().sum() == 4
    assert filled["colour"][3] == "red" and filled["kind"][4] == "b" and filled["big"][5] is True
    assert filled["size"].dtype == np.float64 and filled["size"][2] < 40 and filled["kind"].dtype == frame["kind"].dtype
    assert filled.dropna().index.equals(frame.index) and (filled["cluster"] == frame["cluster"]).all()
    (size,) = [cell for cell in model.imputed_values(frame) if cell["column"] == "size"]
    assert size["value"] == filled["size"][2]
    drawn = model.sample(50, component=1)
    assert set(drawn["cluster_"]) == {1} and drawn["size"].dtype == np.float64 and drawn["colour"].dtype == object
    whole = quince.train(frame.drop(columns="cluster"), None, "mixture", {"k": 2})
    assert set(whole.sample(100)["cluster"]) == {0, 1} and set(whole.sample(9, label="1")["cluster"]) == {1}
    # One seed, one answer, wherever it is asked.
    own = quince.MixedMixture(2, random_state=3).fit(frame)
    assert quince.train(frame, None, "mixture", {"k": 2}, seed=3).report["trace"] == own.report_["trace"]
    with pytest.raises(ValueError, match="no component 2. They are counted from 0 to 1"):
        model.sample(component=2)
    # Numbers that are answers, whole numbers and categories that are numbers stay what they are.
    odd = pd.DataFrame({
        "flag": [0.0, 1.0, np.nan, 1.0] * 5,
        "whole": pd.array([-3, 4, None, 6] * 5, dtype="Int64"),
        "code": pd.Categorical([10, 20, None, 20] * 5),
        "mixed": pd.Series([True, False, None, True] * 5, dtype="boolean"),
    })
    filled = quince.MixedMixture(1).fit(odd).impute(odd)
    assert not filled.isna().any().any() and (filled.dtypes == odd.dtypes).all()
    assert set(filled["flag"]) == {0.0, 1.0} and set(filled["code"]) == {10, 20}
    with pytest.raises(TypeError, match="pandas frame"):
        model.impute(pa.Table.from_pandas(frame))


def test_rows_without_a_label_are_no_mistakes():
    few = np.where(np.arange(150) % 5 == 0, Y, -1)
    model = quince.SemiSupervisedNB(family="normal").fit(X, few)
    known = few >= 0
    assert model.score(X, few) == model.score(X[known], Y[known]) > 0.9
    assert model.score(pd.DataFrame(X).to_numpy(), few, np.arange(150)) == model.score(X[known], Y[known], np.arange(150)[known])
    with pytest.raises(ValueError, match="No row has a label"):
        model.score(X, np.full(150, -1))
    for nothing in ("-1", "", "nan"):
        with pytest.raises(ValueError, match="a word like the others"):
            quince.SemiSupervisedNB().fit(X, np.where(known, "a", nothing))


def test_an_imputer_takes_weights_and_refuses_what_cannot_be():
    incomplete = X.copy()
    incomplete[::3, 1] = np.nan
    times = np.arange(150) % 3
    one = quince.MixtureImputer(n_components=1)
    weighed = one.fit(incomplete, sample_weight=times).transform(incomplete)
    np.testing.assert_allclose(weighed, one.fit(np.repeat(incomplete, times, axis=0)).transform(incomplete), rtol=1e-6)
    # What weighs nothing says nothing, not even that a column varies.
    flat, heavy = np.column_stack([X[:, 0], np.where(np.arange(150) < 75, 5.0, 100.0)]), np.arange(150) < 75
    flat[:9, 1] = np.nan
    assert set(one.fit(flat, sample_weight=heavy).transform(flat)[:75, 1]) == {5.0}
    with pytest.raises(ValueError, match="n_components=500"):
        quince.MixtureImputer(n_components=500).fit(incomplete)
    with pytest.raises(ValueError, match="no value"):
        quince.GaussianMixture(2).fit(np.full((9, 2), np.nan))
