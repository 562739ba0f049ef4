"""How statistics are packed, in a row and in a cell of a histogram, and the numbers of one growth.

A row carries its number and the upper bits of its statistics while a tree grows, in one word:

    row number 32 bits | g 16 bits | h 16 bits

What is rounded off, at most 17 bits of g and 15 of h, can be kept beside it: both together are the statistics, bit for bit.
"""

from typing import Any, NamedTuple

import numpy as np

from woodwind.kernels.runtime.jit import inlined, inner

# How the statistics of a histogram cell are kept (kernels/histogram/build_histograms.py says why there are three).
PACKED3 = 0  # one int64: gradient 28 bits, hessian 24, count 12; nodes of at most 4,095 rows
PACKED2 = 1  # one int64: gradient 32 bits, hessian 32; nodes of at most 65,535 rows
WIDE2 = 2  # two int64, in two planes; any number of rows
# Where gradients or hessians are of very different sizes, rows are not rounded to 15 bits, and every node is WIDE2.
UNROUNDED_GRADIENT = 3  # what a row adds to the first plane then
UNROUNDED_HESSIAN = 4  # and to the second

ROWS_PACKED3 = 4_095
ROWS_PACKED2 = 65_535

# Fixed point of the statistics of one row: gradient and hessian in 31 bits, (g << 32) + h in one int64.
ROW_BITS = 30
GRADIENT_SHIFT = 15  # histograms keep the upper 15 bits (and the sign) of a row's gradient
HESSIAN_SHIFT = 15  # and the upper 15 of its hessian
HESSIAN_SHIFT_PACKED3 = 18  # or the upper 12, where a count has to fit as well


class Rule(NamedTuple):
    """The numbers that score a split and end the growth, and the size of the table."""

    capacity: int  # of each of the two buffers of rows
    n_features: int
    n_words: int  # of eight codes each, in a row
    in_order: bool  # the root has all rows of the table, once each: they are put into the first buffer when they are summed
    once: bool  # no row comes twice: what it has lost of its statistics stands where its leaf will
    unrounded: bool  # statistics of rows are two int64, and histograms sum them as they are
    keep_rows: bool  # the rows of the finished tree are to stand leaf by leaf in the first buffer
    n_codes: int  # of a feature: codes are below it, the last one stands for a missing value
    n_cells: int  # of a histogram
    sharing_rows: int  # so many rows are summed with columns of few values sharing bytes
    order: int
    max_leaves: int
    max_depth: int
    min_split: int  # rows of a node that may be split
    min_rows: float
    min_hessian: float
    min_gain: float
    l1: float
    l2: float
    category_l2: float
    category_smooth: float
    path_smooth: float  # rows by which a value is drawn towards that of the node above; 0 for none
    max_step: float  # largest size of a value
    gradient_unit: float  # real gradient of one unit of a row's fixed-point gradient
    hessian_unit: float
    constant_hessian: bool  # every row has the same hessian: it counts rows
    row_hessian: float  # that hessian, in steps of a packed cell
    n_candidates: int  # features drawn per node; n_features for all
    level_candidates: int  # features drawn per level before that
    seed: int
    sparse: bool  # rows are lists of their uncommon cells
    least_piece: int  # rows that are worth a task of their own when summing
    bundled: bool  # rows are bytes of bundles of columns
    reordered: bool  # rows stand in an order of their own
    stored: bool  # the cells of columns are stored apart, but for those of their absent code
    lanes: int  # statistics of a row where a tree has several outputs, 0 where it has one
    outputs: int
    bounded: bool  # values are held back: by monotonic constraints, by a largest size, or by the node above
    grouped: bool  # interaction constraints are given


@inner
def with_stats(row: Any, stat: Any) -> Any:
    """A row number with the upper 15 bits (and sign) of its gradient and of its hessian, rounded."""
    gradient = min(((stat >> 32) + 16384) >> 15, 32767)
    hessian = ((stat & 0xFFFFFFFF) + 16384) >> 15
    return (np.int64(row) << 32) | ((gradient & 0xFFFF) << 16) | hessian


@inner
def rounded_off(row: Any, stat: Any) -> Any:
    """What a row with its statistics has lost of them: g 17 bits | h 15 bits, both with signs."""
    gradient = (stat >> 32) - (((row << 32) >> 48) << 15)
    hessian = (stat & 0xFFFFFFFF) - ((row & 0xFFFF) << 15)
    return np.int32((gradient << 15) | (hessian & 0x7FFF))


@inner
def whole_gradient(row: Any, rest: Any) -> Any:
    """The gradient of a row, nothing rounded off."""
    return (((row << 32) >> 48) << 15) + (np.int64(rest) >> 15)


@inner
def whole_hessian(row: Any, rest: Any) -> Any:
    """The hessian of a row, nothing rounded off."""
    return ((row & 0xFFFF) << 15) + ((np.int64(rest) << 49) >> 49)


@inlined
def added_value(row: Any, layout: int, unrounded: Any) -> Any:
    """What a row with its statistics adds to a cell: see `build_histograms` for the layouts; `unrounded` has those of all rows."""
    if layout >= UNROUNDED_GRADIENT:
        return unrounded[np.uint64(row >> 32)]
    gradient = (row << 32) >> 48
    hessian = row & 0xFFFF
    if layout == PACKED3:
        return (gradient << 36) + (((hessian + 4) >> 3) << 12) + 1
    return (gradient << 32) + hessian
