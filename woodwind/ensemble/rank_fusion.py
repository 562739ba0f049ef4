"""Rank fusion: the scores of several rankers as one, query by query.

Borda counts (Borda 1781) and reciprocal ranks (Cormack, Clarke & Buettcher 2009) look at ranks alone, so that members whose scores have
nothing in common can be joined; a blend adds up scores, each over the spread that it has within queries. Weights are chosen by greedy
selection with replacement (Caruana et al. 2004) for a metric of rows that members have not learned.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from woodwind.data.tables.queries import QueryRows

Floats = NDArray[np.float64]

ROUNDING = 1e-12


def ranks(scores: Floats, queries: QueryRows) -> Floats:
    """The rank of each row in its query, from 1 for the highest score on; equal scores share the mean of their ranks: (n_rows,)."""
    order = np.lexsort((-scores, queries.number))
    number, sorted_scores = queries.number[order], scores[order]
    rank = np.arange(len(order)) - queries.begin[number] + 1.0
    begins = np.flatnonzero(np.concatenate([[True], (np.diff(number) != 0) | (np.diff(sorted_scores) != 0.0)]))
    sizes = np.diff(begins, append=len(order))
    out = np.empty(len(order))
    out[order] = np.repeat(np.add.reduceat(rank, begins) / sizes, sizes)
    return out


def borda_points(scores: Floats, queries: QueryRows) -> Floats:
    """The share of the other documents of its query that a row is before: 1 for the first, 0 for the last; 1/2 for one alone."""
    others = queries.sizes[queries.number] - 1.0
    return np.where(others > 0.0, (others + 1.0 - ranks(scores, queries)) / np.maximum(others, 1.0), 0.5)


def reciprocal_points(scores: Floats, queries: QueryRows, constant: float = 60.0) -> Floats:
    """1 / (constant + rank): Cormack et al. have 60."""
    return np.asarray(1.0 / (constant + ranks(scores, queries)))


def spread_within(scores: Floats, queries: QueryRows, weight: Floats | None = None) -> float:
    """The standard deviation of scores around the means of their queries, by the weights of rows; 1 where they are all the same."""
    heavy = np.ones(len(scores)) if weight is None else weight
    total = np.maximum(queries.means(heavy), np.finfo(np.float64).tiny)
    off = scores - (queries.means(scores * heavy) / total)[queries.number]
    spread = float(np.sqrt((heavy * off * off).sum() / heavy.sum()))
    # What rounding leaves of scores that are all the same is no spread.
    return spread if spread > ROUNDING * float(np.abs(scores).max(initial=0.0)) else 1.0


def greedy_weights(points: Floats, evaluate: Callable[[Floats], float], steps: int = 30) -> Floats:
    """Weights (m,) that add up to one, for points (m, n): in each step the member is added once more with which `evaluate` is largest.

    The best of all steps counts, the first of equals.
    """
    counts, total = np.zeros(len(points)), np.zeros(points.shape[1])
    best, kept = -np.inf, counts
    for _ in range(steps):
        values = [evaluate(total + one) for one in points]
        chosen = int(np.argmax(values))
        counts, total = counts + (np.arange(len(points)) == chosen), total + points[chosen]
        if values[chosen] > best:
            best, kept = values[chosen], counts
    return np.asarray(kept / kept.sum())
