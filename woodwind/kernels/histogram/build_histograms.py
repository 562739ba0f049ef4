"""Rows to histograms: one integer addition per row and feature; and sums and differences of histograms.

A row's statistics are (g << 32) + h in 31-bit fixed point. While a tree grows, each row carries the upper bits of both (`layout`), so that
a histogram fetches nothing but codes; a cell sums these, packed into one int64:

    PACKED3   g 28 bits | h 24 bits | count 12 bits    while a node has at most 4,095 rows (h loses its lowest 3 bits)
    PACKED2   g 32 bits | h 32 bits                    at most 65,535 rows
    WIDE2     g int64, h int64 in two planes           any number: blocks of 65,535 rows are summed packed, then widened

Where gradients or hessians of rows are of very different sizes, 15 bits below the largest would leave most rows nothing. Rows then
carry their number only, statistics have as many bits as their sum has room for, and both planes of WIDE2 are summed from them, one by one.

No field can overflow, so sums are exact, do not depend on the order of rows or on the number of threads,
and a child's histogram is exactly its parent's minus its sibling's.

Eight codes are read as one word. Rows are taken in blocks: a block's rows are brought together first (they have been asked
for, since the rows of a node are scattered), then each word position runs over the block, so that the eight tables it
touches (16 kB) stay in the first-level cache: 0.50 ns per update against 0.64 for whole rows (docs/decisions/0003-histograms.md).
While a block is added, the next one is asked for: a row from memory takes longer than adding it (0019-memory-asked-ahead.md there).
"""

from typing import Any

import numpy as np

from woodwind.kernels.histogram import memory
from woodwind.kernels.histogram.layout import (
    PACKED2,
    ROWS_PACKED2,
    UNROUNDED_GRADIENT,
    UNROUNDED_HESSIAN,
    WIDE2,
    Rule,
    added_value,
    rounded_off,
    with_stats,
)
from woodwind.kernels.histogram.memory import STEP_CELL, STEP_COUNT, STEP_SHARED, STEP_SHIFT
from woodwind.kernels.histogram.sparse_rows import accumulate_lists, count_lists, fill_commonest
from woodwind.kernels.runtime.intrinsics import prefetch_far
from woodwind.kernels.runtime.jit import inlined, inner, kernel
from woodwind.kernels.runtime.records import Ints, Tree, Words

U = np.uint64
BLOCK_WORDS = 2048  # words brought together at a time: 16 kB
BLOCK_ROWS = 512
CHUNK = 64  # rows that are added between asking for some of the next block


@inner
def fill_in_order(tree: Tree, begin: Any, end: Any) -> None:
    """Put rows begin to end of the table into the first buffer, and what they lose of their statistics where their leaves will stand."""
    stats = memory.row_stats(tree)
    out = memory.rows(tree)
    rest = memory.leaf_of_row(tree)
    for i in range(begin, end):
        row = with_stats(i, stats[i])
        rest[i] = rounded_off(row, stats[i])
        out[i] = row


@kernel
def fill_rows(tree: Tree, rows: Any, order: Any, begin: Any, end: Any) -> bool:
    """Put rows begin to end of the next tree into the first buffer: those numbers themselves, or rows[begin:end].

    `order` is None, or the numbers that callers know the rows by, where the table has them in an order of its own.
    Tells whether what rows lose of their statistics is kept beside them, which is so where they ascend and none comes twice.
    """
    stats = memory.row_stats(tree)
    out = memory.rows(tree)
    if order is not None:
        # In a loop of their own: fetched from here and there, statistics are not rounded by vector code.
        for i in range(U(begin), U(end)):
            out[i] = stats[U(order[i if rows is None else U(rows[i])])]
        for i in range(begin, end):
            out[i] = with_stats(i if rows is None else rows[i], out[i])
        return False
    if rows is None:
        fill_in_order(tree, begin, end)
        return True
    rest = memory.leaf_of_row(tree)
    once = True
    for i in range(begin, end):
        row = with_stats(rows[i], stats[rows[i]])
        rest[rows[i]] = rounded_off(row, stats[rows[i]])
        out[i] = row
        once &= i == 0 or rows[i] > rows[max(i - 1, 0)]
    return once


