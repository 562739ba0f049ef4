"""Sums of the target by category, against their slow twins."""

from fractions import Fraction

import numpy as np
import pytest

from tests.reference import naive_statistics
from woodwind.kernels.binning.target_statistics import Smoothing, add_totals, ordered_statistics

N, CATEGORIES = 60, 5


def rows(weighted):
    rng = np.random.default_rng(3)
    categories = rng.integers(-2, CATEGORIES, N).astype(np.int32)
    amounts = rng.integers(-9, 10, N)
    weights = rng.integers(0, 4, N) if weighted else None
    return categories, amounts, weights


@pytest.mark.parametrize("weighted", [False, True])
def test_totals_are_those_of_the_twin(weighted):
    categories, amounts, weights = rows(weighted)
    some = np.arange(0, N, 2)
    totals = np.zeros((2, CATEGORIES + 2), np.int64)
    add_totals(categories, some, amounts, weights, totals)
    plain = np.ones(N, np.int64) if weights is None else weights
    expected = naive_statistics.add_totals(categories.tolist(), some.tolist(), amounts.tolist(), plain.tolist())
    assert {category: tuple(totals[:, category].tolist()) for category in expected} == expected
    assert totals[1].sum() == plain[some].sum()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("strength", [0, 1, 3])
def test_ordered_statistics_are_those_of_the_twin(weighted, strength):
    categories, amounts, weights = rows(weighted)
    order = np.random.default_rng(4).permutation(N)[: N - 7]
    totals, means, counts = np.zeros((2, CATEGORIES + 2), np.int64), np.full(N, np.nan), np.full(N, np.nan)
    # Amounts in quarters, weights in halves.
    smoothing = Smoothing(0.5, float(strength), 0.25, 0.5)
    ordered_statistics(categories, order, amounts, weights, smoothing, totals, means, counts)
    plain = np.full(N, Fraction(1)) if weights is None else [Fraction(weight) for weight in weights.tolist()]
    quarters, halves = [Fraction(one, 4) for one in amounts.tolist()], [one / 2 for one in plain]
    expected = naive_statistics.ordered_statistics(
        categories.tolist(), order.tolist(), quarters, halves, Fraction(1, 2), Fraction(strength)
    )
    assert sorted(expected) == np.flatnonzero(~np.isnan(means)).tolist() == sorted(order.tolist())
    for row, (mean, count) in expected.items():
        assert means[row] == pytest.approx(float(mean), rel=1e-15)
        assert counts[row] == count
    every = np.zeros_like(totals)
    add_totals(categories, order, amounts, weights, every)
    assert np.array_equal(totals, every)
