"""Support vector machines for classification, regression and novelty detection.

`SVC`, `SVR` and `OneClassSVM` take any kernel, `LinearSVC` and `LinearSVR` find the weights of a linear model by
second-order methods or coordinate descent, and `SGDClassifier` by stochastic gradient descent. Parameters, defaults and
attributes are scikit-learn's; classifiers learn two classes.
"""

from quince.margin.linear import LinearSVC, LinearSVR
from quince.margin.one_class import OneClassSVM
from quince.margin.sgd import SGDClassifier
from quince.margin.svc import SVC
from quince.margin.svr import SVR

__all__ = ["SVC", "SVR", "LinearSVC", "LinearSVR", "OneClassSVM", "SGDClassifier"]
