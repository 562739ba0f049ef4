"""Weighted quantiles and Huber steps of the rows of each leaf, for losses whose leaves are not Newton steps.

The quantile at a level is the smallest value at which the weight so far reaches level * total weight ("inverted cdf"),
the same with and without weights, so that a weight of two equals a row given twice.
Weights are counted in whole units, `rint(weight * unit)` with a power of two as unit, and sums of clipped residuals in two integer
digits: the result does not depend on the order of the rows. Twins: `tests/reference/naive_quantiles.py`.
"""

from typing import Any

import numpy as np

from woodwind.kernels.runtime.jit import inner, kernel

# A linear congruential generator draws pivots, so that no order of the rows, by chance or by design, makes selection slow.
# The result does not depend on the pivots. Products stay below 2**62.
FACTOR, INCREMENT, MASK, BITS = 1103515245, 12345, (1 << 31) - 1, 31

SECOND_DIGIT = 4294967296.0  # 2**32: see `base/fixed.py`


@inner
def swap(values: Any, counts: Any, i: int, j: int) -> None:
    """Exchange two values, and their counts where there are any."""
    values[i], values[j] = values[j], values[i]
    if counts is not None:
        counts[i], counts[j] = counts[j], counts[i]


@inner
def median_of_three(a: float, b: float, c: float) -> float:
    """Middle one of three values."""
    return max(min(a, b), min(max(a, b), c))


@inner
def select(values: Any, counts: Any, target: float) -> float:
    """Smallest value at which the counts, added from below, reach `target`: values float64[m], counts int64[m] or None for ones.

    Quickselect; both arrays are reordered. What is left lies between begin and end, and `below` counts what was dropped under it:

        begin      low          i          high       end
          | < pivot | == pivot  |  unknown  | > pivot  |
    """
    begin, end = 0, values.shape[0]
    below, state = 0, 1
    while True:
        state = (state * FACTOR + INCREMENT) & MASK
        drawn = values[begin + (state * (end - begin) >> BITS)]
        pivot = median_of_three(values[begin], drawn, values[end - 1])
        low, i, high = begin, begin, end
        smaller, equal = 0, 0
        while i < high:
            count = 1 if counts is None else counts[i]
            if values[i] < pivot:
                smaller += count
                swap(values, counts, i, low)
                low += 1
                i += 1
            elif values[i] > pivot:
                high -= 1
                swap(values, counts, i, high)
            else:
                equal += count
                i += 1
        if low > begin and below + smaller >= target:
            end = low
        elif high == end or below + smaller + equal >= target:
            return pivot
        else:
            below += smaller + equal
            begin = high


@inner
def gather(rows: Any, residual: Any, weight: Any, unit: float, out_values: Any, out_counts: Any) -> tuple[int, int]:
    """Copy the residuals of some rows, and their weights in whole units where there are any; rows of no weight are left out.

    rows int32[m]; out_values float64[m]; out_counts int64[m] or None. Gives the number of rows kept and their total count.
    """
    kept, total = 0, 0
    for i in range(rows.shape[0]):
        row = np.uint64(rows[i])
        if weight is None:
            out_values[kept] = residual[row]
            kept += 1
            total += 1
        else:
            count = int(np.rint(weight[row] * unit))
            if count > 0:
                out_values[kept] = residual[row]
                out_counts[kept] = count
                kept += 1
                total += count
    return kept, total


@kernel
def quantile_of(rows: Any, residual: Any, weight: Any, level: float, unit: float) -> float:
    """Quantile of the residuals of some rows by weight; 0 where there is no weight at all. rows int32[m]."""
    values = np.empty(rows.shape[0])
    counts: Any = None if weight is None else np.empty(rows.shape[0], np.int64)
    kept, total = gather(rows, residual, weight, unit, values, counts)
    if kept == 0:
        return 0.0
    return select(values[:kept], None if weight is None else counts[:kept], level * total)


@kernel
def leaf_quantiles(rows: Any, begins: Any, ends: Any, residual: Any, weight: Any, level: float, unit: float, out: Any) -> None:
    """Quantile of the residuals in each leaf: leaf j has the rows rows[begins[j]:ends[j]].

    rows int32[m]; begins, ends int64[leaves]; residual float64[n]; weight float64[n] or None; unit: the power of two
    that turns weights into counts, whose total stays below 2**63; out float64[leaves].
    """
    for j in range(begins.shape[0]):
        out[j] = quantile_of(rows[begins[j] : ends[j]], residual, weight, level, unit)


@inner
def clipped_mean(rows: Any, residual: Any, weight: Any, centre: float, delta: float, units: Any) -> float:
    """Mean by weight of the distances to the centre, clipped at delta. rows int32[m]; units as in `leaf_hubers`."""
    count, first, second = 0, 0, 0
    for i in range(rows.shape[0]):
        row = np.uint64(rows[i])
        step = min(max(residual[row] - centre, -delta), delta)
        if weight is None:
            count += 1
        else:
            count += int(np.rint(weight[row] * units[0]))
            step *= weight[row]
        step *= units[1]
        digit = np.rint(step)
        first += int(digit)
        second += int(np.rint((step - digit) * SECOND_DIGIT))
    if count == 0:
        return 0.0
    total = np.float64(first) + np.float64(second) / SECOND_DIGIT
    return (total / units[1]) / (np.float64(count) / units[0])


@kernel
def leaf_hubers(rows: Any, begins: Any, ends: Any, residual: Any, weight: Any, delta: float, units: Any, out: Any) -> None:
    """Huber step of each leaf, the median plus the mean of the distances to it, clipped at delta: Friedman 2001, section 4.4.

    units float64[2]: the power of two that turns weights into counts (1 without weights), and the one that brings
    the largest weight times delta to 2**30; the rest as in `leaf_quantiles`.
    """
    for j in range(begins.shape[0]):
        part = rows[begins[j] : ends[j]]
        median = quantile_of(part, residual, weight, 0.5, units[0])
        out[j] = median + clipped_mean(part, residual, weight, median, delta, units)