@inlined
def copy_codes(by_row: Any, row: Any, size: Any, words: Words, position: Any) -> None:
    """Copy the codes of one row, `size` words, to a position in a block of rows."""
    source = row * size
    target = position * size
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
def bring_together(tree: Tree, rule: Rule, begin: Any, end: Any, rows: Any, layout: int, words: Words, values: Ints) -> None:
    """Copy the codes of rows[begin:end], row after row, to `words`, and what they add to cells to `values`.

    In two loops: the first is vector code. All codes have been asked for: they come from the second-level cache, which nothing waits for.
    """
    by_row = memory.row_words(tree)
    size = U(rule.n_words)
    unrounded = memory.unrounded(tree, layout == UNROUNDED_HESSIAN)
    for i in range(U(end - begin)):
        values[i] = added_value(rows[U(begin) + i], layout, unrounded)
    for i in range(U(end - begin)):
        copy_codes(by_row, U(rows[U(begin) + i] >> 32), size, words, i)


@inlined
def ask_ahead(by_row: Any, rows: Any, begin: Any, end: Any, word: Any, size: Any) -> None:
    """Ask for the codes of some of rows[begin:end]: all of them are asked for when `word` has been every word of a row.

    A line has eight words, so that each of eight words asks for every eighth row.
    """
    first = word & U(7)
    line = word - first
    for i in range(begin + first, end, min(U(8), size - line)):
        prefetch_far(by_row, U(rows[i] >> 32) * size + line)


@inner
def add_word(words: Words, word: Any, m: Any, values: Ints, table: Ints, rule: Rule, step: Any, ahead: Any) -> None:
    """Add a whole word of a block of m rows: step has the first cells of its eight codes. `ahead` as in `add_block`."""
    by_row, rows, begin, end = ahead
    size = U(rule.n_words)
    byte = U(255)
    a = U(step[STEP_CELL])
    b = U(step[STEP_CELL + 1])
    c = U(step[STEP_CELL + 2])
    d = U(step[STEP_CELL + 3])
    e = U(step[STEP_CELL + 4])
    f = U(step[STEP_CELL + 5])
    g = U(step[STEP_CELL + 6])
    h = U(step[STEP_CELL + 7])
    for first in range(U(0), m, U(CHUNK)):
        past = min(first + U(CHUNK), m)
        ask_ahead(by_row, rows, min(begin + first, end), min(begin + past, end), word, size)
        for i in range(first, past):
            codes = words[word + i * size]
            value = values[i]  # once: after every addition the compiler would read it again
            table[a + (codes & byte)] += value
            table[b + ((codes >> U(8)) & byte)] += value
            table[c + ((codes >> U(16)) & byte)] += value
            table[d + ((codes >> U(24)) & byte)] += value
            table[e + ((codes >> U(32)) & byte)] += value
            table[f + ((codes >> U(40)) & byte)] += value
            table[g + ((codes >> U(48)) & byte)] += value
            table[h + (codes >> U(56))] += value


