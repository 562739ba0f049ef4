"""Noise on gradients: the compiled one against its twins, and what it is like."""

from typing import Any

import numpy as np
import pytest
from numba import config
from numpy.testing import assert_array_equal

from reference import naive_noise as naive
from reference.coded import packed, random_codes, random_stats
from woodwind.base.random_streams import key
from woodwind.kernels.histogram import gradient_noise as noise
from woodwind.kernels.histogram.build_histograms import fill_rows
from woodwind.kernels.runtime.jit import kernel
from woodwind.tree.histogram_grower import HistogramGrower
from woodwind.tree.settings import TreeSettings

# Hashes and places are unsigned and wrap on purpose. Compiled code says nothing; without the compiler NumPy warns.
pytestmark = pytest.mark.filterwarnings("ignore:(overflow|invalid value|divide by zero) encountered in scalar:RuntimeWarning")

NAME = key(5, "gradient noise")
ORDER = np.random.default_rng(0).permutation(60).astype(np.int32)
GIVEN = [None, np.array([3, 3, 3, 59, 0, 7, 7, 20, 41], np.int32)]
MANY = 2_000 if config.DISABLE_JIT else 200_000


@kernel
def fill_noise(key: Any, factor: Any, out: Any) -> None:
    for i in range(len(out)):
        out[i] = noise.noise_of(np.uint64(key), np.uint64(i), factor)


def ready(stats, rows, order):
    """A grower whose first buffer holds the rows, and how many."""
    grower = HistogramGrower(random_codes(0, 60), TreeSettings())
    grower.stats_to_fill()[:] = stats
    n = 60 if rows is None else len(rows)
    fill_rows(grower._space.directory, rows, order, 0, n)
    return grower, n


@pytest.mark.parametrize("order", [None, ORDER], ids=["own order", "another order"])
@pytest.mark.parametrize("rows", GIVEN, ids=["all", "repeated"])
@pytest.mark.parametrize("factor", [0, 1, 700, 20_000, 10_000_000])
def test_rows_are_disturbed_as_the_twin_says(rows, order, factor):
    grower, n = ready(random_stats(1, random_codes(0, 60)), rows, order)
    words = grower._space["rows"][:n].tolist()
    assert noise.square_rows(grower._space.directory, 0, n) == naive.square_rows(words)
    parts = [noise.square_rows(grower._space.directory, *ends) for ends in ((0, 4), (4, n))]
    assert sum(parts) == naive.square_rows(words)
    for begin, end in ((0, 4), (4, n)):  # by ranges, as threads do
        noise.disturb_rows(grower._space.directory, order, NAME, factor, begin, end)
    out = grower._space["rows"][:n]
    assert out.tolist() == naive.disturb_rows(words, None if order is None else order.tolist(), NAME, factor)
    # Whose row it is, and its hessian, stay.
    assert_array_equal(out >> 32, np.array(words) >> 32)
    assert_array_equal(out & 0xFFFF, np.array(words) & 0xFFFF)
    assert (out.tolist() == words) == (factor == 0)


def test_a_disturbed_gradient_stays_in_its_field():
    stats = packed(np.tile([1.0, -1.0, 0.0], 20), np.full(60, 0.25))
    grower, n = ready(stats, None, None)
    noise.disturb_rows(grower._space.directory, None, NAME, 10_000_000, 0, n)
    words = grower._space["rows"][:n]
    gradient = (words << 32) >> 48
    assert (gradient.min(), gradient.max()) == (-32767, 32767)
    assert (words & 0xFFFF).tolist() == [32768] * 60


def test_a_row_has_the_same_noise_wherever_it_stands_and_however_often():
    stats = np.zeros(60, np.int64)
    whole, n = ready(stats, None, None)
    noise.disturb_rows(whole._space.directory, None, NAME, 5000, 0, n)
    of_row = (whole._space["rows"][:n] << 32) >> 48
    for rows, order in ((GIVEN[1], None), (None, ORDER), (GIVEN[1], ORDER)):
        other, n = ready(stats, rows, order)
        noise.disturb_rows(other._space.directory, order, NAME, 5000, 0, n)
        places = np.arange(60) if rows is None else rows
        names = places if order is None else order[places]
        assert_array_equal((other._space["rows"][:n] << 32) >> 48, of_row[names])


@pytest.mark.parametrize("order", [None, ORDER], ids=["own order", "another order"])
@pytest.mark.parametrize("rows", GIVEN, ids=["all", "repeated"])
def test_lanes_are_disturbed_as_the_twin_says(rows, order):
    grower, n = ready(np.zeros(60, np.int64), rows, order)
    lanes = np.random.default_rng(1).integers(-9000, 9000, (60, 8)).astype(np.int32)
    before, names = lanes.tolist(), None if order is None else order.tolist()
    out = np.zeros(3, np.int64)
    for begin, end in ((0, 4), (4, n)):
        noise.square_lanes(grower._space.directory, lanes, begin, end, out)
    assert out.tolist() == naive.square_lanes(before, range(60) if rows is None else rows.tolist(), 3)
    factors = np.array([0, 3000, 90_000], np.int64)
    for begin, end in ((0, 17), (17, 60)):
        noise.disturb_lanes(lanes, order, NAME, factors, 9500, begin, end)
    assert lanes.tolist() == naive.disturb_lanes(before, names, NAME, factors.tolist(), 9500)
    changed = (lanes != np.array(before)).any(axis=0)
    assert changed.tolist() == [False, True, True] + [False] * 5  # the hessian, the count and what is behind them stay
    assert abs(lanes[:, 2]).max() == 9500


@pytest.mark.parametrize("factor", [3, 100, 17_000])
def test_noise_is_about_normal(factor):
    out = np.empty(MANY, np.int64)
    fill_noise(NAME, factor, out)
    assert out[:50].tolist() == [naive.noise_of(NAME, item, factor) for item in range(50)]
    # A step of rounding adds a twelfth to the variance.
    deviation = np.sqrt((factor * np.sqrt((2**32 - 1) / 3) / 65536) ** 2 + 1 / 12)
    assert out.mean() == pytest.approx(0.0, abs=4 * deviation / np.sqrt(MANY))
    assert out.std() == pytest.approx(deviation, rel=0.05 if config.DISABLE_JIT else 0.005)
    # Of a normal distribution 68.3 % are within one standard deviation and 95.4 % within two; steps of one blur that.
    if factor > 100:
        assert (abs(out) < deviation).mean() == pytest.approx(0.675, abs=0.03)
        assert (abs(out) < 2 * deviation).mean() == pytest.approx(0.958, abs=0.02)
    assert abs(out).max() <= 3.4642 * deviation + 1
