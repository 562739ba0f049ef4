"""The best of all choices, for small pools: every subset of the members, each with the same weight.

Subsets are walked so that each adds one member to one that was there just before: of the sums, one addition for a subset, and the members
of each in their order, so that a sum has the same bits however it is reached.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError
from woodwind.selection.member_selection import EQUAL, MemberSelection
from woodwind.selection.objectives import DiversityObjective, Objective, SquaredErrorObjective

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Members at most: a million subsets.
MOST_MEMBERS = 20
# Subsets that are scored together where all that is needed are products of members.
TOGETHER = 1 << 12


def exhaustive(objective: Objective, most: int | None = None) -> MemberSelection:
    """The subset with the best score, of at most so many members; of equals the smallest, and of these the one that comes first.

    The path has the best score of one member, of two, and so on.
    """
    m = len(objective.vectors)
    if m > MOST_MEMBERS:
        raise ParameterError(
            f"An exhaustive search tries 2^m - 1 choices of m members and takes at most {MOST_MEMBERS} of them, but there are {m}. "
            "Use a greedy or a genetic search, or give fewer members."
        )
    limit = m if most is None else min(most, m)
    best: list[tuple[float, int]] = [(-np.inf, 0)] * limit  # score and subset, for each size
    for subset, score in _scores(objective, limit):
        size = subset.bit_count() - 1
        known, rival = best[size]
        closer = EQUAL * abs(known) if np.isfinite(known) else 0.0
        if score > known + closer or (score >= known - closer and _members(subset) < _members(rival)):
            best[size] = (score, subset)
    path = np.array([score for score, _ in best])
    winner = int(np.flatnonzero(path >= path.max() - EQUAL * abs(path.max()))[0])
    members = np.array(_members(best[winner][1]), np.int64)
    counts = np.zeros(m)
    counts[members] = 1.0
    return MemberSelection(counts, members, path, float(path[winner]))


def _members(subset: int) -> list[int]:
    """The members whose bits are set."""
    return [member for member in range(subset.bit_length()) if subset >> member & 1]


def _scores(objective: Objective, limit: int) -> Iterator[tuple[int, float]]:
    """Every subset as bits, and its score."""
    if isinstance(objective, SquaredErrorObjective) or (
        isinstance(objective, DiversityObjective) and isinstance(objective.plain, SquaredErrorObjective)
    ):
        yield from _by_products(objective, limit)
        return
    m, width = objective.vectors.shape
    totals = np.zeros((m + 1, width))  # of the subset on the way, for each size
    counts = np.zeros(m)

    def walk(first: int, subset: int, size: int) -> Iterator[tuple[int, float]]:
        for member in range(first, m):
            np.add(totals[size], objective.vectors[member], out=totals[size + 1])
            counts[member] = 1.0
            more = subset | 1 << member
            yield more, objective.score(counts, totals[size + 1])
            if size + 1 < limit:
                yield from walk(member + 1, more, size + 1)
            counts[member] = 0.0

    yield from walk(0, 0, 0)


def _by_products(objective: Objective, limit: int) -> Iterator[tuple[int, float]]:
    """The same where scores are quadratic in the members, many at a time."""
    m = len(objective.vectors)
    products = objective.vectors
    if isinstance(objective, DiversityObjective):
        products = products - 0.5 * objective.strength * objective.distances
    bits = np.arange(m)
    for first in range(1, 1 << m, TOGETHER):
        subsets = np.arange(first, min(first + TOGETHER, 1 << m))
        counts = (subsets[:, None] >> bits & 1).astype(np.float64)
        sizes = counts.sum(axis=1)
        scores = -np.einsum("ij,ij->i", counts @ products, counts) / sizes**2
        for position in np.flatnonzero(sizes <= limit):
            yield int(subsets[position]), float(scores[position])
