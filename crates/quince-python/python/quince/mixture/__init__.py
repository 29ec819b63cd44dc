"""Mixtures: rows come from one of several components, and nobody says from which; EM finds them.

`GaussianMixture` takes scikit-learn's parameters and shows its attributes, and takes missing values besides. `MultinomialMixture` is
for counts of words, `MixedMixture` for data frames with native columns, which have families of their own, and
`SemiSupervisedNB` learns classes from few labels and many rows that have none.
"""

from quince.mixture import gaussian, mixed, multinomial, semi_supervised
from quince.mixture.gaussian import *
from quince.mixture.mixed import *
from quince.mixture.multinomial import *
from quince.mixture.semi_supervised import *

__all__: list[str] = []
__all__ += gaussian.__all__
__all__ += mixed.__all__
__all__ += multinomial.__all__
__all__ += semi_supervised.__all__
