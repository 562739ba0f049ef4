"""Rows of a node to rows of its children.

    source   a b c d e f g h          one buffer: the rows of the node
    target   a c f|h g e d b          the other: rows that go left from the front, the others from the back

Rows stay in ascending or descending order, which is what prefetching needs; no sum depends on their order.
A node of many rows is split in two passes over blocks, so that threads can share it: count, then place.
`codes` is (column, step): the code of row r is column[r * step].
"""

from typing import Any

import numpy as np

from woodwind.kernels.runtime.intrinsics import prefetch_far
from woodwind.kernels.runtime.jit import inlined, inner
from woodwind.kernels.runtime.records import Bytes, Ints

U = np.uint64
SCATTERED = 32  # bytes between the codes of neighbours from which on codes are asked for ahead: 3.5 ns a row instead of 11 at 256
AHEAD = 128  # rows between asking and looking
NEIGHBOURS = 16  # rows of the table for each row of a node: up to so many, all between its first and its last are cleared
MANY_STORED = 16  # stored cells for each row of a node: with more of them, each row is looked up


@inner
def are_scattered(source: Ints, begin: Any, end: Any, step: Any) -> Any:
    """Whether nearly every one of source[begin:end] has its code on a line of its own; rows ascend or descend."""
    return abs((source[end - 1] >> 32) - (source[begin] >> 32)) * np.int64(step) > SCATTERED * (end - begin)


@inlined
def first_at_least(rows: Any, low: Any, high: Any, row: Any) -> Any:
    """The first position in ascending rows[low:high] of a row that is not below the one given; `high` if there is none."""
    while low < high:
        middle = (low + high) >> 1
        if rows[middle] < row:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def fill_codes(stored: Any, absent: Any, source: Ints, begin: Any, end: Any, out_column: Bytes) -> None:
    """Write the codes of source[begin:end] in one column of stored cells to where their rows stand in out_column.

    stored = (rows, codes, first, past): the cells of the column, rows ascending. The rows of the node ascend or descend. What stands at
    other rows afterwards means nothing. Takes time for each row of the node, and for each stored cell between the first and the last of
    them, or for looking it up where there are many more of those.
    """
    rows, codes, first, past = stored
    one = source[begin] >> 32
    other = source[end - 1] >> 32
    low = first_at_least(rows, first, past, min(one, other))
    high = first_at_least(rows, low, past, max(one, other) + 1)
    if high - low > MANY_STORED * (end - begin):
        for i in range(begin, end):
            row = source[i] >> 32
            k = first_at_least(rows, low, high, row)
            out_column[row] = codes[k] if k < high and rows[k] == row else absent
        return
    lowest = U(min(one, other))
    highest = U(max(one, other))
    if highest - lowest < U(NEIGHBOURS * (end - begin)):
        for row in range(lowest, highest + U(1)):  # many bytes at a time
            out_column[row] = absent
    else:
        for i in range(U(begin), U(end)):
            out_column[U(source[i] >> 32)] = absent
    for k in range(low, high):
        out_column[rows[k]] = codes[k]


@inner
def split_rows(codes: Any, goes_left: Bytes, source: Ints, begin: Any, end: Any, target: Ints, seen: Bytes) -> Any:
    """Split source[begin:end] into target[begin:end]; returns how many went left. seen[code] becomes 1 for codes met."""
    column, step = codes
    low = U(begin)
    high = U(end - 1)
    one = U(1)
    last = U(end - 1)
    scattered = are_scattered(source, begin, end, step)
    for i in range(U(begin), U(end)):
        if scattered:
            prefetch_far(column, U(source[min(i + U(AHEAD), last)] >> 32) * step)
        row = source[i]
        code = column[U(row >> 32) * step]
        left = U(goes_left[code])
        seen[code] = 1
        target[low] = row
        target[high] = row
        low += left
        high -= one - left
    return np.int64(low) - begin


@inner
def count_left(codes: Any, goes_left: Bytes, source: Ints, begin: Any, end: Any, rows_going_left: Bytes, seen: Bytes) -> Any:
    """How many of source[begin:end] go left, and which: rows_going_left becomes 1 for them. seen[code] becomes 1 for codes met."""
    column, step = codes
    left = U(0)
    last = U(end - 1)
    scattered = are_scattered(source, begin, end, step)
    for i in range(U(begin), U(end)):
        if scattered:
            prefetch_far(column, U(source[min(i + U(AHEAD), last)] >> 32) * step)
        code = column[U(source[i] >> 32) * step]
        side = goes_left[code]
        rows_going_left[i] = side
        left += U(side)
        seen[code] = 1
    return np.int64(left)


@inner
def place_rows(rows_going_left: Bytes, source: Ints, begin: Any, end: Any, target: Ints, low: Any, high: Any) -> None:
    """Write the rows of source[begin:end] that go left to target[low:], the others to target[high:]."""
    a = U(low)
    b = U(high)
    one = U(1)
    for i in range(U(begin), U(end)):
        row = source[i]
        left = U(rows_going_left[i])
        target[b + left * (a - b)] = row  # one store, no branch; unsigned arithmetic wraps as it should
        a += left
        b += one - left
