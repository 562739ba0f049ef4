"""The nearest of some rows to each query, by Euclidean distance.

Half a squared distance is |a|²/2 + (|b|²/2 - a·b), of which only the part in brackets depends on the row b: it is found for all rows by
multiplications and additions that run over rows, eight to a vector in float32. What rounding may have added is taken off again, so that
this is a value that the true one is not below. The rows with the least such values, a few more than asked for, are measured once
more in float64; if the worst that is kept is not above the value of the first row that was left out, nothing was missed, and else the
query is reported as not proven. Rows that are equally far away come in the order of their numbers. Twins: `testing/naive_nearest.py`.
"""

from typing import Any

import numpy as np

from woodwind.kernels.jit import inner, kernel

# Rows that are measured once more, beyond those asked for.
EXTRA = 4
# Rows whose values are found together, for so many queries: a block of columns then stays in the first two levels of the cache.
BLOCK, TILE = 512, 16
# Rows whose values are looked through together. They are dealt out to so many groups, and only groups with small values are looked into.
SCAN, GROUPS = 4096, 64
# Times that the range of the least values of groups is halved to find a bound.
HALVINGS = 7
# Share by which rounding may spoil a square: that of a query is taken from its narrow form.
SLACK = 1e-6


@inner
def fill_values(asking: Any, columns: Any, half: Any, begin: int, first: Any, second: Any, third: Any, fourth: Any) -> None:
    """Values of the rows begin, begin + 1 ... for four queries [4, D]: half[row] + query · columns[:, row]; D is a multiple of four.

    Four queries by four columns at a time: each number that is read from the columns is used four times.
    """
    n = first.shape[0]
    # Slices that begin at zero: a place that may be negative keeps a loop from being vectorised.
    start = half[begin : begin + n]
    for i in range(n):
        value = start[i]
        first[i] = value
        second[i] = value
        third[i] = value
        fourth[i] = value
    for d in range(0, columns.shape[0], 4):
        a0, a1, a2, a3 = asking[0, d], asking[0, d + 1], asking[0, d + 2], asking[0, d + 3]
        b0, b1, b2, b3 = asking[1, d], asking[1, d + 1], asking[1, d + 2], asking[1, d + 3]
        e0, e1, e2, e3 = asking[2, d], asking[2, d + 1], asking[2, d + 2], asking[2, d + 3]
        f0, f1, f2, f3 = asking[3, d], asking[3, d + 1], asking[3, d + 2], asking[3, d + 3]
        c0, c1 = columns[d, begin : begin + n], columns[d + 1, begin : begin + n]
        c2, c3 = columns[d + 2, begin : begin + n], columns[d + 3, begin : begin + n]
        for i in range(n):
            x0, x1, x2, x3 = c0[i], c1[i], c2[i], c3[i]
            first[i] = (((first[i] + a0 * x0) + a1 * x1) + a2 * x2) + a3 * x3
            second[i] = (((second[i] + b0 * x0) + b1 * x1) + b2 * x2) + b3 * x3
            third[i] = (((third[i] + e0 * x0) + e1 * x1) + e2 * x2) + e3 * x3
            fourth[i] = (((fourth[i] + f0 * x0) + f1 * x1) + f2 * x2) + f3 * x3


@inner
def find_least(values: Any, least: Any) -> None:
    """The least value of each group, where row i belongs to group i % GROUPS; infinite where a group has no row."""
    n, groups = values.shape[0], least.shape[0]
    whole = n - n % groups
    least[:] = np.inf
    for start in range(0, whole, groups):
        part = values[start : start + groups]
        for g in range(part.shape[0]):  # np.minimum is vectorised here, min and a comparison are not
            least[g] = np.minimum(part[g], least[g])
    part = values[whole:]
    for g in range(part.shape[0]):
        least[g] = np.minimum(part[g], least[g])


@inner
def bound_of(least: Any, wanted: int) -> Any:
    """A value that at least so many groups have something at or below, found by halving: no row above it can be among the best."""
    low, high = least[0], least[0]
    for g in range(least.shape[0]):
        low, high = np.minimum(low, least[g]), np.maximum(high, least[g])
    if high == np.inf:
        return high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        count = np.int32(0)
        for g in range(least.shape[0]):
            count += np.int32(1) if least[g] <= middle else np.int32(0)
        if count >= wanted:
            high = middle
        else:
            low = middle
    return high


@inner
def keep_best(values: Any, begin: int, best: Any, rows: Any, least: Any, spots: Any) -> None:
    """Put the values of the rows begin, begin + 1 ... that are below the last of the best among these: ascending, of equals the first row.

    Only groups are looked at whose least value may be one of the best, and what may be is listed before it is sorted: a list grows without
    a branch, and a branch that nobody can foresee costs as much as ten comparisons.
    """
    last, n, groups = best.shape[0] - 1, values.shape[0], least.shape[0]
    find_least(values, least)
    limit = bound_of(least, best.shape[0]) if best[last] == np.inf else best[last]
    n_groups, n_spots = 0, groups
    for g in range(groups):
        spots[n_groups] = g
        n_groups += 1 if least[g] <= limit else 0
    for c in range(n_groups):
        for i in range(spots[c], n, groups):
            spots[n_spots] = i
            n_spots += 1 if values[i] <= limit else 0
    for c in range(groups, n_spots):
        value, row = values[spots[c]], begin + spots[c]
        if not (value < best[last] or (value == best[last] and row < rows[last])):
            continue
        place = last
        while place > 0 and (best[place - 1] > value or (best[place - 1] == value and rows[place - 1] > row)):
            best[place] = best[place - 1]
            rows[place] = rows[place - 1]
            place -= 1
        best[place] = value
        rows[place] = row


