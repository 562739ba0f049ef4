"""Rows as lists of what is unusual about them.

Where most codes of most columns are the column's commonest one (counts, one-hot columns), a histogram need not add those:
a row is the list of its other cells, and the cell of the commonest code is the node's total minus the rest.
Lists are filled up to a multiple of four with a cell that nobody reads, the last one, so that a row is a few rounds of four
additions each: a fifth faster than one by one, where the end of the list is foreseen less often.

    begin of the list 48 bits | rounds of four 16 bits          one word for each row

Cells have 16 bits where a histogram has few enough of them: half the memory to bring in, beside tables that fill the first-level cache.
"""

from typing import Any

import numpy as np

from woodwind.kernels.histogram import memory
from woodwind.kernels.histogram.layout import UNROUNDED_HESSIAN, Rule, added_value
from woodwind.kernels.runtime.intrinsics import add_four, prefetch
from woodwind.kernels.runtime.jit import inner, kernel
from woodwind.kernels.runtime.records import Tree

U = np.uint64
FAR = 32  # rows between asking for the begin of a row's list and using it
NEAR = 12  # rows between asking for the list itself and using it
FOUR = U(4)
LENGTH_BITS = 16
LENGTH = U((1 << LENGTH_BITS) - 1)
BITS = U(LENGTH_BITS)
SHORT_CELLS = 1 << 16
COPIED_TOGETHER = 64  # rows, so that they stay in the first-level cache for all columns


@kernel
def count_codes(by_row: Any, step: Any, out: Any) -> None:
    """How often each code occurs at each position of every so many rows: by_row uint8[n, stride]; out int64[F, 256]."""
    for i in range(0, by_row.shape[0], step):
        for f in range(out.shape[0]):
            out[f, by_row[i, f]] += 1


@kernel
def count_fours(by_row: Any, usual: Any, out: Any) -> Any:
    """Length of each row's list in rounds of four cells: by_row uint8[n, stride]; usual uint8[F], the commonest code
    at each position; out uint16[n].

    Returns the cells of all lists.
    """
    total = np.int64(0)
    for i in range(len(out)):
        length = np.int64(0)
        for f in range(len(usual)):
            length += np.int64(by_row[i, f] != usual[f])
        out[i] = (length + 3) >> 2
        total += length
    return total


@kernel
def write_entries(by_row: Any, positions: Any, order: Any, fours: Any, commonest: Any, starts: Any, out_at: Any, out_cells: Any) -> None:
    """Lists one after another in the given order of rows: the cells that are not the commonest, then the one that nobody reads.

    positions int64[F]: where in a row of by_row uint8[n, stride] the code of each feature stands.
    """
    next_cell = 0
    for i in range(len(order)):
        row = order[i]
        out_at[i] = (next_cell << LENGTH_BITS) | np.int64(fours[row])
        end = next_cell + 4 * np.int64(fours[row])
        for f in range(len(commonest)):
            code = np.int64(by_row[row, positions[f]])
            if code != commonest[f]:
                out_cells[next_cell] = min(starts[f] + code, starts[f + 1] - 1)
                next_cell += 1
        while next_cell < end:
            out_cells[next_cell] = starts[len(commonest)]
            next_cell += 1


@kernel
def write_stored(row_starts: Any, features: Any, codes: Any, starts: Any, at: Any, out_cells: Any) -> None:
    """As `write_entries`, of stored cells in the order of the rows: row_starts int64[n + 1], features int32[m], codes uint8[m].

    `at` int64[n] has been made of the lengths of the rows.
    """
    for i in range(len(at)):
        next_cell = at[i] >> LENGTH_BITS
        end = next_cell + 4 * (at[i] & ((1 << LENGTH_BITS) - 1))
        for k in range(row_starts[i], row_starts[i + 1]):
            f = features[k]
            out_cells[next_cell] = min(starts[f] + np.int64(codes[k]), starts[f + 1] - 1)
            next_cell += 1
        while next_cell < end:
            out_cells[next_cell] = starts[len(starts) - 1]
            next_cell += 1


@kernel
def reorder(by_row: Any, positions: Any, order: Any, out: Any) -> None:
    """Columns with their rows in another order: by_row uint8[n, stride], positions as above; out uint8[F, n]."""
    for i in range(len(order)):
        for f in range(out.shape[0]):
            out[f, i] = by_row[order[i], positions[f]]


@kernel
def columns_from_rows(by_row: Any, positions: Any, targets: Any, begin: int, end: int, out_by_column: Any) -> None:
    """Copy the codes at some positions of rows begin..end of by_row uint8[n, stride] to out_by_column[target] of uint8[k, n].

    64 rows at a time.
    """
    stride, n = np.uint64(by_row.shape[1]), np.uint64(out_by_column.shape[1])
    flat, out = by_row.reshape(-1), out_by_column.reshape(-1)
    for first in range(begin, end, COPIED_TOGETHER):
        length = np.uint64(min(COPIED_TOGETHER, end - first))
        start = np.uint64(first) * stride
        for j in range(len(positions)):
            source, target = start + np.uint64(positions[j]), np.uint64(targets[j]) * n + np.uint64(first)
            for i in range(length):
                out[target + i] = flat[source + i * stride]


@kernel
def sort_rows(rows: Any, order: Any, often: Any, out: Any) -> None:
    """Positions in `order` of the given rows, ascending, a row as often as it is given: often int32[n], zero before; out int32[m + 1]."""
    for i in range(len(rows)):
        often[rows[i]] += 1
    k = 0
    for i in range(len(order)):
        times = often[order[i]]
        out[k] = i  # overwritten if the row is not there: no branch to foresee
        k += times > 0
        for _again in range(1, times):
            out[k] = i
            k += 1


