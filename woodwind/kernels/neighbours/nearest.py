"""The nearest of some rows to each query, by Euclidean distance.

Half a squared distance is |a|²/2 + (|b|²/2 - a·b), of which only the part in brackets depends on the row b: it is found for all rows by
multiplications and additions in float32, sixteen rows by four queries at a time. What rounding may have added is taken off again, so that
this is a value that the true one is not below. The rows with the least such values, a few more than asked for, are measured once more in
float64, from the least on, until the value of the next is above what the farthest of those that are kept has: then nothing was missed.
A query with which that does not happen is reported as not proven, and `nearest_of_all` measures every row. Rows that are equally far away
come in the order of their numbers. Twins: `tests/reference/naive_nearest.py`.
"""

from typing import Any

import numpy as np

from woodwind.kernels.neighbours.panels import FOUR, PANEL, WORD, fill_panel, word_below
from woodwind.kernels.runtime.bits import count_bits, lowest_bit
from woodwind.kernels.runtime.intrinsics import prefetch
from woodwind.kernels.runtime.jit import inner, kernel

# Rows that may be measured once more, beyond those asked for.
EXTRA = 2
# Queries that go through some panels before the next panels are fetched.
TILE = 32
# Rows whose values are looked through together: numbers of panels that stay in the second level of the cache, but at least so many rows.
SCAN, NUMBERS, LEAST_SCAN = 4096, 1 << 16, 512
# Times that the range of the least values of some groups is halved to find a bound.
HALVINGS = 6
# Share by which rounding in float64 may spoil a square, and what squares and products in float32 may lose where they are next to nothing;
# numbers are in units of the largest.
SLACK, NOTHING = 1e-9, 1e-30
# The square of a query so far away that float32 knows nothing of its distances.
FARTHEST = 1e30
ONE = np.uint64(1)
# Numbers of float64 in a line of the cache.
LINE = 8


@inner
def bound_of(least: Any, wanted: int) -> Any:
    """A value that at least so many groups have something at or below, so that no row above it can be among the best.

    The largest of any so many groups is such a value; halving finds a lower one. Infinite where there are not so many groups.
    """
    if wanted > least.shape[0]:
        return np.float32(np.inf)
    low, high = least[0], least[0]
    for g in range(1, wanted):
        low, high = min(low, least[g]), max(high, least[g])
    if high < np.inf:
        for _ in range(HALVINGS):
            middle = (low + high) * np.float32(0.5)
            if count_bits(word_below(least, 0, middle)) >= wanted:
                high = middle
            else:
                low = middle
    return high


@inner
def keep_best(values: Any, least: Any, begin: int, end: int, best: Any, rows: Any, words: Any) -> None:
    """Put the values of the rows begin .. end - 1 that are below the last of the best among these: ascending, of equals the first row.

    Groups have the least of their values: that gives a bound, and words tell which values are not above it. Words with something in them
    are listed first: a list grows without a branch, and a branch that nobody can foresee costs as much as ten comparisons. Rows come in
    the order of their numbers, so that of equals the first is there already. words uint64[n + 1, 2] is room for the list.
    """
    last = best.shape[0] - 1
    limit = bound_of(least, best.shape[0]) if best[last] == np.inf else best[last]
    n_words = 0
    for place in range(0, end - begin, WORD):
        below = word_below(values, place, limit)
        words[n_words, 0] = below
        words[n_words, 1] = place
        n_words += 1 if below != 0 else 0
    for w in range(n_words):
        below = words[w, 0]
        while below != 0:
            i = np.int64(words[w, 1]) + lowest_bit(below)
            below &= below - ONE
            value = values[i]
            if value >= best[last]:
                continue
            spot = last
            while spot > 0 and best[spot - 1] > value:
                best[spot] = best[spot - 1]
                rows[spot] = rows[spot - 1]
                spot -= 1
            best[spot] = value
            rows[spot] = begin + i


@inner
def fetch_rows(table: Any, found: Any) -> None:
    """Ask for rows that are measured soon: panels have gone through the cache since they were last there."""
    for f in range(found.shape[0]):
        for d in range(0, table.shape[1], LINE):
            prefetch(table, found[f] * table.shape[1] + d)


@inner
def finish(query: Any, table: Any, best: Any, found: Any, floor: float, out_rows: Any, out_distances: Any) -> bool:
    """Measure what was found in float64, of equals the first by number, and say whether nothing can have been missed.

    No row from the f-th that was found on, and none that was not, has half a squared distance below the sum of the floor and best[f].
    """
    k, kept = out_rows.shape[0], 0
    proven = found.shape[0] == table.shape[0]
    for f in range(found.shape[0]):
        if kept == k and 0.5 * out_distances[k - 1] * (1.0 + SLACK) + NOTHING < floor + np.float64(best[f]):
            proven = True
            break
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
    for place in range(k):
        out_distances[place] = np.sqrt(out_distances[place])
    return bool(proven and floor == floor)


