"""scikit-learn's estimator checks, on the instances and with the exceptions that it keeps for its own classes."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import all_estimators
from sklearn.utils._test_common import instance_generator as theirs
from sklearn.utils.estimator_checks import parametrize_with_checks

import quince
from quince._base import Estimator

THEIRS = dict(all_estimators())
#: Whatever the package shows and scikit-learn has is checked; what takes texts has tests of its own.
SHOWN = [
    cls
    for cls in (getattr(quince, name) for name in quince.__all__)
    if isinstance(cls, type) and issubclass(cls, BaseEstimator) and cls.__module__ != "quince.text"
]
PAIRS = {cls: THEIRS[cls.__name__] for cls in SHOWN if cls.__name__ in THEIRS}
NEIGHBOURS = (quince.KNeighborsClassifier, quince.KNeighborsRegressor)
#: These take more than scikit-learn's do, and say so.
NEIGHBOURS_OF_ANY = (*NEIGHBOURS, quince.NearestNeighbors)

#: Parameters of our own, with their defaults.
OWN_PARAMETERS = {
    quince.KNeighborsClassifier: {"smoothing": 0.0, "choose_by": "log-loss"},
    quince.KMeans: {"polish": False},
    quince.SVC: {"bias": "mean", "leave_one_out": "never"},
    quince.SVR: {"bias": "mean", "standardise": False},
    quince.LinearSVR: {"standardise": False},
    quince.OneClassSVM: {"bias": "mean", "edge": "exact"},
    quince.LinearSVC: {"probability": False},
}
#: Attributes and methods of our own, besides the report of the fit and a file that is safe to share.
OWN_ATTRIBUTES = {cls: {"n_neighbors_", "set_fit_request"} for cls in NEIGHBOURS} | {quince.KMeans: {"polish"}}
OWN_ATTRIBUTES[quince.KNeighborsClassifier] |= {"smoothing", "choose_by"}
OWN_ATTRIBUTES |= {cls: set(OWN_PARAMETERS[cls]) for cls in OWN_PARAMETERS if "margin" in cls.__module__}
#: Rows of theirs have no weights and no missing values.
OWN_ATTRIBUTES[quince.GaussianMixture] = {"set_fit_request", "impute"}
#: What scikit-learn's classes show and do not use.
NOT_OURS = {cls: {"radius"} for cls in NEIGHBOURS}
#: Parameters of other models, and numbers of a calibration that scikit-learn will drop.
NOT_OURS[quince.SVC] = {"epsilon", "nu", "probA_", "probB_", "unused_param"}
NOT_OURS[quince.SVR] = {"class_weight", "nu", "probability", "random_state", "unused_param"}
NOT_OURS[quince.OneClassSVM] = {"C", "class_weight", "epsilon", "probability", "random_state", "unused_param"}
NOT_OURS[quince.SGDClassifier] = {"loss_functions"}
#: Progress bars of scikit-learn's, for fits that take long.
NOT_OURS[quince.StandardScaler] = {"set_callbacks"}


def gently(distances):
    return 1 / (1 + distances)


class OfWholeNumbers(quince.PoissonNB):
    """scikit-learn's checks have no counts: here their fractions are cut off."""

    def _check_rows(self, X):
        return super()._check_rows(np.trunc(X))


