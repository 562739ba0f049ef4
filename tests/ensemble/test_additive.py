"""Forward stagewise fitting: the line search, and what learners are asked for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from woodwind.ensemble.additive import line_search, residual_target
from woodwind.losses import Absolute, Exponential, LogLoss, Multinomial, Poisson, Quantile, Squared

RNG = np.random.default_rng(0)


def value_at(loss, y, raw, direction, weight, step):
    return loss.value(y, raw + step * direction, weight)


CASES = {
    "squared": (Squared(), RNG.normal(size=60)),
    "absolute": (Absolute(), RNG.normal(size=60)),
    "quantile": (Quantile(0.8), RNG.normal(size=60)),
    "poisson": (Poisson(), RNG.poisson(2.0, 60).astype(float)),
    "log loss": (LogLoss(), RNG.integers(0, 2, 60).astype(float)),
    "exponential": (Exponential(), RNG.integers(0, 2, 60).astype(float)),
    "classes": (Multinomial(3), RNG.integers(0, 3, 60).astype(np.int32)),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("weighted", [False, True])
def test_no_other_step_has_less_loss(name, weighted):
    loss, y = CASES[name]
    rng = np.random.default_rng(1)
    shape = (60,) if loss.width == 1 else (60, loss.width)
    raw = rng.normal(size=shape)
    direction = 0.3 * rng.normal(size=shape) - loss.derivatives(y, raw)[0]
    weight = rng.random(60) if weighted else None
    step = line_search(loss, y, raw, direction, weight)
    assert step > 0.0
    least = value_at(loss, y, raw, direction, weight, step)
    for other in (0.0, step / 2, step - 1e-4, step + 1e-4, 2 * step):
        assert least <= value_at(loss, y, raw, direction, weight, other) + 1e-12


def test_a_direction_that_rises_is_not_taken():
    y = RNG.normal(size=30)
    assert line_search(Squared(), y, np.zeros(30), -y, None) == 0.0


def test_a_loss_that_falls_for_ever_is_followed_to_where_it_is_flat():
    y = np.array([0.0, 1.0] * 5)
    step = line_search(Exponential(), y, np.zeros(10), 2 * y - 1, None)
    assert 10.0 < step < 1000.0


def test_the_squared_error_of_a_mean_needs_a_step_of_one():
    y = RNG.normal(size=100)
    group = np.arange(100) % 5
    means = np.array([y[group == k].mean() for k in range(5)])[group]
    assert line_search(Squared(), y, np.zeros(100), means, None) == pytest.approx(1.0, abs=1e-13)


def test_the_step_of_a_classifier_under_exponential_loss_is_half_the_log_odds_of_its_error():
    """AdaBoost's weight, with the factor one half of the texts."""
    y = np.array([0.0, 0.0, 1.0, 1.0, 1.0])
    predicted = np.array([-1.0, 1.0, 1.0, 1.0, 1.0])
    assert line_search(Exponential(), y, np.zeros(5), predicted, None) == pytest.approx(0.5 * np.log(4.0), rel=1e-12)


def test_learners_are_asked_for_the_gradient_or_for_newtons_step():
    gradient, hessian, weight = np.array([2.0, -1.0]), np.array([4.0, 2.0]), np.array([2.0, 1.0])
    assert_allclose(residual_target(gradient, hessian, weight, "gradient")[0], [-1.0, 1.0])
    target, by = residual_target(gradient, hessian, weight, "newton")
    assert_allclose(target, [-0.5, 0.5])
    assert_allclose(by, [4.0, 2.0])
