"""Bayes classifiers: a row is of the class that makes it likeliest, weighed by how frequent the class is.

`GaussianNB`, `MultinomialNB`, `BernoulliNB`, `CategoricalNB` and `PoissonNB` take a matrix whose columns all have one
family, and each column on its own. `MixedNB` takes data frames with native columns, every column with the family that suits it.
`LinearDiscriminantAnalysis`, `QuadraticDiscriminantAnalysis` and `NearestCentroid` take all columns together, and
`GaussianClassifier` shows all that is between them, for data frames too. What scikit-learn has, has its parameters,
defaults and attributes.
"""

from quince.bayes.centroid import NearestCentroid
from quince.bayes.counts import CategoricalNB, PoissonNB
from quince.bayes.discriminant import LinearDiscriminantAnalysis
from quince.bayes.mixed import GaussianClassifier, MixedNB
from quince.bayes.naive import BernoulliNB, GaussianNB, MultinomialNB
from quince.bayes.quadratic import QuadraticDiscriminantAnalysis

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "GaussianClassifier",
    "GaussianNB",
    "LinearDiscriminantAnalysis",
    "MixedNB",
    "MultinomialNB",
    "NearestCentroid",
    "PoissonNB",
    "QuadraticDiscriminantAnalysis",
]
