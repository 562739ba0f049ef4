"""Who is asked, by how good members are near the query: from scores (q, m) to a mask (q, m) of the members that are chosen."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError
from woodwind.base.streams import FIRST_FACTOR, GOLDEN, SECOND_FACTOR, UNIFORM_BITS, key
from woodwind.select.facts import Floats, Integers, Mask, Region, SelectionFacts

Ties = Literal["best", "all", "random", "diff", "roulette"]


def all_best(scores: Floats) -> Mask:
    """All members with the highest score."""
    return np.asarray(scores == scores.max(axis=1, keepdims=True))


def one_best(
    scores: Floats, region: Region, *, selection_method: Ties = "best", diff_thresh: float = 0.1, seed: int = 0
) -> Mask:
    """One member, or with 'all' those that share the highest score.

    'best' is the first with the highest score, 'random' one of those, 'diff' one of those that are less than `diff_thresh` worse, and
    'roulette' any one in proportion to its score. What is drawn depends on the seed and on the rows of the region, and on nothing else.
    """
    if selection_method == "all":
        return all_best(scores)
    if selection_method == "best":
        return _only(scores.argmax(axis=1), scores.shape[1])
    if selection_method == "roulette":
        chance = np.maximum(scores, 0.0)
        chance[~chance.any(axis=1)] = 1.0
    elif selection_method == "random":
        chance = all_best(scores).astype(np.float64)
    elif selection_method == "diff":
        # Of a threshold of zero nobody would be left: those with the highest score are always among the candidates.
        close = scores.max(axis=1, keepdims=True) - scores < diff_thresh
        chance = (close | all_best(scores)).astype(np.float64)
    else:
        raise ParameterError(f"selection_method must be 'best', 'all', 'random', 'diff' or 'roulette', not {selection_method!r}.")
    return _drawn(chance, luck_of_rows(region.rows(), seed))


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
    return _places(np.argsort(scores, axis=1, kind="stable")[:, ::-1][:, :count], scores.shape[1])


def or_all(mask: Mask) -> Mask:
    """The mask, with all members where nobody is chosen."""
    return np.asarray(mask | ~mask.any(axis=1, keepdims=True))


def luck_of_rows(rows: Integers, seed: int) -> Floats:
    """A number in [0, 1) for each query, drawn by the seed and the rows of its region (q, k)."""
    state: NDArray[np.uint64] = np.full(len(rows), key(seed, "dynamic selection"), np.uint64)
    for place in range(rows.shape[1]):
        state += rows[:, place].astype(np.uint64) * np.uint64(GOLDEN) + np.uint64(GOLDEN)
        state ^= state >> np.uint64(30)
        state *= np.uint64(FIRST_FACTOR)
        state ^= state >> np.uint64(27)
        state *= np.uint64(SECOND_FACTOR)
        state ^= state >> np.uint64(31)
    return np.asarray((state >> np.uint64(64 - UNIFORM_BITS)) * 2.0**-UNIFORM_BITS)


def _drawn(chance: Floats, luck: Floats) -> Mask:
    """One member of each row, by chances and a number in [0, 1)."""
    heap = np.cumsum(chance, axis=1)
    place = (heap <= luck[:, None] * heap[:, -1:]).sum(axis=1)
    # Rounding must not choose a member without a chance.
    last = chance.shape[1] - 1 - (chance[:, ::-1] > 0.0).argmax(axis=1)
    return _only(np.minimum(place, last), chance.shape[1])


def _only(member: Integers, n_members: int) -> Mask:
    return _places(member[:, None], n_members)


def _places(members: Integers, n_members: int) -> Mask:
    mask = np.zeros((len(members), n_members), np.bool_)
    np.put_along_axis(mask, members, True, axis=1)
    return mask
