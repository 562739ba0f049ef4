"""The positive class and its threshold: thresholds are the best by brute force, and scored labels never saw their own row."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score

from woodwind.auto.decision import PARTS, DecisionRule, cross_fitted, decided, rarer_class
from woodwind.base.errors import ParameterError
from woodwind.base.random_streams import key, permutation


def rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    probability = rng.beta(1.0, 4.0, n).round(2)  # with ties
    return (rng.random(n) < probability).astype(np.int64), probability


@pytest.mark.parametrize("rule", ["f1", "balanced", "cost:fp=1,fn=5"])
@pytest.mark.parametrize("positive", [0, 1])
def test_a_threshold_is_the_best_of_all(rule, positive):
    y, probability = rows()
    truth = y == positive
    probability = probability if positive else 1.0 - probability

    def worth(predicted):
        if rule == "f1":
            return f1_score(truth, predicted)
        return (
            balanced_accuracy_score(truth, predicted)
            if rule == "balanced"
            else -((predicted & ~truth).sum() + 5.0 * (~predicted & truth).sum())
        )

    found = DecisionRule.read(rule, "fit").choose(truth, probability, None)
    best = max(worth(probability >= one) for one in [*np.unique(probability), 1.1])
    assert worth(probability >= found) == pytest.approx(best, abs=1e-12)


def test_a_weight_of_two_is_a_row_given_twice():
    y, probability = rows()
    weight = 1.0 + (np.arange(300) % 3 == 0)
    twice = np.repeat(np.arange(300), weight.astype(int))
    rule = DecisionRule.read("f1", "fit")
    assert rule.choose(y == 1, probability, weight) == rule.choose(y[twice] == 1, probability[twice], None)


def test_rows_of_one_class_give_no_threshold():
    assert DecisionRule.read("f1", "fit").choose(np.zeros(5, bool), np.linspace(0.1, 0.9, 5), None) == 0.5


@pytest.mark.parametrize("given", [0.3, "0.3", "f1", "balanced", "cost:fp=1,fn=5", "cost: fp=0.5, fn=2e1"])
def test_what_a_threshold_may_be(given):
    assert 0.0 < DecisionRule.read(given, "fit").choose(np.arange(8) > 3, np.linspace(0.2, 0.8, 8), None) < 1.0
    assert DecisionRule.read(None, "fit") is None


@pytest.mark.parametrize("given", [0, 1, 1.5, "nan", "best", "cost:fp=1", "cost:fp=0,fn=1", "cost:fp=1,fn=inf", "cost:fp=x,fn=1", True, ""])
def test_what_a_threshold_may_not_be(given):
    with pytest.raises(ParameterError, match="threshold must be a number between 0 and 1, 'f1', 'balanced', or costs"):
        DecisionRule.read(given, "fit")


@pytest.mark.parametrize("positive", [0, 1])
def test_the_positive_class_is_predicted_from_the_threshold_on(positive):
    probability = np.array([0.1, 0.3, 0.5])
    proba = np.column_stack([1.0 - probability, probability] if positive else [probability, 1.0 - probability])
    assert (decided(proba, positive, 0.3) == positive).tolist() == [False, True, True]
    assert np.array_equal(decided(proba, positive, None), proba.argmax(axis=1))


def test_labels_that_are_scored_are_by_thresholds_that_never_saw_the_row():
    y, probability = rows(50)
    proba, rule = np.column_stack([1.0 - probability, probability]), DecisionRule.read("f1", "fit")
    part = permutation(key(3, "threshold"), 50) % PARTS
    labels = cross_fitted(rule, y, proba, None, 1, 3)
    for number in range(PARTS):
        others = part != number
        found = rule.choose(y[others] == 1, probability[others], None)
        assert np.array_equal(labels[~others], decided(proba[~others], 1, found))


def test_the_rarer_class_is_the_positive_one_and_the_second_of_equals():
    assert [rarer_class(np.array(y)) for y in ([0, 1, 1], [0, 0, 1], [0, 1])] == [0, 1, 1]
