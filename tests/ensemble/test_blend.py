"""How much each member is believed."""

import numpy as np
import pytest
from scipy.optimize import minimize, nnls
from sklearn.linear_model import LogisticRegression

from woodwind.ensemble.blend import (
    INTERCEPT_PENALTY,
    Evidence,
    LogPool,
    NumberEvidence,
    conjugate_gradients,
    fit_log_pool,
    fit_nonnegative,
    fit_simplex,
    log_loss,
    softmax,
)
from woodwind.ensemble.layers import log_ratios


def classes(seed=0, n=200, members=3, n_classes=3, others=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n)
    shares = softmax(rng.normal(size=(n * members, n_classes)) + 1.2 * np.eye(n_classes)[np.repeat(truth, members)])
    return Evidence(log_ratios(shares.reshape(n, members, n_classes)), rng.normal(size=(n, others)), truth, rng.integers(1, 4, n) * 1.0)


def numbers(seed=0, n=120, members=4, others=0):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n) * 3.0 + 5.0
    common = rng.normal(size=(n, 1))
    said = truth[:, None] + common + rng.normal(size=(n, members)) * np.arange(1, members + 1)
    return NumberEvidence(said, rng.normal(size=(n, others)), truth, rng.integers(1, 4, n) * 1.0)


@pytest.mark.parametrize(("n_classes", "others"), [(2, 0), (3, 0), (3, 2)])
def test_the_pool_is_where_a_general_minimiser_ends(n_classes, others):
    seen, prior = classes(n_classes=n_classes, others=others), np.full(3, 1 / 3)
    found = fit_log_pool(seen, prior, 5.0).packed()

    def objective(theta):
        pool = LogPool.unpacked(theta, 3, n_classes)
        price = 5.0 * (((pool.weights - prior) ** 2).sum() + (pool.coefficients**2).sum()) + INTERCEPT_PENALTY * (pool.intercepts**2).sum()
        return log_loss(pool.scores(seen.logs, seen.others), seen.truth, seen.weight) + price / 2

    other = minimize(objective, np.zeros(len(found)), method="BFGS", options={"gtol": 1e-7})
    np.testing.assert_allclose(found, other.x, atol=1e-5)
    assert objective(found) <= other.fun + 1e-9


def test_for_two_classes_it_is_the_logistic_regression_of_log_odds():
    seen = classes(n_classes=2, n=4000)
    found = fit_log_pool(seen, np.zeros(3), 1e-8)
    odds = seen.logs[:, :, 1] - seen.logs[:, :, 0]
    other = LogisticRegression(C=1e8, tol=1e-12, max_iter=1000).fit(odds, seen.truth, sample_weight=seen.weight)
    np.testing.assert_allclose(found.weights, other.coef_[0], rtol=1e-3)


def test_a_large_penalty_is_the_geometric_mean():
    seen = classes()
    pool = fit_log_pool(seen, np.full(3, 1 / 3), 1e12)
    np.testing.assert_allclose(pool.weights, 1 / 3, atol=1e-8)


@pytest.mark.parametrize("fit", [lambda seen: fit_log_pool(seen, np.full(3, 1 / 3), 2.0).packed()])
def test_a_weight_of_two_is_a_row_given_twice(fit):
    seen = classes()
    again = seen.of(np.repeat(np.arange(len(seen.truth)), seen.weight.astype(int)))._replace(weight=np.ones(int(seen.weight.sum())))
    np.testing.assert_allclose(fit(seen), fit(again), rtol=1e-9, atol=1e-9)


def test_conjugate_gradients_solve_what_they_are_given():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(6, 6))
    matrix, right = root @ root.T + np.eye(6), rng.normal(size=6)
    np.testing.assert_allclose(conjugate_gradients(lambda x: matrix @ x, right), np.linalg.solve(matrix, right), rtol=1e-8)


def test_without_a_penalty_it_is_the_least_squares_of_scipy():
    seen = numbers()
    root = np.sqrt(seen.weight)
    wanted = nnls(root[:, None] * seen.numbers, root * seen.truth)[0]
    np.testing.assert_allclose(fit_nonnegative(seen, intercept=False).weights, wanted, atol=1e-10)
    centred = seen.numbers - np.average(seen.numbers, axis=0, weights=seen.weight)
    middle = np.average(seen.truth, weights=seen.weight)
    pool = fit_nonnegative(seen, intercept=True)
    np.testing.assert_allclose(pool.weights, nnls(root[:, None] * centred, root * (seen.truth - middle))[0], atol=1e-10)
    assert np.average(pool.sums(seen.numbers, seen.others), weights=seen.weight) == pytest.approx(middle)


@pytest.mark.parametrize("others", [0, 2])
def test_the_simplex_is_where_a_general_minimiser_ends(others):
    seen = numbers(others=others)
    pool = fit_simplex(seen, penalty=3.0)

    def objective(theta):
        return seen.weight @ (seen.numbers @ theta[:4] + seen.others @ theta[4:] - seen.truth) ** 2 + 3.0 * (theta[4:] ** 2).sum()

    bounds, sums = [(0, None)] * 4 + [(None, None)] * others, {"type": "eq", "fun": lambda theta: theta[:4].sum() - 1.0}
    start = np.append(np.full(4, 0.25), np.zeros(others))
    other = minimize(objective, start, bounds=bounds, constraints=sums, method="SLSQP", options={"ftol": 1e-13})
    np.testing.assert_allclose(np.append(pool.weights, pool.coefficients), other.x, atol=1e-4)
    assert pool.weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert pool.weights.min() >= 0.0


PRICES = (0, 1, 100, 1e4, 1e8)


def test_shrinking_leads_from_least_squares_to_equal_weights():
    seen = numbers()
    far = [np.abs(fit_nonnegative(seen, intercept=True, penalty=price, shrink=True).weights - 0.25).sum() for price in PRICES]
    assert far == sorted(far, reverse=True)
    assert far[-1] < 1e-4
    assert far[0] > 0.3


def test_other_columns_may_count_against_the_target():
    rng = np.random.default_rng(0)
    said, column = rng.normal(size=(300, 2)), rng.normal(size=(300, 1))
    column -= column.mean()
    truth = 0.7 * said[:, 0] + 0.3 * said[:, 1] - 2.0 * column[:, 0] + 1.0
    pool = fit_nonnegative(NumberEvidence(said, column, truth, np.ones(300)), intercept=True)
    np.testing.assert_allclose([*pool.weights, *pool.coefficients], [0.7, 0.3, -2.0], atol=1e-8)
