"""What choices are scored by."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss, roc_auc_score

from woodwind.base.errors import DataError, ParameterError, WeightError
from woodwind.selection import objectives
from woodwind.selection.member_selection import score_of, single_scores
from woodwind.selection.objectives import MetricObjective, ballots_of, objective_of, squared_distances, with_diversity


def classes(n_classes, seed=0, n=150, m=6):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n)
    predicted = rng.random((n, m, n_classes)) + np.eye(n_classes)[truth][:, None, :] * rng.random((m, 1))
    return predicted / predicted.sum(axis=2, keepdims=True), truth


def numbers(seed=0, n=150, m=6):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    return truth[:, None] + rng.normal(size=(n, m)), truth


def brier(truth, mean, weight):
    if mean.shape[1] == 2:
        return -brier_score_loss(truth, mean[:, 1], sample_weight=weight)
    return -np.average(((mean - np.eye(mean.shape[1])[truth]) ** 2).sum(axis=1), weights=weight)


METRICS = {
    "log_loss": lambda t, p, w: -log_loss(t, p, sample_weight=w, labels=range(p.shape[1])),
    "accuracy": lambda t, p, w: accuracy_score(t, p.argmax(axis=1), sample_weight=w),
    "brier": brier,
    "roc_auc": lambda t, p, w: roc_auc_score(t, p[:, 1], sample_weight=w),
    "squared_error": lambda t, p, w: -np.average((t - p) ** 2, weights=w),
    "absolute_error": lambda t, p, w: -np.average(np.abs(t - p), weights=w),
}
CASES = [(name, k) for k in (2, 3) for name in ("log_loss", "accuracy", "brier")]
CASES += [("roc_auc", 2), ("squared_error", 0), ("absolute_error", 0)]


@pytest.mark.parametrize("many", [False, True], ids=["few", "many"])
@pytest.mark.parametrize("weighted", [False, True], ids=["even", "weighted"])
@pytest.mark.parametrize(("name", "n_classes"), CASES)
def test_scores_are_those_of_the_metric(name, n_classes, weighted, many, monkeypatch):
    if many:
        monkeypatch.setattr(objectives, "MANY", 0)
    predicted, truth = classes(n_classes) if n_classes else numbers()
    weight = np.random.default_rng(1).integers(0, 4, len(truth)) * 0.5 if weighted else None
    ours = objective_of(predicted, truth, name, weight, threads=2)
    slow = objective_of(predicted, truth, METRICS[name], weight)
    assert isinstance(slow, MetricObjective)
    counts = np.array([1.0, 0, 3, 0, 0, 2])
    among = np.array([5, 0, 1])
    total, slow_total = counts @ ours.vectors, counts @ slow.vectors
    assert ours.score(counts, total) == pytest.approx(slow.score(counts, slow_total), abs=1e-12)
    wanted = slow.score_each(counts, slow_total, among)
    assert ours.score_each(counts, total, among) == pytest.approx(wanted, abs=1e-12)
    assert ours.score_each(counts, total, among, best_only=True).max() == pytest.approx(wanted.max(), abs=1e-12)
    assert single_scores(ours) == pytest.approx(single_scores(slow), abs=1e-12)


def test_probabilities_of_zero_are_judged_as_scikit_learn_does():
    predicted, truth = np.array([[[1.0, 0.0]], [[0.5, 0.5]]]), np.array([1, 0])
    assert single_scores(objective_of(predicted, truth, "log_loss"))[0] == pytest.approx(-log_loss(truth, predicted[:, 0]))


@pytest.mark.parametrize("many", [False, True], ids=["few", "many"])
def test_of_equal_classes_the_first_wins(many, monkeypatch):
    if many:
        monkeypatch.setattr(objectives, "MANY", 0)
    rng = np.random.default_rng(0)
    predicted, truth = rng.integers(0, 3, (80, 5, 3)) / 4.0, rng.integers(0, 3, 80)
    objective = objective_of(predicted, truth, "accuracy")
    counts = np.array([1.0, 0, 2, 0, 0])
    choices = [counts + np.eye(5)[member] for member in range(5)]
    wanted = [((predicted * choice[:, None]).sum(axis=1).argmax(axis=1) == truth).mean() for choice in choices]
    assert objective.score_each(counts, counts @ objective.vectors, np.arange(5)) == pytest.approx(wanted)
    assert [score_of(objective, choice) for choice in choices] == pytest.approx(wanted)


def test_members_that_may_be_the_best_are_sorted_however_coarse_the_buckets(monkeypatch):
    monkeypatch.setattr(objectives, "MANY", 0)
    monkeypatch.setattr(objectives, "N_BUCKETS", 3)
    for seed in range(8):
        predicted, truth = classes(2, seed)
        objective = objective_of(predicted, truth, "roc_auc")
        nothing, everyone = (np.zeros(6), np.zeros(len(truth))), np.arange(6)
        exact, quick = (objective.score_each(*nothing, everyone, best_only=one) for one in (False, True))
        assert (quick.argmax(), quick.max()) == (exact.argmax(), exact.max())


def test_votes_are_probabilities_of_zero_and_one():
    votes = np.array([[0, 1, 1], [2, 2, 0]])
    assert ballots_of(votes, 3)[1].tolist() == [[0, 0, 1], [0, 0, 1], [1, 0, 0]]
    assert score_of(objective_of(ballots_of(votes, 3), [1, 0], "accuracy"), np.ones(3)) == 0.5
    with pytest.raises(DataError, match="from 0 to 1"):
        ballots_of(votes, 2)


# Diversity.


def test_the_squared_error_is_that_of_members_less_their_ambiguity():
    """Krogh & Vedelsby 1995, for any weights."""
    predicted, truth = numbers()
    counts = np.array([1.0, 0, 3, 0, 0, 2])
    plain = objective_of(predicted, truth, "squared_error")
    ambiguity = score_of(with_diversity(plain, predicted, 1.0), counts) - score_of(plain, counts)
    mean = predicted @ counts / 6
    assert ambiguity == pytest.approx((((predicted - mean[:, None]) ** 2) @ counts / 6).mean())
    assert score_of(plain, counts) == pytest.approx(single_scores(plain) @ counts / 6 + ambiguity)


def test_the_distance_of_votes_is_how_often_they_differ():
    votes = np.array([[0, 1, 1], [2, 2, 0], [1, 1, 1]])
    assert squared_distances(ballots_of(votes, 3)) == pytest.approx(np.array([[0, 1, 2], [1, 0, 1], [2, 1, 0]]) / 3)


@pytest.mark.parametrize("n_classes", [0, 3])
def test_a_reward_for_diversity_is_the_same_one_by_one_and_together(n_classes):
    predicted, truth = classes(n_classes) if n_classes else numbers()
    weight = np.random.default_rng(1).random(len(truth))
    objective = with_diversity(objective_of(predicted, truth, "log_loss" if n_classes else "squared_error", weight), predicted, 0.7, weight)
    counts = np.array([1.0, 0, 3, 0, 0, 2])
    more = objective.score_each(counts, counts @ objective.vectors, np.array([1, 2]))
    assert more == pytest.approx([score_of(objective, counts + np.eye(6)[member]) for member in (1, 2)])


def test_no_reward_is_the_objective_itself():
    predicted, truth = numbers()
    plain = objective_of(predicted, truth, "squared_error")
    assert with_diversity(plain, predicted, 0.0) is plain


# What is refused.


@pytest.mark.parametrize(
    ("predicted", "truth", "more", "error", "text"),
    [
        (np.zeros(3), [0, 0, 0], {}, DataError, r"\(rows, members\) or \(rows, members, classes\).*not \(3,\)"),
        (np.zeros((3, 2)), [0.0, 1.0], {}, DataError, r"3 rows, but truth has the shape \(2,\)"),
        ([[1.0, np.nan], [0.0, 1.0]], [1.0, 2.0], {}, DataError, "not in 1 rows, the first of them row 0"),
        (np.zeros((2, 2, 2)), [0, 2], {}, DataError, "numbers of classes from 0 to 1"),
        (np.zeros((2, 2, 2)), [0.0, 1.0], {}, DataError, "numbers of classes"),
        (np.zeros((2, 2)), ["a", "b"], {}, DataError, "finite numbers"),
        (np.zeros((2, 2)), [0.0, 1.0], {"weight": [1.0, -1.0]}, WeightError, "not negative"),
        (np.zeros((2, 2)), [0.0, 1.0], {"metric": "log_loss"}, ParameterError, "For numbers a metric is one of 'squared_error'"),
        (np.ones((2, 2, 2)) / 2, [0, 1], {"metric": "r2"}, ParameterError, "For probabilities .* but it is 'r2'"),
        (np.ones((2, 2, 3)) / 3, [0, 1], {"metric": "roc_auc"}, ParameterError, "for two classes, and there are 3"),
        (np.ones((2, 2, 2)) / 2, [1, 1], {"metric": "roc_auc"}, DataError, "rows of both classes"),
    ],
)
def test_what_is_wrong_is_said(predicted, truth, more, error, text):
    with pytest.raises(error, match=text):
        objective_of(predicted, truth, more.pop("metric", "squared_error"), **more)


def test_a_metric_must_give_a_number():
    with pytest.raises(DataError, match="must return one number, but it returned"):
        single_scores(objective_of(np.zeros((2, 2)), [0.0, 1.0], lambda *_: np.nan))
