"""Selection by confidence: ask those that are surest of this query, weighted so that margins on the selection rows are large.

L. Li, B. Zou, Q. Hu, X. Wu & D. Yu, "Dynamic classifier ensemble using classification confidence", Neurocomputing 99 (2013). No region is
looked at: members say themselves how sure they are. The page is docs/algorithms/dynamic-selection-confidence.md.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from woodwind.base.errors import DataError, ParameterError
from woodwind.base.validate import require, require_shapes
from woodwind.selection.facts import Floats, Mask, SelectionFacts


@dataclass(frozen=True, eq=False)
class ConfidenceModel:
    """What is trained on the selection rows."""

    weights: Floats  # (m,) of the members, adding up to one
    size: int  # members that are asked for each query

    def check(self) -> "ConfidenceModel":
        """Members have weights, and some are asked; returns self, or raises DataError."""
        require_shapes("selection by confidence", {"weights": (self.weights, "m")})
        require((self.weights >= 0.0).all() and 1 <= self.size <= len(self.weights), "no member is asked, or more than there are")
        return self


def learn_weights_and_size(facts: SelectionFacts, *, ridge: float = 1e-3) -> ConfidenceModel:
    """Weights from the margins, then how many of the surest members vote best together."""
    if facts.probabilities is None:
        raise DataError("Selection by confidence needs probabilities of all members, and there are votes only.")
    sure = confidence(facts.probabilities)
    weights = margin_weights(np.where(facts.hits, sure, -sure), ridge)
    return ConfidenceModel(weights, best_size(weights * sure, facts))


def weighted_confidence(facts: SelectionFacts, probabilities: Floats) -> Floats:
    """What a vote counts at the query (q, m): the weight of the member times how sure it is."""
    trained: ConfidenceModel = facts.trained
    return np.asarray(trained.weights * confidence(probabilities))


def surest(scores: Floats, facts: SelectionFacts) -> Mask:
    """As many members as was learned to be best, those with the highest scores; of equals the first."""
    trained: ConfidenceModel = facts.trained
    mask = np.zeros(scores.shape, np.bool_)
    np.put_along_axis(mask, np.argsort(-scores, axis=1, kind="stable")[:, : trained.size], True, axis=1)
    return mask


def confidence(probabilities: Floats) -> Floats:
    """What a member gives to the class that it votes for."""
    return np.asarray(probabilities.max(axis=2))


def margin_weights(signed: Floats, ridge: float) -> Floats:
    """Weights w, none below zero, with the least sum over rows of (1 - margin)² and ridge * rows * |w|², brought to a sum of one.

    signed (r, m): confidence, with a minus where the member is wrong. The margin of a row is the sum of w times this: the weight of what is
    right minus that of what is wrong. Where no member earns a weight, all have the same.
    """
    if ridge <= 0.0:
        raise ParameterError(f"ridge must be above 0, so that members that predict the same share their weight, but it is {ridge}.")
    n_rows, n_members = signed.shape
    # Least squares by its normal equations: the problem is then m * m, however many rows there are.
    root = np.linalg.cholesky(signed.T @ signed / n_rows + ridge * np.eye(n_members))
    weights, _ = nnls(root.T, np.linalg.solve(root, signed.mean(axis=0)))
    total = float(weights.sum())
    return weights / total if total > 0.0 else np.full(n_members, 1.0 / n_members)


def best_size(scores: Floats, facts: SelectionFacts) -> int:
    """How many members, in the order of their scores on each row, answer the most selection rows right together; the least such number."""
    order = np.argsort(-scores, axis=1, kind="stable")
    votes, weight = np.take_along_axis(facts.votes, order, axis=1), np.take_along_axis(scores, order, axis=1)
    best = np.full(votes.shape, -np.inf)
    winner = np.zeros(votes.shape, np.int64)
    for label in range(facts.n_classes):
        total = np.cumsum(np.where(votes == label, weight, 0.0), axis=1)
        ahead = total > best
        best = np.where(ahead, total, best)
        winner[ahead] = label
    return int((winner == facts.truth[:, None]).mean(axis=0).argmax()) + 1