@inner
def add_part(words: Words, word: Any, m: Any, values: Ints, table: Ints, rule: Rule, step: Any) -> None:
    """Add some codes of a word of a block of m rows: step has the shift in the word and the first cell of up to four."""
    size = U(rule.n_words)
    byte = U(255)
    a_shift = U(step[STEP_SHIFT])
    a = U(step[STEP_CELL])
    b_shift = U(step[STEP_SHIFT + 1])
    b = U(step[STEP_CELL + 1])
    if step[STEP_COUNT] == 4:
        c_shift = U(step[STEP_SHIFT + 2])
        c = U(step[STEP_CELL + 2])
        d_shift = U(step[STEP_SHIFT + 3])
        d = U(step[STEP_CELL + 3])
        for i in range(m):
            codes = words[word + i * size]
            value = values[i]
            table[a + ((codes >> a_shift) & byte)] += value
            table[b + ((codes >> b_shift) & byte)] += value
            table[c + ((codes >> c_shift) & byte)] += value
            table[d + ((codes >> d_shift) & byte)] += value
    elif step[STEP_COUNT] == 2:
        for i in range(m):
            codes = words[word + i * size]
            value = values[i]
            table[a + ((codes >> a_shift) & byte)] += value
            table[b + ((codes >> b_shift) & byte)] += value
    else:
        for i in range(m):
            table[a + ((words[word + i * size] >> a_shift) & byte)] += values[i]


@inner
def add_block(tree: Tree, rule: Rule, words: Words, values: Ints, m: Any, tables: Any, shares: Any, ahead: Any) -> None:
    """Add a block of m rows, whose codes stand row after row, to a packed table; tables = (that one, the sums of shared bytes).

    ahead = (by_row, rows, begin, end): rows[begin:end] are next; while these are added, their codes are asked for, a few at a time.
    """
    by_row, rows, begin, end = ahead
    table, shared = tables
    steps = memory.steps(tree)
    steps_at = memory.steps_at(tree)[shares]
    for word in range(U(rule.n_words)):
        first = steps_at[word]
        past = steps_at[word + U(1)]
        if first < past and steps[first, STEP_COUNT] == 8:
            add_word(words, word, m, values, shared if steps[first, STEP_SHARED] else table, rule, steps[first], ahead)
            continue
        ask_ahead(by_row, rows, begin, end, word, U(rule.n_words))
        for number in range(first, past):
            add_part(words, word, m, values, shared if steps[number, STEP_SHARED] else table, rule, steps[number])


# Columns of few values that share a byte: one addition sums all of them.
#
# Two columns of three values have nine pairs of values between them. A byte that says which pair a row has is summed like a column, and
# the sums of the single columns follow from those of the pairs: see `tree/code_layouts.py` for who shares, and where the bytes stand.
# Columns of few values are also the slowest to add one by one: rows that follow each other add to the same cell, and wait for it.
# Twins: `tests/reference/naive_shared_bytes.py`.

# Columns of SHARERS.
S_AT = 0  # where the cells of its byte begin
S_SIZE = 1  # how many of them are used
S_START = 2  # where the cells of the column begin in a histogram
S_COLUMNS = 3


@kernel
def note_codes(by_row: Any, features: Any, begin: int, end: int, out: Any) -> None:
    """Mark the codes that rows begin to end have in some features: by_row uint8[n, stride], features int64[k], out uint8[k, 256]."""
    for i in range(U(begin), U(end)):
        for k in range(len(features)):
            out[k, by_row[i, features[k]]] = 1


@kernel
def write_shared(by_row: Any, features: Any, parts: Any, position: Any, begin: int, end: int) -> None:
    """Write the byte that some features share into rows begin to end of by_row uint8[n, stride], at `position`.

    parts uint8[k, 256]: what each code of each of the features adds to the byte.
    """
    for i in range(U(begin), U(end)):
        byte = np.uint8(0)
        for k in range(len(features)):
            byte += parts[k, by_row[i, features[k]]]
        by_row[i, position] = byte


@inner
def spread(tree: Tree, shared: Any, table: Ints) -> None:
    """Add the sums of shared bytes to the cells of the columns that share them."""
    sharers = memory.sharers(tree)
    codes = memory.sharer_codes(tree)
    for s in range(len(sharers)):
        start = sharers[s, S_START]
        at = sharers[s, S_AT]
        for i in range(sharers[s, S_SIZE]):
            table[U(start + np.int64(codes[s, i]))] += shared[U(at + i)]


