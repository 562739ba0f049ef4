"""Comparisons of many numbers at once, against one number after another."""

import numpy as np
import pytest

from woodwind.kernels.runtime.jit import kernel
from woodwind.kernels.runtime.simd import WORD, bits_above_zero, sum_in_8_lanes, sum_in_16_lanes, sum_in_32_lanes, sum_in_64_lanes

U = np.uint64


@kernel
def words_above_zero(numbers, out):
    for k in range(U(len(out))):
        out[k] = bits_above_zero(numbers, k * U(WORD))


@kernel
def sums_in_lanes(codes, words, size, lanes, out):
    if lanes == 8:
        sum_in_8_lanes(codes, words, U(size), out)
    elif lanes == 16:
        sum_in_16_lanes(codes, words, U(size), out)
    elif lanes == 32:
        sum_in_32_lanes(codes, words, U(size), out)
    else:
        sum_in_64_lanes(codes, words, U(size), out)


def test_a_bit_is_set_for_every_number_above_zero():
    rng = np.random.default_rng(3)
    numbers = rng.choice(np.array([-(1 << 60), -1, 0, 1, 2, 1 << 40]), 4 * WORD)
    out = np.zeros(4, np.uint64)
    words_above_zero(numbers, out)
    assert [bool((int(out[j // WORD]) >> (j % WORD)) & 1) for j in range(len(numbers))] == (numbers > 0).tolist()


@pytest.mark.parametrize("lanes", [8, 16, 32, 64])
def test_every_lane_has_the_sum_of_what_is_not_above_it(lanes):
    rng = np.random.default_rng(lanes)
    for size in (1, lanes // 2 + 1, lanes):
        codes = rng.integers(0, lanes // 2, lanes).astype(np.int32)
        words = rng.integers(0, 1 << 20, lanes).astype(np.int32)
        out = np.full(lanes, -1, np.int32)
        sums_in_lanes(codes, words, size, lanes, out)
        assert out.tolist() == [int(words[:size][codes[:size] <= code].sum()) for code in codes]
