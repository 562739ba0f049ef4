"""Weights of members, against slow twins and against what must be."""

import numpy as np
import pytest
from scipy.optimize import linprog

from reference.naive_weighing import descended_weights, mixture_weights, square_weights
from woodwind import DataError, losses
from woodwind.base.errors import TargetError
from woodwind.ensemble.combine import LEAST_SHARE
from woodwind.ensemble.member_weights import (
    LogOfMean,
    accuracy_weights,
    brier_weights,
    log_loss_weights,
    loss_weights,
    precision_weights,
    squared_weights,
)
from woodwind.ensemble.simplex import quadratic_on_simplex, smallest_on_simplex

EXACT = 1e-8


def classes(seed, n=300, m=6, k=3):
    """Members of which some know more than others, and some are copies."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    logits = rng.normal(size=(n, m, k)) + np.linspace(0, 2, m)[None, :, None] * np.eye(k)[truth][:, None]
    probabilities = np.exp(logits)
    probabilities /= probabilities.sum(axis=2, keepdims=True)
    if m > 3:
        probabilities[:, 1] = probabilities[:, 3]
    return probabilities, truth, rng.uniform(0.1, 3.0, n)


def predictions(seed, n=200, m=6):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    return truth[:, None] * rng.uniform(0.5, 1.2, m) + rng.normal(size=(n, m)) * np.linspace(0.3, 2.0, m), truth, rng.uniform(0.1, 3, n)


def is_on_simplex(weights):
    return bool((weights >= 0).all()) and abs(weights.sum() - 1.0) < 1e-12


# Against slow twins.


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weighted", [False, True])
def test_log_loss_is_as_small_as_by_expectation_and_maximisation(seed, weighted):
    probabilities, truth, count = classes(seed)
    count = count if weighted else np.ones(len(truth))
    found = log_loss_weights(probabilities, truth, count if weighted else None)
    of_truth = probabilities[np.arange(len(truth)), :, truth]
    slow = mixture_weights(of_truth, count)
    reached = [-(count @ np.log(of_truth @ weights)) / count.sum() for weights in (found.weights, slow)]
    assert is_on_simplex(found.weights)
    assert reached[0] <= reached[1] + EXACT
    assert abs(reached[0] - found.value) < 1e-12
    assert reached[1] - reached[0] <= 1e-5  # the twin has not quite arrived
    assert found.gap <= EXACT


@pytest.mark.parametrize("seed", range(4))
def test_squared_errors_are_as_small_as_among_all_sets_of_members(seed):
    predicted, truth, count = predictions(seed)
    found = squared_weights(predicted, truth, count)
    gram = ((predicted - truth[:, None]) * count[:, None] / count.sum()).T @ (predicted - truth[:, None])
    slow = square_weights(gram)
    assert is_on_simplex(found.weights)
    assert abs(found.value - slow @ gram @ slow) < EXACT
    np.testing.assert_allclose(found.weights, slow, atol=1e-7)
    assert found.gap <= EXACT
    probabilities, labels, _ = classes(seed)
    brier = brier_weights(probabilities, labels)
    errors = probabilities - np.eye(3)[labels][:, None]
    gram = np.einsum("njk,nlk->jl", errors, errors) / len(labels)
    slow = square_weights(gram)
    assert abs(brier.value - slow @ gram @ slow) < EXACT


SMOOTH = [loss for loss in losses.ALL if loss.name not in ("absolute_error", "quantile")]


@pytest.mark.parametrize("loss", SMOOTH, ids=str)
def test_any_smooth_loss_is_as_small_as_by_descent(loss):
    rng = np.random.default_rng(3)
    n, m = 120, 4
    if loss.width > 1:
        truth, raw = rng.integers(0, loss.width, n), rng.normal(size=(n, m, loss.width))
        raw += np.eye(loss.width)[truth][:, None] * np.array([0.2, 1.0, 0.9, 0.0])[:, None]
    else:
        truth = (rng.random(n) < 0.5).astype(float) if loss.name in ("log_loss", "exponential") else rng.gamma(2.0, size=n).round() + 1.0
        raw = rng.normal(size=(n, m)) + np.array([0.2, 1.0, 0.9, 0.0]) * (truth - truth.mean())[:, None] / truth.std()
    found = loss_weights(raw, truth, loss)
    fixed = loss.resolved(truth, raw.mean(axis=1), None)

    def mean(weights):
        return np.tensordot(raw, weights, (1, 0))

    def gradients(weights):
        gradient, _ = fixed.derivatives(truth, mean(weights))
        return np.array([(gradient * raw[:, member]).sum() for member in range(m)]) / n

    slow = descended_weights(lambda weights: fixed.value(truth, mean(weights)), gradients, m, 500)
    assert is_on_simplex(found.weights)
    assert abs(found.value - fixed.value(truth, mean(found.weights))) < 1e-10
    assert abs(found.value - fixed.value(truth, mean(slow))) < EXACT
    assert found.gap <= 1e-7


@pytest.mark.parametrize("loss", [losses.Absolute(), losses.Quantile(0.9)], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_losses_with_a_kink_are_as_small_as_by_a_linear_program(loss, weighted):
    predicted, truth, count = predictions(5, n=80)
    count = count if weighted else np.ones(80)
    found = loss_weights(predicted, truth, loss, count if weighted else None)
    level, factor = (0.5, 2.0) if isinstance(loss, losses.Absolute) else (0.9, 1.0)
    cost = np.concatenate([np.zeros(6), factor * level * count, factor * (1 - level) * count]) / count.sum()
    equal = np.vstack([np.hstack([predicted, np.eye(80), -np.eye(80)]), np.concatenate([np.ones(6), np.zeros(160)])])
    exact = linprog(cost, A_eq=equal, b_eq=np.append(truth, 1.0)).fun
    assert abs(found.value - exact) < EXACT
    assert found.value - found.gap <= exact + 1e-12
    assert found.gap < 1e-6
    np.testing.assert_allclose(found.value, loss.value(truth, predicted @ found.weights, count), rtol=1e-12)


# What must be.


def test_a_perfect_member_gets_all_the_weight_and_copies_share():
    predicted, truth, _ = predictions(1)
    predicted[:, 2] = truth
    np.testing.assert_allclose(squared_weights(predicted, truth).weights, np.eye(6)[2], atol=1e-7)
    assert precision_weights(predicted, truth).tolist() == np.eye(6)[2].tolist()
    probabilities, labels, _ = classes(1)
    probabilities[:, 4] = np.eye(3)[labels]
    np.testing.assert_allclose(log_loss_weights(probabilities, labels).weights, np.eye(6)[4], atol=1e-6)
    one = np.repeat(predicted[:, :1], 5, axis=1)
    np.testing.assert_allclose(one @ squared_weights(one, truth).weights, one[:, 0], rtol=1e-12)
    assert is_on_simplex(log_loss_weights(np.repeat(probabilities[:, :1], 5, axis=1), labels).weights)
    assert squared_weights(predicted[:, :1], truth).weights.tolist() == [1.0]


def test_members_that_rule_the_truth_out_do_no_harm():
    truth = np.array([0, 1, 0, 1])
    sure = np.stack([np.eye(2)[truth], np.eye(2)[1 - truth], np.eye(2)[[0, 0, 0, 0]]], axis=1)
    found = log_loss_weights(sure, truth)
    np.testing.assert_allclose(found.weights, [1, 0, 0], atol=1e-9)
    assert np.isfinite(log_loss_weights(sure[:, 1:2], truth).value)
    assert -np.log(LEAST_SHARE) == pytest.approx(log_loss_weights(sure[:, 1:2], truth).value)


def test_optimal_weights_lose_no_more_than_the_mean_or_the_best_member():
    probabilities, truth, _ = classes(7, n=500, m=40)
    found = log_loss_weights(probabilities, truth)
    of_truth = probabilities[np.arange(500), :, truth]
    assert found.value <= min(-np.log(of_truth).mean(axis=0).min(), -np.log(of_truth.mean(axis=1)).mean()) + 1e-12
    assert found.gap <= EXACT
    assert (found.weights == 0).sum() > 10


def test_whole_row_weights_are_rows_given_as_often():
    probabilities, truth, _ = classes(2)
    times = np.random.default_rng(0).integers(0, 3, len(truth))
    again = np.repeat(np.arange(len(truth)), times)
    for function in (log_loss_weights, brier_weights):
        one, other = function(probabilities, truth, times.astype(float)), function(probabilities[again], truth[again])
        assert abs(one.value - other.value) < 1e-9
    hits = probabilities.argmax(axis=2) == truth[:, None]
    np.testing.assert_allclose(accuracy_weights(hits, 3, times), accuracy_weights(hits[again], 3), rtol=1e-12)


def test_weights_from_scores_are_log_odds_and_precisions():
    hits = np.array([[1, 1, 0, 0]] * 6 + [[1, 0, 1, 0]] * 4, bool)
    odds = np.log([10.5 / 0.5, 6.5 / 4.5])
    expected = np.array([*odds, 0.0, 0.0]) / odds.sum()
    np.testing.assert_allclose(accuracy_weights(hits, 2), expected)
    assert (accuracy_weights(hits, 5)[:3] > 0).all()  # among five classes four of ten is more than luck
    assert accuracy_weights(~hits[:, :1].repeat(3, axis=1), 2).tolist() == [1 / 3] * 3
    np.testing.assert_allclose(precision_weights(np.array([[1.0, 2.0], [-1.0, -2.0]]), np.zeros(2)), [0.8, 0.2])


def test_the_quadratic_problem_is_solved_in_a_corner_on_an_edge_and_inside():
    assert quadratic_on_simplex(np.zeros((3, 3)), np.array([3.0, 1.0, 2.0])).tolist() == [0.0, 1.0, 0.0]
    np.testing.assert_allclose(quadratic_on_simplex(np.eye(3), np.zeros(3)), np.full(3, 1 / 3))
    np.testing.assert_allclose(quadratic_on_simplex(np.eye(3), np.array([0.0, 0.0, 9.0])), [0.5, 0.5, 0.0], atol=1e-12)


def test_the_gap_bounds_what_is_left():
    probabilities, truth, count = classes(9)
    goal = LogOfMean.of(probabilities[np.arange(len(truth)), :, truth], count / count.sum())
    best = smallest_on_simplex(goal).value
    rough = smallest_on_simplex(goal, 0.05)
    assert 0 <= rough.value - best <= rough.gap


def test_what_cannot_be_weighed_is_said():
    with pytest.raises(DataError, match=r"must be an array \(rows, members\), but its shape is \(5, 2, 3\)"):
        loss_weights(np.zeros((5, 2, 3)), np.zeros(5), losses.Squared())
    with pytest.raises(TargetError, match="must"):
        loss_weights(np.zeros((5, 2)), -np.ones(5), losses.Poisson())
