"""Bayes classifiers: a row is of the class that makes it likeliest, weighed by how frequent the class is.

`GaussianNB`, `MultinomialNB`, `BernoulliNB`, `CategoricalNB` and `PoissonNB` take a matrix whose columns all have one
family, and each column on its own. `MixedNB` takes data frames with native columns, every column with the family that suits it.
`LinearDiscriminantAnalysis`, `QuadraticDiscriminantAnalysis` and `NearestCentroid` take all columns together, and
`GaussianClassifier` shows all that is between them, for data frames too. What scikit-learn has, has its parameters,
defaults and attributes.
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
