"""What every loss obeys, over the one list of all losses."""

import pickle
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

from reference import naive_derivatives, naive_multinomial
from woodwind.kernels.losses.derivatives import Formula
from woodwind.losses import ALL, Exponential, Huber, LogLoss, Loss, Multinomial, Quantiles, check_loss, describe, loss_from
from woodwind.losses.integers import largest_derivatives, pack_classes, quantise_classes, quantise_rows

every_loss = pytest.mark.parametrize("loss", ALL, ids=repr)


def targets(loss, n, rng):
    if isinstance(loss, Multinomial):
        return rng.integers(0, loss.n_classes, n).astype(np.int32)
    if isinstance(loss, (LogLoss, Exponential)):
        return rng.integers(0, 2, n).astype(np.float64)
    return rng.gamma(1.5, size=n) + 0.1


def scores(loss, n, rng, scale=1.5):
    return rng.normal(scale=scale, size=n if loss.width == 1 else (n, loss.width))


def sample(loss, n=200, seed=0):
    rng = np.random.default_rng(seed)
    return targets(loss, n, rng), scores(loss, n, rng), rng.exponential(size=n)


def column(values, k):
    return values if values.ndim == 1 else values[:, k]


def moved(raw, k, step):
    raw = raw.copy()
    column(raw, k)[:] += step
    return raw


def row_losses(loss, y, raw):
    return np.array([loss.value(y[i : i + 1], raw[i : i + 1]) for i in range(y.shape[0])])


@every_loss
def test_gradient_is_the_slope_of_the_loss(loss):
    y, raw, _ = sample(loss, 60)
    loss = loss.resolved(y, raw)
    gradient, _ = loss.derivatives(y, raw)
    for k in range(loss.width):
        slope = (row_losses(loss, y, moved(raw, k, 1e-5)) - row_losses(loss, y, moved(raw, k, -1e-5))) / 2e-5
        np.testing.assert_allclose(column(gradient, k), slope, rtol=1e-6, atol=1e-8)


@every_loss
def test_hessian_is_the_slope_of_the_gradient_or_says_that_it_is_not(loss):
    y, raw, _ = sample(loss, 60)
    loss = loss.resolved(y, raw)
    _, hessian = loss.derivatives(y, raw)
    if not loss.exact_hessian:
        np.testing.assert_array_equal(hessian, 1.0)
        assert loss.refits
        return
    for k in range(loss.width):
        up, down = (loss.derivatives(y, moved(raw, k, step))[0] for step in (1e-5, -1e-5))
        np.testing.assert_allclose(column(hessian, k), (column(up, k) - column(down, k)) / 2e-5, rtol=1e-6, atol=1e-8)


@every_loss
def test_a_constant_hessian_is_the_weight(loss):
    y, raw, weight = sample(loss)
    _, hessian = loss.derivatives(y, raw, weight)
    assert loss.constant_hessian == np.array_equal(hessian, weight)


@every_loss
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_start_is_the_best_constant(loss, weighted):
    y, raw, weight = sample(loss, 301)
    weight = weight if weighted else None
    start = loss.start(y, weight)
    assert start.shape == (loss.width,)
    if isinstance(loss, Huber):
        # Its delta comes from the residuals around the start: the start is the median, whatever delta.
        loss = ALL[1]
        np.testing.assert_array_equal(start, loss.start(y, weight))

    def value(constant):
        return loss.value(y, np.broadcast_to(constant if loss.width > 1 else constant[0], raw.shape).copy(), weight)

    best = value(start)
    rng = np.random.default_rng(1)
    for size in (1e-4, 1e-2, 1.0):
        for _ in range(6):
            assert value(start + size * rng.normal(size=loss.width)) >= best - 1e-13


@every_loss
def test_start_is_the_same_bits_in_any_order_of_the_rows(loss):
    y, _, weight = sample(loss, 3001)
    order = np.random.default_rng(2).permutation(3001)
    np.testing.assert_array_equal(loss.start(y, weight), loss.start(y[order], weight[order]))
    np.testing.assert_array_equal(loss.start(y), loss.start(y[order]))


@every_loss
def test_a_loss_that_says_it_is_settled_takes_nothing_from_the_rows(loss):
    y, raw, weight = sample(loss)
    resolved = loss.resolved(y, raw, weight)
    assert resolved.is_resolved
    assert (resolved == loss) == loss.is_resolved


