"""Columns that are never stored in the same row, or hardly ever, put together: which with which, and the bytes that they share.

The slow twin is in `tests/reference/naive_bundles.py`.
"""

from typing import Any

import numpy as np

from woodwind.kernels.runtime.jit import inner, kernel

MOST_VALUES = 255  # of a byte, beside the one that says that no column of the bundle is stored
U = np.uint64


@kernel
def find_values(starts: Any, codes: Any, firsts: Any, out_sizes: Any, out_values: Any) -> None:
    """The codes that occur in each column, ascending: those of column f at firsts[f] of out_values uint8; out_sizes int64[F]: how many."""
    met = np.empty(256, np.uint8)
    for f in range(len(out_sizes)):
        met[:] = 0
        for i in range(starts[f], starts[f + 1]):
            met[codes[i]] = 1
        n = 0
        for code in range(256):
            if met[code]:
                out_values[firsts[f] + n] = code
                n += 1
        out_sizes[f] = n


@inner
def conflicts(marks: Any, at: Any, begin: Any, end: Any, most: Any) -> Any:
    """How many of the rows at[begin:end] are marked; more than `most` are not counted to the end."""
    found = np.int64(0)
    for i in range(begin, end):
        row = U(at[i])
        found += np.int64((marks[row >> U(6)] >> (row & U(63))) & U(1))
        if found > most:
            break
    return found


@kernel
def place_columns(starts: Any, at: Any, order: Any, sizes: Any, most_lost: int, marks: Any, out: Any) -> int:
    """Put each column, in the given order, into the first bundle that has values for it and loses no more than it may.

    Returns the number of bundles, or -1 where they would be more than there are marks for: marks uint64[bundles, words], zero before.
    sizes int64[F]: values of each column; most_lost: rows of a bundle that may lose a cell.
    out = (bundle int32[F], offset int64[F]: the first value of each column, lost uint8[m]: 1 for a cell that another one has the byte of).
    """
    bundle_of, offset, lost = out
    used, losses = np.zeros(len(marks), np.int64), np.zeros(len(marks), np.int64)
    n = 0
    for k in range(len(order)):
        f = order[k]
        bundle_of[f] = 0
        offset[f] = 1
        if sizes[f] == 0:
            continue
        begin, end = starts[f], starts[f + 1]
        b = 0
        while b < n:
            if used[b] + sizes[f] <= MOST_VALUES and conflicts(marks[b], at, begin, end, most_lost - losses[b]) <= most_lost - losses[b]:
                break
            b += 1
        if b == len(marks):
            return -1
        n = max(n, b + 1)
        bundle_of[f] = b
        offset[f] = used[b] + 1
        used[b] += sizes[f]
        for i in range(begin, end):
            row = U(at[i])
            bit = U(1) << (row & U(63))
            if marks[b, row >> U(6)] & bit:
                lost[i] = 1
                losses[b] += 1
            marks[b, row >> U(6)] |= bit
    return n


@kernel
def write_bundles(stored: Any, bundle: Any, offset: Any, firsts: Any, sizes: Any, values: Any, out_by_row: Any) -> None:
    """Write the bytes of all bundles: out_by_row uint8[n, stride], zero before; stored = (starts, at, codes) by column."""
    starts, at, codes = stored
    byte = np.zeros(256, np.uint8)
    for f in range(len(bundle)):
        for k in range(sizes[f]):
            byte[values[firsts[f] + k]] = offset[f] + k
        for i in range(starts[f], starts[f + 1]):
            out_by_row[at[i], bundle[f]] = byte[codes[i]]
