"""The shape of codes."""

import numpy as np
import pytest

from reference.coded import random_codes
from woodwind.base.scratch import LINE
from woodwind.data.binning.codes import Codes, aligned_rows, row_stride, width_for


@pytest.mark.parametrize(("n_features", "stride"), [(1, 8), (8, 8), (9, 16), (28, 32)])
def test_rows_are_whole_words(n_features, stride):
    assert row_stride(n_features) == stride


@pytest.mark.parametrize("n", [1, 7, 400_000])
def test_rows_begin_at_a_line_of_the_cache(n):
    rows = aligned_rows(n, 24)
    assert rows.shape == (n, 24)
    assert rows.flags.c_contiguous
    assert rows.ctypes.data % LINE == 0


def test_rows_that_are_taken_begin_there_as_well():
    codes, rows = random_codes(0, 50, (0, 4, 0)), np.array([3, 3, 49, 0])
    taken = codes.take(rows)
    np.testing.assert_array_equal(taken.by_column, codes.by_column[:, rows])
    np.testing.assert_array_equal(taken.by_row, codes.by_row[rows])
    assert taken.by_row.ctypes.data % LINE == 0
    assert len(codes.take(rows[:0]).by_row) == 0
    for wrong in (50, -51):
        with pytest.raises(IndexError, match="there are 50 rows"):
            codes.take(np.array([3, wrong]))


@pytest.mark.parametrize(
    ("n_bins", "is_category", "width"),
    [
        ([1], [False], 4),
        ([3], [False], 4),
        ([3], [True], 8),
        ([2], [True], 4),
        ([15, 4], [False, True], 16),
        ([16], [False], 32),
        ([255], [False], 256),
        ([253], [True], 256),
    ],
)
def test_the_width_has_room_for_the_bins_and_the_two_codes_beside_them(n_bins, is_category, width):
    assert width_for(np.array(n_bins, np.int32), np.array(is_category)) == width


def test_the_codes_that_are_no_bins_are_the_last_two():
    codes = Codes(np.zeros((3, 8), np.uint8), np.array([2, 3], np.int32), 8, np.array([False, True]), np.arange(2))
    assert (codes.n_features, codes.n_rows, codes.missing, codes.unseen) == (2, 3, 7, 6)
