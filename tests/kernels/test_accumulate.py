"""Histograms against sums over rows one by one; small enough to run with the compiler off, unless marked."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from reference.coded import SCALES, coded, packed, random_codes, random_stats
from reference.naive_histograms import coarse, histogram
from woodwind.kernels.histogram import memory
from woodwind.kernels.histogram.build_histograms import accumulate, count_rows, fill_rows, subtract
from woodwind.kernels.histogram.layout import PACKED2, PACKED3, ROWS_PACKED2, ROWS_PACKED3, WIDE2
from woodwind.kernels.runtime.jit import kernel
from woodwind.tree.histogram_grower import HistogramGrower
from woodwind.tree.settings import TreeSettings

LAYOUTS = [PACKED3, PACKED2, WIDE2]


@kernel
def sum_rows(growing: Any, rule: Any, begin: Any, end: Any, layout: Any, table: Any, counts: Any) -> None:
    """Add the rows begin to end of the first buffer to a table, and their number to counts."""
    rows = memory.rows(growing)
    accumulate(growing, rule, begin, end, rows, layout, table, 0)
    count_rows(growing, rule, begin, end, rows, counts)


@kernel
def difference(parent: Any, child: Any, child_wide: Any, out: Any, out_wide: Any, begin: Any, end: Any) -> None:
    """The cells begin to end of a wide parent without those of a child."""
    subtract(parent, child, child_wide, out, out_wide, begin, end, len(parent) // 2)


def ready(codes, stats, rows=None, **settings):
    """A grower whose first buffer holds the rows."""
    grower = HistogramGrower(codes, TreeSettings(**settings), 1, None if rows is None else len(rows))
    grower.stats_to_fill()[:] = stats
    n = codes.n_rows if rows is None else len(rows)
    fill_rows(grower._space.directory, rows, None, 0, n)
    return grower, grower._rule(SCALES, 0, False), n


def tables(codes, stats, layout, rows=None, pieces=1):
    """The table of all rows, summed in pieces, and the counts."""
    grower, rule, n = ready(codes, stats, rows)
    cells = rule.n_cells
    table = np.zeros(2 * cells if layout == WIDE2 else cells, np.int64)
    counts = np.zeros(cells, np.int64)
    for piece in range(pieces):
        sum_rows(grower._space.directory, rule, n * piece // pieces, n * (piece + 1) // pieces, layout, table, counts)
    return table, counts


def test_a_row_carries_the_upper_bits_of_its_statistics():
    codes = random_codes(0, 60)
    gradient = np.concatenate([[1.0, -1.0, 1.0 - 2.0**-17, -1.0 + 2.0**-17, 2.0**-16, -(2.0**-16), 0.0], np.linspace(-1, 1, 53)])
    stats = packed(gradient, np.linspace(0.0, 0.25, 60))
    grower, _rule, _n = ready(codes, stats)
    words = grower._space["rows"][:60]
    assert_array_equal(words >> 32, np.arange(60))
    assert_array_equal((words << 32) >> 48, coarse(stats)[0])
    assert_array_equal(words & 0xFFFF, coarse(stats)[1])
    assert ((words << 32) >> 48).min() == -32768
    assert ((words << 32) >> 48).max() == 32767
    assert (words & 0xFFFF).max() == 32768
    # Nothing is further from the truth than half a step, but for the highest value, which has no room.
    error = abs(((words << 32) >> 48) / 32768 - gradient)
    assert error[gradient < 1.0 - 2.0**-16].max() <= 2.0**-16
    assert error.max() <= 2.0**-15


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("features", [1, 3, 4, 7, 8, 9, 13, 17])
def test_a_histogram_is_the_sum_over_rows(layout, features):
    codes = random_codes(features, 70, (0,) * features, bins=6)
    stats = random_stats(features, codes)
    table, counts = tables(codes, stats, layout)
    assert_array_equal(table, histogram(codes.by_column, codes.width, range(70), stats, layout))
    assert_array_equal(counts, [(column == code).sum() for column in codes.by_column for code in range(codes.width)])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_sum_of_parts_is_the_whole_and_rows_count_as_often_as_they_are_given(layout):
    codes = random_codes(5, 50, (0, 3, 0))
    stats = random_stats(5, codes)
    rows = np.array([3, 3, 3, 0, 49, 7, 7, 20] * 9, np.int32)
    expected = histogram(codes.by_column, codes.width, rows.tolist(), stats, layout)
    for pieces in (1, 2, 5):
        assert_array_equal(tables(codes, stats, layout, rows, pieces)[0], expected)


def extreme(n, sign):
    """One bin full of rows with the largest statistics there are."""
    codes = coded(np.zeros((1, n), np.uint8), np.array([2], np.int32), np.array([False]))
    return codes, packed(np.full(n, float(sign)), np.full(n, 0.25))


@pytest.mark.compiled
@pytest.mark.parametrize("sign", [1, -1])
def test_no_field_of_a_packed_cell_overflows(sign):
    largest = 32767 if sign > 0 else -32768
    for n, layout in ((ROWS_PACKED3, PACKED3), (ROWS_PACKED2, PACKED2), (3 * ROWS_PACKED2 + 5, WIDE2)):
        cell = tables(*extreme(n, sign), layout)[0]
        plane = len(cell) // 2
        if layout == PACKED3:
            assert (cell[0] >> 36, (cell[0] >> 12) & 0xFFFFFF, cell[0] & 0xFFF) == (n * largest, n * 4096, n)
        elif layout == PACKED2:
            assert (cell[0] >> 32, cell[0] & 0xFFFFFFFF) == (n * largest, n * 32768)
            assert n * 32768 < 2**31  # the scan reads the field as a signed one
        else:
            assert (cell[0], cell[plane]) == (n * largest, n * 32768)
        assert_array_equal(np.delete(cell, [0, plane] if layout == WIDE2 else [0]), 0)


@pytest.mark.compiled
def test_a_wide_table_is_summed_in_blocks_without_loss():
    codes = random_codes(1, ROWS_PACKED2 + 100, (0, 0))
    stats = random_stats(1, codes)
    gradient, hessian = coarse(stats)
    table = tables(codes, stats, WIDE2)[0].reshape(2, 2, codes.width)
    for f in range(2):
        for code in range(codes.width):
            rows = codes.by_column[f] == code
            assert (table[0, f, code], table[1, f, code]) == (gradient[rows].sum(), hessian[rows].sum())


@pytest.mark.parametrize(("child_layout", "out_layout"), [(PACKED2, PACKED2), (PACKED2, WIDE2), (WIDE2, WIDE2)])
def test_the_difference_of_histograms_is_the_histogram_of_the_other_rows(child_layout, out_layout):
    codes = random_codes(3, 90, (0, 0, 4))
    stats = random_stats(3, codes)
    rows = np.arange(90, dtype=np.int32)
    parent, child = tables(codes, stats, WIDE2)[0], tables(codes, stats, child_layout, rows[:30])[0]
    expected = tables(codes, stats, out_layout, rows[30:])[0]
    cells = codes.n_features * codes.width
    out = np.zeros_like(expected)
    for begin, end in ((0, 10), (10, cells)):  # by blocks of features, as threads do
        difference(parent, child, child_layout == WIDE2, out, out_layout == WIDE2, begin, end)
    assert_array_equal(out, expected)
    if out_layout == WIDE2:
        difference(parent, child, child_layout == WIDE2, parent, True, 0, cells)
        assert_array_equal(parent, expected)
