"""Losses for regression, one by one."""

import math

import numpy as np
import pytest

from woodwind.base.errors import ParameterError, TargetError
from woodwind.losses import Absolute, Gamma, Huber, Poisson, Quantile, Squared, Tweedie

ALL_NUMBERS = [Squared(), Absolute(), Huber(), Quantile(0.3), Poisson(), Gamma(), Tweedie()]


def test_case_worked_by_hand():
    y, raw = np.array([1.0, 2.0, 6.0]), np.array([2.0, 2.0, 2.0])
    assert Squared().start(y).tolist() == [3.0]
    assert Squared().value(y, raw) == (0.5 + 0.0 + 8.0) / 3
    assert Absolute().start(y).tolist() == [2.0]
    assert Absolute().value(y, raw) == 5 / 3
    assert Quantile(0.75).start(y).tolist() == [6.0]
    assert Quantile(0.75).value(y, raw) == pytest.approx((0.25 + 0.0 + 3.0) / 3)
    assert Huber(delta=1.0).value(y, raw) == pytest.approx((0.5 + 0.0 + 3.5) / 3)
    assert Poisson().start(y).tolist() == pytest.approx([math.log(3)])
    assert Poisson().derivatives(y, np.zeros(3))[0].tolist() == [0.0, -1.0, -5.0]
    assert Gamma().derivatives(y, np.zeros(3))[1].tolist() == [1.0, 2.0, 6.0]


def test_huber_takes_its_delta_from_the_residuals_of_the_round():
    y, raw = np.arange(11.0), np.zeros(11)
    assert Huber(quantile=0.9).resolved(y, raw) == Huber(quantile=0.9, delta=9.0)
    assert Huber(quantile=0.9, delta=2.0).resolved(y, raw) == Huber(quantile=0.9, delta=2.0)
    weight = np.zeros(11)
    weight[4] = 1.0
    assert Huber(quantile=0.9).resolved(y, raw, weight).delta == 4.0
    with pytest.raises(ParameterError, match="resolved"):
        _ = Huber().formula


def test_huber_survives_residuals_that_are_all_zero():
    y = np.ones(5)
    resolved = Huber().resolved(y, y)
    assert resolved.delta == 0.0
    assert resolved.value(y, y) == 0.0
    rows = np.arange(5, dtype=np.int32)
    assert resolved.refits[0].values(rows, np.array([0]), np.array([5]), y - y, None).tolist() == [0.0]


@pytest.mark.parametrize(
    ("loss", "y", "words"),
    [
        (Poisson(), [1.0, -2.0, -3.0, -4.0, -5.0], r"'poisson' must not be negative, but y\[1\] = -2, y\[2\] = -3, y\[3\] = -4 and 1 more"),
        (Poisson(), [0.0, 0.0], "must not be zero in every row"),
        (Gamma(), [1.0, 0.0], r"'gamma' must be positive, but y\[1\] = 0.*tweedie"),
        (Tweedie(), [1.0, -1.0], "'tweedie' must not be negative"),
        (Tweedie(), [0.0, 0.0], "zero in every row"),
        (Squared(), [1.0, math.nan], r"must be finite numbers, but y\[1\] = nan"),
        (Absolute(), [math.inf, 1.0], r"must be finite numbers, but y\[0\] = inf"),
    ],
)
def test_targets_outside_of_the_domain_are_refused_in_words(loss, y, words):
    with pytest.raises(TargetError, match=words):
        loss.check_target(np.array(y))


@pytest.mark.parametrize("loss", ALL_NUMBERS, ids=repr)
def test_targets_inside_of_the_domain_are_accepted(loss):
    loss.check_target(np.array([1.0, 2.0, 0.5]))
    loss.check_target(np.array([1, 2, 3]))


def test_zeros_are_in_the_domain_of_poisson_and_tweedie():
    for loss in (Poisson(), Tweedie()):
        loss.check_target(np.array([0.0, 2.0]))


def test_start_of_a_log_mean_needs_weight_on_a_positive_target():
    with pytest.raises(TargetError, match="positive mean"):
        Poisson().start(np.array([0.0, 2.0]), np.array([1.0, 0.0]))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Quantile(0.0), "level of Quantile must lie between 0 and 1"),
        (lambda: Quantile(1.0), "level"),
        (lambda: Quantile(math.nan), "level"),
        (lambda: Huber(quantile=1.5), "quantile of Huber"),
        (lambda: Huber(delta=-1.0), "delta of Huber"),
        (lambda: Huber(delta=math.inf), "delta of Huber"),
        (lambda: Tweedie(1.0), "power of Tweedie.*Poisson"),
        (lambda: Tweedie(2.0), "power of Tweedie.*Gamma"),
    ],
)
def test_parameters_that_make_no_loss_are_refused(make, words):
    with pytest.raises(ParameterError, match=words):
        make()


def test_columns_and_other_number_types_are_accepted():
    y, raw = np.array([1, 2, 3], dtype=np.int32), np.array([[1.0], [1.0], [2.0]], dtype=np.float32)
    assert Squared().value(y, raw) == pytest.approx((0 + 0.5 + 0.5) / 3)
    assert Squared().value(y, raw, np.array([0, 1, 0])) == 0.5
    assert Squared().predict(raw).shape == (3,)


@pytest.mark.parametrize("loss", [Absolute(), Quantile(0.9), Huber(delta=1.0)], ids=repr)
def test_refit_is_the_same_for_any_number_of_threads(loss):
    rng = np.random.default_rng(0)
    n, n_leaves = 60_000, 9
    rows = rng.permutation(n).astype(np.int32)
    edges = np.linspace(0, n, n_leaves + 1).astype(np.int64)
    residual, weight = rng.normal(size=n), rng.exponential(size=n)
    one, three = (loss.refits[0].values(rows, edges[:-1], edges[1:], residual, weight, threads=threads) for threads in (1, 3))
    np.testing.assert_array_equal(one, three)