@inner
def add_lists(at: Any, cells: Any, begin: Any, end: Any, rows: Any, layout: int, unrounded: Any, table: Any) -> Any:
    """Add the listed cells of rows[begin:end] to a table; returns the sum of all rows."""
    last = U(end - 1)
    total = np.int64(0)
    for i in range(U(begin), U(end)):
        prefetch(at, U(rows[min(i + U(FAR), last)] >> 32))
        prefetch(cells, U(at[U(rows[min(i + U(NEAR), last)] >> 32)]) >> BITS)
        row = rows[i]
        value = added_value(row, layout, unrounded)
        total += value
        where = U(at[U(row >> 32)])
        k = where >> BITS
        for _four in range(where & LENGTH):
            table[U(cells[k])] += value
            table[U(cells[k + U(1)])] += value
            table[U(cells[k + U(2)])] += value
            table[U(cells[k + U(3)])] += value
            k += FOUR
    return total


@inner
def accumulate_lists(tree: Tree, rule: Rule, begin: Any, end: Any, rows: Any, layout: int, table: Any) -> None:
    """Add rows[begin:end] to a table of one word to a cell."""
    at = memory.entries_at(tree)
    unrounded = memory.unrounded(tree, layout == UNROUNDED_HESSIAN)
    if rule.n_cells <= SHORT_CELLS:
        total = add_lists(at, memory.short_entry_cells(tree), begin, end, rows, layout, unrounded, table)
    else:
        total = add_lists(at, memory.entry_cells(tree), begin, end, rows, layout, unrounded, table)
    fill_commonest(tree, rule, total, table)


@inner
def count_listed(at: Any, cells: Any, begin: Any, end: Any, rows: Any, out: Any) -> None:
    """Count the listed cells of rows[begin:end]."""
    last = U(end - 1)
    for i in range(U(begin), U(end)):
        prefetch(at, U(rows[min(i + U(FAR), last)] >> 32))
        prefetch(cells, U(at[U(rows[min(i + U(NEAR), last)] >> 32)]) >> BITS)
        where = U(at[U(rows[i] >> 32)])
        first = where >> BITS
        for k in range(first, first + FOUR * (where & LENGTH)):
            out[U(cells[k])] += 1


@inner
def count_lists(tree: Tree, rule: Rule, begin: Any, end: Any, rows: Any, out: Any) -> None:
    """Count rows[begin:end] per feature and code into out (n_cells)."""
    at = memory.entries_at(tree)
    if rule.n_cells <= SHORT_CELLS:
        count_listed(at, memory.short_entry_cells(tree), begin, end, rows, out)
    else:
        count_listed(at, memory.entry_cells(tree), begin, end, rows, out)
    fill_commonest(tree, rule, end - begin, out)


@inner
def fill_commonest(tree: Tree, rule: Rule, total: Any, table: Any) -> None:
    """Give the commonest code of each column what the others have left of the total."""
    commonest = memory.commonest_cells(tree)
    starts = memory.starts(tree)
    for f in range(rule.n_features):
        rest = np.int64(0)
        for cell in range(U(starts[f]), U(starts[f + 1])):
            rest += table[cell]
        table[commonest[f]] = total - rest


@inner
def add_lane_lists(lists: Any, rule: Rule, begin: Any, end: Any, rows: Any, stats: Any, table: Any, totals: Any) -> None:
    """As `add_lists`, for several outputs; lists = (at, cells)."""
    at, cells = lists
    last = U(end - 1)
    lanes = U(rule.lanes)
    fours = lanes // FOUR
    unread = rule.n_cells - 1
    for i in range(U(begin), U(end)):
        prefetch(at, U(rows[min(i + U(FAR), last)] >> 32))
        ahead = U(rows[min(i + U(NEAR), last)] >> 32)
        prefetch(cells, U(at[ahead]) >> BITS)
        prefetch(stats, ahead * lanes)
        number = U(rows[i] >> 32)
        source = number * lanes
        for w in range(fours):
            add_four(totals, w * FOUR, stats, source + w * FOUR)
        first = U(at[number]) >> BITS
        for k in range(first, first + FOUR * (U(at[number]) & LENGTH)):
            if cells[k] == unread:
                break
            cell = U(cells[k]) * lanes
            for w in range(fours):
                add_four(table, cell + w * FOUR, stats, source + w * FOUR)


@inner
def accumulate_lane_lists(tree: Tree, rule: Rule, begin: Any, end: Any, rows: Any, stats: Any, table: Any, totals: Any) -> None:
    """As `accumulate_lists`, for several outputs: stats int32[n * lanes] flat, totals int32[lanes]."""
    at = memory.entries_at(tree)
    if rule.n_cells <= SHORT_CELLS:
        add_lane_lists((at, memory.short_entry_cells(tree)), rule, begin, end, rows, stats, table, totals)
    else:
        add_lane_lists((at, memory.entry_cells(tree)), rule, begin, end, rows, stats, table, totals)
    fill_commonest_lanes(tree, rule, totals, table)


@inner
def fill_commonest_lanes(tree: Tree, rule: Rule, totals: Any, table: Any) -> None:
    """As `fill_commonest`, for several outputs."""
    commonest = memory.commonest_cells(tree)
    starts = memory.starts(tree)
    lanes = rule.lanes
    for f in range(rule.n_features):
        target = commonest[f] * lanes
        for k in range(lanes):
            table[target + k] = totals[k]
        for cell in range(starts[f], starts[f + 1]):
            if cell != commonest[f]:
                for k in range(lanes):
                    table[target + k] -= table[cell * lanes + k]
