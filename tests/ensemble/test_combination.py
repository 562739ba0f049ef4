"""A posterior over combinations of members."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import dirichlet as their_dirichlet
from scipy.stats import kstest

from woodwind.ensemble.bayesian_averaging import (
    categorical_likelihood,
    categorical_log_likelihood,
    combined,
    dirichlet,
    gaussian_likelihood,
    log_dirichlet,
    posterior,
)


def mixed_classes(n=400, seed=0, mix=0.5):
    """Two members that are both wrong: the truth is drawn from a mixture of what they say."""
    rng = np.random.default_rng(seed)
    first, second = rng.beta(2, 2, n), rng.beta(2, 2, n)
    truth = (rng.random(n) < mix * first + (1 - mix) * second).astype(np.int64)
    probabilities = np.stack([np.column_stack([1 - first, first]), np.column_stack([1 - second, second])], axis=1)
    return truth, probabilities


def of_truth(truth, probabilities):
    return np.take_along_axis(probabilities, truth[:, None, None], axis=2)[:, :, 0]


@pytest.mark.parametrize("alpha", [(1.0, 1.0, 1.0), (0.05, 0.2, 3.0), (400.0, 20.0, 1.0)])
def test_draws_are_from_a_dirichlet_distribution(alpha):
    alpha = np.array(alpha)
    draws = dirichlet(7, 4000, alpha)
    np.testing.assert_allclose(draws.sum(axis=1), 1.0)
    for member in range(3):
        assert kstest(draws[:, member], "beta", (alpha[member], alpha.sum() - alpha[member])).pvalue > 0.01
    np.testing.assert_array_equal(draws, dirichlet(7, 4000, alpha))


def test_the_density_is_that_of_scipy():
    alpha, weights = np.array([0.5, 2.0, 3.0]), np.array([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]])
    np.testing.assert_allclose(log_dirichlet(weights, alpha), their_dirichlet.logpdf(weights.T, alpha))


@pytest.mark.parametrize(("n", "concentration"), [(20, 1.0), (400, 1.0), (400, 5.0), (5000, 0.5)])
def test_the_mean_of_the_weights_is_the_integral_over_all_of_them(n, concentration):
    truth, probabilities = mixed_classes(n)
    likelihood = categorical_likelihood(of_truth(truth, probabilities))
    found = combined(likelihood, 2, 2000, 10, concentration, 3)
    grid = np.linspace(0, 1, 2001)[1:-1]
    top = likelihood(np.column_stack([grid, 1 - grid])).max()

    def density(share):
        return np.exp(likelihood(np.array([[share, 1 - share]]))[0] - top) * (share * (1 - share)) ** (concentration - 1)

    total, moment = (quad(lambda s, k=k: density(s) * s**k, 0, 1, limit=400, points=[0.3, 0.5, 0.7])[0] for k in (0, 1))
    spread = np.sqrt(np.sum(found.probability * (found.weights[:, 0] - found.mean[0]) ** 2))
    assert found.mean[0] == pytest.approx(moment / total, abs=4 * spread / np.sqrt(found.effective_draws) + 1e-3)
    assert found.effective_draws > 100


def test_averaging_takes_one_side_where_the_truth_is_a_mixture_and_combination_does_not():
    truth, probabilities = mixed_classes(4000)
    averaging = posterior(categorical_log_likelihood(truth, probabilities))
    combination = combined(categorical_likelihood(of_truth(truth, probabilities)), 2, 1000, 10, 1.0, 0).mean
    assert averaging.max() > 0.99
    np.testing.assert_allclose(combination, 0.5, atol=0.08)
    new_truth, new_shares = mixed_classes(20_000, seed=1)
    loss = [-np.log(of_truth(new_truth, new_shares) @ weights).mean() for weights in (averaging, combination)]
    assert loss[1] < loss[0] - 0.01


def test_many_members_are_searched_in_rounds():
    rng = np.random.default_rng(2)
    numbers = rng.normal(size=(3000, 8))
    weights = np.array([0.5, 0.3, 0.2, 0, 0, 0, 0, 0])
    truth = numbers @ weights + 0.3 * rng.normal(size=3000)
    likelihood, variance = gaussian_likelihood(truth, numbers)
    found = combined(likelihood, 8, 4000, 20, 1.0, 0)
    np.testing.assert_allclose(found.mean, weights, atol=0.03)
    assert variance(found.mean[None])[0] == pytest.approx(0.09, rel=0.1)


def test_the_likelihood_of_combined_numbers_is_that_of_their_errors():
    rng = np.random.default_rng(3)
    truth, numbers, weight = rng.normal(size=50), rng.normal(size=(50, 3)), rng.random(50)
    likelihood, variance = gaussian_likelihood(truth, numbers, weight)
    mix = np.array([[0.2, 0.5, 0.3]])
    error = np.average((truth - numbers @ mix[0]) ** 2, weights=weight)
    assert variance(mix)[0] == pytest.approx(error)
    assert likelihood(mix)[0] == pytest.approx(-0.5 * weight.sum() * (np.log(2 * np.pi * error) + 1))


def test_blocks_of_rows_add_up():
    truth, probabilities = mixed_classes(9000)
    weight = np.random.default_rng(0).random(9000)
    mix = np.array([[0.3, 0.7]])
    found = categorical_likelihood(of_truth(truth, probabilities), weight)(mix)[0]
    assert found == pytest.approx(weight @ np.log(of_truth(truth, probabilities) @ mix[0]))


def test_one_member_is_its_own_combination():
    found = combined(lambda weights: -np.ones(len(weights)), 1, 100, 5, 1.0, 0)
    assert found.mean.tolist() == [1.0]