#: Variants of our own that scikit-learn has no instance of.
OWN_VARIANTS = [
    quince.GaussianNB(var_smoothing=1e-3),
    quince.MultinomialNB(alpha=0.0, fit_prior=False),
    quince.BernoulliNB(alpha=0.5, binarize=1.0),
    quince.CategoricalNB(min_categories=12),
    quince.LinearDiscriminantAnalysis("eigen", shrinkage="auto"),
    quince.QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=0.5),
    quince.QuadraticDiscriminantAnalysis(reg_param=0.5),
    quince.NearestCentroid("manhattan"),
    quince.NearestCentroid(priors="empirical", shrink_threshold=0.1),
    quince.KNeighborsClassifier("auto", weights="distance", smoothing=1.0),
    quince.KNeighborsClassifier(3, weights=gently),
    quince.KNeighborsRegressor("auto"),
    quince.KNeighborsRegressor(2, weights="distance", metric="manhattan"),
    quince.NearestNeighbors(algorithm="brute", metric="cosine"),
    quince.KMeans("auto"),
    quince.GaussianMixture("auto"),
    quince.GaussianMixture(2, covariance_type="tied", init_params="random"),
    quince.GaussianMixture(2, covariance_type="diag", init_params="k-means++", n_init=2),
    quince.GaussianMixture(2, covariance_type="spherical", warm_start=True),
    quince.KMeans(2, algorithm="sequential"),
    quince.KMeans(2, init="random", polish=True),
    quince.MiniBatchKMeans(2, batch_size=7, init="random"),
    quince.BisectingKMeans(3, init="k-means++", n_init=2),
    quince.SVC(kernel="linear", C=10.0, class_weight="balanced"),
    quince.SVC(kernel="poly", degree=2, coef0=1.0, bias="median", leave_one_out="auto"),
    quince.SVC(kernel="sigmoid", gamma=0.1, probability=True),
    quince.SVR(kernel="linear", epsilon=0.0, bias="median"),
    quince.LinearSVC(loss="hinge", probability=True),
    quince.LinearSVR(epsilon=0.1, loss="squared_epsilon_insensitive"),
    quince.OneClassSVM(kernel="linear", nu=0.1),
    quince.SGDClassifier("squared_hinge", average=True, random_state=0),
    quince.SGDClassifier("perceptron", penalty="elasticnet", learning_rate="constant", eta0=0.1, random_state=0),
    quince.SGDClassifier("log_loss", penalty="l1", random_state=0),
    quince.SGDClassifier("modified_huber", penalty=None, learning_rate="invscaling", eta0=0.5, random_state=0),
    quince.StandardScaler(with_mean=False),
    quince.StandardScaler(with_std=False),
    quince.OneHotEncoder(sparse_output=False, handle_unknown="ignore"),
    quince.OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=2),
    quince.OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
    quince.SimpleImputer(strategy="median", add_indicator=True),
    quince.SimpleImputer(strategy="most_frequent"),
    quince.KNNImputer(n_neighbors=2, weights="distance", add_indicator=True),
    quince.PolynomialFeatures(3, interaction_only=True),
    quince.PolynomialFeatures((2, 3), include_bias=False, order="F"),
]


#: Classes of our own that scikit-learn has no twin of.
OWN_CLASSES = [
    OfWholeNumbers(),
    OfWholeNumbers(alpha=0.0),
    quince.MixedNB(),
    quince.GaussianClassifier(),
    quince.MixedNB(calibrate=False),
    quince.MixedNB(calibrate=False, family="normal"),
    quince.MixedNB(calibrate=False, family="histogram"),
    quince.MixedNB(calibrate=False, family="gaussian:pooled"),
    quince.GaussianClassifier(calibrate=False),
    quince.GaussianClassifier(calibrate=False, shared="pooled", shrinkage=0.1, unbiased=True),
    quince.GaussianClassifier(calibrate=False, covariance="nearest-mean"),
    quince.GaussianClassifier(calibrate=False, covariance="diagonal", pca=2),
    quince.MultinomialMixture(),
    quince.MultinomialMixture(3, alpha=0.5, init_params="random"),
    quince.MixedMixture(),
    quince.MixedMixture(2, family="normal"),
    quince.MixedMixture(2, covariance="diagonal", init_params="k-means++"),
    quince.SemiSupervisedNB(),
    quince.SemiSupervisedNB(calibrate=False, family="normal"),
    quince.SemiSupervisedNB(calibrate=False, family="gaussian", variance_floor=1e-3),
    quince.SemiSupervisedNB(calibrate=False, family="normal", per_class=2),
    quince.SemiSupervisedNB(family="normal"),
    quince.SemiSupervisedNB(family="normal", per_class=2),
    quince.MixtureImputer(),
    quince.MixtureImputer(n_components=1, add_indicator=True),
]


