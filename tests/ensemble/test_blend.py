"""How much each member is believed."""

import numpy as np
import pytest
from scipy.optimize import minimize, nnls
from sklearn.linear_model import LogisticRegression

from woodwind.ensemble.blend import (
    ClassificationEvidence,
    LogPool,
    RegressionEvidence,
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
    probabilities = softmax(rng.normal(size=(n * members, n_classes)) + 1.2 * np.eye(n_classes)[np.repeat(truth, members)])
    return ClassificationEvidence(
        log_ratios(probabilities.reshape(n, members, n_classes)), rng.normal(size=(n, others)), truth, rng.integers(1, 4, n) * 1.0
    )


def numbers(seed=0, n=120, members=4, others=0):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n) * 3.0 + 5.0
    common = rng.normal(size=(n, 1))
    predicted = truth[:, None] + common + rng.normal(size=(n, members)) * np.arange(1, members + 1)
    return RegressionEvidence(predicted, rng.normal(size=(n, others)), truth, rng.integers(1, 4, n) * 1.0)


def price(pool, penalty):
    others = penalty * (pool.coefficients**2).sum() + (pool.intercepts**2).sum()
    w = pool.weights
    return 0.5 * (others + (penalty * ((w - w.mean()) ** 2).sum() + (w.sum() - 1.0) ** 2 if len(w) else 0.0))


@pytest.mark.parametrize(("n_classes", "others", "members"), [(2, 0, 3), (3, 0, 3), (3, 2, 3), (3, 0, 6), (2, 1, 0)])
def test_the_pool_is_where_a_general_minimiser_ends(n_classes, others, members):
    seen = classes(n_classes=n_classes, others=others, members=members)
    if members == 6:
        seen = seen._replace(logs=np.concatenate([seen.logs[:, :4], -0.5 * seen.logs[:, 4:]], axis=1))  # two that are best left out
    found = fit_log_pool(seen, 5.0)

    def objective(theta):
        pool = LogPool.unpacked(theta, members, n_classes)
        return log_loss(pool.scores(seen.logs, seen.others), seen.truth, seen.weight) + price(pool, 5.0)

    packed = found.packed()
    bounds = [(0, None)] * members + [(None, None)] * (len(packed) - members)
    other = minimize(objective, np.full(len(packed), 0.1), method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-15, "gtol": 1e-8})
    np.testing.assert_allclose(packed, other.x, atol=2e-4)
    assert objective(packed) <= other.fun + 1e-9
    if members == 6:
        assert found.weights[4:].tolist() == [0.0, 0.0]
        again = fit_log_pool(seen, 5.0, fit_log_pool(seen, 1000.0))
        np.testing.assert_allclose(again.packed(), packed, atol=1e-7)


def test_for_two_classes_it_is_the_logistic_regression_of_log_odds():
    seen = classes(n_classes=2, n=4000)
    found = fit_log_pool(seen, 1e-8)
    odds = seen.logs[:, :, 1] - seen.logs[:, :, 0]
    other = LogisticRegression(C=1e8, tol=1e-12, max_iter=1000).fit(odds, seen.truth, sample_weight=seen.weight)
    np.testing.assert_allclose(found.weights, other.coef_[0], rtol=1e-2)


def test_a_large_penalty_makes_weights_equal_and_leaves_their_sum_free():
    seen = classes(n=2000)
    for sure in (1.0, 0.5, 2.0):
        pool = fit_log_pool(seen._replace(logs=sure * seen.logs), 1e12)
        np.testing.assert_allclose(pool.weights, pool.weights.mean(), atol=1e-6)
        assert pool.weights.mean() * sure == pytest.approx(fit_log_pool(seen, 1e12).weights.mean(), rel=5e-2)


def test_a_weight_of_two_is_a_row_given_twice():
    seen = classes()
    again = seen.of(np.repeat(np.arange(len(seen.truth)), seen.weight.astype(int)))._replace(weight=np.ones(int(seen.weight.sum())))
    np.testing.assert_allclose(fit_log_pool(seen, 2.0).packed(), fit_log_pool(again, 2.0).packed(), rtol=1e-9, atol=1e-9)


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
    far = [np.abs(fit_nonnegative(seen, intercept=True, penalty=cost, shrink=True).weights - 0.25).sum() for cost in PRICES]
    assert far == sorted(far, reverse=True)
    assert far[-1] < 1e-4
    assert far[0] > 0.3


def test_other_columns_may_count_against_the_target():
    rng = np.random.default_rng(0)
    predicted, column = rng.normal(size=(300, 2)), rng.normal(size=(300, 1))
    column -= column.mean()
    truth = 0.7 * predicted[:, 0] + 0.3 * predicted[:, 1] - 2.0 * column[:, 0] + 1.0
    pool = fit_nonnegative(RegressionEvidence(predicted, column, truth, np.ones(300)), intercept=True)
    np.testing.assert_allclose([*pool.weights, *pool.coefficients], [0.7, 0.3, -2.0], atol=1e-8)