@inner
def measure(query: Any, table: Any, found: Any, count: int, out_rows: Any, out_distances: Any) -> None:
    """Measure the found rows in float64 and keep the nearest, of equals the first by number; squared distances."""
    k = out_rows.shape[0]
    kept = 0
    for f in range(count):
        row, total = found[f], 0.0
        for d in range(query.shape[0]):
            step = query[d] - table[row, d]
            total += step * step
        place = kept
        while place > 0 and (out_distances[place - 1] > total or (out_distances[place - 1] == total and out_rows[place - 1] > row)):
            if place < k:
                out_distances[place] = out_distances[place - 1]
                out_rows[place] = out_rows[place - 1]
            place -= 1
        if place < k:
            out_distances[place] = total
            out_rows[place] = row
        kept = min(kept + 1, k)


@inner
def finish(narrow: Any, query: Any, table: Any, best: Any, found: Any, out_rows: Any, out_distances: Any) -> bool:
    """Measure what was found, write distances, and say whether nothing can have been missed."""
    measure(query, table, found, found.shape[0], out_rows, out_distances)
    norm = 0.0
    for d in range(query.shape[0]):
        norm += np.float64(narrow[d]) * np.float64(narrow[d])
    farthest = out_distances[out_rows.shape[0] - 1]
    # Both are taken a little to the safe side: squares are known to a few digits less than numbers.
    least = 0.5 * (farthest * (1.0 + SLACK) - norm * (1.0 - SLACK))
    for place in range(out_rows.shape[0]):
        out_distances[place] = np.sqrt(out_distances[place])
    return bool(found.shape[0] == table.shape[0] or least <= best[best.shape[0] - 1])


@kernel
def nearest(narrow: Any, columns: Any, half: Any, queries: Any, table: Any, out_rows: Any, out_distances: Any, out_proven: Any) -> None:
    """The k nearest rows of a table to each query, found by way of values in the type of `narrow`.

    narrow float32 or float64[q, D] and columns [D, r]: queries, negated, and rows, both about the same centre, with one more dimension
    each, whose product is what rounding may have added, and zeros up to a multiple of four; half [r]; queries float64[q, d]; table
    float64[r, d];
    out_rows int64[q, k], out_distances float64[q, k], ascending; out_proven bool[q].
    """
    n_rows, n_queries = table.shape[0], queries.shape[0]
    wanted = min(n_rows, out_rows.shape[1] + EXTRA)
    best, found = np.empty((TILE, wanted), half.dtype), np.empty((TILE, wanted), np.int64)
    values, asking = np.empty((TILE, min(SCAN, n_rows)), half.dtype), np.zeros((TILE, columns.shape[0]), half.dtype)
    least, spots = np.empty(GROUPS, half.dtype), np.empty(GROUPS + SCAN + 1, np.int64)
    for q in range(0, n_queries, TILE):
        tile = min(TILE, n_queries - q)
        best[:] = np.inf
        found[:] = 0
        asking[:tile] = narrow[q : q + tile]
        for first in range(0, n_rows, SCAN):
            end = min(first + SCAN, n_rows)
            for begin in range(first, end, BLOCK):
                part = slice(begin - first, min(begin + BLOCK, end) - first)
                for t in range(0, tile, 4):  # queries left over from an earlier tile do no harm
                    four = asking[t : t + 4]
                    fill_values(four, columns, half, begin, values[t, part], values[t + 1, part], values[t + 2, part], values[t + 3, part])
            for t in range(tile):
                keep_best(values[t, : end - first], first, best[t], found[t], least, spots)
        for t in range(tile):
            out_proven[q + t] = finish(narrow[q + t], queries[q + t], table, best[t], found[t], out_rows[q + t], out_distances[q + t])


@kernel
def nearest_by_values(values: Any, narrow: Any, queries: Any, table: Any, out_rows: Any, out_distances: Any, out_proven: Any) -> None:
    """The same where the values [q, r] of all rows are known already."""
    n_rows, k = table.shape[0], out_rows.shape[1]
    wanted = min(n_rows, k + EXTRA)
    best, found = np.empty(wanted, values.dtype), np.empty(wanted, np.int64)
    least, spots = np.empty(GROUPS, values.dtype), np.empty(GROUPS + SCAN + 1, np.int64)
    for q in range(queries.shape[0]):
        best[:] = np.inf
        found[:] = 0
        for first in range(0, n_rows, SCAN):
            keep_best(values[q, first : min(first + SCAN, n_rows)], first, best, found, least, spots)
        out_proven[q] = finish(narrow[q], queries[q], table, best, found, out_rows[q], out_distances[q])