@inner
def ask(query: Any, centre: Any, rounding: float, asking: Any, lane: int) -> float:
    """Write a query, negated and about the centre, among the four of its panel; gives what half its squared distance from any row is not
    below when the value of the row is added: half its square, less what rounding adds. NaN for one that float32 knows nothing of.
    """
    square = 0.0
    for d in range(query.shape[0]):
        step = centre[d] - query[d]
        square += step * step
        asking[FOUR * d + lane] = np.float32(step)
    if square < FARTHEST:
        return 0.5 * square * (1.0 - rounding)
    for d in range(query.shape[0]):
        asking[FOUR * d + lane] = np.float32(0.0)
    return np.nan


@kernel
def nearest(
    queries: Any, table: Any, centre: Any, panels: Any, rounding: float, out_rows: Any, out_distances: Any, out_proven: Any
) -> None:
    """The k nearest rows of a table to each query.

    queries float64[q, d]; table float64[r, d]; centre float64[d]; panels float32[p, 16 (d + 1)]: of sixteen rows |b|²/2 less what rounding
    adds, infinite where there is no row, then of each column what is above the centre; there are panels for whole words of rows.
    rounding: what it adds at most, as a share of half the squares. out_rows int64[q, k], out_distances float64[q, k], ascending;
    out_proven bool[q].
    """
    n_rows, n_queries = table.shape[0], queries.shape[0]
    wanted = min(n_rows, out_rows.shape[1] + EXTRA)
    scan = max(LEAST_SCAN, min(SCAN, NUMBERS // (queries.shape[1] + 1) // WORD * WORD))
    best, found, floors = np.empty((TILE, wanted), np.float32), np.empty((TILE, wanted), np.int64), np.empty(TILE)
    asking, least = np.zeros((TILE // FOUR, FOUR * queries.shape[1]), np.float32), np.empty((FOUR, WORD), np.float32)
    values, words = np.empty((FOUR, scan), np.float32), np.empty((scan // WORD + 1, 2), np.uint64)
    for q in range(0, n_queries, TILE):
        tile = min(TILE, n_queries - q)
        best[:] = np.inf
        found[:] = 0
        for t in range(tile):
            floors[t] = ask(queries[q + t], centre, rounding, asking[t // FOUR], t % FOUR)
        for begin in range(0, n_rows, scan):
            end = min(begin + scan, n_rows)
            for first in range(0, tile, FOUR):  # queries left over from an earlier tile do no harm
                least[:] = np.inf
                for p in range(begin // PANEL, (end + WORD - 1) // WORD * WORD // PANEL):
                    fill_panel(asking[first // FOUR], panels, p, values, p * PANEL - begin, least)
                for t in range(FOUR):
                    keep_best(values[t], least[t], begin, end, best[first + t], found[first + t], words)
        for t in range(tile):
            if t + 1 < tile:
                fetch_rows(table, found[t + 1])
            out_proven[q + t] = finish(queries[q + t], table, best[t], found[t], floors[t], out_rows[q + t], out_distances[q + t])


@kernel
def nearest_of_all(queries: Any, columns: Any, out_rows: Any, out_distances: Any) -> None:
    """The same by measuring every row in float64, to the last bit as `finish` does. queries [q, d]; columns float64[d, r].

    A query with NaN is near to nothing: rows 0 at a distance of NaN.
    """
    k, n_rows = out_rows.shape[1], columns.shape[1]
    squares = np.empty(min(n_rows, LEAST_SCAN))
    for q in range(queries.shape[0]):
        query, rows, distances, kept = queries[q], out_rows[q], out_distances[q], 0
        rows[:] = 0
        distances[:] = np.nan
        for first in range(0, n_rows, squares.shape[0]):
            some = squares[: min(squares.shape[0], n_rows - first)]
            some[:] = 0.0
            for d in range(columns.shape[0]):
                number, column = query[d], columns[d, first : first + some.shape[0]]
                for i in range(some.shape[0]):
                    step = number - column[i]
                    some[i] += step * step
            for i in range(some.shape[0]):
                square = some[i]
                if not (square < distances[k - 1] or (kept < k and square == square)):
                    continue
                place = min(kept, k - 1)
                while place > 0 and distances[place - 1] > square:
                    distances[place] = distances[place - 1]
                    rows[place] = rows[place - 1]
                    place -= 1
                distances[place] = square
                rows[place] = first + i
                kept = min(kept + 1, k)
        for place in range(k):
            distances[place] = np.sqrt(distances[place])
