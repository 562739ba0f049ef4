"""The theory of crowds: numbers of the texts, exhaustive enumeration, linear programming, and laws."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import binom

from woodwind import ParameterError
from woodwind.base.errors import UndefinedMeasureWarning
from woodwind.diversity import (
    adaboost_bound,
    added_error,
    correlated_majority_bound,
    correlated_majority_probability,
    ensemble_error,
    hits_of,
    majority_limits,
    majority_probability,
    poisson_binomial,
    strength_and_correlation,
    variance_of_mean,
    vote_margins,
)


def by_enumeration(p, ties=0.5):
    """The probability of a majority, over all 2^m outcomes."""
    total = 0.0
    for votes in product((0, 1), repeat=len(p)):
        probability = np.prod([one if vote else 1 - one for vote, one in zip(votes, p, strict=True)])
        total += probability * (1.0 if 2 * sum(votes) > len(p) else ties if 2 * sum(votes) == len(p) else 0.0)
    return total


def test_eleven_voters_of_the_text():
    """Sum from 6 to 11 of C(11, k) p^k (1 - p)^(11 - k): better than one voter for p > 1/2, worse below, as the figure shows."""
    for p in (0.1, 0.3, 0.5, 0.55, 0.7, 0.9):
        found = majority_probability(p, 11)
        assert found == pytest.approx(binom.sf(5, 11, p), abs=1e-12)
        assert p == 0.5 or np.sign(found - p) == np.sign(p - 0.5)
    assert majority_probability(0.5, 11) == pytest.approx(0.5, abs=1e-12)


def test_a_thousand_weak_learners_of_the_text():
    """1,000 voters that are right with 0.51. The sum that the text prints has the tie of 500 to 500 in it."""
    assert majority_probability(0.51, 1000, ties="won") == pytest.approx(0.7467502275563255, abs=1e-11)
    assert majority_probability(0.51, 1000, ties="lost") == pytest.approx(1 - binom.cdf(500, 1000, 0.51), abs=1e-12)
    assert majority_probability(0.51, 10_000, ties="lost") == pytest.approx(1 - binom.cdf(5000, 10_000, 0.51), abs=1e-12)
    half = majority_probability(0.51, 1000)
    assert half == pytest.approx((majority_probability(0.51, 1000, ties="won") + majority_probability(0.51, 1000, ties="lost")) / 2)
    assert half == pytest.approx(majority_probability(0.51, 999), abs=1e-12)  # a fair coin makes an even crowd worth one voter less


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 6])
def test_unequal_voters_are_what_enumeration_finds(m):
    p = np.random.default_rng(m).random(m)
    for ties, worth in (("half", 0.5), ("lost", 0.0), ("won", 1.0)):
        assert majority_probability(p, ties=ties) == pytest.approx(by_enumeration(p, worth), abs=1e-12)
        assert majority_probability(0.6, m, ties=ties) == pytest.approx(by_enumeration([0.6] * m, worth), abs=1e-12)
    assert poisson_binomial(p).sum() == pytest.approx(1.0)
    assert poisson_binomial(p) @ np.arange(m + 1) == pytest.approx(p.sum())
    assert poisson_binomial([0.3] * m) == pytest.approx(binom.pmf(np.arange(m + 1), m, 0.3), abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.floats(0.501, 0.999), st.integers(0, 30))
def test_more_voters_are_better_if_each_is_better_than_chance(p, half):
    m = 2 * half + 1
    assert majority_probability(p, m + 2) >= majority_probability(p, m) - 1e-12
    assert majority_probability(1 - p, m) == pytest.approx(1 - majority_probability(p, m), abs=1e-12)


@pytest.mark.parametrize("m", [1, 2, 3, 4, 7])
def test_correlated_voters_are_between_one_and_independent_ones(m):
    p = 0.7
    row = [correlated_majority_probability(p, m, rho) for rho in (0.0, 0.1, 0.5, 0.9, 1.0)]
    assert row[0] == majority_probability(p, m)
    assert row[-1] == p
    assert (np.diff(row) <= 1e-12).all()


def test_correlated_voters_by_the_moments_of_beta():
    """Of three, all three or exactly two are right: E[t^3] + 3 (E[t^2] - E[t^3]) for a rate t with a beta distribution."""
    p, rho = 0.6, 0.3
    a, b = p * (1 / rho - 1), (1 - p) * (1 / rho - 1)
    second = a * (a + 1) / ((a + b) * (a + b + 1))
    third = second * (a + 2) / (a + b + 2)
    assert correlated_majority_probability(p, 3, rho) == pytest.approx(3 * second - 2 * third, abs=1e-12)
    assert (second - p**2) / (p * (1 - p)) == pytest.approx(rho)  # which is the correlation of two voters


@pytest.mark.parametrize("p", [0.4, 0.5, 0.55, 0.7, 0.9])
@pytest.mark.parametrize("rho", [0.0, 0.2, 0.8])
def test_no_joint_distribution_is_below_the_bound(p, rho):
    assert correlated_majority_bound(p, 21, rho) <= correlated_majority_probability(p, 21, rho) + 1e-12


def best_and_worst(p):
    """Over all joint distributions of m voters with these probabilities: a linear programme over 2^m outcomes."""
    outcomes = np.array(list(product((0, 1), repeat=len(p))))
    won = (2 * outcomes.sum(axis=1) > len(p)).astype(float)
    equal = np.vstack([outcomes.T, np.ones(len(outcomes))])
    low, high = (linprog(sign * won, A_eq=equal, b_eq=[*p, 1.0]) for sign in (1, -1))
    return low.fun, -high.fun


@pytest.mark.parametrize("p", [[0.6] * 3, [0.9, 0.6, 0.3], [0.55, 0.7], [0.2, 0.4, 0.6, 0.8], [0.95, 0.9, 0.5, 0.2, 0.1], [0.8] * 5, [0.7]])
def test_limits_are_what_linear_programming_finds(p):
    assert majority_limits(p) == pytest.approx(best_and_worst(p), abs=1e-9)


@pytest.mark.parametrize("L", [3, 5, 9])
@pytest.mark.parametrize("p", [0.2, 0.5, 0.6, 0.9])
def test_patterns_of_success_and_failure(L, p):
    lowest, highest = majority_limits(p, L)
    assert highest == pytest.approx(min(1, 2 * p * L / (L + 1)))
    assert lowest == pytest.approx(max(0, ((2 * p - 1) * L + 1) / (L + 1)))
    assert lowest <= majority_probability(p, L) <= highest


def test_the_error_of_an_ensemble_is_condorcet_the_other_way_round():
    assert ensemble_error(0.3, 15) == pytest.approx(1 - majority_probability(0.7, 15), abs=1e-12)
    rates, weight = [0.1, 0.1, 0.8], [1, 2, 3]
    expected = np.average([ensemble_error(rate, 5) for rate in rates], weights=weight)
    assert ensemble_error(rates, 5, sample_weight=weight) == pytest.approx(expected, abs=1e-12)
    assert ensemble_error(rates, 1001) == pytest.approx(1 / 3, abs=1e-6)  # what is hard for most is lost to all


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 20), st.floats(0.0, 1.0), st.floats(0.01, 10.0))
def test_the_variance_of_a_mean_is_that_of_its_covariance_matrix(m, rho, variance):
    C = variance * (rho * np.ones((m, m)) + (1 - rho) * np.eye(m))
    w = np.full(m, 1 / m)
    assert variance_of_mean(variance, rho, m) == pytest.approx(w @ C @ w)
    assert added_error(variance, rho, m) == pytest.approx(variance * (1 + rho * (m - 1)) / m)


def test_the_variance_of_a_mean_in_the_limits_of_the_text():
    assert variance_of_mean(3.0, 0.0, 6) == pytest.approx(0.5)  # independent: divided by N
    assert variance_of_mean(3.0, 1.0, 6) == 3.0  # all the same: nothing gained
    assert variance_of_mean(3.0, 0.4, 10**9) == pytest.approx(1.2)  # rho sigma^2 remains
    assert variance_of_mean(3.0, -1 / 5, 6) == pytest.approx(0.0, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=20))
def test_the_bound_of_boosting_is_below_the_exponential_one(errors):
    found = adaboost_bound(errors)
    assert (np.diff(found) <= 1e-15).all()
    assert found[-1] <= np.exp(-2 * np.sum((0.5 - np.array(errors)) ** 2)) + 1e-12


def test_the_first_round_of_the_text():
    """80 rows of one class and 20 of the other, a constant learner: error 0.2, and the weights add up to Z = 80 of 100."""
    assert adaboost_bound([0.2]).tolist() == [0.8]


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 40), st.integers(2, 9), st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_the_error_of_a_forest_is_within_breimans_bound(n, m, n_classes, seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n)
    labels = np.where(rng.random((n, m)) < 0.6, truth[:, None], rng.integers(0, n_classes, (n, m)))
    labels[0], labels[1, 0] = truth[0], (truth[1] + 1) % n_classes  # somebody errs, and not always
    found = strength_and_correlation(truth, labels)
    margins = vote_margins(truth, labels)
    assert found.strength == pytest.approx(margins.mean(), abs=1e-12)
    assert found.error == np.mean(margins < 0)
    assert found.error <= found.bound + 1e-12
    if found.strength > 0:
        assert np.var(margins) / found.strength**2 <= found.bound + 1e-12


def test_the_correlation_of_two_classes_is_a_mean_of_those_of_raw_margins():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 100)
    labels = np.where(rng.random((100, 6)) < 0.7, truth[:, None], 1 - truth[:, None])
    C = np.cov(np.where(hits_of(truth, labels), 1.0, -1.0).T, ddof=0)
    spread = np.sqrt(np.diagonal(C))
    assert strength_and_correlation(truth, labels).correlation == pytest.approx(C.mean() / spread.mean() ** 2, abs=1e-12)


def test_a_forest_without_strength_is_promised_nothing():
    assert strength_and_correlation([0, 0, 1], [[1, 1], [0, 1], [0, 0]]).bound == np.inf
    with pytest.warns(UndefinedMeasureWarning, match="constant"):
        found = strength_and_correlation([0, 1], [[0, 0], [1, 1]])
    assert (found.correlation, found.bound, found.error) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: majority_probability(1.2, 3), "p must be from 0 to 1"),
        (lambda: majority_probability(0.5), "n_members must be a whole number"),
        (lambda: majority_probability(0.5, 0), "n_members must be a whole number of at least 1, but it is 0"),
        (lambda: majority_probability(0.5, 4, ties="coin"), "ties must be 'half', 'lost' or 'won', but it is 'coin'"),
        (lambda: majority_probability([0.5, 0.6], ties="coin"), "ties must be"),
        (lambda: correlated_majority_probability(0.5, 3, -0.1), "rho must be from 0 to 1"),
        (lambda: variance_of_mean(-1.0, 0.0, 3), "variance must be a number of at least 0"),
        (lambda: variance_of_mean(1.0, -0.6, 3), "rho must be from -0.5 to 1 for 3 members"),
        (lambda: adaboost_bound([1.5]), "errors must be from 0 to 1"),
    ],
)
def test_what_is_wrong_is_named(call, words):
    with pytest.raises(ParameterError, match=words):
        call()
