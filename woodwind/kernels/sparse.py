"""Rows as lists of what is unusual about them.

Where most codes of most columns are the column's commonest one (counts, one-hot columns), a histogram need not add those:
a row is the list of its other cells, and the cell of the commonest code is the node's total minus the rest.
Lists are filled up to a multiple of four with a cell that nobody reads, the last one, so that a row is a few rounds of four
additions each: a fifth faster than one by one, where the end of the list is foreseen less often.
"""

from typing import Any

import numpy as np

from woodwind.kernels.growing import COMMONEST, ENTRIES_AT, ENTRY_CELLS, STARTS
from woodwind.kernels.intrinsics import add_four, int_list, prefetch, row_list
from woodwind.kernels.jit import inner, kernel
from woodwind.kernels.layout import PACKED3

U = np.uint64
FAR = 32  # rows between asking for the place of a row's list and using it
NEAR = 12  # rows between asking for the list itself and using it
FOUR = U(4)


@kernel
def count_codes(by_column: Any, out: Any) -> None:
    """How often each code occurs in each column: out int64[F, 256]."""
    for f in range(by_column.shape[0]):
        for i in range(by_column.shape[1]):
            out[f, by_column[f, i]] += 1


@kernel
def count_entries(by_column: Any, commonest: Any, out_at: Any) -> None:
    """Length of each row's list, at out_at[row + 1]."""
    for f in range(by_column.shape[0]):
        for i in range(by_column.shape[1]):
            out_at[i + 1] += by_column[f, i] != commonest[f]


@kernel
def write_entries(by_row: Any, stride: Any, commonest: Any, starts: Any, at: Any, out_cells: Any) -> None:
    """Cells of each row that are not the commonest of their column, then the one that nobody reads."""
    for i in range(len(at) - 1):
        place = at[i]
        for f in range(len(commonest)):
            code = np.int64(by_row[i * stride + f])
            if code != commonest[f]:
                out_cells[place] = min(starts[f] + code, starts[f + 1] - 1)
                place += 1
        while place < at[i + 1]:
            out_cells[place] = starts[len(commonest)]
            place += 1


@inner
def accumulate_lists(growing: Any, begin: Any, end: Any, rows: Any, layout: Any, table: Any) -> Any:
    """Add rows[begin:end] to a packed table, but for the commonest code of each column; returns the sum of all rows."""
    at = int_list(growing, ENTRIES_AT)
    cells = row_list(growing, ENTRY_CELLS)
    last = U(end - 1)
    total = np.int64(0)
    for i in range(U(begin), U(end)):
        prefetch(at, U(rows[min(i + U(FAR), last)] >> 32))
        prefetch(cells, U(at[U(rows[min(i + U(NEAR), last)] >> 32)]))
        row = rows[i]
        gradient = (row << 32) >> 48
        hessian = row & 0xFFFF
        if layout == PACKED3:
            value = (gradient << 36) + (((hessian + 4) >> 3) << 12) + 1
        else:
            value = (gradient << 32) + hessian
        total += value
        number = U(row >> 32)
        for k in range(U(at[number]), U(at[number + U(1)]), FOUR):
            table[U(cells[k])] += value
            table[U(cells[k + U(1)])] += value
            table[U(cells[k + U(2)])] += value
            table[U(cells[k + U(3)])] += value
    return total


@inner
def fill_commonest(growing: Any, rule: Any, total: Any, table: Any) -> None:
    """Give the commonest code of each column what the others have left of the total."""
    commonest = int_list(growing, COMMONEST)
    starts = int_list(growing, STARTS)
    for f in range(rule.n_features):
        rest = np.int64(0)
        for cell in range(U(starts[f]), U(starts[f + 1])):
            rest += table[cell]
        table[commonest[f]] = total - rest


@inner
def accumulate_lane_lists(growing: Any, rule: Any, begin: Any, end: Any, rows: Any, stats: Any, table: Any, totals: Any) -> None:
    """As `accumulate_lists`, for several outputs: stats int32[n * lanes] flat, totals int32[lanes]."""
    at = int_list(growing, ENTRIES_AT)
    cells = row_list(growing, ENTRY_CELLS)
    last = U(end - 1)
    lanes = U(rule.lanes)
    fours = lanes // FOUR
    unread = rule.n_cells - 1
    for i in range(U(begin), U(end)):
        prefetch(at, U(rows[min(i + U(FAR), last)] >> 32))
        ahead = U(rows[min(i + U(NEAR), last)] >> 32)
        prefetch(cells, U(at[ahead]))
        prefetch(stats, ahead * lanes)
        number = U(rows[i] >> 32)
        source = number * lanes
        for w in range(fours):
            add_four(totals, w * FOUR, stats, source + w * FOUR)
        for k in range(U(at[number]), U(at[number + U(1)])):
            if cells[k] == unread:
                break
            cell = U(cells[k]) * lanes
            for w in range(fours):
                add_four(table, cell + w * FOUR, stats, source + w * FOUR)


@inner
def fill_commonest_lanes(growing: Any, rule: Any, totals: Any, table: Any) -> None:
    """As `fill_commonest`, for several outputs."""
    commonest = int_list(growing, COMMONEST)
    starts = int_list(growing, STARTS)
    lanes = rule.lanes
    for f in range(rule.n_features):
        target = commonest[f] * lanes
        for k in range(lanes):
            table[target + k] = totals[k]
        for cell in range(starts[f], starts[f + 1]):
            if cell != commonest[f]:
                for k in range(lanes):
                    table[target + k] -= table[cell * lanes + k]
