"""Shapes and switches of the histogram engine, shared by its kernels and the Python around them."""

from typing import NamedTuple

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
    width: int  # codes are below it; the last one stands for a missing value
    n_cells: int  # of a histogram
    sharing_rows: int  # so many rows are summed with columns of few values sharing bytes
    order: int
    max_leaves: int
    max_depth: int
    min_rows: float
    min_hessian: float
    min_gain: float
    l1: float
    l2: float
    category_l2: float
    category_smooth: float
    gradient_unit: float  # real gradient of one unit of a row's fixed-point gradient
    hessian_unit: float
    constant_hessian: bool  # every row has the same hessian: it counts rows
    row_hessian: float  # that hessian, in steps of a packed cell
    n_candidates: int  # features drawn per node; n_features for all
    level_candidates: int  # features drawn per level before that
    seed: int
    sparse: bool  # rows are lists of their uncommon cells
    lanes: int  # statistics of a row where a tree has several outputs, 0 where it has one
    outputs: int
    bounded: bool  # some feature has a monotonic constraint
    grouped: bool  # interaction constraints are given