def test_a_loss_with_a_settled_of_its_own_is_asked():
    class Own(LogLoss):
        def resolved(self, y, raw, weight=None):
            return self

    assert LogLoss().is_resolved
    assert not Own().is_resolved


@every_loss
def test_weight_of_two_equals_a_row_given_twice(loss):
    y, raw, _ = sample(loss)
    times = 1 + np.arange(200) % 3
    weight = times.astype(np.float64)
    twice_y, twice_raw = np.repeat(y, times), np.repeat(raw, times, axis=0)
    np.testing.assert_allclose(loss.start(y, weight), loss.start(twice_y), rtol=1e-14, atol=1e-15)
    resolved = loss.resolved(y, raw, weight)
    assert resolved == loss.resolved(twice_y, twice_raw)
    assert resolved.value(y, raw, weight) == pytest.approx(resolved.value(twice_y, twice_raw), rel=1e-13)
    whole = [part.sum(axis=0) for part in resolved.derivatives(y, raw, weight)]
    np.testing.assert_allclose(whole, [part.sum(axis=0) for part in resolved.derivatives(twice_y, twice_raw)], rtol=1e-11, atol=1e-11)


@every_loss
def test_derivatives_and_values_are_finite_for_scores_up_to_700(loss):
    y, raw, _ = sample(loss)
    extreme = np.linspace(-700, 700, raw.size).reshape(raw.shape)
    np.random.default_rng(3).shuffle(extreme)
    loss = loss.resolved(y, raw)
    gradient, hessian = loss.derivatives(y, extreme)
    assert np.isfinite(gradient).all()
    assert np.isfinite(hessian).all()
    assert (hessian >= 0).all()
    assert np.isfinite(loss.value(y, extreme))
    assert np.isfinite(loss.predict(extreme)).all()


