"""Clusters: groups of rows that are alike, each around its mean.

`KMeans` finds centres with a small sum of squared distances from the rows to the nearest of them, `MiniBatchKMeans`
does so from a few rows at a time or from a stream, and `BisectingKMeans` by halving clusters. Parameters, defaults and
attributes are scikit-learn's. `silhouette_score` and `silhouette_samples` say how well rows sit in their clusters.
"""

from quince.cluster.bisecting import BisectingKMeans
from quince.cluster.kmeans import KMeans
from quince.cluster.mini_batch import MiniBatchKMeans
from quince.cluster.silhouette import silhouette_samples, silhouette_score

__all__ = ["BisectingKMeans", "KMeans", "MiniBatchKMeans", "silhouette_samples", "silhouette_score"]
