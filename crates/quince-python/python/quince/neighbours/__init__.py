"""Nearest neighbours: a row is what the rows most like it are.

`NearestNeighbors` finds the rows nearest to others, `KNeighborsClassifier` lets them vote, and `KNeighborsRegressor`
takes their mean. Parameters, defaults and attributes are scikit-learn's. Neighbours are exact whichever way they are
searched, and of rows that are equally far the first comes first; a tie of votes goes to the first class. NaN is a missing value:
its column is left out of the distance, which is scaled up from the columns that both rows have.
"""

from quince.neighbours import learners, nearest
from quince.neighbours.learners import *
from quince.neighbours.nearest import *

__all__: list[str] = []
__all__ += learners.__all__
__all__ += nearest.__all__