@every_loss
def test_link_and_its_inverse_undo_each_other(loss):
    rng = np.random.default_rng(4)
    raw = scores(loss, 100, rng, scale=3)
    if loss.width > 1:
        raw -= raw.mean(axis=1, keepdims=True)
    mean = loss.link.to_mean(raw)
    np.testing.assert_allclose(loss.link.to_score(mean), raw, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(loss.link.to_mean(loss.link.to_score(mean)), mean, rtol=1e-12)


@every_loss
def test_prediction_of_the_start_is_the_mean_of_the_target_where_that_is_what_is_fitted(loss):
    y, _, weight = sample(loss)
    predicted = loss.predict(np.broadcast_to(loss.start(y, weight), (1, loss.width)).copy())
    if isinstance(loss, Multinomial):
        true = [np.average(y == k, weights=weight) for k in range(loss.n_classes)]
        np.testing.assert_allclose(predicted, [true], rtol=1e-12)
    elif isinstance(loss, (LogLoss, Exponential)):
        share = np.average(y, weights=weight)
        np.testing.assert_allclose(predicted, [[1 - share, share]], rtol=1e-12)
    elif loss.exact_hessian:
        np.testing.assert_allclose(predicted, [np.average(y, weights=weight)], rtol=1e-12)


@every_loss
def test_totals_of_parts_add_up_to_the_total_of_the_whole(loss):
    y, raw, weight = sample(loss, 10_000)
    loss = loss.resolved(y, raw, weight)
    whole = loss.total(y, raw, weight)
    for edges in ([1, 4096], [5000], [17, 33, 9999]):
        parts = [loss.total(a, b, c) for a, b, c in zip(*(np.split(x, edges) for x in (y, raw, weight)), strict=True)]
        np.testing.assert_allclose(np.sum(parts, axis=0), whole, rtol=1e-12)
    assert loss.value(y, raw, weight) == whole[0] / whole[1]


@every_loss
def test_threads_change_nothing(loss):
    # Enough rows that the pool is used.
    y, raw, weight = sample(loss, 120_000)
    loss = loss.resolved(y, raw, weight)
    assert loss.total(y, raw, weight, threads=1) == loss.total(y, raw, weight, threads=3)
    for one, three in zip(loss.derivatives(y, raw, weight, threads=1), loss.derivatives(y, raw, weight, threads=3), strict=True):
        np.testing.assert_array_equal(one, three)
    np.testing.assert_array_equal(loss.predict(raw, threads=1), loss.predict(raw, threads=3))
    assert largest_derivatives(loss, y, raw, weight, threads=1) == largest_derivatives(loss, y, raw, weight, threads=3)


@every_loss
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_derivatives_equal_their_twins(loss, weighted):
    y, raw, weight = sample(loss)
    loss = loss.resolved(y, raw, weight if weighted else None)
    gradient, hessian = loss.derivatives(y, raw, weight if weighted else None)
    if isinstance(loss.formula, Formula):
        twin = naive_derivatives.derivatives(loss.formula, y, raw, weight if weighted else None)
    elif isinstance(loss, Quantiles):
        each = [naive_derivatives.derivatives(one.formula, y, raw[:, k], weight if weighted else None) for k, one in enumerate(loss.each)]
        twin = [np.stack(part, axis=1) for part in zip(*each, strict=True)]
    else:
        factor = weight[:, None] if weighted else 1.0
        twin = [np.array(part) * factor for part in naive_multinomial.derivatives(y, raw)]
    np.testing.assert_allclose(gradient, twin[0], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(hessian, twin[1], rtol=1e-12, atol=1e-14)


@every_loss
def test_bounds_hold(loss):
    y, raw, _ = sample(loss, 2000)
    raw *= 10
    loss = loss.resolved(y, raw)
    bounds = loss.bounds()
    if bounds is None:
        return
    gradient, hessian = loss.derivatives(y, raw)
    assert np.abs(gradient).max() <= bounds[0]
    assert hessian.max() <= bounds[1]
    if loss.width > 1:
        assert 0.5 * hessian.sum(axis=1).max() <= bounds[1]


@every_loss
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_integers_are_the_derivatives_to_the_last_unit(loss, weighted):
    y, raw, weight = sample(loss, 1000)
    weight = weight if weighted else None
    loss = loss.resolved(y, raw, weight)
    gradient, hessian = loss.derivatives(y, raw, weight)
    if loss.width == 1:
        q = np.empty(1000, np.int64)
        scales, _ = quantise_rows(loss, y, raw, weight, q)
        upper, lower = q >> 32, q & 0xFFFFFFFF
    else:
        wide, lower = np.empty((1000, loss.width + 1), np.int32), np.empty((1000, loss.width), np.int32)
        scales = quantise_classes(loss, y, raw, weight, wide, lower)
        upper = wide[:, :-1]
        np.testing.assert_allclose(wide[:, -1] / scales[1], 0.5 * hessian.sum(axis=1), atol=0.6 / scales[1])
    np.testing.assert_allclose(upper / scales[0], gradient, atol=0.6 / scales[0])
    np.testing.assert_allclose(lower / scales[1], hessian, atol=0.6 / scales[1])
    assert np.abs(upper).max() <= 2**30
    assert lower.max() <= 2**30
    if loss.bounds() is None:
        assert np.abs(upper).max() > 2**28


@every_loss
def test_scales_leave_the_room_that_is_asked_for(loss):
    y, raw, weight = sample(loss, 1000)
    loss = loss.resolved(y, raw, weight)
    found = []
    for room in (1.0, 4.0):
        packed = np.empty((loss.width, 1000), np.int64)
        if loss.width == 1:
            found.append((quantise_rows(loss, y, raw, weight, packed[0], room=room)[0], packed >> 32, packed & 0xFFFFFFFF))
        else:
            wide, lower = np.empty((1000, loss.width + 1), np.int32), np.empty((1000, loss.width), np.int32)
            quantise_classes(loss, y, raw, weight, wide, lower, room=room)
            found.append((pack_classes(loss, y, raw, weight, packed, room=room), wide[:, :-1].T, lower.T))
            np.testing.assert_array_equal(packed >> 32, found[-1][1])
    (scales, gradient, hessian), (other, less, same) = found
    assert other.tolist() == [scales[0] / 4.0, scales[1]]
    assert np.abs(less).max() <= 2**28
    np.testing.assert_allclose(less * 4.0, gradient, atol=3.0)
    np.testing.assert_array_equal(same, hessian)


@every_loss
def test_loss_is_a_frozen_value_that_travels(loss):
    assert isinstance(loss, Loss)
    assert pickle.loads(pickle.dumps(loss)) == loss
    assert hash(pickle.loads(pickle.dumps(loss))) == hash(loss)
    assert loss_from(describe(loss)) == loss
    assert eval(repr(loss), vars(__import__("woodwind.losses", fromlist=["*"]))) == loss
    for field in fields(loss):
        with pytest.raises(FrozenInstanceError):
            setattr(loss, field.name, 1)


@every_loss
def test_check_loss_finds_nothing_wrong(loss):
    check_loss(loss, targets(loss, 40, np.random.default_rng(5)))
