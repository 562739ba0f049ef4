"""Who is asked, by how good members are near the query: from scores (q, m) to a mask (q, m) of the members that are chosen."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError, ParameterError
from woodwind.base.random_streams import FIRST_FACTOR, GOLDEN, SECOND_FACTOR, UNIFORM_BITS, key
from woodwind.selection.facts import Floats, Integers, Mask, Region, SelectionFacts

Ties = Literal["best", "all", "random", "diff", "roulette"]


def all_best(scores: Floats) -> Mask:
    """All members with the highest score."""
    return np.asarray(scores == scores.max(axis=1, keepdims=True))


def one_best(scores: Floats, region: Region, *, selection_method: Ties = "best", diff_thresh: float = 0.1, seed: int = 0) -> Mask:
    """One member, or with 'all' those that share the highest score.

    'best' is the first with the highest score, 'random' one of those, 'diff' one of those that are less than `diff_thresh` worse, and
    'roulette' any one in proportion to its score. What is drawn depends on the seed and on the rows of the region, and on nothing else.
    """
    if selection_method == "all":
        return all_best(scores)
    if selection_method == "best":
        return _only(scores.argmax(axis=1), scores.shape[1])
    if selection_method == "roulette":
        probability = np.maximum(scores, 0.0)
        probability[~probability.any(axis=1)] = 1.0
    elif selection_method == "random":
        probability = all_best(scores).astype(np.float64)
    elif selection_method == "diff":
        # Of a threshold of zero nobody would be left: those with the highest score are always among the candidates.
        close = scores.max(axis=1, keepdims=True) - scores < diff_thresh
        probability = (close | all_best(scores)).astype(np.float64)
    else:
        raise ParameterError(f"selection_method must be 'best', 'all', 'random', 'diff' or 'roulette', not {selection_method!r}.")
    return _drawn(probability, tie_keys_of_rows(region.rows(), seed))


def above_chance(scores: Floats, facts: SelectionFacts) -> Mask:
    """Members that are better than guessing, 1 / K; all where there is none: DES-P."""
    return or_all(scores > 1.0 / facts.n_classes)


def above_nothing(scores: Floats) -> Mask:
    """Members with a score above zero; all where there is none: KNORA-Union."""
    return or_all(scores > 0.0)


def most_accurate(scores: Floats, *, pct_accuracy: float = 0.4) -> Mask:
    """So large a share of the members, the best, at least one; of equals the later: DES-MI."""
    if not 0.0 < pct_accuracy <= 1.0:
        raise ParameterError(f"pct_accuracy must be above 0 and at most 1, but it is {pct_accuracy}.")
    count = max(1, int(scores.shape[1] * pct_accuracy))
    return _positions(np.argsort(scores, axis=1, kind="stable")[:, ::-1][:, :count], scores.shape[1])


def or_all(mask: Mask) -> Mask:
    """The mask, with all members where nobody is chosen."""
    return np.asarray(mask | ~mask.any(axis=1, keepdims=True))


def tie_keys_of_rows(rows: Integers, seed: int) -> Floats:
    """A number in [0, 1) for each query, drawn by the seed and the rows of its region (q, k)."""
    state: NDArray[np.uint64] = np.full(len(rows), key(seed, "dynamic selection"), np.uint64)
    for position in range(rows.shape[1]):
        state += rows[:, position].astype(np.uint64) * np.uint64(GOLDEN) + np.uint64(GOLDEN)
        state ^= state >> np.uint64(30)
        state *= np.uint64(FIRST_FACTOR)
        state ^= state >> np.uint64(27)
        state *= np.uint64(SECOND_FACTOR)
        state ^= state >> np.uint64(31)
    return np.asarray((state >> np.uint64(64 - UNIFORM_BITS)) * 2.0**-UNIFORM_BITS)


def _drawn(probability: Floats, tie_keys: Floats) -> Mask:
    """One member of each row, by probabilities and a number in [0, 1)."""
    heap = np.cumsum(probability, axis=1)
    position = (heap <= tie_keys[:, None] * heap[:, -1:]).sum(axis=1)
    # Rounding must not choose a member without a probability.
    last = probability.shape[1] - 1 - (probability[:, ::-1] > 0.0).argmax(axis=1)
    return _only(np.minimum(position, last), probability.shape[1])


def _only(member: Integers, n_members: int) -> Mask:
    return _positions(member[:, None], n_members)


def _positions(members: Integers, n_members: int) -> Mask:
    mask = np.zeros((len(members), n_members), np.bool_)
    np.put_along_axis(mask, members, True, axis=1)
    return mask


# ----------------------------------------------------------------------------------------------------
# What does not look at the query: the best member, the best few, and the oracle, who knows the truth. Measures for dynamic methods.


def accuracy_everywhere(facts: SelectionFacts, votes: Integers) -> Floats:
    """The share of all selection rows that a member gets right, the same for each query (q, m)."""
    return np.broadcast_to(facts.hits.mean(axis=0), votes.shape)


def best_share(scores: Floats, *, pct_classifiers: float = 0.5) -> Mask:
    """So large a share of the members, those with the highest scores; of equals the first. At least one."""
    if not 0.0 < pct_classifiers <= 1.0:
        raise ParameterError(f"pct_classifiers must be above 0 and at most 1, not {pct_classifiers}.")
    count = max(1, int(scores.shape[1] * pct_classifiers))
    mask = np.zeros(scores.shape, np.bool_)
    np.put_along_axis(mask, np.argsort(-scores, axis=1, kind="stable")[:, :count], True, axis=1)
    return mask


def oracle_labels(votes: Integers, truth: Integers) -> Integers:
    """What an oracle says that always asks a member who is right, if there is one; if not, the first: no choice of members does better."""
    votes, truth = np.asarray(votes), np.asarray(truth)
    if votes.ndim != 2 or truth.shape != votes.shape[:1]:
        raise DataError(f"votes must be (rows, members) and truth (rows,), but their shapes are {votes.shape} and {truth.shape}.")
    return np.where((votes == truth[:, None]).any(axis=1), truth, votes[:, 0])
