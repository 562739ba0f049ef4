"""Multinomial derivatives and losses against their naive twins."""

import math
from itertools import pairwise

import numpy as np
import pytest

from reference import naive_multinomial as naive
from woodwind.kernels.losses import multinomial as m
from woodwind.kernels.losses.derivatives import SUM_BLOCK


def sample(n, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, n_classes, n).astype(np.int32), rng.normal(scale=3, size=(n, n_classes)), rng.random(n)


@pytest.mark.parametrize(("n", "n_classes"), [(1, 2), (64, 3), (65, 3), (200, 11)])
def test_derivatives_equal_their_twin(n, n_classes):
    y, raw, weight = sample(n, n_classes)
    twin_g, twin_h = map(np.array, naive.derivatives(y, raw))
    g, h = np.empty_like(raw), np.empty_like(raw)
    m.multi_derivatives(y, raw, None, 0, n, g, h)
    np.testing.assert_allclose(g, twin_g, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(h, twin_h, rtol=1e-12, atol=1e-15)
    m.multi_derivatives(y, raw, weight, 0, n, g, h)
    np.testing.assert_allclose(g, twin_g * weight[:, None], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(h, twin_h * weight[:, None], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("n", "n_classes"), [(1, 2), (64, 3), (65, 3), (200, 11)])
@pytest.mark.parametrize("weighted", [False, True])
def test_quantise_equals_its_twin(n, n_classes, weighted):
    y, raw, weight = sample(n, n_classes)
    scales = np.array([2.0**20, 2.0**21])
    q, h = np.zeros((n, n_classes + 1), np.int32), np.zeros((n, n_classes), np.int32)
    m.multi_quantise(y, raw, weight if weighted else None, scales, 0, n, q, h)
    twin_q, twin_h = naive.quantise(y, raw, weight if weighted else np.ones(n), scales)
    assert np.abs(q - np.array(twin_q)).max() <= 1  # a probability that differs in its last bit may be rounded the other way
    assert np.abs(h - np.array(twin_h)).max() <= 1
    assert (q != np.array(twin_q)).mean() < 0.01
    given_q, given_h = np.zeros_like(q), np.zeros_like(h)
    gradient, hessian = np.empty_like(raw), np.empty_like(raw)
    m.multi_derivatives(y, raw, None, 0, n, gradient, hessian)
    m.multi_quantise_given(gradient, hessian, weight if weighted else None, scales, 0, n, given_q, given_h)
    np.testing.assert_allclose(given_q, q, atol=1)
    np.testing.assert_allclose(given_h, h, atol=1)


@pytest.mark.parametrize(("n", "n_classes"), [(1, 2), (65, 3), (200, 11)])
@pytest.mark.parametrize("weighted", [False, True])
def test_class_by_class_the_integers_are_the_same(n, n_classes, weighted):
    y, raw, weight = sample(n, n_classes)
    weight = weight if weighted else None
    scales = np.array([2.0**30, 2.0**32])
    q, h = np.zeros((n, n_classes + 1), np.int32), np.zeros((n, n_classes), np.int32)
    out = np.zeros((n_classes, n), np.int64)
    m.multi_quantise(y, raw, weight, scales, 0, n, q, h)
    for begin, end in pairwise([0, n // 3, n]):
        m.multi_pack(y, raw, weight, scales, begin, end, out)
    np.testing.assert_array_equal(out >> 32, q[:, :-1].T)
    np.testing.assert_array_equal(out & 0xFFFFFFFF, h.T)
    gradient, hessian = np.empty_like(raw), np.empty_like(raw)
    m.multi_derivatives(y, raw, weight, 0, n, gradient, hessian)
    m.multi_quantise_given(gradient, hessian, None, scales, 0, n, q, h)
    m.multi_pack_given(gradient, hessian, scales, 0, n, out)
    np.testing.assert_array_equal(out >> 32, q[:, :-1].T)
    np.testing.assert_array_equal(out & 0xFFFFFFFF, h.T)


def test_gradients_of_a_row_add_up_to_nothing_but_rounding():
    y, raw, _ = sample(500, 5)
    q, h = np.zeros((500, 6), np.int32), np.zeros((500, 5), np.int32)
    m.multi_quantise(y, raw, None, np.array([2.0**30, 2.0**30]), 0, 500, q, h)
    assert np.abs(q[:, :5].sum(axis=1, dtype=np.int64)).max() <= 5
    assert np.abs(2 * q[:, 5].astype(np.int64) - h.sum(axis=1, dtype=np.int64)).max() <= 6


def test_quantise_is_the_same_for_any_split_of_the_rows():
    y, raw, weight = sample(300, 4)
    scales = np.array([2.0**30, 2.0**31])
    results = []
    for edges in ([0, 300], [0, 1, 100, 164, 300]):
        q, h = np.zeros((300, 5), np.int32), np.zeros((300, 4), np.int32)
        for begin, end in pairwise(edges):
            m.multi_quantise(y, raw, weight, scales, begin, end, q, h)
        results.append((q, h))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])


@pytest.mark.parametrize("n", [1, 64, 4096, 4100])
def test_loss_sums_equal_the_sum_of_their_twin(n):
    y, raw, weight = sample(n, 3)
    losses = np.array(naive.losses(y, raw))
    for w in (None, weight):
        blocks = np.empty(-(-n // SUM_BLOCK))
        m.multi_loss_sums(y, raw, w, 0, n, blocks)
        assert blocks.sum() == pytest.approx(math.fsum(losses if w is None else losses * w), rel=1e-13)
