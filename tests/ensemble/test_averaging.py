"""Weights of models from how likely the rows are under them."""

import numpy as np
import pytest
from scipy.stats import norm

from woodwind.base.errors import DataError, ParameterError
from woodwind.ensemble.bayesian_averaging import (
    blended,
    categorical_log_likelihood,
    criterion_weights,
    gaussian_log_likelihood,
    information_criterion,
    posterior,
)


def test_weights_are_prior_times_evidence_over_their_sum():
    weights = posterior(np.log([1.0, 2.0, 5.0]), np.array([0.5, 0.25, 0.25]))
    np.testing.assert_allclose(weights, np.array([0.5, 0.5, 1.25]) / 2.25, rtol=1e-15)


def test_weights_of_tiny_evidence_do_not_underflow():
    np.testing.assert_allclose(posterior(np.array([-1e6, -1e6 + np.log(3.0), -np.inf])), [0.25, 0.75, 0.0], rtol=1e-9)


def test_a_criterion_weighs_by_half_its_difference():
    weights = criterion_weights(np.array([100.0, 102.0, 110.0]))
    np.testing.assert_allclose(weights[1] / weights[0], np.exp(-1.0))
    assert weights.sum() == pytest.approx(1.0, abs=1e-15)


def test_criteria_are_their_formulas():
    likelihood, k, n = np.array([-10.0]), np.array([3.0]), 20
    assert information_criterion(likelihood, k, n, "bic")[0] == pytest.approx(20 + 3 * np.log(20))
    assert information_criterion(likelihood, k, n, "aic")[0] == 26.0
    assert information_criterion(likelihood, k, n, "aicc")[0] == pytest.approx(26 + 2 * 3 * 4 / (20 - 3 - 1))
    assert information_criterion(likelihood, np.array([19.0]), n, "aicc")[0] == np.inf
    with pytest.raises(ParameterError, match="'dic'"):
        information_criterion(likelihood, k, n, "dic")


def test_the_likelihood_of_numbers_is_that_of_normal_errors():
    rng = np.random.default_rng(0)
    truth, numbers, weight = rng.normal(size=30), rng.normal(size=(30, 2)), rng.integers(0, 4, 30).astype(float)
    found, variance = gaussian_log_likelihood(truth, numbers, weight)
    rows = np.repeat(np.arange(30), weight.astype(int))
    for member in range(2):
        assert variance[member] == pytest.approx(np.mean((truth - numbers[:, member])[rows] ** 2))
        by_hand = norm.logpdf(truth[rows], numbers[rows, member], np.sqrt(variance[member])).sum()
        assert found[member] == pytest.approx(by_hand)


def test_a_perfect_model_is_believed_but_not_infinitely():
    truth = np.arange(5.0)
    found, variance = gaussian_log_likelihood(truth, np.column_stack([truth, truth + 1.0]))
    assert np.isfinite(found).all()
    assert variance[0] > 0.0
    np.testing.assert_allclose(posterior(found), [1.0, 0.0], atol=1e-12)


def test_the_likelihood_of_classes_is_that_of_what_came_true():
    probabilities = np.array([[[0.2, 0.8], [0.5, 0.5]], [[0.9, 0.1], [0.5, 0.5]]])
    found = categorical_log_likelihood(np.array([1, 0]), probabilities, np.array([1.0, 2.0]))
    np.testing.assert_allclose(found, [np.log(0.8) + 2 * np.log(0.9), 3 * np.log(0.5)])


def test_one_wrong_certainty_does_not_rule_a_model_out_for_ever():
    probabilities = np.array([[[0.0, 1.0]]])
    assert np.isfinite(categorical_log_likelihood(np.array([0]), probabilities)).all()


def test_variances_within_and_between_models_add_up():
    numbers = np.array([[1.0, 3.0], [2.0, 2.0]])
    found = blended(numbers, np.array([0.25, 0.75]), np.array([4.0, 8.0]))
    np.testing.assert_allclose(found.mean, [2.5, 2.0])
    np.testing.assert_allclose(found.within, [7.0, 7.0])
    np.testing.assert_allclose(found.between, [0.75, 0.0])
    draws = np.random.default_rng(0)
    which = draws.random(400_000) < 0.25
    sample = np.where(which, 1.0, 3.0) + draws.normal(size=400_000) * np.where(which, 2.0, np.sqrt(8.0))
    assert sample.var() == pytest.approx(found.variance[0], rel=0.01)


def test_what_cannot_be_weighed_is_said():
    with pytest.raises(DataError, match="No model can be weighed"):
        posterior(np.array([-np.inf, -np.inf]))
    with pytest.raises(DataError, match="No model can be weighed"):
        posterior(np.array([np.nan, 0.0]))
    with pytest.raises(DataError, match=r"shape \(rows, members\)"):
        gaussian_log_likelihood(np.zeros(3), np.zeros(3))
    with pytest.raises(DataError, match="3 rows, and the predictions have 4"):
        gaussian_log_likelihood(np.zeros(3), np.zeros((4, 1)))
