"""Rows to histograms: one integer addition per row and feature; and sums and differences of histograms.

A row's statistics are (g << 32) + h in 31-bit fixed point. While a tree grows, each row travels with the upper bits of both,

    row number 32 bits | g 16 bits | h 16 bits          so that a histogram fetches nothing but codes

and a cell sums these, packed into one int64:

    PACKED3   g 28 bits | h 24 bits | count 12 bits    while a node has at most 4,095 rows (h loses its lowest 3 bits)
    PACKED2   g 32 bits | h 32 bits                    at most 65,535 rows
    WIDE2     g int64, h int64 in two planes           any number: blocks of 65,535 rows are summed packed, then widened

No field can overflow, so sums are exact, do not depend on the order of rows or on the number of threads,
and a child's histogram is exactly its parent's minus its sibling's.

Eight codes are read as one word. Rows are taken in blocks: a block's rows are brought together first (with prefetch,
since the rows of a node are scattered), then each word position runs over the block, so that the eight tables it
touches (16 kB) stay in the first-level cache: 0.50 ns per update against 0.64 for whole rows (docs/decisions/0003-histograms.md).
While a block is added, the next one is asked for: a row from memory takes longer than adding it (0019-memory-asked-ahead.md there).
"""

from typing import Any

import numpy as np

from woodwind.kernels.carried import packed_value, rounded_off, with_stats
from woodwind.kernels.growing import BY_ROW, LEAF_OF_ROW, ROW_CODES, ROWS, SPARE, STATS, VALUES, WORDS
from woodwind.kernels.intrinsics import byte_list, int_list, ints, prefetch, prefetch_far, row_list, word_list, words_in
from woodwind.kernels.jit import inlined, inner, kernel
from woodwind.kernels.layout import PACKED2, ROWS_PACKED2, WIDE2
from woodwind.kernels.sparse import accumulate_lists, count_lists

U = np.uint64
BLOCK_WORDS = 2048  # words brought together at a time: 16 kB
BLOCK_ROWS = 512
AHEAD = 24  # rows between a prefetch and its use
CHUNK = 64  # rows that are added between asking for some of the next block


@inner
def fill_in_order(growing: Any, begin: Any, end: Any) -> None:
    """Put rows begin to end of the table into the first buffer, and what they lose of their statistics where their leaves will stand."""
    stats = int_list(growing, STATS)
    out = int_list(growing, ROWS)
    rest = row_list(growing, LEAF_OF_ROW)
    for i in range(begin, end):
        row = with_stats(i, stats[i])
        rest[i] = rounded_off(row, stats[i])
        out[i] = row


@kernel
def fill_rows(growing: Any, rows: Any, order: Any, begin: Any, end: Any) -> bool:
    """Put rows begin to end of the next tree into the first buffer: those numbers themselves, or rows[begin:end].

    `order` is None, or the numbers that callers know the rows by, where the table has them in an order of its own.
    Tells whether what rows lose of their statistics is kept beside them, which is so where they ascend and none comes twice.
    """
    stats = int_list(growing, STATS)
    out = int_list(growing, ROWS)
    if order is not None:
        # In a loop of their own: fetched from here and there, statistics are not rounded by vector code.
        for i in range(U(begin), U(end)):
            out[i] = stats[U(order[i if rows is None else U(rows[i])])]
        for i in range(begin, end):
            out[i] = with_stats(i if rows is None else rows[i], out[i])
        return False
    if rows is None:
        fill_in_order(growing, begin, end)
        return True
    rest = row_list(growing, LEAF_OF_ROW)
    once = True
    for i in range(begin, end):
        row = with_stats(rows[i], stats[rows[i]])
        rest[rows[i]] = rounded_off(row, stats[rows[i]])
        out[i] = row
        once &= i == 0 or rows[i] > rows[max(i - 1, 0)]
    return once


