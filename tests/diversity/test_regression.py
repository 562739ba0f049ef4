"""Members that are regressors: decompositions that add up exactly, and correlations that NumPy finds too."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from woodwind import DataError
from woodwind.base.errors import UndefinedMeasureWarning
from woodwind.diversity import (
    ambiguity_decomposition,
    bias_variance_covariance,
    error_correlation,
    error_covariance,
    error_products,
    prediction_correlation,
)


def pool(seed=0, n=50, m=4):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    return truth, truth[:, None] + rng.normal(size=(n, m)) + rng.normal(size=(n, 1)) + rng.normal(size=m), rng


def test_correlations_are_those_of_numpy():
    truth, numbers, rng = pool()
    errors = numbers - truth[:, None]
    np.testing.assert_allclose(error_correlation(truth, numbers), np.corrcoef(errors.T), atol=1e-12)
    np.testing.assert_allclose(prediction_correlation(numbers), np.corrcoef(numbers.T), atol=1e-12)
    weight = rng.random(50)
    np.testing.assert_allclose(
        error_covariance(truth, numbers, sample_weight=weight), np.cov(errors.T, aweights=weight, ddof=0), atol=1e-12
    )


def test_the_error_of_a_mean_is_a_form_of_the_products_of_errors():
    truth, numbers, rng = pool(1)
    w = rng.random(4)
    w /= w.sum()
    C = error_products(truth, numbers)
    assert w @ C @ w == pytest.approx(np.mean((numbers @ w - truth) ** 2), abs=1e-12)
    np.testing.assert_allclose(np.diagonal(C), np.mean((numbers - truth[:, None]) ** 2, axis=0), atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 20), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_the_error_of_a_mean_is_the_mean_error_less_ambiguity(n, m, seed):
    truth, numbers, rng = pool(seed, n, m)
    weights, weight = rng.random(m) + 0.01, rng.random(n) + 0.01
    found = ambiguity_decomposition(truth, numbers, weights, sample_weight=weight)
    mean = numbers @ (weights / weights.sum())
    assert found.ensemble_error == pytest.approx(np.average((mean - truth) ** 2, weights=weight), abs=1e-12)
    assert found.ensemble_error == pytest.approx(found.mean_error - found.ambiguity, abs=1e-12)
    assert found.ambiguity >= 0.0
    assert found.mean_error == pytest.approx(np.average(found.member_errors, weights=weights), abs=1e-12)
    assert found.ambiguity == pytest.approx(np.average(found.member_ambiguities, weights=weights), abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 5), st.integers(1, 8), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_bias_variance_and_covariance_add_up(rounds, n, m, seed):
    rng = np.random.default_rng(seed)
    truth, numbers, weight = rng.normal(size=n), rng.normal(size=(rounds, n, m)), rng.random(n) + 0.01
    found = bias_variance_covariance(truth, numbers, sample_weight=weight)
    loss = np.average(((numbers.mean(axis=2) - truth) ** 2).mean(axis=0), weights=weight)
    assert found.loss == pytest.approx(loss, abs=1e-12)
    assert found.loss == pytest.approx(found.bias + found.variance / m + (1 - 1 / m) * found.covariance, abs=1e-12)


def test_covariance_is_that_of_different_members():
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(6, 1, 3))
    found = bias_variance_covariance([0.0], numbers)
    C = np.cov(numbers[:, 0].T, ddof=0)
    assert found.variance == pytest.approx(np.trace(C) / 3, abs=1e-12)
    assert found.covariance == pytest.approx((C.sum() - np.trace(C)) / 6, abs=1e-12)


def test_the_forecasts_of_the_slides_are_highly_correlated():
    """The table of Lessmann's slides on ensemble diversity: three classifiers that say nearly the same of five rows."""
    predicted = [[0.60, 0.59, 0.60], [0.30, 0.31, 0.29], [0.20, 0.21, 0.20], [0.70, 0.69, 0.71], [0.45, 0.44, 0.44]]
    found = prediction_correlation(predicted)
    assert (found > 0.998).all()
    truth = [1.0, 1.0, 0.0, 0.0, 0.0]
    parts = ambiguity_decomposition(truth, predicted)
    assert parts.ambiguity < 0.001 * parts.mean_error  # averaging gains nothing


def test_a_member_that_never_varies_has_no_correlation_and_a_warning_says_so():
    with pytest.warns(UndefinedMeasureWarning, match="members 1 do not vary"):
        found = prediction_correlation([[1.0, 5.0], [2.0, 5.0], [4.0, 5.0]])
    assert found.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_what_is_wrong_is_named():
    with pytest.raises(DataError, match="ambiguity_decomposition: predictions must be finite, but at"):
        ambiguity_decomposition([0.0], [[np.nan, 1.0]])
    with pytest.raises(DataError, match="truth has 2 rows and predictions has 1"):
        error_products([0.0, 1.0], [[1.0, 2.0]])
    with pytest.raises(DataError, match="has 1 member"):
        error_covariance([0.0], [[1.0]])
    with pytest.raises(DataError, match="must be numbers"):
        error_covariance(["a"], [[1.0, 2.0]])
