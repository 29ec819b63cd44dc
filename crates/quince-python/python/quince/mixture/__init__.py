"""Mixtures: rows come from one of several components, and nobody says from which; EM finds them.

`GaussianMixture` takes scikit-learn's parameters and shows its attributes, and takes missing values besides. `MultinomialMixture` is
for counts of words, `MixedMixture` for data frames with native columns, which have families of their own, and
`SemiSupervisedNB` learns classes from few labels and many rows that have none.
"""

from quince.mixture.gaussian import GaussianMixture
from quince.mixture.mixed import MixedMixture
from quince.mixture.multinomial import MultinomialMixture
from quince.mixture.semi_supervised import SemiSupervisedNB

__all__ = ["GaussianMixture", "MixedMixture", "MultinomialMixture", "SemiSupervisedNB"]
