"""Rows to histograms: one integer addition per row and feature; and sums and differences of histograms.

A row's statistics are (g << 32) + h in 31-bit fixed point. While a tree grows, each row travels with the upper bits of both,

    row number 32 bits | g 16 bits | h 16 bits          so that a histogram fetches nothing but codes

and a cell sums these, packed into one int64:

    PACKED3   g 28 bits | h 24 bits | count 12 bits    while a node has at most 4,095 rows (h loses its lowest 3 bits)
    PACKED2   g 32 bits | h 32 bits                    at most 65,535 rows
    WIDE2     g int64, h int64 in two planes           any number: blocks of 65,535 rows are summed packed, then widened

No field can overflow, so sums are exact, do not depend on the order of rows or on the number of threads,
and a child's histogram is exactly its parent's minus its sibling's.

Eight codes are read as one word. Rows are taken in blocks: a block's words are brought together first (with prefetch,
since the rows of a node are scattered), then each word position runs over the block, so that the eight tables it
touches (16 kB) stay in the first-level cache: 0.50 ns per update against 0.64 for whole rows (docs/decisions/0003-histograms.md).
"""

from typing import Any

import numpy as np

from woodwind.kernels.growing import BY_COLUMN, BY_ROW, ROWS, SPARE, STARTS, STATS, VALUES, WORDS
from woodwind.kernels.intrinsics import bytes_in, get_listed, int_list, ints, prefetch, word_list, words_in
from woodwind.kernels.jit import inner, kernel
from woodwind.kernels.layout import PACKED2, PACKED3, ROWS_PACKED2, WIDE2
from woodwind.kernels.sparse import accumulate_lists

U = np.uint64
BLOCK_WORDS = 4096  # words brought together at a time: 32 kB
BLOCK_ROWS = 1024
AHEAD = 24  # rows between a prefetch and its use


@inner
def with_stats(row: Any, stat: Any) -> Any:
    """A row number with the upper 15 bits (and sign) of its gradient and of its hessian, rounded."""
    gradient = min(((stat >> 32) + 16384) >> 15, 32767)
    hessian = ((stat & 0xFFFFFFFF) + 16384) >> 15
    return (np.int64(row) << 32) | ((gradient & 0xFFFF) << 16) | hessian


@kernel
def fill_rows(growing: Any, rows: Any, order: Any, begin: Any, end: Any) -> None:
    """Put rows begin to end of the next tree into the first buffer: those numbers themselves, or rows[begin:end].

    `order` is None, or the numbers that callers know the rows by, where the table has them in an order of its own.
    """
    stats = int_list(growing, STATS)
    out = int_list(growing, ROWS)
    if order is not None:
        # In a loop of their own: fetched from here and there, statistics are not rounded by vector code.
        for i in range(U(begin), U(end)):
            out[i] = stats[U(order[i if rows is None else U(rows[i])])]
    for i in range(begin, end):
        row = i if rows is None else rows[i]
        out[i] = with_stats(row, stats[row] if order is None else out[i])


@inner
def bring_together(growing: Any, rule: Any, begin: Any, end: Any, rows: Any, layout: Any, words: Any, values: Any) -> None:
    """Copy the codes and the packed statistics of rows[begin:end] to `words` (position by position) and `values`."""
    by_row = word_list(growing, BY_ROW)
    last = U(end - 1)
    size = U(rule.n_words)
    fours = size // U(4)
    m = U(end - begin)
    for i in range(m):
        prefetch(by_row, U(rows[min(U(begin) + i + U(AHEAD), last)] >> 32) * size)
        row = rows[U(begin) + i]
        gradient = (row << 32) >> 48
        hessian = row & 0xFFFF
        if layout == PACKED3:
            values[i] = (gradient << 36) + (((hessian + 4) >> 3) << 12) + 1
        else:
            values[i] = (gradient << 32) + hessian
        source = U(row >> 32) * size
        target = U(i)
        for _four in range(fours):  # a loop over single words takes a fifth longer
            words[target] = by_row[source]
            words[target + m] = by_row[source + U(1)]
            words[target + U(2) * m] = by_row[source + U(2)]
            words[target + U(3) * m] = by_row[source + U(3)]
            source += U(4)
            target += U(4) * m
        for _one in range(size - U(4) * fours):
            words[target] = by_row[source]
            source += U(1)
            target += m


