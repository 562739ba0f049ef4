"""Kernels of survival times against their slow twins."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special

from reference.naive_survival import STANDARD, cox_derivatives, failure_loss, pairs
from woodwind.kernels.losses import cox, failure_times
from woodwind.kernels.losses.concordance import OrderedTimes, count_pairs
from woodwind.kernels.losses.cox import RiskSums
from woodwind.kernels.losses.failure_times import FailureRule
from woodwind.losses.survival import risk_sets


def censored(n=30, seed=0, whole=True):
    rng = np.random.default_rng(seed)
    time = rng.exponential(5.0, n)
    time = np.ceil(time) if whole else time
    event = rng.random(n) < 0.7
    return time, event, rng.normal(size=n)


def bounds_of(time, event):
    return np.column_stack([time, np.where(event, time, np.inf)])


@pytest.mark.parametrize("ties", ["breslow", "efron"])
@pytest.mark.parametrize("whole", [True, False])
def test_derivatives_are_sums_over_the_rows_at_risk(ties, whole):
    time, event, score = censored(whole=whole)
    sets, relative = risk_sets(bounds_of(time, event)), np.exp(score - score.max())
    sums, hazards = RiskSums(*np.zeros((4, len(sets.begin) - 1))), np.empty((4, len(sets.begin) - 1))
    cox.risk_sums(sets, relative, None, sums)
    cox.hazard_sums(sums, ties == "efron", hazards)
    gradient, hessian = np.empty(len(time)), np.empty(len(time))
    cox.cox_rows(sets, hazards, relative, 0, len(time), gradient, hessian)
    slow = cox_derivatives(time, event, score, ties)
    assert_allclose(gradient, slow[0], atol=1e-12)
    assert_allclose(hessian, slow[1], atol=1e-12)
    out = np.empty(len(time))
    cox.relative_risks(score, float(score.max()), 0, len(time), out)
    assert_allclose(out, relative, rtol=1e-14)


def test_the_order_of_rows_of_one_time_changes_no_bit_of_a_sum():
    time, event, score = censored(200)
    weight = np.random.default_rng(1).uniform(0.1, 3.0, len(time))
    found = []
    for order in (np.arange(200), np.random.default_rng(2).permutation(200)):
        sets = risk_sets(bounds_of(time, event)[order])
        sums = RiskSums(*np.zeros((4, len(sets.begin) - 1)))
        cox.risk_sums(sets, np.exp(score[order]), weight[order], sums)
        found.append(np.array(sums))
    assert_array_equal(found[0], found[1])


def test_scores_that_are_far_apart_leave_finite_derivatives():
    time, event, score = censored()
    sets = risk_sets(bounds_of(time, event))
    raw = 400.0 * score
    relative = np.empty(len(raw))
    cox.relative_risks(raw, float(raw.max()), 0, len(raw), relative)
    sums, hazards = RiskSums(*np.zeros((4, len(sets.begin) - 1))), np.empty((4, len(sets.begin) - 1))
    cox.risk_sums(sets, relative, None, sums)
    gradient, hessian = np.empty(len(raw)), np.empty(len(raw))
    for efron in (True, False):
        cox.hazard_sums(sums, efron, hazards)
        cox.cox_rows(sets, hazards, relative, 0, len(raw), gradient, hessian)
        assert np.isfinite(gradient).all()
        assert np.isfinite(hessian).all()
        assert (hessian >= 0.0).all()


def many_bounds():
    rows = [[t, t] for t in np.exp(np.linspace(-3, 3, 7))]
    rows += [[t, np.inf] for t in np.exp(np.linspace(-3, 3, 7))]
    rows += [[0.0, t] for t in np.exp(np.linspace(-3, 3, 7))]
    return np.array(rows + [[t, t * wide] for t in np.exp(np.linspace(-3, 3, 7)) for wide in (1.01, 1.5, 30.0)])


@pytest.mark.parametrize("distribution", STANDARD)
@pytest.mark.parametrize("scale", [0.8, 1.0, 3.0])
def test_losses_of_failure_times_are_those_of_scipy(distribution, scale):
    y = many_bounds()
    raw, found = np.full(len(y), 0.3), np.empty(len(y))
    rule = FailureRule(list(STANDARD).index(distribution), scale)
    failure_times.failure_losses(rule, y, raw, 0, len(y), found)
    assert_allclose(found, [failure_loss(distribution, *bounds, 0.3, scale) for bounds in y], rtol=2e-9, atol=1e-15)


@pytest.mark.parametrize("distribution", STANDARD)
def test_derivatives_of_failure_times_are_finite_differences(distribution):
    y = np.concatenate([many_bounds(), [[2.0, 2.0 * (1.0 + 1e-5)], [0.0, np.inf]]])
    number, scale, step = list(STANDARD).index(distribution), 0.7, 1e-5

    def losses(score, wide=scale):
        out = np.empty(len(y))
        failure_times.failure_losses(FailureRule(number, wide), y, np.full(len(y), score), 0, len(y), out)
        return out

    def derivatives(score):
        out = np.empty((2, len(y)))
        failure_times.failure_derivatives(FailureRule(number, scale), y, np.full(len(y), score), None, 0, len(y), out[0], out[1])
        return out

    gradient, hessian = derivatives(0.3)
    assert_allclose(gradient, (losses(0.3 + step) - losses(0.3 - step)) / (2 * step), rtol=1e-6, atol=1e-6)
    assert_allclose(hessian, (derivatives(0.3 + step)[0] - derivatives(0.3 - step)[0]) / (2 * step), rtol=1e-6, atol=1e-6)
    slope = np.empty(len(y))
    failure_times.log_scale_gradients(FailureRule(number, scale), y, np.full(len(y), 0.3), 0, len(y), slope)
    by_scale = (losses(0.3, scale * math.exp(step)) - losses(0.3, scale * math.exp(-step))) / (2 * step)
    assert_allclose(slope, by_scale, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("distribution", STANDARD)
def test_times_in_the_far_tails_have_finite_losses_and_steps_towards_them(distribution):
    y = np.array([[1e30, np.inf], [1e30, 1e31], [1e30, 1e30], [0.0, 1e-30], [1e-31, 1e-30], [1e-30, 1e-30]])
    raw, gradient, hessian, loss = np.zeros(6), np.empty(6), np.empty(6), np.empty(6)
    rule = FailureRule(list(STANDARD).index(distribution), 0.7)
    failure_times.failure_derivatives(rule, y, raw, None, 0, 6, gradient, hessian)
    failure_times.failure_losses(rule, y, raw, 0, 6, loss)
    assert np.isfinite(loss).all()
    assert (np.sign(gradient) == [-1, -1, -1, 1, 1, 1]).all()
    assert (np.isfinite(hessian) & (hessian >= 0.0)).all()


def test_the_normal_tail_is_that_of_scipy():
    z = np.concatenate([np.linspace(-8, 8, 161), [-30.0, 20.0, 50.0, 1e4]])
    y = np.column_stack([np.exp(np.minimum(z, 600.0)), np.full(len(z), np.inf)])
    found = np.empty(len(z))
    failure_times.failure_losses(FailureRule(failure_times.NORMAL, 1.0), y, np.zeros(len(z)), 0, len(z), found)
    assert_allclose(found, -special.log_ndtr(-np.minimum(z, 600.0)), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("weighted", [False, True])
def test_pairs_are_counted_as_one_by_one(weighted):
    rng = np.random.default_rng(3)
    time, event, _ = censored(60)
    lower, upper = time.copy(), np.where(event, time, np.inf)
    upper[:8] = lower[:8] + rng.integers(0, 3, 8)  # within bounds
    lower[:3] = 0.0
    risk = rng.integers(0, 9, 60)
    weight = rng.integers(1, 4, 60).astype(float) if weighted else np.ones(60)
    ended = np.flatnonzero(np.isfinite(upper))
    by_upper = ended[np.argsort(upper[ended], kind="stable")]
    times, found = OrderedTimes(lower, upper, np.lexsort((upper > lower, lower)), by_upper, weight, weight), np.zeros(3)
    count_pairs(times, risk.astype(np.int64) + 1, np.zeros(10), found)
    assert_array_equal(found, pairs(lower, upper, risk, weight))
