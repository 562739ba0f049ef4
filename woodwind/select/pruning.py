"""What regions tell before members are judged: whether a query is easy, and which members know nothing of a border between classes."""

import numpy as np
from numpy.typing import NDArray

from woodwind.select.competence import each_neighbour
from woodwind.select.facts import Floats, Integers, Mask, Region, SelectionFacts


def frienemy_mask(facts: SelectionFacts, region: Region) -> Mask:
    """Members that may be asked (q, m): dynamic frienemy pruning (Oliveira, Cavalcanti & Sabourin 2017).

    In a region of one class, all. In one of several, an indecision region, those that are right about rows of two classes at least; all
    where there is no such member.
    """
    truth = facts.truth[region.rows()]
    border = (truth != truth[:, :1]).any(axis=1)
    out: Mask = np.ones((len(region), facts.n_members), np.bool_)
    places = np.flatnonzero(border)
    inside = region.at(places)
    first: NDArray[np.int64] = np.full((len(places), facts.n_members), -1)
    both = np.zeros(first.shape, np.bool_)
    for hits, label in zip(each_neighbour(inside, facts.hits), truth[places].T, strict=True):
        both |= hits & (first >= 0) & (first != label[:, None])
        first = np.where(hits & (first < 0), label[:, None], first)
    both[~both.any(axis=1)] = True
    out[places] = both
    return out


def class_counts(truth: Integers, rows: Integers, n_classes: int) -> Integers:
    """How many of the given rows (q, k) are of each class (q, K)."""
    places = np.arange(len(rows))[:, None] * n_classes + truth[rows]
    return np.bincount(places.ravel(), minlength=len(rows) * n_classes).reshape(-1, n_classes)


def hardness(counts: Integers) -> Floats:
    """The share of the rows around a query that are not of their most frequent class (q,), by counts of classes (q, K)."""
    return np.asarray(1.0 - counts.max(axis=1) / counts.sum(axis=1))