BY_ROWS = {"check_sample_weight_equivalence_on_dense_data": "bins follow from the rows, whatever they weigh"}
LEFT_OUT = {
    f"check_sample_weight_equivalence_on_{kind}_data": "a row that is left out takes all its weight with it"
    for kind in ("dense", "sparse")
}
NO_CLASSES = {
    f"check_estimator_sparse_{kind}": "whatever has predict_proba is asked for the tags of a classifier"
    for kind in ("array", "matrix")
}
STARTS = {
    f"check_sample_weight_equivalence_on_{kind}_data": "where EM starts is drawn from rows, whatever they weigh"
    for kind in ("dense", "sparse")
}
NO_LABEL = {"check_classifiers_classes": "-1 stands for no label"}
#: What is meant to be otherwise than the checks have it.
OWN_FAILURES = {
    "MultinomialMixture()": NO_CLASSES,
    "MultinomialMixture(alpha=0.5, init_params='random', n_components=3)": NO_CLASSES | STARTS,
    "MixedMixture()": NO_CLASSES,
    "MixedMixture(family='normal', n_components=2)": NO_CLASSES | STARTS,
    "MixedMixture(covariance='diagonal', init_params='k-means++', n_components=2)": NO_CLASSES,
    "SemiSupervisedNB()": NO_LABEL | LEFT_OUT,
    "SemiSupervisedNB(calibrate=False, family='normal')": NO_LABEL,
    "SemiSupervisedNB(calibrate=False, family='gaussian', variance_floor=0.001)": NO_LABEL,
    "SemiSupervisedNB(calibrate=False, family='normal', per_class=2)": NO_LABEL,
    "SemiSupervisedNB(family='normal')": NO_LABEL | LEFT_OUT,
    "SemiSupervisedNB(family='normal', per_class=2)": NO_LABEL | LEFT_OUT,
    "MixedNB(calibrate=False, family='histogram')": BY_ROWS,
    "MixedNB(calibrate=False)": BY_ROWS,
    "MixedNB()": LEFT_OUT,
    "GaussianClassifier()": LEFT_OUT,
}


def few_rows(ours: type) -> dict:
    """Parameters with which a class can be fitted to few rows."""
    few = {"n_clusters": 2, "reg_param": 0.5}
    return {name: value for name, value in few.items() if name in ours().get_params()}


def same_as_theirs(ours: type, their_estimator):
    return ours(**their_estimator.get_params())


def instances():
    """For each instance that scikit-learn checks of its class, the same of ours; and all its solvers besides."""
    for ours, their in PAIRS.items():
        their_instances = theirs._construct_instances(their)
        # Distances that somebody else measured are no features, and none of ours takes them.
        measured = [one for one in their_instances if one.get_params().get("metric") != "precomputed"]
        yield from (same_as_theirs(ours, estimator) for estimator in measured)
        variants = theirs.PER_ESTIMATOR_CHECK_PARAMS.get(their, {}).values()
        seen = []
        for variant in variants:
            for parameters in [variant] if isinstance(variant, dict) else variant:
                if parameters not in seen:
                    seen.append(parameters)
                    yield ours(**parameters)
    yield from OWN_VARIANTS
    yield from OWN_CLASSES


def expected_failures(estimator) -> dict[str, str]:
    """What scikit-learn lists for its own class, and nothing else but for weights that its class does not take."""
    if type(estimator) not in PAIRS:
        return OWN_FAILURES.get(repr(estimator), {})
    their = PAIRS[type(estimator)]
    known = inspect.signature(their).parameters
    allowed = {name: value for name, value in estimator.get_params().items() if name in known}
    expected = dict(theirs._get_expected_failed_checks(their(**allowed)))
    if isinstance(estimator, NEIGHBOURS):
        for kind in ("dense", "sparse"):
            reason = "a row that counts twice is one neighbour, not two"
            expected[f"check_sample_weight_equivalence_on_{kind}_data"] = reason
    if isinstance(estimator, quince.GaussianMixture) and estimator.n_components == 2:
        expected |= STARTS
    return expected


#: What the checks cannot feed.
NOT_CHECKED = {quince.TableEncoder: "takes data frames of numbers, words and texts; see test_table_encoder.py"}


def test_every_estimator_is_checked():
    checked = {cls for estimator in instances() for cls in type(estimator).__mro__}
    assert set(SHOWN) - checked == set(NOT_CHECKED)


@parametrize_with_checks(list(instances()), expected_failed_checks=expected_failures)
def test_an_estimator_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("ours", PAIRS, ids=lambda cls: cls.__name__)
def test_parameters_and_defaults_are_those_of_scikit_learn(ours):
    assert ours().get_params() == PAIRS[ours]().get_params() | OWN_PARAMETERS.get(ours, {})


