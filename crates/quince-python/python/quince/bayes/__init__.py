"""Bayes classifiers: a row gets the class with the largest posterior probability, by the class priors and its likelihood.

`GaussianNB`, `MultinomialNB`, `BernoulliNB`, `CategoricalNB` and `PoissonNB` are naive Bayes for a matrix whose columns all
have the same family of distributions. `MixedNB` takes data frames with native columns, each with the family that suits it.
`LinearDiscriminantAnalysis`, `QuadraticDiscriminantAnalysis` and `NearestCentroid` model all columns together, and
`GaussianClassifier` has every setting of discriminant analysis, for data frames too. Classes that scikit-learn has keep its
parameters, defaults and attributes.
"""

from quince.bayes import centroid, counts, discriminant, mixed, naive, quadratic
from quince.bayes.centroid import *
from quince.bayes.counts import *
from quince.bayes.discriminant import *
from quince.bayes.mixed import *
from quince.bayes.naive import *
from quince.bayes.quadratic import *

__all__: list[str] = []
__all__ += centroid.__all__
__all__ += counts.__all__
__all__ += discriminant.__all__
__all__ += mixed.__all__
__all__ += naive.__all__
__all__ += quadratic.__all__
