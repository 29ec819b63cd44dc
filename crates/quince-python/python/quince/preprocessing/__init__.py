"""Features for learners: scaled numbers, encoded categories, imputed values, polynomial features, and whole tables."""

from quince.preprocessing import (
    impute,
    knn_impute,
    mixture_impute,
    one_hot,
    ordinal,
    polynomial,
    scale,
    table_encoder,
)
from quince.preprocessing.impute import *
from quince.preprocessing.knn_impute import *
from quince.preprocessing.mixture_impute import *
from quince.preprocessing.one_hot import *
from quince.preprocessing.ordinal import *
from quince.preprocessing.polynomial import *
from quince.preprocessing.scale import *
from quince.preprocessing.table_encoder import *

__all__: list[str] = []
__all__ += impute.__all__
__all__ += knn_impute.__all__
__all__ += mixture_impute.__all__
__all__ += one_hot.__all__
__all__ += ordinal.__all__
__all__ += polynomial.__all__
__all__ += scale.__all__
__all__ += table_encoder.__all__
