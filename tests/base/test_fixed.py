"""Sums that do not depend on the order of the rows."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from woodwind.base.errors import DataError, WeightError
from woodwind.base.fixed import FIRST_BITS, exact_mean, exact_sum, finish_sum, partial_sum, scale_for, sum_scale

ORDINARY = st.floats(-1e12, 1e12, allow_nan=False, allow_subnormal=False)


@given(st.floats(1e-285, 1e285), st.integers(1, 60))
def test_scale_is_the_largest_power_of_two_that_fits(largest: float, bits: int) -> None:
    scale = scale_for(largest, bits)
    assert math.frexp(scale)[0] == 0.5
    assert Fraction(largest) * Fraction(scale) <= 2**bits
    assert Fraction(largest) * Fraction(scale) * 2 > 2**bits


def test_scale_of_zeros_is_one_and_of_infinity_is_refused() -> None:
    assert scale_for(0.0, 30) == 1.0
    with pytest.raises(DataError, match="finite"):
        scale_for(math.inf, 30)


def test_scale_of_the_smallest_numbers_is_finite() -> None:
    assert math.isfinite(scale_for(5e-324, 30))
    tiny = np.full(3, 1e-308)
    assert exact_sum(tiny) == pytest.approx(3e-308, rel=1e-8)


@pytest.mark.parametrize("n_rows", [1, 2, 3, 1000, 1024, 1025])
def test_sum_scale_leaves_room_for_all_rows(n_rows: int) -> None:
    scale = sum_scale(0.7, n_rows)
    assert n_rows * math.ceil(0.7 * scale) <= 2**62
    assert sum_scale(100.0, n_rows) >= 1.0


@settings(max_examples=50, deadline=None)
@given(st.lists(ORDINARY, min_size=1, max_size=40))
def test_sum_is_within_its_bound_of_the_true_sum(numbers: list[float]) -> None:
    values = np.array(numbers)
    true = sum(map(Fraction, numbers))
    bound = Fraction(len(numbers)) * Fraction(float(np.abs(values).max())) / 2**61
    rounding = abs(true) / 2**53
    assert abs(Fraction(exact_sum(values)) - true) <= bound + rounding


def test_sum_and_mean_are_the_same_bits_in_any_order() -> None:
    rng = np.random.default_rng(0)
    values = rng.lognormal(0, 5, 200_001) * rng.choice([-1.0, 1.0], 200_001)
    weight = rng.exponential(size=values.shape[0])
    order = rng.permutation(values.shape[0])
    assert exact_sum(values) == exact_sum(values[order]) == exact_sum(values[::-1])
    assert exact_sum(values) == pytest.approx(math.fsum(values), rel=1e-15)
    assert exact_mean(values, weight) == exact_mean(values[order], weight[order])
    assert exact_mean(values, weight) == pytest.approx(math.fsum(values * weight) / math.fsum(weight), rel=1e-14)


def test_sums_of_parts_add_up_to_the_sum_of_the_whole() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=150_000)
    scale = scale_for(float(np.abs(values).max()), FIRST_BITS)
    whole = partial_sum(values, scale)
    for edges in ([1, 17, 70_000], [65_536], []):
        assert sum(partial_sum(part, scale) for part in np.split(values, edges)) == whole
    assert finish_sum(whole, scale) == exact_sum(values)


def test_mean_by_weight_equals_mean_of_repeated_rows() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=500)
    times = rng.integers(0, 4, size=500)
    assert exact_mean(values, times.astype(np.float64)) == pytest.approx(exact_mean(np.repeat(values, times)), rel=1e-15)


def test_mean_of_zeros_and_ones_is_rounded_once() -> None:
    values = np.zeros(3)
    values[0] = 1.0
    assert exact_mean(values) == 1 / 3


def test_numbers_that_are_not_finite_are_refused() -> None:
    with pytest.raises(DataError, match="finite"):
        exact_sum(np.array([1.0, math.nan]))
    with pytest.raises(DataError, match="finite"):
        exact_mean(np.array([1.0, 1e300]), np.array([1.0, 1e300]))


def test_mean_needs_a_weight_above_zero() -> None:
    with pytest.raises(WeightError, match="above zero"):
        exact_mean(np.ones(3), np.zeros(3))
