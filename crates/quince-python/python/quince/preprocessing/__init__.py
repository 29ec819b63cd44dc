"""Features for learners: scaled numbers, coded categories, imputed values, polynomial features, and whole tables."""

from quince.preprocessing.impute import SimpleImputer
from quince.preprocessing.knn_impute import KNNImputer
from quince.preprocessing.mixture_impute import MixtureImputer
from quince.preprocessing.one_hot import OneHotEncoder
from quince.preprocessing.ordinal import OrdinalEncoder
from quince.preprocessing.polynomial import PolynomialFeatures
from quince.preprocessing.scale import StandardScaler
from quince.preprocessing.table_encoder import TableEncoder

__all__ = [
    "KNNImputer",
    "MixtureImputer",
    "OneHotEncoder",
    "OrdinalEncoder",
    "PolynomialFeatures",
    "SimpleImputer",
    "StandardScaler",
    "TableEncoder",
]
