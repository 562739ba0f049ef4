"""Scores to probabilities and losses: exact at any size."""

import numpy as np
import pytest

from woodwind.auto.members.link import log_losses, probabilities


def test_two_classes_are_a_softmax_of_half_the_log_odds():
    scores = np.linspace(-30.0, 30.0, 61)[:, None]
    both = np.column_stack([-scores, scores]) / 2.0
    assert probabilities(scores) == pytest.approx(probabilities(both), abs=1e-15)


@pytest.mark.parametrize("width", [1, 4])
def test_losses_are_minus_logarithms_of_probabilities(width):
    scores = np.random.default_rng(0).normal(size=(50, width)) * 5.0
    truth = np.arange(50) % max(width, 2)
    assert log_losses(scores, truth) == pytest.approx(-np.log(probabilities(scores)[np.arange(50), truth]))


@pytest.mark.parametrize("width", [1, 3])
def test_huge_scores_stay_finite(width):
    scores = np.full((2, width), 1e5)
    scores[1] *= -1.0
    assert np.isfinite(log_losses(scores, np.array([0, 1]))).all()
    assert probabilities(scores).sum(axis=1) == pytest.approx(1.0)
