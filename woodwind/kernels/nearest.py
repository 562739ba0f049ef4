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
# Values are looked at in so many groups, and only groups with small ones are looked into.
GROUPS = 32
# Share by which rounding may spoil a square: that of a query is taken from its narrow form.
SLACK = 1e-6


@inner
def fill_values(first: Any, second: Any, columns: Any, half: Any, begin: int, out_first: Any, out_second: Any) -> None:
    """Values of the rows begin, begin + 1 ... for two queries: half[row] + query · columns[:, row]; a multiple of four columns (D, r)."""
    n = out_first.shape[0]
    # Slices that begin at zero: a place that may be negative keeps a loop from being vectorised.
    start = half[begin : begin + n]
    for i in range(n):
        out_first[i] = start[i]
        out_second[i] = start[i]
    for d in range(0, columns.shape[0], 4):
        a0, a1, a2, a3 = first[d], first[d + 1], first[d + 2], first[d + 3]
        b0, b1, b2, b3 = second[d], second[d + 1], second[d + 2], second[d + 3]
        c0, c1 = columns[d, begin : begin + n], columns[d + 1, begin : begin + n]
        c2, c3 = columns[d + 2, begin : begin + n], columns[d + 3, begin : begin + n]
        for i in range(n):
            out_first[i] = (((out_first[i] + a0 * c0[i]) + a1 * c1[i]) + a2 * c2[i]) + a3 * c3[i]
            out_second[i] = (((out_second[i] + b0 * c0[i]) + b1 * c1[i]) + b2 * c2[i]) + b3 * c3[i]


@inner
def keep_best(values: Any, begin: int, best: Any, rows: Any, lows: Any) -> None:
    """Put the values of the rows begin, begin + 1 ... that belong among the best there: ascending, of equals the first by number.

    Values are looked at in GROUPS groups, each of every so-many-th value; a group whose least value is not among the best is not looked
    into. While there are no best yet, at least as many values as are wanted lie at or below the so-many-th of the least values.
    values[BLOCK]; infinities at its end are no rows. lows[BLOCK / 2].
    """
    last = best.shape[0] - 1
    fold(values, lows)
    limit = best[last]
    if limit == np.inf and last < GROUPS:
        limit = so_many_th(lows, last)
    for g in range(GROUPS):
        if lows[g] > limit or lows[g] > best[last]:
            continue
        for i in range(g, BLOCK, GROUPS):
            value, row = values[i], begin + i
            if value > limit or value > best[last] or (value == best[last] and (value == np.inf or row > rows[last])):
                continue
            place = last
            while place > 0 and (best[place - 1] > value or (best[place - 1] == value and rows[place - 1] > row)):
                best[place] = best[place - 1]
                rows[place] = rows[place - 1]
                place -= 1
            best[place] = value
            rows[place] = row


@inner
def fold(values: Any, lows: Any) -> None:
    """The least value of each group, in lows[:GROUPS]: the two halves are laid on each other again and again, which runs in vectors."""
    size = BLOCK // 2
    first, second, out = values[:size], values[size:], lows[:size]
    for i in range(size):
        out[i] = first[i] if first[i] < second[i] else second[i]
    while size > GROUPS:
        size //= 2
        near, far = lows[:size], lows[size : 2 * size]
        for i in range(size):
            near[i] = near[i] if near[i] < far[i] else far[i]


@inner
def so_many_th(values: Any, place: int) -> Any:
    """The value that stands at a place when they are in order: few values, each moved to its place among those before it."""
    ordered = np.empty(GROUPS, values.dtype)
    for g in range(GROUPS):
        value, to = values[g], g
        while to > 0 and ordered[to - 1] > value:
            ordered[to] = ordered[to - 1]
            to -= 1
        ordered[to] = value
    return ordered[place]


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
    values, others, lows = np.empty(BLOCK, half.dtype), np.empty(BLOCK, half.dtype), np.empty(BLOCK // 2, half.dtype)
    for q in range(0, n_queries, TILE):
        tile = min(TILE, n_queries - q)
        best[:] = np.inf
        found[:] = 0
        for begin in range(0, n_rows, BLOCK):
            n = min(BLOCK, n_rows - begin)
            values[n:] = np.inf
            others[n:] = np.inf
            for t in range(0, tile, 2):
                pair = min(t + 1, tile - 1)  # the last one of an odd number is its own pair
                fill_values(narrow[q + t], narrow[q + pair], columns, half, begin, values[:n], others[:n])
                keep_best(values, begin, best[t], found[t], lows)
                if pair > t:
                    keep_best(others, begin, best[pair], found[pair], lows)
        for t in range(tile):
            out_proven[q + t] = finish(narrow[q + t], queries[q + t], table, best[t], found[t], out_rows[q + t], out_distances[q + t])


@kernel
def nearest_by_values(values: Any, narrow: Any, queries: Any, table: Any, out_rows: Any, out_distances: Any, out_proven: Any) -> None:
    """The same where the values [q, r] of all rows are known already."""
    n_rows, k = table.shape[0], out_rows.shape[1]
    wanted = min(n_rows, k + EXTRA)
    best, found = np.empty(wanted, values.dtype), np.empty(wanted, np.int64)
    part, lows = np.empty(BLOCK, values.dtype), np.empty(BLOCK // 2, values.dtype)
    for q in range(queries.shape[0]):
        best[:] = np.inf
        found[:] = 0
        for begin in range(0, n_rows, BLOCK):
            n = min(BLOCK, n_rows - begin)
            part[:n] = values[q, begin : begin + n]
            part[n:] = np.inf
            keep_best(part, begin, best, found, lows)
        out_proven[q] = finish(narrow[q], queries[q], table, best, found, out_rows[q], out_distances[q])