@inner
def spread_bundles(tree: Tree, rule: Rule, shared: Any, table: Ints) -> None:
    """Give the cells of columns in bundles the sums of the values that stand for them, and the commonest of each column what is left."""
    cells = memory.bundle_cells(tree)
    total = np.int64(0)
    for value in range(256):  # every row has one value of the first bundle
        total += shared[value]
    for value in range(len(cells)):
        if cells[value] >= 0:
            table[cells[value]] += shared[value]
    fill_commonest(tree, rule, total, table)


@inner
def accumulate_words(tree: Tree, rule: Rule, begin: Any, end: Any, rows: Any, layout: int, table: Ints, thread: int) -> None:
    """Add rows[begin:end] to a table of one word to a cell."""
    if rule.sparse:
        accumulate_lists(tree, rule, begin, end, rows, layout, table)
        return
    by_row = memory.row_words(tree)
    words = memory.block_words(tree, thread)
    values = memory.block_values(tree, thread)
    shared = memory.shared_sums(tree, thread)
    # What spreading costs does not depend on the rows: few of them are better added column by column.
    shares = 1 if end - begin >= rule.sharing_rows else 0
    if shares:
        shared[:] = 0
    step = max(64, min(BLOCK_ROWS, BLOCK_WORDS // rule.n_words))
    for word in range(U(rule.n_words)):
        ask_ahead(by_row, rows, U(begin), U(min(begin + step, end)), word, U(rule.n_words))
    for first in range(begin, end, step):
        past = min(first + step, end)
        bring_together(tree, rule, first, past, rows, layout, words, values)
        ahead = (by_row, rows, U(past), U(min(past + step, end)))
        add_block(tree, rule, words, values, U(past - first), (table, shared), shares, ahead)
    if rule.bundled:
        spread_bundles(tree, rule, shared, table)
    elif shares:
        spread(tree, shared, table)


@inner
def accumulate(tree: Tree, rule: Rule, begin: Any, end: Any, rows: Any, layout: int, table: Ints, thread: int) -> None:
    """Add rows[begin:end] to a table of the given layout."""
    if layout != WIDE2:
        accumulate_words(tree, rule, begin, end, rows, layout, table, thread)
        return
    cells = rule.n_cells
    if rule.unrounded:
        accumulate_words(tree, rule, begin, end, rows, UNROUNDED_GRADIENT, table[:cells], thread)
        accumulate_words(tree, rule, begin, end, rows, UNROUNDED_HESSIAN, table[cells:], thread)
        return
    spare = memory.spare(tree, thread)
    for block in range(begin, end, ROWS_PACKED2):
        spare[:] = 0
        accumulate_words(tree, rule, block, min(block + ROWS_PACKED2, end), rows, PACKED2, spare, thread)
        for i in range(U(cells)):
            table[i] += spare[i] >> 32
            table[U(cells) + i] += spare[i] & 0xFFFFFFFF


@inner
def count_rows(tree: Tree, rule: Rule, begin: Any, end: Any, rows: Any, out: Any) -> None:
    """Count rows[begin:end] per feature and code into out (n_cells)."""
    if rule.sparse:
        count_lists(tree, rule, begin, end, rows, out)
        return
    codes = memory.row_codes(tree)
    if rule.bundled:
        cells = memory.bundle_cells(tree)
        for i in range(begin, end):
            first = (rows[i] >> 32) * 8 * rule.n_words
            for b in range(len(cells) // 256):
                cell = cells[256 * b + np.int64(codes[first + b])]
                if cell >= 0:
                    out[cell] += 1
        fill_commonest(tree, rule, end - begin, out)
        return
    positions = memory.code_positions(tree)
    for i in range(begin, end):
        first = (rows[i] >> 32) * 8 * rule.n_words
        for f in range(rule.n_features):
            out[f * rule.n_codes + np.int64(codes[first + positions[f]])] += 1


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
