"""Greedy forward selection."""

import numpy as np
import pytest
from scipy.optimize import nnls

from woodwind.base.errors import ParameterError
from woodwind.base.random_streams import choose, key
from woodwind.selection import objectives
from woodwind.selection.greedy import bagged, greedy, prefer_chosen
from woodwind.selection.member_selection import score_of, single_scores
from woodwind.selection.objectives import ballots_of, objective_of


def numbers(seed=0, n=200, m=8):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    return truth[:, None] + rng.normal(size=(n, m)) * rng.uniform(0.5, 1.5, m) + rng.normal(size=(n, 1)) * 0.3, truth


def classes(seed=0, n=200, m=8, k=3):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    predicted = rng.random((n, m, k)) + np.eye(k)[truth][:, None, :] * rng.random((m, 1))
    return predicted / predicted.sum(axis=2, keepdims=True), truth


def test_by_hand():
    """Errors in two rows: a (1, 1), b (2, -2), c (-3, -3). a alone has 1. a + c: (-1, -1), 1; a + b: (1.5, -0.5), 1.25; a + a: 1. Of equals
    the one that is there: a, a. Then a a c: (-1/3, -1/3), 1/9. Then a a a c is exact.
    """
    predicted, truth = np.array([[1.0, 2.0, -3.0], [1.0, -2.0, -3.0]]), np.zeros(2)
    found = greedy(objective_of(predicted, truth, "squared_error"), 8)
    assert found.order.tolist() == [0, 0, 2, 0]
    assert found.path[:4] == pytest.approx([-1, -1, -1 / 9, 0], abs=1e-15)
    assert found.weights.tolist() == [0.75, 0.0, 0.25]
    assert found.members.tolist() == [0, 2]
    assert found.score == 0.0
    assert len(found.path) == 8


def test_without_replacement_none_comes_twice():
    predicted, truth = classes()
    found = greedy(objective_of(predicted, truth, "log_loss"), 50, replace=False, whole=True)
    assert sorted(found.order.tolist()) == list(range(8))


def test_of_equals_one_that_is_chosen_is_taken_then_the_first():
    scores = np.array([0.5, 1.0, 1.0 - 1e-14, 1.0, 1.0 - 1e-9])
    assert prefer_chosen(scores, np.zeros(5, bool)) == 1
    assert prefer_chosen(scores, np.array([1, 0, 0, 1, 1], bool)) == 3
    assert prefer_chosen(np.array([-np.inf, -np.inf]), np.zeros(2, bool)) == 0


def test_copies_of_a_member_are_not_needed():
    predicted, truth = numbers()
    twice = np.concatenate([predicted, predicted], axis=1)
    once, doubled = (greedy(objective_of(one, truth, "squared_error"), 30) for one in (predicted, twice))
    assert doubled.order.tolist() == once.order.tolist()


@pytest.mark.parametrize("metric", ["log_loss", "accuracy", "brier"])
@pytest.mark.parametrize("start", [0, 3, "auto"])
def test_never_worse_than_the_best_member(metric, start):
    for seed in range(5):
        objective = objective_of(*classes(seed, n=40), metric)
        found = greedy(objective, 20, start=start)
        assert found.score >= single_scores(objective).max()
        assert found.score == pytest.approx(score_of(objective, found.counts))
        assert found.score == found.path.max()


def test_a_sorted_start_begins_with_the_best():
    objective = objective_of(*classes(), "log_loss")
    best = np.argsort(-single_scores(objective))
    assert greedy(objective, 20, start=4, whole=True).order[:4].tolist() == best[:4].tolist()
    assert len(greedy(objective, 3, start=6, whole=True).order) == 9
    assert len(greedy(objective, 3, start=6, whole=True, replace=False).order) == 8
    assert greedy(objective, 3, start=6, most=4, whole=True).order[:4].tolist() == best[:4].tolist()