@inlined
def copy_codes(by_row: Any, row: Any, size: Any, words: Any, place: Any) -> None:
    """Copy the codes of one row, `size` words, to a place in a block of rows."""
    source = row * size
    target = place * size
    for _four in range(size // U(4)):
        # All read before any is written: one vector load and one vector store.
        a = by_row[source]
        b = by_row[source + U(1)]
        c = by_row[source + U(2)]
        d = by_row[source + U(3)]
        words[target] = a
        words[target + U(1)] = b
        words[target + U(2)] = c
        words[target + U(3)] = d
        source += U(4)
        target += U(4)
    for _one in range(size & U(3)):
        words[target] = by_row[source]
        source += U(1)
        target += U(1)


@inner
def bring_together(growing: Any, rule: Any, begin: Any, end: Any, rows: Any, layout: Any, words: Any, values: Any) -> None:
    """Copy the codes and the packed statistics of rows[begin:end], row after row, to `words` and `values`."""
    by_row = word_list(growing, BY_ROW)
    last = U(end - 1)
    size = U(rule.n_words)
    for i in range(U(end - begin)):
        prefetch(by_row, U(rows[min(U(begin) + i + U(AHEAD), last)] >> 32) * size)
        row = rows[U(begin) + i]
        values[i] = packed_value(row, layout)
        copy_codes(by_row, U(row >> 32), size, words, i)


@inlined
def ask_ahead(by_row: Any, rows: Any, begin: Any, end: Any, word: Any, size: Any) -> None:
    """Ask for the codes of some of rows[begin:end]: all of them are asked for when `word` has been every word of a row.

    A line has eight words, so that each of eight words asks for every eighth row.
    """
    first = word & U(7)
    line = word - first
    for i in range(begin + first, end, min(U(8), size - line)):
        prefetch_far(by_row, U(rows[i] >> 32) * size + line)


@inlined
def add_four_codes(table: Any, base: Any, width: Any, codes: Any, value: Any) -> None:
    """Add a row to the tables of four features, which begin at `base`, by the lower four codes of a word."""
    byte = U(255)
    second = base + width
    third = second + width
    table[base + (codes & byte)] += value
    table[second + ((codes >> U(8)) & byte)] += value
    table[third + ((codes >> U(16)) & byte)] += value
    table[third + width + ((codes >> U(24)) & byte)] += value


@inner
def add_word(words: Any, where: Any, values: Any, table: Any, rule: Any, base: Any, fits: Any) -> None:
    """Add one word of rows first to past of a block, `fits` codes of it; where = (place of the word in the first row, first, past)."""
    at, first, past = where
    size = U(rule.n_words)
    width = U(rule.width)
    upper = base + U(4) * width
    if fits == 8:
        for i in range(first, past):
            codes = words[at + i * size]
            add_four_codes(table, base, width, codes, values[i])
            add_four_codes(table, upper, width, codes >> U(32), values[i])
        return
    if fits >= 4:
        for i in range(first, past):
            add_four_codes(table, base, width, words[at + i * size], values[i])
    for t in range(4 if fits >= 4 else 0, fits):
        start = base + U(t) * width
        shift = U(8 * t)
        for i in range(first, past):
            table[start + ((words[at + i * size] >> shift) & U(255))] += values[i]


@inner
def add_block(words: Any, values: Any, m: Any, table: Any, rule: Any, ahead: Any) -> None:
    """Add a block of m rows, whose codes stand row after row, to a packed table.

    ahead = (by_row, rows, begin, end): rows[begin:end] are next; while these are added, their codes are asked for, a few at a time.
    """
    size = U(rule.n_words)
    by_row, rows, begin, end = ahead
    for word in range(size):
        base = U(8) * word * U(rule.width)
        fits = min(rule.n_features - 8 * np.int64(word), 8)
        for first in range(U(0), U(m), U(CHUNK)):
            past = min(first + U(CHUNK), U(m))
            ask_ahead(by_row, rows, min(begin + first, end), min(begin + past, end), word, size)
            add_word(words, (word, first, past), values, table, rule, base, fits)


@inner
def accumulate_packed(growing: Any, rule: Any, begin: Any, end: Any, rows: Any, layout: Any, table: Any, thread: Any) -> None:
    """Add rows[begin:end] to a packed table."""
    if rule.sparse:
        accumulate_lists(growing, rule, begin, end, rows, layout, table)
        return
    by_row = word_list(growing, BY_ROW)
    words = words_in(growing, WORDS)[thread]
    values = ints(growing, VALUES)[thread]
    step = max(64, min(BLOCK_ROWS, BLOCK_WORDS // rule.n_words))
    for first in range(begin, end, step):
        past = min(first + step, end)
        bring_together(growing, rule, first, past, rows, layout, words, values)
        add_block(words, values, past - first, table, rule, (by_row, rows, U(past), U(min(past + step, end))))


@inner
def accumulate(growing: Any, rule: Any, begin: Any, end: Any, rows: Any, layout: Any, table: Any, thread: Any) -> None:
    """Add rows[begin:end] to a table of the given layout."""
    if layout != WIDE2:
        accumulate_packed(growing, rule, begin, end, rows, layout, table, thread)
        return
    spare = ints(growing, SPARE)[thread]
    cells = rule.n_cells
    for block in range(begin, end, ROWS_PACKED2):
        spare[:] = 0
        accumulate_packed(growing, rule, block, min(block + ROWS_PACKED2, end), rows, PACKED2, spare, thread)
        for i in range(U(cells)):
            table[i] += spare[i] >> 32
            table[U(cells) + i] += spare[i] & 0xFFFFFFFF


@inner
def count_rows(growing: Any, rule: Any, begin: Any, end: Any, rows: Any, out: Any) -> None:
    """Count rows[begin:end] per feature and code into out (n_cells)."""
    if rule.sparse:
        count_lists(growing, rule, begin, end, rows, out)
        return
    codes = byte_list(growing, ROW_CODES)
    for i in range(begin, end):
        first = (rows[i] >> 32) * 8 * rule.n_words
        for f in range(rule.n_features):
            out[f * rule.width + np.int64(codes[first + f])] += 1


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
