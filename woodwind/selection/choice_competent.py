"""Choice of members that are competent and diverse near the query, one of the two as large as can be while the other keeps a bound.

R. Lysiak, M. Kurzynski & T. Woloszynski, "Optimal selection of ensemble classifiers using measures of competence and diversity of base
classifiers", Neurocomputing 126 (2014). Both are probabilities of the randomized references of the members (`competence_probabilistic.py`):
to be right, and, for a pair, that one of the two is right and the other wrong. The page is docs/algorithms/dynamic-selection-diverse.md.
"""

import math
from typing import Literal, NamedTuple

import numpy as np

from woodwind.base.errors import ParameterError
from woodwind.selection.competence_probabilistic import potential
from woodwind.selection.facts import Floats, Integers, Mask, Region, SelectionFacts

# Probabilities of the references on the rows of a region are gathered for so many queries that there are at most so many: 64 MB.
BLOCK_CELLS = 8_000_000


class Neighbourhood(NamedTuple):
    """What is known around some queries."""

    weight: Floats  # (q, k) of the rows, adding up to one
    right: Floats  # (q, k, m) probabilities of the references to be right on these rows


def competent_and_diverse(
    scores: Floats,
    facts: SelectionFacts,
    region: Region,
    *,
    objective: Literal["competence", "diversity"] = "competence",
    bound: float | None = None,
    pct_members: float = 0.3,
) -> Mask:
    """A share of the members, of those that are better than guessing, chosen one after the other.

    "competence": the most competent of those with which the mean diversity of all pairs is at least the bound; "diversity": the one with
    which it is largest, of those with which the mean competence is at least the bound. Without a bound, it is what all members have that
    are better than guessing.
    """
    if objective not in ("competence", "diversity"):
        raise ParameterError(f"objective must be 'competence' or 'diversity', not {objective!r}.")
    count = math.ceil(facts.n_members * pct_members)
    if not 1 <= count <= facts.n_members:
        raise ParameterError(f"pct_members={pct_members} of {facts.n_members} members are {count}: take at least one, and at most all.")
    rows = region.rows()
    out = np.zeros(scores.shape, np.bool_)
    step = max(1, BLOCK_CELLS // (facts.n_members * region.k))
    for first in range(0, len(scores), step):
        some = slice(first, first + step)
        weight = potential(region.distances[some])
        position = Neighbourhood(weight / weight.sum(axis=1, keepdims=True), facts.trained[rows[some]])
        able = scores[some] > 1.0 / facts.n_classes
        able |= ~able.any(axis=1, keepdims=True)
        out[some] = _greedy(scores[some], able, position, bounds_of(able, position, objective, bound), (objective, count))
    return out


def _greedy(scores: Floats, able: Mask, position: Neighbourhood, bound: Floats, how: tuple[str, int]) -> Mask:
    """Begin with the most competent, and add the best of those that keep the bound; where nobody does, the one that comes nearest."""
    objective, count = how
    queries = np.arange(len(scores))
    each = competence_of(position)
    newest = np.where(able, scores, -np.inf).argmax(axis=1)
    chosen = np.zeros(able.shape, np.bool_)
    chosen[queries, newest] = True
    total, pairs, to_chosen = each[queries, newest], np.zeros(len(scores)), np.zeros(able.shape)
    for size in range(1, count):
        to_chosen += diversity_from(position, each, newest)
        competence = (total[:, None] + each) / (size + 1)
        diversity = (pairs[:, None] + to_chosen) / (size * (size + 1) / 2)
        goal, limit = (competence, diversity) if objective == "competence" else (diversity, competence)
        short = np.minimum(limit - bound[:, None], 0.0)  # both lie between 0 and 1: whoever keeps the bound comes before all others
        worth = np.where(short < 0.0, short - 1.0, goal)
        open_ = able & ~chosen
        newest = np.where(open_, worth, -np.inf).argmax(axis=1)
        going = open_.any(axis=1)
        chosen[queries[going], newest[going]] = True
        total, pairs = total + each[queries, newest], pairs + to_chosen[queries, newest]
    return chosen


def competence_of(position: Neighbourhood) -> Floats:
    """The probability of each member to be right at the query (q, m)."""
    return np.asarray(np.einsum("qk,qkm->qm", position.weight, position.right))


def diversity_from(position: Neighbourhood, each: Floats, member: Integers) -> Floats:
    """The probability that one of the two is right and the other wrong, of one member for each query and all others (q, m).

    With a and b the probabilities to be right on a row, it is a (1 - b) + b (1 - a) = a + b - 2 a b there; means over rows are linear.
    """
    queries = np.arange(len(member))
    own = position.right[queries, :, member]
    both = np.einsum("qk,qkm->qm", position.weight * own, position.right)
    return np.asarray(each[queries, member][:, None] + each - 2.0 * both)


def bounds_of(able: Mask, position: Neighbourhood, objective: str, bound: float | None) -> Floats:
    """The bound of each query (q,): as given, or the mean diversity of all pairs, or the mean competence, of the members that are able."""
    if bound is not None:
        return np.full(len(able), float(bound))
    right = position.right * able[:, None, :]
    n_able = able.sum(axis=1)
    alone, squares = right.sum(axis=2), (right**2).sum(axis=2)
    mean_right = (position.weight * alone).sum(axis=1)
    if objective == "diversity":
        return np.asarray(mean_right / n_able)
    # Sum over pairs of a + b - 2 a b, by the sum of all and the sum of squares.
    pairs = (n_able - 1) * mean_right - (position.weight * (alone**2 - squares)).sum(axis=1)
    return np.asarray(pairs / np.maximum(n_able * (n_able - 1) / 2, 1))
