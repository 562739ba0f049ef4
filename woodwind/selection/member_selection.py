"""What a search has found: members and their weights, in which order they were taken, and the score on the way."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from woodwind.selection.objectives import Objective

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Scores that are closer than this, as a share of their size, are equal: rounding must not decide.
EQUAL = 1e-12


@dataclass(frozen=True, eq=False)
class MemberSelection:
    """A choice of m members."""

    counts: Floats  # (m,) how often each is in it, or weights that add up to one
    order: Integers  # members as they were taken; one may come again
    path: Floats  # score after each step of the search
    score: float  # of the choice

    @property
    def weights(self) -> Floats:
        """Of the members in the mean (m,); they add up to one."""
        return np.asarray(self.counts / self.counts.sum())

    @property
    def members(self) -> Integers:
        """The numbers of the members that have a weight, ascending."""
        return np.flatnonzero(self.counts)


def leaders(scores: Floats) -> Integers:
    """The positions of the best score and of all that equal it."""
    best = scores.max()
    return np.flatnonzero((scores >= best - EQUAL * abs(best)) if np.isfinite(best) else scores == best)


def first_best(path: Floats) -> int:
    """The first step that is as good as any."""
    return int(leaders(path)[0])


def total_of(objective: Objective, counts: Floats) -> Floats:
    """The sum of the vectors of a choice, in the order of the members."""
    total = np.zeros(objective.vectors.shape[1])
    for member in np.flatnonzero(counts):
        total += counts[member] * objective.vectors[member]
    return total


def score_of(objective: Objective, counts: Floats) -> float:
    """The score of a choice."""
    return objective.score(counts, total_of(objective, counts))


def single_scores(objective: Objective) -> Floats:
    """The score of every member alone (m,)."""
    m, width = objective.vectors.shape
    return objective.score_each(np.zeros(m), np.zeros(width), np.arange(m))


def prefix_scores(objective: Objective, order: Integers) -> Floats:
    """The scores of the first member of an order, of the first two, and so on."""
    m, width = objective.vectors.shape
    counts, total = np.zeros(m), np.zeros(width)
    path = np.empty(len(order))
    for step, member in enumerate(order):
        counts[member] += 1.0
        total += objective.vectors[member]
        path[step] = objective.score(counts, total)
    return path


def first_of(objective: Objective, order: Integers, how_many: int | None = None) -> MemberSelection:
    """The first so many members of an order, each once; None for as many as score best."""
    path = prefix_scores(objective, order)
    size = first_best(path) + 1 if how_many is None else min(how_many, len(order))
    counts = np.zeros(len(objective.vectors))
    counts[order[:size]] = 1.0
    return MemberSelection(counts, order[:size], path, float(path[size - 1]))
