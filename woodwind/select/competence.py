"""How good a member is near a query, by what it did on the rows of the region. All functions give (q, m): larger is better.

They go through the region neighbour by neighbour, nearest first, for all queries and members at once: no array is larger than (q, m).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.select.facts import Floats, Mask, Region, SelectionFacts


def each_neighbour(region: Region, values: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """What belongs to the first neighbour of each query, to the second, and so on: k arrays (q, ...)."""
    rows = region.rows()
    for place in range(region.k):
        yield values[rows[:, place]]


def run_of_hits(facts: SelectionFacts, region: Region) -> Floats:
    """How many of the nearest rows a member gets right before its first mistake: KNORA-Eliminate and the modified rank."""
    alive: Mask = np.ones((len(region), facts.n_members), np.bool_)
    count: NDArray[np.int32] = np.zeros(alive.shape, np.int32)
    for hits in each_neighbour(region, facts.hits):
        alive &= hits
        count += alive
    return count.astype(np.float64)