@inner
def add_block(words: Any, values: Any, m: Any, table: Any, rule: Any) -> None:
    """Add a block of m rows to a packed table."""
    width = U(rule.width)
    byte = U(255)
    full = rule.n_features // 8
    base = U(0)
    at = U(0)
    for _w in range(full):
        b1 = base + width
        b2 = b1 + width
        b3 = b2 + width
        b4 = b3 + width
        b5 = b4 + width
        b6 = b5 + width
        b7 = b6 + width
        for i in range(U(m)):
            codes = words[at + i]
            value = values[i]
            table[base + (codes & byte)] += value
            table[b1 + ((codes >> U(8)) & byte)] += value
            table[b2 + ((codes >> U(16)) & byte)] += value
            table[b3 + ((codes >> U(24)) & byte)] += value
            table[b4 + ((codes >> U(32)) & byte)] += value
            table[b5 + ((codes >> U(40)) & byte)] += value
            table[b6 + ((codes >> U(48)) & byte)] += value
            table[b7 + (codes >> U(56))] += value
        base = b7 + width
        at += U(m)
    done = 0
    rest = rule.n_features - 8 * full
    if rest >= 4:
        b1 = base + width
        b2 = b1 + width
        b3 = b2 + width
        for i in range(U(m)):
            codes = words[at + i]
            value = values[i]
            table[base + (codes & byte)] += value
            table[b1 + ((codes >> U(8)) & byte)] += value
            table[b2 + ((codes >> U(16)) & byte)] += value
            table[b3 + ((codes >> U(24)) & byte)] += value
        base = b3 + width
        done = 4
    for t in range(done, rest):
        shift = U(8 * t)
        for i in range(U(m)):
            table[base + ((words[at + i] >> shift) & byte)] += values[i]
        base += width


@inner
def accumulate(growing: Any, rule: Any, begin: Any, end: Any, rows: Any, layout: Any, table: Any, thread: Any) -> None:
    """Add rows[begin:end] to a table of the given layout."""
    words = words_in(growing, WORDS)[thread]
    values = ints(growing, VALUES)[thread]
    step = max(64, min(BLOCK_ROWS, BLOCK_WORDS // rule.n_words))
    if layout != WIDE2 and rule.sparse:
        accumulate_lists(growing, rule, begin, end, rows, layout, table)
        return
    if layout != WIDE2:
        for first in range(begin, end, step):
            past = min(first + step, end)
            bring_together(growing, rule, first, past, rows, layout, words, values)
            add_block(words, values, past - first, table, rule)
        return
    spare = ints(growing, SPARE)[thread]
    cells = rule.n_cells
    for block in range(begin, end, ROWS_PACKED2):
        spare[:] = 0
        if rule.sparse:
            accumulate_lists(growing, rule, block, min(block + ROWS_PACKED2, end), rows, PACKED2, spare)
        else:
            for first in range(block, min(block + ROWS_PACKED2, end), step):
                past = min(first + step, block + ROWS_PACKED2, end)
                bring_together(growing, rule, first, past, rows, PACKED2, words, values)
                add_block(words, values, past - first, spare, rule)
        for i in range(U(cells)):
            table[i] += spare[i] >> 32
            table[U(cells) + i] += spare[i] & 0xFFFFFFFF


@inner
def count_rows(growing: Any, rule: Any, begin: Any, end: Any, rows: Any, out: Any) -> None:
    """Count rows[begin:end] per feature and code into out (n_cells)."""
    by_column = bytes_in(growing, BY_COLUMN)
    for f in range(rule.n_features):
        base = get_listed(growing, STARTS, f)
        missing = get_listed(growing, STARTS, f + 1) - 1 - base
        for i in range(begin, end):
            out[base + min(np.int64(by_column[f, rows[i] >> 32]), missing)] += 1


@inner
def subtract(parent: Any, child: Any, child_wide: Any, out: Any, out_wide: Any, begin: Any, end: Any, cells: Any) -> None:
    """out = parent - child over the cells begin to end, for a wide parent; out may be the parent itself."""
    for i in range(begin, end):
        g = parent[i]
        h = parent[cells + i]
        if child_wide:
            g -= child[i]
            h -= child[cells + i]
        else:
            g -= child[i] >> 32
            h -= child[i] & 0xFFFFFFFF
        if out_wide:
            out[i] = g
            out[cells + i] = h
        else:
            out[i] = (g << 32) + h
