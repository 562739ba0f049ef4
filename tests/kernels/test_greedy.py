"""The kernels of greedy selection against their slow twins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from reference import naive_greedy
from woodwind.kernels.losses.ensemble_sums import BLOCK, hit_sums, log_sums, pair_bounds, pair_sums

MEMBERS = np.array([2, 0, 3])


def case(n, seed=0, digits=None):
    rng = np.random.default_rng(seed)
    vectors, total = rng.random((4, n)), 3.0 * rng.random(n)
    return (vectors, total) if digits is None else (np.round(vectors, digits), np.round(total, digits))


def weights(kind, n):
    rng = np.random.default_rng(7)
    return {"none": None, "any": np.sort(rng.random(n)), "whole": np.sort(rng.integers(1, 4, n).astype(float))}[kind]


@pytest.mark.parametrize("kind", ["none", "any", "whole"])
@pytest.mark.parametrize("n", [1, 300, BLOCK + 5])
def test_sums_of_logarithms_are_those_of_the_twin_in_any_split_into_parts(n, kind):
    vectors, total = case(n)
    vectors[0, 0] = total[0] = 0.0  # below the floor
    weight = weights(kind, n)
    out = np.empty(3)
    for begin, end in ((0, 1), (1, 3)):
        log_sums(vectors, MEMBERS, total, weight, 1e-15, begin, end, out)
    assert_allclose(out, naive_greedy.log_sums(vectors, MEMBERS, total, weight, 1e-15), rtol=1e-12)


def test_the_smallest_products_do_not_vanish():
    vectors, total = np.zeros((1, BLOCK)), np.zeros(BLOCK)
    out = np.empty(1)
    log_sums(vectors, np.array([0]), total, None, 2.2e-16, 0, 1, out)
    assert out[0] == pytest.approx(BLOCK * np.log(2.2e-16))
    log_sums(vectors, np.array([0]), np.full(BLOCK, 1e6), None, 2.2e-16, 0, 1, out)
    assert out[0] == pytest.approx(BLOCK * np.log(1e6))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("n", [1, 700])
def test_hits_are_those_of_the_twin_ties_included(n, n_classes, weighted):
    rng = np.random.default_rng(n)
    shares = rng.integers(0, 4, (4, n, n_classes)) / 4.0  # sums are exact, and many are equal
    total = rng.integers(0, 8, (n, n_classes)) / 4.0
    truth = rng.integers(0, n_classes, n)
    weight = rng.random(n) if weighted else None
    first = naive_greedy.true_class_first(np.concatenate([shares, total[None]]), truth)
    out = np.empty(3)
    for begin, end in ((0, 2), (2, 3)):
        hit_sums(first[:4], MEMBERS, first[4], truth, weight, begin, end, out)
    assert_allclose(out, naive_greedy.hit_sums(shares, MEMBERS, total, truth, weight), rtol=1e-13)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("digits", [1, None])
def test_pairs_in_order_are_those_of_the_twin_and_within_the_bounds(digits, weighted):
    n = 400
    vectors, total = case(n, digits=digits)
    rng = np.random.default_rng(3)
    positive = rng.random(n) < 0.3
    heavy = rng.random(n) if weighted else np.ones(n)
    gain = np.stack([np.where(positive, 0.0, heavy), np.where(positive, heavy, 0.0)])
    out, bounds = np.empty(3), np.empty((2, 3))
    for begin, end in ((0, 1), (1, 3)):
        pair_sums(vectors, MEMBERS, total, gain, begin, end, out)
        pair_bounds(vectors, MEMBERS, total, gain, 50.0, begin, end, bounds)
    wanted = naive_greedy.pair_sums(vectors, MEMBERS, total, gain)
    assert_allclose(out, wanted, rtol=1e-12)
    assert (bounds[0] <= wanted * (1 + 1e-12)).all()
    assert (bounds[1] >= wanted * (1 - 1e-12)).all()
    assert (bounds[1] - bounds[0]).max() < 0.05 * wanted.min() or digits == 1


def test_negative_zero_is_zero():
    vectors = np.array([[0.0, -0.0, 0.5]])
    out = np.empty(1)
    pair_sums(vectors, np.array([0]), np.array([-0.0, -0.0, 0.0]), np.array([[1.0, 0, 0], [0, 1.0, 1.0]]), 0, 1, out)
    assert_array_equal(out, [1.5])