def test_the_better_of_two_starts_is_kept():
    """Of hard votes none outvotes the first: a start with nothing stays there. Probabilities are better chosen from nothing."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 300)
    votes = np.where(rng.random((300, 15)) < 0.7, truth[:, None], 1 - truth[:, None])
    objective = objective_of(ballots_of(votes, 2), truth, "accuracy")
    alone, found = greedy(objective, 20), greedy(objective, 20, start="auto")
    assert len(alone.members) == 1
    assert found.score > alone.score + 0.1
    objective = objective_of(*classes(), "log_loss")
    both = [greedy(objective, 20, start=start).score for start in (0, 8)]
    assert greedy(objective, 20, start="auto").score >= max(both) - 1e-12


def test_squared_error_nears_that_of_weights_that_add_up_to_one():
    """Non-negative least squares on the simplex: a heavy row asks for the sum of one."""
    predicted, truth = numbers()
    heavy = 1e4
    weights, _ = nnls(np.vstack([predicted, np.full((1, 8), heavy)]), np.append(truth, heavy))
    objective = objective_of(predicted, truth, "squared_error")
    limit = score_of(objective, weights)
    found = greedy(objective, 400, whole=True)
    gaps = limit - found.path
    assert (gaps > -1e-7).all()
    assert gaps[399] < 1e-4
    assert gaps[399] < gaps[39] < gaps[9]
    assert np.abs(found.weights - weights).max() < 0.02


def test_no_more_different_members_than_asked_for():
    predicted, truth = numbers()
    objective = objective_of(predicted, truth, "squared_error")
    for most in (1, 2, 3):
        found = greedy(objective, 40, most=most, whole=True)
        assert len(found.members) == most
        assert len(found.order) == 40
    assert greedy(objective, 40, most=1).members.tolist() == [single_scores(objective).argmax()]


@pytest.mark.parametrize("metric", ["log_loss", "accuracy", "roc_auc"])
def test_the_number_of_threads_and_the_kernels_change_nothing(metric, monkeypatch):
    monkeypatch.setattr("woodwind.base.pool.LEAST_WORK", 100)
    predicted, truth = classes(n=3000, m=9, k=2)
    plain = greedy(objective_of(predicted, truth, metric), 12, whole=True)
    monkeypatch.setattr(objectives, "MANY", 0)
    found = [greedy(objective_of(predicted, truth, metric, threads=threads), 12, whole=True) for threads in (1, 2, 5)]
    assert len({one.path.tobytes() for one in found}) == 1
    assert {tuple(one.order.tolist()) for one in [*found, plain]} == {tuple(plain.order.tolist())}


# Bagged.


def test_bagged_selection_is_the_mean_of_selections_from_parts_of_the_pool():
    objective = objective_of(*classes(), "log_loss")
    found = bagged(objective, seed=3, bags=6, share=0.4, steps=10)
    assert found.weights.sum() == pytest.approx(1.0)
    assert found.score == pytest.approx(score_of(objective, found.weights))
    assert len(found.path) == 6
    again = bagged(objective, seed=3, bags=6, share=0.4, steps=10)
    assert np.array_equal(found.weights, again.weights)
    assert not np.array_equal(found.weights, bagged(objective, seed=4, bags=6, share=0.4, steps=10).weights)
    parts = [greedy(objective, 10, among=choose(key(3, "bag", bag), 8, 4)) for bag in range(6)]
    assert found.weights == pytest.approx(np.mean([part.weights for part in parts], axis=0))
    # The first bags are those of a longer run.
    assert bagged(objective, seed=3, bags=2, share=0.4, steps=10).path == pytest.approx(found.path[:2])


def test_a_bag_of_the_whole_pool_is_plain_selection():
    objective = objective_of(*classes(), "log_loss")
    assert bagged(objective, seed=0, bags=3, share=1.0, steps=15).weights == pytest.approx(greedy(objective, 15).weights)


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"steps": 0}, "at least one step"),
        ({"most": 0}, "at least one step and one member"),
        ({"start": -1}, "start must be 'auto' or a count"),
        ({"among": [0, 0]}, "different numbers of members from 0 to 7"),
        ({"among": [8]}, "different numbers"),
    ],
)
def test_what_is_wrong_is_said(more, text):
    with pytest.raises(ParameterError, match=text):
        greedy(objective_of(*classes(), "log_loss"), **more)


def test_bags_that_cannot_be():
    with pytest.raises(ParameterError, match=r"not bags=0, share=0\.5"):
        bagged(objective_of(*classes(), "log_loss"), 0, bags=0)
