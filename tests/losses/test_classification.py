"""Losses for classification, one by one."""

import math

import numpy as np
import pytest

from woodwind.base.errors import ParameterError, TargetError, WeightError
from woodwind.losses import Exponential, LogLoss, Multinomial


def test_case_worked_by_hand():
    y = np.array([0.0, 1.0, 1.0, 1.0])
    assert LogLoss().start(y).tolist() == pytest.approx([math.log(3)])
    assert Exponential().start(y).tolist() == pytest.approx([0.5 * math.log(3)])
    assert LogLoss().value(y, np.zeros(4)) == pytest.approx(math.log(2))
    assert Exponential().value(y, np.zeros(4)) == 1.0
    gradient, hessian = LogLoss().derivatives(y, np.zeros(4))
    assert gradient.tolist() == [0.5, -0.5, -0.5, -0.5]
    assert hessian.tolist() == [0.25] * 4


def test_two_classes_of_the_multinomial_are_the_binary_log_loss():
    rng = np.random.default_rng(0)
    y, raw = rng.integers(0, 2, 50), rng.normal(size=50)
    pair = np.stack([np.zeros(50), raw], axis=1)
    binary, multi = LogLoss(), Multinomial(2)
    assert multi.value(y, pair) == pytest.approx(binary.value(y, raw), rel=1e-14)
    np.testing.assert_allclose(multi.derivatives(y, pair)[0][:, 1], binary.derivatives(y, raw)[0], rtol=1e-12)
    np.testing.assert_allclose(multi.derivatives(y, pair)[1].sum(axis=1) / 2, binary.derivatives(y, raw)[1], rtol=1e-12)
    np.testing.assert_allclose(multi.predict(pair), binary.predict(raw), rtol=1e-14)


def test_probabilities_keep_their_digits_in_both_tails():
    for loss, factor in ((LogLoss(), 1.0), (Exponential(), 2.0)):
        raw = np.array([-100.0, 100.0]) / factor
        np.testing.assert_allclose(loss.predict(raw), [[1.0, math.exp(-100)], [math.exp(-100), 1.0]], rtol=1e-14)


def test_a_class_without_rows_has_a_finite_start():
    assert np.isfinite(LogLoss().start(np.ones(3))).all()
    assert np.isfinite(Exponential().start(np.zeros(3))).all()
    start = Multinomial(3).start(np.array([0, 0, 1]))
    assert np.isfinite(start).all()
    np.testing.assert_allclose(Multinomial(3).predict(start[None, :]), [[2 / 3, 1 / 3, 0]], atol=1e-15)


@pytest.mark.parametrize(
    ("loss", "y", "words"),
    [
        (LogLoss(), [0.0, 1.5], r"'log_loss' must lie between 0 and 1, but y\[1\] = 1.5"),
        (Exponential(), [0.0, 0.5], r"'exponential' must be 0 or 1, but y\[1\] = 0.5"),
        (Multinomial(3), [0, 3], r"whole numbers from 0 to 2, but y\[1\] = 3"),
        (Multinomial(3), [0.5, 1], "whole numbers"),
        (LogLoss(), [math.nan], "finite"),
    ],
)
def test_targets_outside_of_the_domain_are_refused_in_words(loss, y, words):
    with pytest.raises(TargetError, match=words):
        loss.check_target(np.array(y))


def test_shares_are_in_the_domain_of_log_loss():
    LogLoss().check_target(np.array([0.0, 0.3, 1.0]))
    Multinomial(3).check_target(np.array([0, 1, 2]))
    Exponential().check_target(np.array([0, 1]))


def test_multinomial_needs_two_classes():
    with pytest.raises(ParameterError, match="at least 2"):
        Multinomial(1)


def test_a_mean_needs_weight():
    with pytest.raises(WeightError, match="above zero"):
        LogLoss().value(np.ones(2), np.zeros(2), np.zeros(2))


@pytest.mark.parametrize("loss", [LogLoss(), Exponential()], ids=lambda loss: loss.name)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_two_classes_in_bytes_are_what_they_are_as_numbers(loss, weighted):
    rng = np.random.default_rng(0)
    y, raw = rng.integers(0, 2, 70_000).astype(np.uint8), rng.normal(size=70_000)
    weight = rng.random(70_000) if weighted else None
    assert np.shares_memory(loss.as_target(y), y)
    plain = y.astype(np.float64)
    loss.check_target(y)
    assert loss.start(y, weight).tolist() == loss.start(plain, weight).tolist()
    assert loss.total(y, raw, weight) == loss.total(plain, raw, weight)
    for small, large in zip(loss.derivatives(y, raw, weight), loss.derivatives(plain, raw, weight), strict=True):
        np.testing.assert_array_equal(small, large)


def test_signs_of_classes_in_bytes_do_not_wrap_around():
    y, raw = np.array([0, 1], np.uint8), np.array([2.0, 2.0])
    gradient, hessian = Exponential().derivatives(y, raw)
    np.testing.assert_allclose(gradient, [math.exp(2), -math.exp(-2)], rtol=1e-14)
    np.testing.assert_allclose(hessian, [math.exp(2), math.exp(-2)], rtol=1e-14)
    assert Exponential().value(y, raw) == pytest.approx(math.cosh(2), rel=1e-14)


def test_several_classes_are_kept_as_their_kernels_take_them():
    y = np.array([0, 2, 1], np.uint8)
    kept = Multinomial(3).as_target(y)
    assert kept.dtype == np.int32
    assert np.shares_memory(Multinomial(3).as_target(kept), kept)
    assert Multinomial(3).start(y).tolist() == Multinomial(3).start(kept).tolist()


@pytest.mark.parametrize("kind", [np.uint8, np.int64, np.float64])
def test_targets_of_any_type_are_refused_in_the_same_words(kind):
    y = np.array([1, 0, 3]).astype(kind)
    with pytest.raises(TargetError, match=r"must lie between 0 and 1, but y\[2\] = 3\."):
        LogLoss().check_target(y)
    with pytest.raises(TargetError, match=r"must be 0 or 1, but y\[2\] = 3\."):
        Exponential().check_target(y)
    with pytest.raises(TargetError, match=r"whole numbers from 0 to 2, but y\[2\] = 3\."):
        Multinomial(3).check_target(y)
