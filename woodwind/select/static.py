"""What does not look at the query: the best member, the best few, and the oracle, who knows the truth. Measures for dynamic methods."""

import numpy as np

from woodwind.base.errors import DataError, ParameterError
from woodwind.select.facts import Floats, Integers, Mask, SelectionFacts


def accuracy_everywhere(facts: SelectionFacts, votes: Integers) -> Floats:
    """The share of all selection rows that a member gets right, the same for each query (q, m)."""
    return np.broadcast_to(facts.hits.mean(axis=0), votes.shape)


def best_share(scores: Floats, *, pct_classifiers: float = 0.5) -> Mask:
    """So large a share of the members, those with the highest scores; of equals the first. At least one."""
    if not 0.0 < pct_classifiers <= 1.0:
        raise ParameterError(f"pct_classifiers must be above 0 and at most 1, not {pct_classifiers}.")
    count = max(1, int(scores.shape[1] * pct_classifiers))
    mask = np.zeros(scores.shape, np.bool_)
    np.put_along_axis(mask, np.argsort(-scores, axis=1, kind="stable")[:, :count], True, axis=1)
    return mask


def oracle_labels(votes: Integers, truth: Integers) -> Integers:
    """What an oracle says that always asks a member who is right, if there is one; if not, the first: no choice of members does better."""
    votes, truth = np.asarray(votes), np.asarray(truth)
    if votes.ndim != 2 or truth.shape != votes.shape[:1]:
        raise DataError(f"votes must be (rows, members) and truth (rows,), but their shapes are {votes.shape} and {truth.shape}.")
    return np.where((votes == truth[:, None]).any(axis=1), truth, votes[:, 0])
