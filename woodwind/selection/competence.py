"""How good a member is near a query, by what it did on the rows of the region. All functions give (q, m): larger is better.

They go through the region neighbour by neighbour, nearest first, for all queries and members at once: no array is larger than (q, m).
Methods that score by probabilities of all selection rows are in `competence_probabilistic.py`.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError
from woodwind.kernels.neighbours.regions import count_hits, unbroken_hits
from woodwind.selection.facts import Floats, Integers, Mask, Region, SelectionFacts

# What a distance of zero counts as where it is divided by.
SMALLEST_DISTANCE = 1e-10


def each_neighbour(region: Region, values: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """What belongs to the first neighbour of each query, to the second, and so on: k arrays (q, ...)."""
    rows = region.rows()
    for position in range(region.k):
        yield values[rows[:, position]]


def closeness(region: Region) -> Floats:
    """One over the distance of each row of the region (q, k)."""
    return 1.0 / np.where(region.distances == 0.0, SMALLEST_DISTANCE, region.distances)


def count_of_hits(facts: SelectionFacts, region: Region) -> Floats:
    """How many rows of the region a member gets right: KNORA-Union."""
    return _counted(count_hits, facts, region)


def run_of_hits(facts: SelectionFacts, region: Region) -> Floats:
    """How many of the nearest rows a member gets right before its first mistake: KNORA-Eliminate and the modified rank."""
    return _counted(unbroken_hits, facts, region)


def _counted(count: Callable[[Any, Any, Any], None], facts: SelectionFacts, region: Region) -> Floats:
    out = np.empty((len(region), facts.n_members))
    count(np.ascontiguousarray(facts.hits).view(np.uint8), np.ascontiguousarray(region.rows()), out)
    return out


def local_accuracy(facts: SelectionFacts, region: Region) -> Floats:
    """The share of the rows of the region that a member gets right: overall local accuracy, DES-P."""
    scores = count_of_hits(facts, region)
    scores /= region.k
    return scores


def hits_of_similar(facts: SelectionFacts, similar: Region) -> Floats:
    """How many of the rows with the most similar output profiles a member gets right: KNOP."""
    return count_of_hits(facts, similar)


def class_accuracy(facts: SelectionFacts, region: Region, votes: Integers) -> Floats:
    """The accuracy on the rows whose class is the one that the member votes for, 0 where there are none: local class accuracy."""
    right, all_of_class = np.zeros(votes.shape), np.zeros(votes.shape)
    for hits, truth in zip(each_neighbour(region, facts.hits), each_neighbour(region, facts.truth), strict=True):
        of_class = truth[:, None] == votes
        all_of_class += of_class
        right += of_class & hits
    return quotient(right, all_of_class)


def close_class_accuracy(facts: SelectionFacts, region: Region, votes: Integers) -> Floats:
    """The same with rows weighed by one over their distance: modified local accuracy."""
    return _weighed_by_class(facts, region, votes, facts.hits)


def posterior_accuracy(facts: SelectionFacts, region: Region, votes: Integers) -> Floats:
    """The mean probability of the true class on the rows whose class the member votes for, by one over the distance: a posteriori."""
    return _weighed_by_class(facts, region, votes, facts.true_class_probabilities)


def _weighed_by_class(facts: SelectionFacts, region: Region, votes: Integers, values: NDArray[Any]) -> Floats:
    near = closeness(region)
    right, total = np.zeros(votes.shape), np.zeros(votes.shape)
    for position, truth in enumerate(each_neighbour(region, facts.truth)):
        weight = near[:, position, None] * (truth[:, None] == votes)
        total += weight
        right += weight * values[region.rows()[:, position]]
    return quotient(right, total)


def prior_accuracy(facts: SelectionFacts, region: Region) -> Floats:
    """The mean probability of the true class on the rows of the region, by one over the distance: a priori."""
    near = closeness(region)
    total = np.zeros((len(region), facts.n_members))
    for position, probabilities in enumerate(each_neighbour(region, facts.true_class_probabilities)):
        total += near[:, position, None] * probabilities
    return np.asarray(total / near.sum(axis=1, keepdims=True))


def behaviour_accuracy(facts: SelectionFacts, region: Region, votes: Integers, *, similarity_threshold: float = 0.7) -> Floats:
    """The accuracy on the rows on which members vote much as they do on the query; on all rows where there are none.

    Multiple classifier behaviour: two rows are alike where more than the threshold of the members vote for the same class on both.
    """
    alike = np.empty(region.distances.shape, np.bool_)
    for position, others in enumerate(each_neighbour(region, facts.votes)):
        alike[:, position] = (others == votes).sum(axis=1) / facts.n_members > similarity_threshold
    alike[~alike.any(axis=1)] = True
    right = np.zeros(votes.shape)
    for position, hits in enumerate(each_neighbour(region, facts.hits)):
        right += hits & alike[:, position, None]
    return np.asarray(right / alike.sum(axis=1, keepdims=True))


def minority_accuracy(facts: SelectionFacts, region: Region, *, alpha: float = 0.9) -> Floats:
    """The accuracy on the region with rows of rare classes weighing more: DES-MI.

    A row of a class that has n selection rows weighs 1 / (1 + exp(alpha n)), in units of the sum over the region; by logarithms, because
    this is nothing at all for a class of a thousand rows.
    """
    if alpha <= 0.0:
        raise ParameterError(f"alpha must be above 0, so that rare classes weigh more, but it is {alpha}.")
    counts = np.bincount(facts.truth, minlength=facts.n_classes)
    by_class = -np.logaddexp(0.0, alpha * counts)
    of_rows = by_class[facts.truth[region.rows()]]
    weight = np.exp(of_rows - of_rows.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    total = np.zeros((len(region), facts.n_members))
    for position, hits in enumerate(each_neighbour(region, facts.hits)):
        total += weight[:, position, None] * hits
    return total


def quotient(top: Floats, bottom: Floats) -> Floats:
    """Top over bottom, 0 where both are."""
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0.0)


# ----------------------------------------------------------------------------------------------------
# What regions tell before members are scored: whether a query is easy, and which members know nothing of a border between classes.


def frienemy_mask(facts: SelectionFacts, region: Region) -> Mask:
    """Members that may be asked (q, m): dynamic frienemy pruning (Oliveira, Cavalcanti & Sabourin 2017).

    In a region of one class, all. In one of several, an indecision region, those that are right about rows of two classes at least; all
    where there is no such member.
    """
    truth = facts.truth[region.rows()]
    border = (truth != truth[:, :1]).any(axis=1)
    out: Mask = np.ones((len(region), facts.n_members), np.bool_)
    positions = np.flatnonzero(border)
    inside = region.at(positions)
    first: NDArray[np.int64] = np.full((len(positions), facts.n_members), -1)
    both = np.zeros(first.shape, np.bool_)
    for hits, label in zip(each_neighbour(inside, facts.hits), truth[positions].T, strict=True):
        both |= hits & (first >= 0) & (first != label[:, None])
        first = np.where(hits & (first < 0), label[:, None], first)
    both[~both.any(axis=1)] = True
    out[positions] = both
    return out


def class_counts(truth: Integers, rows: Integers, n_classes: int) -> Integers:
    """How many of the given rows (q, k) are of each class (q, K)."""
    positions = np.arange(len(rows))[:, None] * n_classes + truth[rows]
    return np.bincount(positions.ravel(), minlength=len(rows) * n_classes).reshape(-1, n_classes)


def hardness(counts: Integers) -> Floats:
    """The share of the rows around a query that are not of their most frequent class (q,), by counts of classes (q, K)."""
    return np.asarray(1.0 - counts.max(axis=1) / counts.sum(axis=1))
