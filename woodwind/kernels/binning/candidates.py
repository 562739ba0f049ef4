"""Weighted quantiles of presorted columns: the bins that a tree's thresholds are proposed by (Chen & Guestrin 2016, section 3.3).

Values stand in order, each with the weight of its rows. The middle of a value is the weight before it and half of its own; values whose
middles fall into the same of n equal parts of the whole weight share a bin. Less than an n-th of the weight lies strictly between the
first and the last value of a bin, and a value of two n-ths or more has a bin for itself. Sums are integers, so nothing depends on the
order of rows. The twins are in `tests/reference/naive_candidates.py`.
"""

from typing import Any

import numpy as np

from woodwind.kernels.runtime.intrinsics import prefetch_far
from woodwind.kernels.runtime.jit import inlined, kernel

U = np.uint64
ABSENT = np.int64(-1)  # weight of a row that is not there, and of a value that no row has
ALMOST = 1.0 - 1e-12  # a border is found but for rounding
AHEAD = 16  # rows whose weights are asked for before they are added: they stand anywhere


@inlined
def part_of(middle: Any, whole: Any, n_parts: Any) -> Any:
    """Which of equal parts of the whole weight the middle of a value is in.

    Divided last: a middle that lies on a border is then found there, not before it.
    """
    return min(np.int64(middle * n_parts / max(np.float64(whole), 1.0)), n_parts - 1)


@inlined
def end_of_part(part: Any, whole: Any, n_parts: Any) -> Any:
    """What is before this is certainly not behind the part, so that nothing has to be divided."""
    return np.float64(part + 1) * np.float64(whole) / n_parts * ALMOST


@kernel
def weigh_values(order: Any, starts: Any, weight: Any, out_weight: Any) -> None:
    """Sum the weights of the rows of each value: order int32[n] rows by value, starts int32[m + 1], weight int32 or int64[rows].

    Rows of a negative weight are not there; out_weight int64[m] is -1 where a value has no row.
    """
    last = U(starts[len(starts) - 1] - 1)
    for value in range(U(len(starts) - 1)):
        total = np.int64(0)
        some = False
        for j in range(U(starts[value]), U(starts[value + U(1)])):
            prefetch_far(weight, U(order[min(j + U(AHEAD), last)]))
            one = np.int64(weight[U(order[j])])
            if one >= 0:
                total += one
                some = True
        out_weight[value] = total if some else ABSENT


@kernel
def bins_of_values(weight: Any, n_bins: int, out_bin: Any, out_ends: Any) -> int:
    """Put values into at most n_bins bins by the middles of their weights: weight int64[m], -1 for values that are not there.

    out_bin int[m + 1] has the bin of value v at v + 1; out_ends int32[2, n_bins] the first and the last value of each bin. No more values
    than bins have one each. Returns the number of bins.
    """
    whole = np.int64(0)
    n_values = 0
    for value in range(len(weight)):
        if weight[value] >= 0:
            whole += weight[value]
            n_values += 1
    before = np.int64(0)
    here = np.int64(-1)
    end = 0.0
    used = 0
    for value in range(len(weight)):
        own = weight[value]
        if own >= 0:
            last = here
            middle = np.float64(before) + 0.5 * np.float64(own)
            if n_values <= n_bins:
                here += 1
            elif middle >= end:
                here = part_of(middle, whole, n_bins)
                end = end_of_part(here, whole, n_bins)
            if here != last:
                out_ends[0, used] = value
                used += 1
            out_ends[1, used - 1] = value
            before += own
        out_bin[value + 1] = max(used - 1, 0)
    return used


@kernel
def codes_of_ranks(ranks: Any, bins: Any, begin: int, end: int, out_codes: Any) -> None:
    """Codes of rows begin to end: ranks int32[n], -1 for missing; bins as `bins_of_values` writes them, bins[0] for missing values."""
    for i in range(U(begin), U(end)):
        out_codes[i] = bins[U(np.int64(ranks[i]) + 1)]
