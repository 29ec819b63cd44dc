"""Classical machine learning for real tables, with scikit-learn's conventions.

Whoever has arrays uses the estimators (`LinearRegression`, `Ridge`, `RidgeClassifier`, `KNeighborsClassifier`,
`KNeighborsRegressor`, `NearestNeighbors`, `GaussianNB`, `MultinomialNB`, `BernoulliNB`, `CategoricalNB`, `PoissonNB`,
`LinearDiscriminantAnalysis`, `QuadraticDiscriminantAnalysis`, `NearestCentroid`, `KMeans`, `MiniBatchKMeans`,
`BisectingKMeans`, `SVC`, `SVR`, `LinearSVC`, `LinearSVR`, `OneClassSVM`, `SGDClassifier`, `GaussianMixture`, `MultinomialMixture`, `DummyClassifier`, `DummyRegressor`), which take scikit-learn's parameters and show its attributes, and
prepare features with `StandardScaler`, `OneHotEncoder`, `OrdinalEncoder`, `SimpleImputer`, `KNNImputer`,
`MixtureImputer`, `PolynomialFeatures` and, for a whole data frame at once, `TableEncoder`. `MixedNB`, `GaussianClassifier`,
`MixedMixture` and `SemiSupervisedNB` take arrays and data frames with native columns. Whoever has a table (a file, or a pandas, polars or pyarrow frame with numbers,
categories, texts and missing values) uses `train` and `compare`. Every model is saved with `save` and opened with `load`, and
opening one never runs code.
"""

from quince._quince import Model, Table, __version__, models, read, read_csv
from quince._threads import set_threads
from quince.baseline import DummyClassifier, DummyRegressor
from quince.bayes import (
    BernoulliNB,
    CategoricalNB,
    GaussianClassifier,
    GaussianNB,
    LinearDiscriminantAnalysis,
    MixedNB,
    MultinomialNB,
    NearestCentroid,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
)
from quince.cluster import BisectingKMeans, KMeans, MiniBatchKMeans, silhouette_samples, silhouette_score
from quince.files import load
from quince.learn import Comparison, compare, train
from quince.linear import LinearRegression, Ridge, RidgeClassifier
from quince.margin import SVC, SVR, LinearSVC, LinearSVR, OneClassSVM, SGDClassifier
from quince.mixture import GaussianMixture, MixedMixture, MultinomialMixture, SemiSupervisedNB
from quince.neighbours import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from quince.preprocessing import (
    KNNImputer,
    MixtureImputer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    SimpleImputer,
    StandardScaler,
    TableEncoder,
)
from quince.text import (
    CountVectorizer,
    HashingVectorizer,
    SelectKBest,
    TfidfVectorizer,
    chi2,
    mutual_information,
)

__all__ = [
    "BernoulliNB",
    "BisectingKMeans",
    "CategoricalNB",
    "Comparison",
    "CountVectorizer",
    "DummyClassifier",
    "DummyRegressor",
    "GaussianClassifier",
    "GaussianMixture",
    "GaussianNB",
    "HashingVectorizer",
    "KMeans",
    "KNNImputer",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "LinearDiscriminantAnalysis",
    "LinearRegression",
    "LinearSVC",
    "LinearSVR",
    "MiniBatchKMeans",
    "MixedMixture",
    "MixedNB",
    "MixtureImputer",
    "Model",
    "MultinomialMixture",
    "MultinomialNB",
    "NearestCentroid",
    "NearestNeighbors",
    "OneClassSVM",
    "OneHotEncoder",
    "OrdinalEncoder",
    "PoissonNB",
    "PolynomialFeatures",
    "QuadraticDiscriminantAnalysis",
    "Ridge",
    "RidgeClassifier",
    "SGDClassifier",
    "SVC",
    "SVR",
    "SelectKBest",
    "SemiSupervisedNB",
    "SimpleImputer",
    "StandardScaler",
    "Table",
    "TableEncoder",
    "TfidfVectorizer",
    "__version__",
    "chi2",
    "compare",
    "load",
    "models",
    "mutual_information",
    "read",
    "read_csv",
    "set_threads",
    "silhouette_samples",
    "silhouette_score",
    "train",
]
