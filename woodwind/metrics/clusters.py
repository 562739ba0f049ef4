"""Clusters: rows that are not independent of each other, so that standard errors do not count them as if they were.

Rows of a group are alike, and so are those of neighbouring moments. Clusters are groups, some of them together, or stretches of time.
"""

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

# So many tell a standard error to a sixth of it, and each costs a value of the metric.
MOST = 20


def clusters_of_groups(groups: Integers) -> Integers:
    """The number of the cluster of each row: its group, or some groups together where there are many."""
    return np.unique(groups, return_inverse=True)[1].astype(np.int64) % MOST


def clusters_of_time(moments: NDArray[np.float64], scored: NDArray[np.bool_] | None = None) -> Integers:
    """The number of the cluster of each row: a stretch of time with its share of the rows, of those that are scored where not all are."""
    looked_at = np.sort(moments if scored is None else moments[scored])
    return np.searchsorted(looked_at, moments).astype(np.int64) * MOST // max(len(looked_at), 1)
