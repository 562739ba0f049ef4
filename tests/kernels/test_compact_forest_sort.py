"""Keys in the order of their codes, against `sorted`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from woodwind.kernels.forest.sort import DIGIT, FEW, LAST_KEY, count_smaller, sort_keys
from woodwind.kernels.runtime.jit import kernel

U = np.uint64


@kernel
def sort_all(keys, other, low, high, counts):
    sort_keys(keys, other, U(len(keys)), low, high, counts)


@kernel
def ranks_of(few, room, size, out):
    for i in range(U(size)):
        out[i] = count_smaller(few, U(room), i)


def check(codes):
    codes = np.asarray(codes, np.int64)
    keys = (codes << 32) + np.arange(len(codes))
    wanted = np.sort(keys)
    counts = np.empty(max(len(codes), 1 << DIGIT) + 1, np.int32)
    sort_all(keys, np.empty_like(keys), codes.min(), codes.max(), counts)
    np.testing.assert_array_equal(keys >> 32, wanted >> 32)
    np.testing.assert_array_equal(np.sort(keys), wanted)


@given(st.lists(st.integers(0, 1 << 26), min_size=1, max_size=200))
def test_any_codes(codes):
    check(codes)


@pytest.mark.parametrize("size", [2, 33, 1000, 4096, 4097, 20_000])
@pytest.mark.parametrize("shape", ["even", "one far away", "two heaps", "few values", "falling"])
def test_codes_of_every_shape(size, shape):
    rng = np.random.default_rng(size)
    codes = {
        "even": rng.permutation(size),
        "one far away": np.append(rng.permutation(size - 1), 1 << 30),
        "two heaps": np.where(rng.random(size) < 0.5, rng.permutation(size), (1 << 29) + rng.permutation(size)),
        "few values": rng.integers(0, 3, size) * 1_000_003,
        "falling": np.arange(size)[::-1] ** 2 % (1 << 30),
    }[shape]
    check(codes)


@pytest.mark.parametrize("size", range(1, FEW + 1))
def test_few_are_counted(size):
    few = np.full(FEW, LAST_KEY, np.int32)
    few[:size] = np.random.default_rng(size).permutation(1000)[:size]
    room = next(room for room in (8, 16, 32) if room >= size)
    ranks = np.empty(size, np.int64)
    ranks_of(few, room, size, ranks)
    np.testing.assert_array_equal(ranks, np.argsort(np.argsort(few[:size])))
