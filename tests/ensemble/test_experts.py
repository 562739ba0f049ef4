"""Expectation and maximisation of a mixture of experts."""

import numpy as np
import pytest
from scipy.stats import norm

from reference.naive_experts import naive_mixture
from woodwind.ensemble.mixture_of_experts import (
    error_variances,
    expectation,
    fit_softmax,
    gaussian_log_density,
    mixture_moments,
    mixture_quantiles,
    sliced,
    start,
    train,
)


class Lines:
    """A mixture of lines, exactly trained."""

    def __init__(self, x, y, weight, gated):
        self.X, self.y, self.weight, self.gated, self.gate = x[:, None], y, weight, gated, None

    def train(self, responsibilities):
        self.gate = fit_softmax(self.X if self.gated else self.X[:, :0], responsibilities, self.weight, 0.01, self.gate)
        design = np.column_stack([np.ones(len(self.y)), self.X])
        root = np.sqrt(self.weight[:, None] * responsibilities)
        self.lines = np.stack([np.linalg.lstsq(design * r[:, None], self.y * r, rcond=None)[0] for r in root.T])
        self.numbers = design @ self.lines.T
        self.variance = error_variances(self.y, self.numbers, responsibilities, self.weight, 1e-9)

    def log_joint(self):
        X = self.X if self.gated else self.X[:, :0]
        return self.gate.log_probabilities(X) + gaussian_log_density(self.y, self.numbers, self.variance)

    def penalty(self):
        return self.gate.penalty(0.01)


def crossing(n=150, seed=0):
    rng = np.random.default_rng(seed)
    x, side = rng.uniform(0, 10, n), rng.random(n) < 0.4
    return x, np.where(side, 1 + 2 * x, 15 - x) + rng.normal(size=n)


def test_a_mixture_of_two_regressions_is_that_of_the_slow_twin_round_by_round():
    x, y = crossing()
    responsibilities = start(x[:, None], y, np.ones(len(x)), 2, 5, 1)
    mixture = Lines(x, y, np.ones(len(x)), gated=False)
    found = train(mixture, responsibilities, np.ones(len(x)), 40, 0.0)
    course, lines = naive_mixture(x, y, responsibilities, 40)
    np.testing.assert_allclose(found.log_likelihood, course, rtol=1e-9)
    np.testing.assert_allclose(mixture.lines, [line[1:3] for line in lines], rtol=1e-6)
    np.testing.assert_allclose(np.sqrt(mixture.variance), [line[3] for line in lines], rtol=1e-6)


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("gated", [True, False])
def test_the_log_likelihood_never_falls(gated, number):
    x, y = crossing(seed=number)
    weight = np.random.default_rng(number).random(len(x))
    course = train(Lines(x, y, weight, gated), start(x[:, None], y, weight, 3, 0, number), weight, 60, 0.0).log_likelihood
    assert np.diff(course).min() >= -1e-9 * abs(course[-1])


def test_training_ends_when_a_round_brings_little_and_says_when_it_did_not():
    x, y = crossing()
    weight, responsibilities = np.ones(len(x)), start(x[:, None], y, np.ones(len(x)), 2, 5, 1)
    done = train(Lines(x, y, weight, True), responsibilities, weight, 500, 1e-6)
    assert done.converged
    assert len(done.log_likelihood) < 500
    assert not train(Lines(x, y, weight, True), responsibilities, weight, 2, 1e-9).converged


def test_responsibilities_are_shares_of_the_joint_density():
    joint = np.log(np.array([[0.1, 0.3], [0.2, 0.2]]))
    likelihood, responsibilities = expectation(joint, np.array([1.0, 2.0]))
    np.testing.assert_allclose(responsibilities, [[0.25, 0.75], [0.5, 0.5]])
    assert likelihood == pytest.approx(3 * np.log(0.4))
    assert np.isfinite(expectation(np.array([[-2000.0, -2001.0]]), np.ones(1))[0])


def test_slices_have_about_equal_weight_and_do_not_know_repetition():
    rng = np.random.default_rng(0)
    points, count = rng.normal(size=(300, 4)), rng.integers(0, 4, 300)
    slices = sliced(points, count.astype(float), 3, 9)
    total = np.bincount(slices, count)
    assert total.min() > 0.3 * count.sum()
    np.testing.assert_array_equal(np.repeat(slices, count), sliced(np.repeat(points, count, axis=0), np.ones(count.sum()), 3, 9))


def test_quantiles_of_a_mixture_are_where_its_distribution_is():
    gate, numbers, variance = np.array([[0.3, 0.7], [1.0, 0.0]]), np.array([[0.0, 5.0], [1.0, 9.0]]), np.array([1.0, 4.0])
    wanted = np.array([0.1, 0.5, 0.9])
    found = mixture_quantiles(gate, numbers, variance, wanted)
    reached = 0.3 * norm.cdf(found[0], 0, 1) + 0.7 * norm.cdf(found[0], 5, 2)
    np.testing.assert_allclose(reached, wanted, atol=1e-12)
    np.testing.assert_allclose(found[1], norm.ppf(wanted, 1, 1), atol=1e-9)
    assert mixture_quantiles(gate, numbers, variance, np.array([0.0, 1.0]))[0].tolist() == [-np.inf, np.inf]


def test_the_variance_of_a_mixture_is_within_plus_between():
    mean, variance = mixture_moments(np.array([[0.25, 0.75]]), np.array([[1.0, 3.0]]), np.array([4.0, 8.0]))
    assert (mean[0], variance[0]) == (2.5, 7.75)
