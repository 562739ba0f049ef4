"""Rows of a node to rows of its children, against lists."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from reference import naive_histograms as naive
from woodwind.kernels.histogram.partition_rows import count_left, place_rows, split_rows
from woodwind.kernels.runtime.jit import kernel

# Positions are unsigned and wrap on purpose. Compiled code says nothing; without the compiler NumPy warns.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in scalar:RuntimeWarning")


@kernel
def split(codes: Any, goes: Any, source: Any, begin: Any, end: Any, target: Any, seen: Any) -> int:
    return split_rows(codes, goes, source, begin, end, target, seen)


@kernel
def count(codes: Any, goes: Any, source: Any, begin: Any, end: Any, sides: Any, seen: Any) -> int:
    return count_left(codes, goes, source, begin, end, sides, seen)


@kernel
def place(sides: Any, source: Any, begin: Any, end: Any, target: Any, low: Any, high: Any) -> None:
    place_rows(sides, source, begin, end, target, low, high)


def drawn(seed, n):
    """Codes, the side of each code, and rows with their statistics in the lower half of the word."""
    rng = np.random.default_rng(seed)
    column, goes = rng.integers(0, 8, n).astype(np.uint8), np.zeros(256, np.uint8)
    goes[:8] = rng.integers(0, 2, 8)
    rows = rng.permutation(n)
    return column, goes, rows, (rows << 32) | rng.integers(0, 2**32, n)


def apart(column, step):
    """The codes of a column as they stand in rows of so many bytes, and that number."""
    table = np.full((len(column), step), 99, np.uint8)
    table[:, 0] = column
    return table.reshape(-1), np.uint64(step)


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.integers(1, 60), st.integers(0, 59), st.integers(0, 59), st.sampled_from([1, 8, 40]))
def test_rows_go_to_both_ends_and_take_their_statistics_along(seed, n, a, b, apart_by):
    column, goes, rows, source = drawn(seed, n)
    begin, end = min(a % n, b % n), max(a % n, b % n) + 1  # no task is empty
    target, seen = np.full(n, -1), np.zeros(256, np.uint8)
    left = split(apart(column, apart_by), goes, source, begin, end, target, seen)
    order, expected, met = naive.split_rows(column.tolist(), goes.tolist(), rows[begin:end].tolist())
    assert left == expected
    assert_array_equal(target[begin:end] >> 32, order)
    assert set(target[begin:end].tolist()) == set(source[begin:end].tolist())
    assert_array_equal(np.delete(target, np.arange(begin, end)), -1)  # nothing is written beside the node
    assert set(np.flatnonzero(seen).tolist()) == met


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.integers(1, 60), st.integers(1, 20), st.sampled_from([1, 8, 40]))
def test_blocks_placed_one_by_one_are_the_rows_of_both_sides_in_order(seed, n, step, apart_by):
    column, goes, rows, source = drawn(seed, n)
    codes = apart(column, apart_by)
    blocks = [(first, min(first + step, n)) for first in range(0, n, step)]
    seen, sides = np.zeros((len(blocks), 256), np.uint8), np.full(n, 9, np.uint8)
    lefts = [count(codes, goes, source, begin, end, sides, seen[k]) for k, (begin, end) in enumerate(blocks)]
    target = np.full(n, -1)
    low, high = 0, sum(lefts)
    for (begin, end), left in zip(blocks, lefts, strict=True):
        place(sides, source, begin, end, target, low, high)
        low, high = low + left, high + end - begin - left
    goes_left = goes[column[rows]] == 1
    assert_array_equal(target, np.concatenate([source[goes_left], source[~goes_left]]))
    assert set(np.flatnonzero(seen.any(axis=0)).tolist()) == set(column.tolist())
