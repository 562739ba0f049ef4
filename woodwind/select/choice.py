"""Who is asked, by how good members are near the query: from scores (q, m) to a mask (q, m) of the members that are chosen."""

import numpy as np

from woodwind.select.facts import Floats, Mask


def all_best(scores: Floats) -> Mask:
    """All members with the highest score."""
    return np.asarray(scores == scores.max(axis=1, keepdims=True))
