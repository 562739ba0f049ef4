"""Bytes that columns of few values share: written, summed and taken apart again."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from reference import naive_shared_bytes as slow
from woodwind.kernels.histogram import build_histograms as fast
from woodwind.kernels.histogram.memory import LAYOUT
from woodwind.kernels.runtime.jit import kernel
from woodwind.kernels.runtime.records import Memory

OCCUR = [[0, 1, 255], [3], [0, 7], [1, 2, 3, 4, 5, 6, 7, 9]]


@kernel
def take_apart(growing: Any, shared: Any, table: Any) -> None:
    """Add the sums of shared bytes to the table."""
    fast.spread(growing, shared, table)


def rows_of(n=60):
    """Rows of six codes, of which the columns 4, 0, 5 and 2 have those that occur."""
    rng = np.random.default_rng(3)
    by_row = rng.integers(0, 256, (n, 8)).astype(np.uint8)
    for place, known in zip((4, 0, 5, 2), OCCUR, strict=True):
        by_row[:, place] = rng.choice(known, n)
    return by_row


def test_codes_that_occur_are_marked():
    by_row = rows_of()
    out = np.zeros((3, 256), np.uint8)
    fast.note_codes(by_row, np.array([4, 0, 1]), 0, 25, out)
    fast.note_codes(by_row, np.array([4, 0, 1]), 25, 60, out)
    assert [set(np.flatnonzero(marks).tolist()) for marks in out] == slow.note_codes(by_row, [4, 0, 1])


def test_a_byte_is_the_number_of_a_combination():
    by_row = rows_of()
    before = by_row.copy()
    parts, factor = np.zeros((4, 256), np.uint8), 1
    for part, known in zip(parts, OCCUR, strict=True):
        part[known] = factor * np.arange(len(known))
        factor *= len(known)
    fast.write_shared(by_row, np.array([4, 0, 5, 2]), parts, 7, 10, 50)
    assert_array_equal(by_row[:, :7], before[:, :7])
    assert_array_equal(by_row[:10, 7], before[:10, 7])
    assert_array_equal(by_row[50:, 7], before[50:, 7])
    expected = [slow.shared_byte(row[[4, 0, 5, 2]].tolist(), OCCUR) for row in before[10:50]]
    assert by_row[10:50, 7].tolist() == expected
    assert len(set(expected)) > 20


@pytest.mark.parametrize("first", [0, 256])
def test_sums_of_combinations_are_taken_apart(first):
    size = int(np.prod([len(known) for known in OCCUR]))
    shared = np.zeros(512, np.int64)
    shared[first : first + size] = np.random.default_rng(0).integers(-(2**50), 2**50, size)
    codes, factor = np.zeros((4, 256), np.uint8), 1
    for row, known in zip(codes, OCCUR, strict=True):
        row[:size] = np.array(known)[np.arange(size) // factor % len(known)]
        factor *= len(known)
    starts = [512, 0, 1024, 256]
    space = Memory(LAYOUT, sharers=np.array([(first, size, start) for start in starts]), sharer_codes=codes)
    table = np.full(5 * 256, 11, np.int64)
    take_apart(space.directory, shared, table)
    expected = np.full(5 * 256, 11, np.int64)
    for start, sums in zip(starts, slow.spread(shared[first : first + size].tolist(), OCCUR), strict=True):
        for code, value in sums.items():
            expected[start + code] += value
    assert_array_equal(table, expected)
