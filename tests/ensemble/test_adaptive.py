"""Adaptive boosting round by round: weights, errors and bounds as the papers have them."""

import math

import numpy as np
import pytest

from woodwind.data.tables.schema import Schema
from woodwind.ensemble import adaboost
from woodwind.ensemble.adaboost import AdaptivePlan, AdaptiveRows, adaptive_rounds, learner_weight, pseudo_loss
from woodwind.ensemble.weak_learner import TrainedClassifier, WeakStumpLearner, WeakTreeLearner, WeakTreeRows, weak_classifier


def data(seed=0, n=200, n_labels=3):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 40, (n, 5)).astype(float)
    label = ((X[:, 0] + X[:, 1] > 40).astype(int) + (n_labels > 2) * (X[:, 2] > 25)).astype(np.int32)
    wrong = rng.random(n) < 0.1
    label[wrong] = rng.integers(0, n_labels, wrong.sum())
    return X, label


def rows_of(X, count=None):
    return WeakTreeRows.of(Schema.learn(X)[1], 255, None, count, 1)


def rounds_of(X, label, algorithm, count=20, n_labels=3, learner=None, rate=1.0):
    rows = AdaptiveRows.of(label, None, None)
    learner = learner or weak_classifier(rows_of(X), 1, 3, 1)
    return list(adaptive_rounds(rows, learner, AdaptivePlan(algorithm, n_labels, rate, 0), count))


@pytest.mark.parametrize("n_labels", [2, 3])
def test_stumps_from_one_pass_are_the_stumps_of_the_exact_engine(n_labels):
    X, label = data(n_labels=n_labels)
    X[::7, 0] = np.nan
    X[3::11, 3] = np.nan
    table = rows_of(X)
    quick = rounds_of(X, label, "samme", n_labels=n_labels, learner=WeakStumpLearner(table, 1))
    exact = rounds_of(X, label, "samme", n_labels=n_labels, learner=WeakTreeLearner(table, 1, 1))
    assert len(quick) == len(exact) > 10
    for one, other in zip(quick, exact, strict=True):
        a, b = one.trained[0].member, other.trained[0].member
        for name in ("feature", "threshold", "missing"):
            assert getattr(a, name).tolist() == getattr(b, name).tolist()
        np.testing.assert_allclose(a.value, b.value, atol=1e-12)
        np.testing.assert_allclose(a.gain, b.gain, rtol=1e-9, atol=1e-13)
        assert one.error == pytest.approx(other.error, rel=1e-12)


def test_the_last_learner_is_no_better_than_chance_on_the_new_weights():
    """With two classes, a learner errs on exactly half of the weight after it has been answered."""
    X, label = data(n_labels=2)
    rows = AdaptiveRows.of(label, None, None)
    votes = adaboost.LearnerVotes(rows, weak_classifier(rows_of(X), 1, 3, 1), 2)
    trained, error = votes.learn(0)
    weight = learner_weight(error, "discrete", 2, 1.0)
    total = 1.0 - error + error * math.exp(weight)
    votes.reweigh(1.0 / total, math.exp(weight) / total)
    assert rows.total(votes.weight) == pytest.approx(1.0, abs=1e-14)
    assert rows.total(votes.weight * (trained.votes != label)) == pytest.approx(0.5, abs=1e-14)


def test_with_two_classes_discrete_samme_and_mh_are_one():
    X, label = data(n_labels=2)
    discrete, samme, labels = (rounds_of(X, label, name, n_labels=2) for name in ("discrete", "samme", "mh"))
    assert len(discrete) == len(samme) == len(labels) > 10
    for one, other, mh in zip(discrete, samme, labels, strict=True):
        assert (one.weight, one.error, one.bound) == (other.weight, other.error, other.bound)
        assert mh.error == pytest.approx(one.error, rel=1e-9)
        assert mh.weight == pytest.approx(one.weight, rel=1e-9)
        assert mh.bound == pytest.approx(one.bound, rel=1e-9)


def test_the_bound_is_the_product_of_the_paper():
    X, label = data(n_labels=2)
    done = rounds_of(X, label, "discrete", n_labels=2)
    errors = np.array([one.error for one in done])
    np.testing.assert_allclose([one.bound for one in done], np.cumprod(2 * np.sqrt(errors * (1 - errors))), rtol=1e-12)
    assert [one.edge for one in done] == pytest.approx(0.5 - errors)


def test_a_learner_that_tells_no_labels_apart_has_a_pseudo_loss_of_one_half():
    rows = AdaptiveRows.of(np.array([0, 1, 2, 1], np.int32), None, None)
    pairs = np.full((4, 3), 1 / 8) * (1 - np.eye(3)[rows.label])
    assert pseudo_loss(np.full((4, 3), 0.7), rows, pairs) == pytest.approx(0.5)
    assert pseudo_loss(np.eye(3)[rows.label], rows, pairs) == 0.0


def test_the_first_weights_of_mh_are_one_over_rows_times_labels():
    seen = []

    class Watching(WeakStumpLearner):
        def learn(self, label, n_labels, weight, name):
            seen.append((label, weight))
            return super().learn(label, n_labels, weight, name)

    X, label = data()
    rounds_of(X, label, "mh", count=1, learner=Watching(rows_of(X), 1))
    assert [one.tolist() for one, _ in seen] == [(label == k).astype(int).tolist() for k in range(3)]
    # Each learner is given the weights of its own label, which add up to one for it.
    assert all(np.allclose(weight, 1 / 200) for _, weight in seen)


class Guess:
    """Learns nothing, but another nothing for every name."""

    def __init__(self, draws):
        self.draws, self.names = draws, []

    def learn(self, label, n_labels, weight, name):
        self.names.append(name)
        return TrainedClassifier(None, np.tile([1.0, 0.0], (len(label), 1)))


@pytest.mark.parametrize(("draws", "tries"), [(False, 1), (True, adaboost.TRIES)])
@pytest.mark.parametrize("algorithm", ["discrete", "samme", "m2"])
def test_a_learner_no_better_than_chance_is_discarded_and_boosting_ends(algorithm, draws, tries):
    learner = Guess(draws)
    label = np.array([0, 1] * 5, np.int32)
    assert rounds_of(None, label, algorithm, n_labels=2, learner=learner) == []
    assert len(set(learner.names)) == tries


@pytest.mark.parametrize("algorithm", ["discrete", "samme", "samme.r", "m2", "mh"])
def test_a_perfect_learner_ends_it(algorithm):
    X = np.arange(10.0)[:, None]
    label = (X[:, 0] > 4).astype(np.int32)
    (only,) = rounds_of(X, label, algorithm, n_labels=2)
    assert (only.error, only.weight) == (0.0, 1.0)
