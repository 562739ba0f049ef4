"""The best of all choices, and what that says about other searches."""

import itertools

import numpy as np
import pytest

from woodwind.base.errors import ParameterError
from woodwind.selection.clusters import clustered
from woodwind.selection.exhaustive import exhaustive
from woodwind.selection.genetic import GeneticSettings, genetic
from woodwind.selection.greedy import greedy
from woodwind.selection.member_selection import first_of, score_of
from woodwind.selection.objectives import objective_of, squared_distances, with_diversity
from woodwind.selection.ordering import order_names, ordered


def classes(seed=0, n=50, m=7, k=3):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    predicted = rng.random((n, m, k)) + np.eye(k)[truth][:, None, :] * rng.random((m, 1))
    return predicted / predicted.sum(axis=2, keepdims=True), truth


def numbers(seed=0, n=50, m=7):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    return truth[:, None] + rng.normal(size=(n, m)), truth


def all_subsets(m, most):
    return [subset for size in range(1, most + 1) for subset in itertools.combinations(range(m), size)]


CASES = [("log_loss", classes), ("accuracy", classes), ("brier", classes), ("squared_error", numbers), ("absolute_error", numbers)]


@pytest.mark.parametrize("most", [None, 2])
@pytest.mark.parametrize(("metric", "case"), CASES)
def test_it_is_the_best_of_all_subsets(metric, case, most):
    objective = objective_of(*case(), metric)
    found = exhaustive(objective, most)
    subsets = all_subsets(7, most or 7)
    scores = [score_of(objective, np.isin(np.arange(7), subset).astype(float)) for subset in subsets]
    assert found.score == pytest.approx(max(scores), abs=1e-12)
    # Of equals the smallest, and of these the first.
    assert tuple(found.order) == subsets[int(np.flatnonzero(np.isclose(scores, max(scores), rtol=1e-12, atol=0))[0])]
    of_two = max(score for subset, score in zip(subsets, scores, strict=True) if len(subset) == 2)
    assert found.path[1] == pytest.approx(of_two, abs=1e-12)


def test_by_hand():
    """Errors 2, -1, -1, 5 in one row: members 0 and 1 are off by 1/2, 0 to 2 by none."""
    found = exhaustive(objective_of(np.array([[2.0, -1.0, -1.0, 5.0]]), np.zeros(1), "squared_error"))
    assert found.order.tolist() == [0, 1, 2]
    assert found.path == pytest.approx([-1, -1 / 4, 0, -25 / 16], abs=1e-15)


@pytest.mark.parametrize("metric", ["squared_error", lambda truth, mean, _: -float(((truth - mean) ** 2).mean())])
def test_of_equal_choices_the_first_is_taken(metric):
    """Members 0 and 3 are exact together, and so are 1 and 2, which come first if choices are counted in binary."""
    assert exhaustive(objective_of(np.array([[1.0, 2.0, -2.0, -1.0]]), np.zeros(1), metric)).order.tolist() == [0, 3]


def test_with_a_reward_for_diversity():
    for metric, case in (("squared_error", numbers), ("log_loss", classes)):
        predicted, truth = case()
        objective = with_diversity(objective_of(predicted, truth, metric), predicted, 0.5)
        scores = [score_of(objective, np.isin(np.arange(7), subset).astype(float)) for subset in all_subsets(7, 7)]
        assert exhaustive(objective).score == pytest.approx(max(scores), abs=1e-12)


@pytest.mark.parametrize(("metric", "case"), CASES)
def test_no_other_choice_of_members_is_better(metric, case):
    for seed in range(3):
        predicted, truth = case(seed)
        objective = objective_of(predicted, truth, metric)
        bound = exhaustive(objective).score + 1e-12
        assert greedy(objective, 7, replace=False).score <= bound
        assert genetic(objective, seed, GeneticSettings(generations=10, population=10)).score <= bound
        assert clustered(objective, squared_distances(predicted)).score <= bound
        for name in order_names(case is classes):
            assert first_of(objective, ordered(name, predicted, truth, objective)).score <= bound


def test_too_many_members_are_refused():
    with pytest.raises(ParameterError, match="at most 20 of them, but there are 21"):
        exhaustive(objective_of(*numbers(m=21), "squared_error"))
