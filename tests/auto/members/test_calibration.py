"""Slope and shift of vote fractions: against scikit-learn's logistic regression, and at the edges."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from woodwind.auto.members.link import PULL, calibrate, log_losses, probabilities


def made(n, k, seed=0):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(k), n)
    truth = np.array([rng.choice(k, p=probabilities(4.0 * row[None])[0]) for row in shares])
    return shares, truth.astype(np.int32)


def test_two_classes_agree_with_logistic_regression():
    shares, truth = made(4000, 2)
    found = calibrate(shares[:, 1:], truth, None)
    theirs = LogisticRegression(C=1e9, tol=1e-10).fit(shares[:, 1:], truth)
    assert found.slope == pytest.approx(theirs.coef_[0, 0], rel=0.01)
    assert found.shift[0] == pytest.approx(theirs.intercept_[0], rel=0.02, abs=0.02)


@pytest.mark.parametrize("k", [1, 3, 5])
def test_the_gradient_of_what_is_minimised_is_zero_at_the_end(k):
    shares, truth = made(600, max(k, 2), seed=k)
    shares = shares[:, 1:] if k == 1 else shares
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 600)
    found = calibrate(shares, truth, weight)

    def loss(numbers):
        away = numbers - np.concatenate([[5.0], np.zeros(k)])
        return weight @ log_losses(numbers[0] * shares + numbers[1:], truth) + PULL * (away**2).sum() / 2

    at = np.concatenate([[found.slope], found.shift])
    for position in range(k + 1):
        step = np.zeros(k + 1)
        step[position] = 1e-5
        assert abs(loss(at + step) - loss(at - step)) / 2e-5 < 1e-2


def test_shares_that_part_the_classes_have_a_finite_slope():
    shares = np.array([[0.0], [0.1], [0.9], [1.0]])
    found = calibrate(shares, np.array([0, 0, 1, 1]), None)
    assert np.isfinite(found.slope)
    assert found.slope > 0.0
    assert (probabilities(found.slope * shares + found.shift).argmax(axis=1) == [0, 0, 1, 1]).all()


def test_shares_that_say_nothing_get_the_frequencies():
    truth = np.repeat([0, 1], [900, 100])
    found = calibrate(np.full((1000, 1), 0.3), truth, None)
    assert probabilities(found.slope * np.array([[0.3]]) + found.shift)[0, 1] == pytest.approx(0.1, abs=0.01)
