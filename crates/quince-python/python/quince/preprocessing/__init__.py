"""Features for learners: numbers scaled, categories coded, holes filled, products of columns, and whole tables at once."""

from quince.preprocessing.impute import SimpleImputer
from quince.preprocessing.knn_impute import KNNImputer
from quince.preprocessing.one_hot import OneHotEncoder
from quince.preprocessing.ordinal import OrdinalEncoder
from quince.preprocessing.polynomial import PolynomialFeatures
from quince.preprocessing.scale import StandardScaler
from quince.preprocessing.table_encoder import TableEncoder

__all__ = [
    "KNNImputer",
    "OneHotEncoder",
    "OrdinalEncoder",
    "PolynomialFeatures",
    "SimpleImputer",
    "StandardScaler",
    "TableEncoder",
]
