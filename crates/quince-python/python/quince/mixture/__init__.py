"""Mixture models: every row comes from one of several latent components, which EM finds.

`GaussianMixture` has scikit-learn's parameters and attributes, and takes missing values, too. `MultinomialMixture` is for
counts of words, `MixedMixture` for data frames with native columns, each with its own family of distributions, and
`SemiSupervisedNB` learns classes from few labels and many rows without one.
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
