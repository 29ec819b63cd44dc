"""Clusters: groups of similar rows, each around its mean.

`KMeans` finds centres with a small sum of squared distances from the rows to the nearest of them, `MiniBatchKMeans`
does so from a few rows at a time or from a stream, and `BisectingKMeans` by splitting clusters in two. Parameters,
defaults and attributes are scikit-learn's. `silhouette_score` and `silhouette_samples` measure how much nearer rows are to
their own cluster than to the next.
"""

from quince.cluster import bisecting, kmeans, mini_batch, silhouette
from quince.cluster.bisecting import *
from quince.cluster.kmeans import *
from quince.cluster.mini_batch import *
from quince.cluster.silhouette import *

__all__: list[str] = []
__all__ += bisecting.__all__
__all__ += kmeans.__all__
__all__ += mini_batch.__all__
__all__ += silhouette.__all__
