"""Support vector machines for classification, regression and novelty detection.

`SVC`, `SVR` and `OneClassSVM` take any kernel, `LinearSVC` and `LinearSVR` find the weights of a linear model by
second-order methods or coordinate descent, and `SGDClassifier` by stochastic gradient descent. Parameters, defaults and
attributes are scikit-learn's; classifiers learn two classes.
"""

from quince.margin import linear, one_class, sgd, svc, svr
from quince.margin.linear import *
from quince.margin.one_class import *
from quince.margin.sgd import *
from quince.margin.svc import *
from quince.margin.svr import *

__all__: list[str] = []
__all__ += linear.__all__
__all__ += one_class.__all__
__all__ += sgd.__all__
__all__ += svc.__all__
__all__ += svr.__all__
