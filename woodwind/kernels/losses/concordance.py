"""Pairs of rows of which it is known whose event came first, and whether scores put them in that order.

The earlier rows so far stand in a tree of sums by the rank of their score (Fenwick 1994), so that n rows take n log n steps.
Twin: `tests/reference/naive_survival.py`.
"""

from typing import Any, NamedTuple

from woodwind.kernels.runtime.jit import inner, kernel


class OrderedTimes(NamedTuple):
    """Rows with what is known of their times: (lower, upper]; both the same for an event at that time."""

    lower: Any  # float64[n]
    upper: Any  # float64[n], infinite where no event was seen
    by_lower: Any  # int64[n], rows by lower bound; of one bound, events at that time before the others
    by_upper: Any  # int64[m], rows with an upper bound, by it
    first: Any  # float64[n], what a row counts as the earlier one of a pair
    second: Any  # float64[n], and as the later one


@inner
def sum_up_to(sums: Any, rank: Any) -> Any:
    """The sum of what stands at ranks 1 .. rank."""
    total = 0.0
    while rank > 0:
        total += sums[rank]
        rank -= rank & -rank
    return total


@kernel
def count_pairs(times: Any, rank: Any, sums: Any, out: Any) -> None:
    """Pairs by weight, out float64[3]: the earlier row has the higher rank; the lower; the same.

    rank int64[n] from 1 on; sums float64[highest rank + 1], all zero.
    """
    inserted, total = 0, 0.0
    for i in range(times.by_lower.shape[0]):
        later = times.by_lower[i]
        bound, is_event = times.lower[later], times.lower[later] == times.upper[later]
        while inserted < times.by_upper.shape[0]:
            earlier = times.by_upper[inserted]
            if times.upper[earlier] > bound or (is_event and times.upper[earlier] == bound):
                break
            position = rank[earlier]
            total += times.first[earlier]
            while position < sums.shape[0]:
                sums[position] += times.first[earlier]
                position += position & -position
            inserted += 1
        below, up_to = sum_up_to(sums, rank[later] - 1), sum_up_to(sums, rank[later])
        out[0] += times.second[later] * (total - up_to)
        out[1] += times.second[later] * below
        out[2] += times.second[later] * (up_to - below)