@pytest.mark.parametrize("ours", PAIRS, ids=lambda cls: cls.__name__)
def test_attributes_and_methods_are_those_of_scikit_learn(ours):
    X = [[0.0, 1.0], [1.0, 3.0], [2.0, 2.0], [3.0, 7.0], [4.0, 1.0]]
    y = [0, 1, 0, 1, 1]

    def public(estimator):
        return {name for name in dir(estimator.fit(X, y)) if not name.startswith("_") and hasattr(estimator, name)}

    few = few_rows(ours)
    mine, their = ours(**few), PAIRS[ours](**few)
    mine.fit(X, y)
    assert {name for name in public(their) if not hasattr(mine, name)} == NOT_OURS.get(ours, set())
    saved = {"report_", "save"} if isinstance(mine, Estimator) else set()
    assert public(mine) - public(their) == saved | OWN_ATTRIBUTES.get(ours, set())
    assert hasattr(mine, "set_output") == hasattr(their, "set_output")


def in_order(error) -> str:
    """The sentence, with the words of a set, which come in any order, sorted."""
    return re.sub(r"\{(.*?)\}", lambda words: str(sorted(words[1].split(", "))), str(error.value))


@pytest.mark.parametrize("ours", PAIRS, ids=lambda cls: cls.__name__)
def test_a_wrong_parameter_gets_the_sentence_of_scikit_learn(ours):
    wrong = {"alpha": -1, "tol": "x", "strategy": "nothing", "positive": "no", "solver": "magic", "quantile": 2}
    wrong |= {"leaf_size": 0, "p": -1, "n_jobs": "all", "weights": "heavy", "max_iter": 0, "batch_size": 0}
    wrong |= {"with_mean": "x", "with_std": None, "categories": "some", "handle_unknown": "guess", "min_frequency": 1.5}
    wrong |= {"missing_values": [], "add_indicator": "no", "n_neighbors": 0, "metric": "far"}
    wrong |= {"degree": -1, "order": "A", "var_smoothing": -1, "binarize": -1, "reg_param": 2, "shrinkage": "some"}
    wrong |= {"shrink_threshold": 0, "min_categories": 0}
    if ours in NEIGHBOURS_OF_ANY:
        wrong = {name: value for name, value in wrong.items() if name not in ("n_neighbors", "metric")}
    if ours is quince.GaussianMixture:
        wrong |= {"max_iter": -1, "covariance_type": "round", "reg_covar": -1, "n_init": 0}
    if ours.__module__.startswith("quince.margin"):
        wrong |= {"max_iter": -2, "C": 0, "kernel": "magic", "gamma": -1, "nu": 2, "cache_size": 0, "epsilon": "x"}
        wrong |= {"shrinking": "no", "dual": "maybe", "loss": "gain", "average": -1, "eta0": 0, "l1_ratio": 2}
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 0]
    tested = 0
    for name, value in wrong.items():
        if name in ours().get_params():
            with pytest.raises(ValueError) as theirs:
                PAIRS[ours](**{name: value}).fit(X, y)
            with pytest.raises(ValueError) as our:
                ours(**{name: value}).fit(X, y)
            assert in_order(our) == in_order(theirs)
            tested += 1
    assert tested


#: A baseline does not look at features, and so refuses none.
LOOKING = [cls for cls in PAIRS if not cls().__sklearn_tags__().no_validation]


@pytest.mark.parametrize("ours", LOOKING, ids=lambda cls: cls.__name__)
def test_a_fit_that_failed_is_no_fit(ours):
    estimator = ours(**few_rows(ours))
    with pytest.raises(ValueError, match="infinity"):
        estimator.fit([[0.0], [1.0], [float("inf")]], [0, 1, 0])
    for ask in ("predict", "transform", "kneighbors", "save"):
        if hasattr(estimator, ask):
            with pytest.raises(NotFittedError):
                getattr(estimator, ask)([[1.0]])
    if isinstance(estimator, Estimator):
        with pytest.raises(NotFittedError):
            estimator.report_  # noqa: B018 - reading it is the question


@pytest.mark.parametrize("ours", PAIRS, ids=lambda cls: cls.__name__)
def test_a_clone_is_unfitted_and_equal(ours):
    estimator = ours(**few_rows(ours)).fit([[0.0], [1.0], [2.0], [4.0]], [0, 1, 0, 1])
    copy = clone(estimator)
    assert copy.get_params() == estimator.get_params()
    assert not hasattr(copy, "n_features_in_")
