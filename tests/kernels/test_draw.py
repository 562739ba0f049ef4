"""Rows drawn by key: the compiled hash against NumPy's and Python's."""

import numpy as np
import pytest

from reference import naive_draw as naive
from woodwind.base import random_streams
from woodwind.kernels.runtime import keys as draw
from woodwind.kernels.runtime.jit import kernel


@kernel
def hash_block(key, first, out):
    draw.hash_block(key, first, out)


@kernel
def draw_share_range(key, begin, end, threshold, out):
    return draw.draw_share_range(key, begin, end, threshold, out)


KEYS = [0, 1, random_streams.key(0, "rows", 5), (1 << 63) - 1]


@pytest.mark.parametrize("key", KEYS)
def test_compiled_hash_equals_the_one_of_numpy_bit_for_bit(key):
    out = np.empty(1000, np.uint64)
    hash_block(key, 12_345, out)
    np.testing.assert_array_equal(out, random_streams.hashes(key, 1000, first=12_345))
    assert out[:20].tolist() == [naive.hash_item(key, item) for item in range(12_345, 12_365)]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.999, 1.0])
@pytest.mark.parametrize("n", [0, 1, 511, 512, 1500])
def test_share_holds_the_rows_whose_uniform_number_is_below_it(n, share):
    out = np.full(n, -1, np.int32)
    key, threshold = random_streams.key(1), random_streams.share_threshold(share)
    drawn = draw.draw_share(key, n, threshold, out)
    assert out[:drawn].tolist() == np.flatnonzero(random_streams.uniform(key, n) < share).tolist()
    assert out[:drawn].tolist() == naive.draw_share(key, 0, n, threshold)


def test_share_of_a_range_is_that_part_of_the_whole():
    key, threshold = random_streams.key(2), random_streams.share_threshold(0.3)
    parts = []
    for begin, end in ((0, 700), (700, 701), (701, 2000)):
        out = np.empty(end - begin, np.int32)
        parts += out[: draw_share_range(key, begin, end, threshold, out)].tolist()
    assert parts == naive.draw_share(key, 0, 2000, threshold)


@pytest.mark.parametrize(("n", "m"), [(1, 0), (1, 1), (10, 3), (513, 513), (2000, 1), (2000, 1234)])
def test_exact_draw_holds_exactly_the_rows_with_the_smallest_hashes(n, m):
    out = np.full(m, -1, np.int32)
    key = random_streams.key(3, n, m)
    assert draw.draw_exact(key, n, m, out) == m
    assert out.tolist() == random_streams.choose(key, n, m).tolist() == naive.draw_exact(key, n, m)


def test_exact_draw_of_many_rows_needs_several_rounds_of_counting():
    n, m = 300_000, 123_457
    out = np.empty(m, np.int32)
    assert draw.draw_exact(random_streams.key(4), n, m, out) == m
    np.testing.assert_array_equal(out, random_streams.choose(random_streams.key(4), n, m))


@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 5), (10, 10), (700, 700), (700, 100), (100, 700)])
def test_bootstrap_is_ascending_and_equals_its_twins(n, m):
    key = random_streams.key(5, n)
    out, counts = np.full(m, -1, np.int32), np.empty(n, np.int32)
    draw.draw_bootstrap(key, n, m, out)
    assert out.tolist() == np.sort(random_streams.integers(key, n, m)).tolist() == naive.draw_bootstrap(key, n, m)
    draw.count_bootstrap(key, n, m, counts)
    np.testing.assert_array_equal(counts, np.bincount(out, minlength=n))


def test_bootstrap_leaves_out_about_a_third_of_the_rows():
    n = 100_000
    counts = np.empty(n, np.int32)
    draw.count_bootstrap(random_streams.key(6), n, n, counts)
    # exp(-1) = 0.3679 with a standard deviation of about 0.001.
    assert (counts == 0).mean() == pytest.approx(np.exp(-1), abs=0.005)
    assert counts.sum() == n
