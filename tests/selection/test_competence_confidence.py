import numpy as np
import pytest

from woodwind.base.errors import DataError, ParameterError
from woodwind.selection.competence_confidence import (
    ConfidenceModel,
    best_size,
    learn_weights_and_size,
    margin_weights,
    surest,
    weighted_confidence,
)
from woodwind.selection.facts import SelectionFacts


def facts_of(probabilities, truth):
    probabilities = np.asarray(probabilities, float)
    return SelectionFacts.of(probabilities.argmax(axis=2), truth, probabilities.shape[2], probabilities)


def test_weights_have_the_least_loss_of_margins():
    rng = np.random.default_rng(0)
    signed = rng.uniform(-0.4, 1.0, (60, 5))
    signed[:, 4] = -np.abs(signed[:, 4])
    weights = margin_weights(signed, 1e-3)
    assert weights.sum() == pytest.approx(1.0)
    assert weights[4] == 0.0

    def loss(w):
        return ((1.0 - signed @ w) ** 2).mean() + 1e-3 * (w**2).sum()

    scale = min(np.linspace(0.1, 3, 3000), key=lambda s: loss(s * weights))
    for _ in range(200):
        assert loss(np.maximum(scale * weights + rng.normal(0, 0.05, 5), 0.0)) >= loss(scale * weights) - 1e-6


def test_twins_share_their_weight_and_useless_members_have_all_the_same():
    rng = np.random.default_rng(1)
    signed = rng.uniform(-0.2, 1.0, (50, 2))[:, [0, 0, 1]]
    weights = margin_weights(signed, 1e-3)
    assert weights[0] == pytest.approx(weights[1])
    assert margin_weights(-np.abs(signed), 1e-3).tolist() == [1 / 3] * 3


def test_size_is_the_least_that_answers_the_most_rows():
    facts = facts_of([[[0.9, 0.1], [0.4, 0.6], [0.4, 0.6]], [[0.2, 0.8], [0.3, 0.7], [0.6, 0.4]]], [1, 1])
    scores = facts.probabilities.max(axis=2)
    # Row 0: 0.9 for class 0 stands alone against 0.6 + 0.6 for class 1. Row 1 is right from the first on.
    assert best_size(scores, facts) == 3
    naive = []
    for size in (1, 2, 3):
        right = 0
        for row in range(2):
            asked = np.argsort(-scores[row], kind="stable")[:size]
            totals = [sum(scores[row, m] for m in asked if facts.votes[row, m] == label) for label in (0, 1)]
            right += np.argmax(totals) == 1
        naive.append(right)
    assert naive == [1, 1, 2]


def test_the_surest_are_asked():
    facts = facts_of([[[0.5, 0.5]] * 3], [0]).learning(ConfidenceModel(np.array([0.5, 0.25, 0.25]), 2))
    probabilities = np.array([[[0.6, 0.4], [0.1, 0.9], [0.3, 0.7]], [[0.9, 0.1], [0.45, 0.55], [0.0, 1.0]]])
    scores = weighted_confidence(facts, probabilities)
    assert scores.tolist() == [[0.3, 0.225, 0.175], [0.45, 0.1375, 0.25]]
    assert surest(scores, facts).tolist() == [[True, True, False], [True, False, True]]


def test_learning_asks_for_probabilities_and_a_ridge():
    facts = facts_of([[[0.9, 0.1], [0.2, 0.8]]] * 4, [0, 1, 0, 0])
    trained = learn_weights_and_size(facts)
    assert trained.weights.tolist() == [1.0, 0.0]
    assert trained.size == 1
    with pytest.raises(ParameterError, match="ridge must be above 0"):
        learn_weights_and_size(facts, ridge=0.0)
    with pytest.raises(DataError, match="probabilities"):
        learn_weights_and_size(SelectionFacts.of(facts.votes, facts.truth, 2))
