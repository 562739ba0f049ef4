"""Bounds and sets of labels from conformity scores, against definitions written out."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from woodwind.base.errors import DataError
from woodwind.ensemble.conformal import (
    ConformityScores,
    adaptive,
    interval,
    jackknife_after_bootstrap,
    label_sets,
    least_ambiguous,
    upper_bounds,
)


def scores_of(seed, sizes, ties=False):
    rng = np.random.default_rng(seed)
    parts = [(np.round(rng.normal(size=n), 1) if ties else rng.normal(size=n), np.ones(n)) for n in sizes]
    return parts, ConformityScores.of(parts)


@given(st.integers(0, 10_000), st.lists(st.integers(1, 9), min_size=1, max_size=4), st.floats(0.05, 0.95), st.booleans())
def test_the_upper_bound_is_the_right_one_of_all_sums(seed, sizes, coverage, ties):
    parts, known = scores_of(seed, sizes, ties)
    rng = np.random.default_rng(seed + 1)
    center, scale = rng.normal(size=(len(sizes), 3)), rng.uniform(0.5, 2.0, (len(sizes), 3))
    found = upper_bounds(center, scale, known, coverage)
    n = sum(sizes)
    place = math.ceil(coverage * (n + 1) - 1e-9)
    for row in range(3):
        sums = np.sort(np.concatenate([center[k, row] + scale[k, row] * one for k, (one, _) in enumerate(parts)]))
        wanted = sums[place - 1] if place <= n else np.inf
        assert found[row] == pytest.approx(wanted, abs=1e-9)


def test_a_bound_by_hand():
    # Four scores, a coverage of 0.8: the fourth of them, since 0.8 * 5 = 4.
    known = ConformityScores.of([(np.array([3.0, 1.0, 2.0, 5.0]), np.ones(4))])
    low, high = interval(np.array([[10.0]]), np.array([[10.0]]), np.ones((1, 1)), known, 0.8)
    assert (low.tolist(), high.tolist()) == ([5.0], [15.0])
    low, high = interval(np.array([[10.0]]), np.array([[10.0]]), np.ones((1, 1)), known, 0.9)
    assert (low.tolist(), high.tolist()) == ([-math.inf], [math.inf])


def test_a_score_of_weight_two_is_given_twice():
    rng = np.random.default_rng(0)
    scores, times = rng.normal(size=12), rng.integers(1, 4, 12)
    center, scale = rng.normal(size=(2, 5)), np.ones((2, 5))
    weighed = ConformityScores.of([(scores[:6], times[:6].astype(float)), (scores[6:], times[6:].astype(float))])
    repeated = [np.repeat(scores[part], times[part]) for part in (slice(0, 6), slice(6, 12))]
    twice = ConformityScores.of([(one, np.ones(len(one))) for one in repeated])
    for coverage in (0.3, 0.5, 0.9):
        np.testing.assert_allclose(upper_bounds(center, scale, weighed, coverage), upper_bounds(center, scale, twice, coverage))


def test_bounds_that_would_cross_meet_in_the_middle():
    known = ConformityScores.of([(np.full(20, -3.0), np.ones(20))])
    low, high = interval(np.array([[0.0]]), np.array([[2.0]]), np.ones((1, 1)), known, 0.5)
    assert low.tolist() == high.tolist() == [1.0]


@given(st.integers(0, 10_000), st.floats(0.1, 0.9))
def test_jackknife_after_bootstrap_is_its_definition(seed, coverage):
    rng = np.random.default_rng(seed)
    out = rng.random((8, 5)) < 0.4
    out[np.arange(8), rng.integers(0, 5, 8)] = True
    predicted, residuals = rng.normal(size=(5, 3)), np.sort(rng.exponential(size=8))
    low, high = jackknife_after_bootstrap(predicted, out, ConformityScores.of([(residuals, np.ones(8))]), coverage)
    place = math.ceil(coverage * 9 - 1e-9)
    for row in range(3):
        without = np.array([predicted[out[i], row].mean() for i in range(8)])
        upper = np.sort(without + residuals)[place - 1] if place <= 8 else np.inf
        lower = -np.sort(residuals - without)[place - 1] if place <= 8 else -np.inf
        middle = 0.5 * (lower + upper)
        assert (low[row], high[row]) == pytest.approx((lower, upper) if lower <= upper else (middle, middle), abs=1e-9)


def test_a_label_is_in_the_set_where_not_too_many_rows_were_less_off():
    known = ConformityScores.of([(np.array([0.1, 0.2, 0.3, 0.4]), np.ones(4))])
    sets = label_sets(np.array([[[0.05, 0.35, 0.45]]]), known, 0.8)
    assert sets.tolist() == [[True, True, False]]  # 0, 3 and 4 scores are smaller, and fewer than 4 may be


def test_scores_of_labels_by_hand():
    probabilities = np.array([[0.2, 0.5, 0.3]])
    np.testing.assert_allclose(least_ambiguous(probabilities), [[0.8, 0.5, 0.7]])
    np.testing.assert_allclose(adaptive(probabilities), [[1.0, 0.5, 0.8]])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"weights": np.array([1.0, 0.0, 1.0])}, "counts for nothing"),
        ({"scores": np.array([1.0, np.nan, 2.0])}, "not finite"),
        ({"scores": np.array([2.0, 1.0, 3.0])}, "not in order"),
        ({"begins": np.array([0, 2])}, "other folds"),
        ({"begins": np.array([0])}, "no fold"),
        ({"weights": np.ones(2)}, "not as many"),
    ],
)
def test_scores_from_a_file_are_checked(change, words):
    parts = {"scores": np.array([1.0, 2.0, 3.0]), "weights": np.ones(3), "begins": np.array([0, 3])}
    with pytest.raises(DataError, match=words):
        ConformityScores(**(parts | change)).check()
