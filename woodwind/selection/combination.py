"""What the chosen members say together. Weights (q, m) say how much each member counts for each query; a mask is such a weight."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.kernels.neighbours.regions import add_votes, count_votes
from woodwind.selection.facts import Floats, Integers

# Up to so many classes, a pass over the votes for each is faster than counting by position.
FEW_CLASSES = 8


def class_totals(votes: Integers, weights: NDArray[Any], n_classes: int) -> Floats:
    """The weights of the members that vote for each class (q, K). A weight below zero counts against the class."""
    out = np.empty((len(votes), n_classes))
    add = count_votes if weights.dtype == np.bool_ and n_classes <= FEW_CLASSES else add_votes
    add(np.ascontiguousarray(votes), np.ascontiguousarray(weights), out)
    return out


def probability_totals(probabilities: Floats, weights: NDArray[Any]) -> Floats:
    """The weighted sum of the probabilities of the members (q, K)."""
    return np.asarray(np.matmul(weights.astype(np.float64, copy=False)[:, None, :], probabilities)[:, 0, :])


def as_probabilities(totals: Floats) -> Floats:
    """Totals as shares that add up to one (q, K); those below zero count as none, and where nothing is left the largest has all."""
    out = np.maximum(totals, 0.0)
    lost = ~(out.sum(axis=1) > 0.0)
    out[lost, totals[lost].argmax(axis=1)] = 1.0
    return np.asarray(out / out.sum(axis=1, keepdims=True))


def weighted_mean(predictions: Floats, weights: NDArray[Any]) -> Floats:
    """The mean of what members predict, by their weights (q,)."""
    return np.asarray(np.einsum("qm,qm->q", predictions, weights) / weights.sum(axis=1))


def or_alike(weights: Floats) -> Floats:
    """The weights; where all are zero, all members count alike."""
    return np.where((weights != 0.0).any(axis=1, keepdims=True), weights, 1.0)
