"""Exponential and logarithm against the standard library, and the constants derived again."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reference import naive_exponential
from woodwind.kernels.losses import exponential
from woodwind.kernels.runtime.jit import kernel


@kernel
def exp(x):
    return exponential.exp(x)


@kernel
def log(x):
    return exponential.log(x)


@kernel
def log1p_unit(x):
    return exponential.log1p_unit(x)


@kernel
def expit(x):
    return exponential.expit(x)


def units_apart(ours, true):
    """How many units in the last place two floats differ by."""
    return abs(ours - true) / math.ulp(true)


@given(st.floats(-708, 708))
def test_exp_is_within_a_unit_or_so_of_the_library(x):
    assert units_apart(exp(x), naive_exponential.exp(x)) <= 2.0


@given(st.floats(allow_nan=False, allow_infinity=True))
def test_exp_saturates_and_is_never_infinite_nor_zero(x):
    value = exp(x)
    assert 0.0 < value < math.inf
    assert units_apart(value, naive_exponential.exp(x)) <= 2.0


def test_exp_of_nan_is_nan_and_of_zero_is_one():
    assert math.isnan(exp(math.nan))
    assert exp(0.0) == exp(-0.0) == 1.0


def test_exp_is_monotone_across_its_pieces():
    edges = (np.arange(-1000, 1000) + 0.5) * math.log(2)
    edges = edges[np.abs(edges) < 700]
    for x in edges:
        below, at, above = (exp(v) for v in (np.nextafter(x, -1e9), x, np.nextafter(x, 1e9)))
        assert below <= at * (1 + 2e-16)
        assert at <= above * (1 + 2e-16)


@given(st.floats(2.3e-308, 1.7e308))
def test_log_is_within_a_unit_or_so_of_the_library(x):
    true = math.log(x)
    assert log(x) == true == 0.0 or units_apart(log(x), true) <= 2.0


@given(st.floats(0, 1))
def test_log1p_is_within_a_unit_or_so_of_the_library(x):
    true = math.log1p(x)
    assert log1p_unit(x) == true == 0.0 or units_apart(log1p_unit(x), true) <= 2.0


@given(st.floats(-700, 700))
def test_expit_keeps_its_digits_in_both_tails(x):
    assert units_apart(expit(x), naive_exponential.expit(x)) <= 4.0


def test_loops_are_the_scalar_functions_row_by_row():
    x = np.random.default_rng(0).uniform(0.1, 5, 37)
    for loop, scalar in ((exponential.exp_each, exp), (exponential.log_each, log)):
        out = np.zeros(37)
        loop(x, 5, 30, out)
        assert out[5:30].tolist() == [scalar(v) for v in x[5:30]]
        assert not out[:5].any()
        assert not out[30:].any()
    out = np.zeros(37)
    exponential.expit_each(x, 2.0, 0, 37, out)
    assert out.tolist() == [expit(2.0 * v) for v in x]


def test_softmax_equals_its_twin_for_any_number_of_rows():
    for n in (1, 63, 64, 65, 130):
        scores = np.random.default_rng(n).normal(scale=5, size=(n, 4))
        out = np.zeros_like(scores)
        exponential.softmax_each(scores, 0, n, out)
        np.testing.assert_allclose(out, [naive_exponential.softmax(row) for row in scores], rtol=1e-14)
        parts = np.zeros_like(scores)
        exponential.softmax_each(scores, 0, n // 2, parts)
        exponential.softmax_each(scores, n // 2, n, parts)
        np.testing.assert_array_equal(out, parts)


def test_softmax_does_not_overflow():
    out = np.zeros((2, 3))
    exponential.softmax_each(np.array([[700.0, -700.0, 0.0], [1e300, 0.0, -1e300]]), 0, 2, out)
    np.testing.assert_allclose(out, [[1, 0, 0], [1, 0, 0]], atol=1e-300)


def test_constants_of_exp_are_the_economised_taylor_series():
    """The series of (exp(r) - 1 - r) / r**2 up to the 23rd power, its powers above the ninth folded down by Chebyshev polynomials."""
    reach, n = Fraction(34658, 100000), 24
    series = [Fraction(1, math.factorial(j + 2)) * reach**j for j in range(n)]
    chebyshev = [[Fraction(1)], [Fraction(0), Fraction(1)]]
    for _ in range(2, n):
        following = [Fraction(0)] + [2 * c for c in chebyshev[-1]]
        for i, c in enumerate(chebyshev[-2]):
            following[i] -= c
        chebyshev.append(following)
    for power in range(n - 1, 9, -1):
        share = series[power] / chebyshev[power][power]
        for i in range(power + 1):
            series[i] -= share * chebyshev[power][i]
    ours = [getattr(exponential, f"E{j}") for j in range(2, 12)]
    assert ours == [float(c / reach**j) for j, c in enumerate(series[:10])]
    assert reach > math.log(2) / 2


def test_the_two_parts_of_ln_2_belong_together():
    whole = Fraction(exponential.LN2_HIGH) + Fraction(exponential.LN2_LOW)
    # ln 2 as a sum of exact fractions: sum over k of 1 / (k 2**k).
    ln2 = sum((Fraction(1, k * 2**k) for k in range(1, 130)), Fraction(0))
    assert abs(whole - ln2) < Fraction(1, 2**85)  # half a unit in the last place of the low part
    # Times any exponent, the high part is exact.
    assert all(Fraction(k * exponential.LN2_HIGH) == k * Fraction(exponential.LN2_HIGH) for k in range(-1023, 1025))
