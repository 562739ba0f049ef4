"""The shape of codes."""

import numpy as np
import pytest

from woodwind.data.codes import Codes, row_stride, width_for


@pytest.mark.parametrize(("n_features", "stride"), [(1, 8), (8, 8), (9, 16), (28, 32)])
def test_rows_are_whole_words(n_features, stride):
    assert row_stride(n_features) == stride


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
    codes = Codes(np.zeros((2, 3), np.uint8), np.zeros((3, 8), np.uint8), np.array([2, 3], np.int32), 8, np.array([False, True]))
    assert (codes.n_features, codes.n_rows, codes.missing, codes.unseen) == (2, 3, 7, 6)
