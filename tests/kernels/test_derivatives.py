"""Derivatives and losses of rows against their naive twins."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import naive_derivatives as naive
from woodwind.kernels.losses import derivatives as d
from woodwind.kernels.tree import leaves

FORMULAS = {
    "squared": d.Formula(d.SQUARED, 0.0),
    "absolute": d.Formula(d.ABSOLUTE, 0.0),
    "huber": d.Formula(d.HUBER, 0.8),
    "quantile": d.Formula(d.QUANTILE, 0.3),
    "poisson": d.Formula(d.POISSON, 0.0),
    "gamma": d.Formula(d.GAMMA, 0.0),
    "tweedie": d.Formula(d.TWEEDIE, 1.4),
    "logistic": d.Formula(d.LOGISTIC, 0.0),
    "exponential": d.Formula(d.EXPONENTIAL, 0.0),
}
every_formula = pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS.keys())
with_and_without_weight = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])


def sample(formula, n, weighted, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n).astype(np.float64) if formula.switch in (d.LOGISTIC, d.EXPONENTIAL) else rng.gamma(2.0, size=n)
    raw = rng.normal(scale=2, size=n)
    raw[: n // 5] = y[: n // 5]  # rows that are met exactly, where kinks are
    return y, raw, rng.exponential(size=n) if weighted else None


def derivatives_of(formula, y, raw, weight):
    g, h = np.empty(y.shape[0]), np.empty(y.shape[0])
    d.derivatives(formula, y, raw, weight, 0, y.shape[0], g, h)
    return g, h


@every_formula
@with_and_without_weight
def test_derivatives_equal_their_twin(formula, weighted):
    y, raw, weight = sample(formula, 700, weighted)
    g, h = derivatives_of(formula, y, raw, weight)
    twin_g, twin_h = naive.derivatives(formula, y, raw, weight)
    np.testing.assert_allclose(g, twin_g, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(h, twin_h, rtol=1e-13)


@every_formula
@with_and_without_weight
def test_loss_sums_equal_the_sum_of_their_twin(formula, weighted):
    for n in (1, 255, 256, 4096, 4097, 9001):
        y, raw, weight = sample(formula, n, weighted)
        blocks = np.empty(-(-n // d.SUM_BLOCK))
        d.loss_sums(formula, y, raw, weight, 0, n, blocks)
        losses = naive.losses(formula, y, raw, weight)
        for b in range(blocks.shape[0]):
            true = math.fsum(losses[b * d.SUM_BLOCK : (b + 1) * d.SUM_BLOCK])
            assert blocks[b] == pytest.approx(true, rel=1e-12, abs=1e-12)


@every_formula
def test_loss_sums_are_the_same_bits_for_any_split_between_blocks(formula):
    y, raw, weight = sample(formula, 13_000, True)
    whole, parts = np.empty(4), np.empty(4)
    d.loss_sums(formula, y, raw, weight, 0, 13_000, whole)
    d.loss_sums(formula, y, raw, weight, 4096, 13_000, parts)
    d.loss_sums(formula, y, raw, weight, 0, 4096, parts)
    np.testing.assert_array_equal(whole, parts)


@every_formula
@with_and_without_weight
def test_largest_is_the_maximum_of_the_derivatives(formula, weighted):
    y, raw, weight = sample(formula, 1300, weighted)
    g, h = derivatives_of(formula, y, raw, weight)
    out = np.empty(2)
    d.largest(formula, y, raw, weight, 100, 1201, out)
    assert out.tolist() == [np.abs(g[100:1201]).max(), h[100:1201].max()]


def test_largest_does_not_lose_what_is_not_a_number():
    y, raw = np.zeros(1000), np.zeros(1000)
    raw[700] = np.nan
    out = np.empty(2)
    d.largest(FORMULAS["squared"], y, raw, None, 0, 1000, out)
    assert math.isnan(out[0])


@every_formula
@with_and_without_weight
def test_quantise_is_rounding_of_the_derivatives(formula, weighted):
    n = 1300
    y, raw, weight = sample(formula, n, weighted)
    g, h = derivatives_of(formula, y, raw, weight)
    scales = np.array([2.0**20, 2.0**18])
    q, given_q = np.zeros(n, np.int64), np.zeros(n, np.int64)
    d.quantise(formula, y, raw, weight, scales, 3, n - 3, q)
    assert q[3 : n - 3].tolist() == naive.pack(g, h, scales)[3 : n - 3]
    assert q[:3].tolist() == q[-3:].tolist() == [0, 0, 0]
    d.quantise_given(g, h, None, scales, 3, n - 3, given_q)
    np.testing.assert_array_equal(q, given_q)


@every_formula
@with_and_without_weight
def test_targets_in_bytes_give_the_same_bits(formula, weighted):
    n = 1300
    _, raw, weight = sample(formula, n, weighted)
    small = np.random.default_rng(2).integers(0, 2 if formula.switch in (d.LOGISTIC, d.EXPONENTIAL) else 256, n).astype(np.uint8)
    found = []
    for y in (small, small.astype(np.float64)):
        sums, tops, q = np.empty(1), np.empty(2), np.empty(n, np.int64)
        d.loss_sums(formula, y, raw, weight, 0, n, sums)
        d.largest(formula, y, raw, weight, 0, n, tops)
        d.quantise(formula, y, raw, weight, np.array([2.0**10, 2.0**8]), 0, n, q)
        found.append(np.concatenate([*derivatives_of(formula, y, raw, weight), sums, tops, q]))
    np.testing.assert_array_equal(*found)
    g, h = derivatives_of(formula, small, raw, weight)
    twin_g, twin_h = naive.derivatives(formula, small.tolist(), raw, weight)
    np.testing.assert_allclose(g, twin_g, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(h, twin_h, rtol=1e-12)


def test_given_derivatives_are_multiplied_by_the_weight():
    rng = np.random.default_rng(1)
    g, h, weight = rng.normal(size=600), rng.random(600), rng.random(600)
    scales, q = np.array([2.0**20, 2.0**20]), np.zeros(600, np.int64)
    d.quantise_given(g, h, weight, scales, 0, 600, q)
    assert q.tolist() == naive.pack(g * weight, h * weight, scales)


@given(st.floats(-1e30, 1e30), st.floats(-1e30, 1e30))
def test_packing_rounds_halves_to_even_and_clips(g, h):
    q = np.zeros(1, np.int64)
    d.quantise_given(np.array([g]), np.array([h]), None, np.array([4.0, 2.0]), 0, 1, q)
    assert q.tolist() == naive.pack([g], [h], [4.0, 2.0])


@pytest.mark.parametrize("kind", [np.uint16, np.int32])
def test_leaf_values_are_added_to_the_scores(kind):
    rng = np.random.default_rng(2)
    leaf = rng.integers(0, 7, 100).astype(kind)
    values, vectors = rng.normal(size=7), rng.normal(size=(7, 3))
    raw, wide = rng.normal(size=100), rng.normal(size=(100, 3))
    before, before_wide = raw.copy(), wide.copy()
    leaves.add_leaf_values(raw, leaf, values, 10, 90)
    assert raw[10:90].tolist() == naive.add_leaf_values(before[10:90], leaf[10:90], values)
    np.testing.assert_array_equal(raw[[*range(10), *range(90, 100)]], before[[*range(10), *range(90, 100)]])
    leaves.add_leaf_vectors(wide, leaf, vectors, 0, 100)
    np.testing.assert_array_equal(wide, naive.add_leaf_values(before_wide, leaf, vectors))
    leaves.add_leaf_column(wide, 1, leaf, values, 0, 100)
    np.testing.assert_array_equal(wide[:, 1], before_wide[:, 1] + vectors[leaf, 1] + values[leaf])
    np.testing.assert_array_equal(wide[:, 0], before_wide[:, 0] + vectors[leaf, 0])


def test_rows_of_enough_steps_are_counted():
    """A row without a hessian or without a gradient is not asked about."""
    enough = 2.0**20
    g = np.array([enough, -enough, enough - 1.0, 0.0, enough, 5.0])
    h = np.array([enough, enough - 1.0, enough, enough, 0.0, 1.0])
    found = d.quantise_given(g, h, None, np.ones(2), 0, 6, np.zeros(6, np.int64))
    assert tuple(found) == (4, 2, 2)
    halves = [d.quantise_given(g, h, None, np.ones(2), begin, begin + 3, np.zeros(6, np.int64)) for begin in (0, 3)]
    assert tuple(map(sum, zip(*halves, strict=True))) == tuple(found)
