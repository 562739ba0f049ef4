"""Competence from the probabilities that members give: what a member was worth at each selection row, carried to the query by distance.

A source competence (r, m) says how good a member was at a selection row, by what it gave to the true class there. The competence at a query
is the mean of these over the region, weighted by the potential exp(-distance²): T. Woloszynski & M. Kurzynski, "A probabilistic model of
classifier competence for dynamic ensemble selection", Pattern Recognition 44 (2011). The page is
docs/algorithms/dynamic-selection-probabilistic.md.
"""

import numpy as np
from scipy.special import betainc, xlogy

from woodwind.base.errors import DataError
from woodwind.selection.facts import Floats, Region, SelectionFacts

# Where the potential vanishes in double precision a row still counts a little: a query far from everything then sees the plain mean.
LEAST_POTENTIAL = 1e-20
# The probability of being right is an integral; so many points of [0, 1], ends included, are what its authors take.
POINTS = 20
# A beta distribution needs two parameters above zero.
LEAST_PARAMETER = 1e-20


# Sources: what members were worth at the selection rows.


def chance_of_reference(facts: SelectionFacts) -> Floats:
    """DES-RRC: the probability that the randomized reference classifier of a member is right (Woloszynski & Kurzynski 2011, Eqs. 7 to 10).

    The reference draws a support for each class from a beta distribution with the member's support as its mean, and votes for the largest.
    It is right if the true class gets the largest: an integral over where that support lies, of the probability that all others lie below.
    """
    probabilities = _probabilities(facts)
    grid, position = np.unique(np.minimum(probabilities, 1.0), return_inverse=True)  # trees say the same few things again and again
    a = facts.n_classes * grid[:, None]
    below = betainc(np.maximum(a, LEAST_PARAMETER), np.maximum(facts.n_classes - a, LEAST_PARAMETER), np.linspace(0.0, 1.0, POINTS))
    steps, middle = np.diff(below, axis=1), (below[:, 1:] + below[:, :-1]) / 2.0
    position = position.reshape(probabilities.shape)
    out = np.empty(probabilities.shape[:2])
    for row in range(facts.n_rows):  # (m, K, POINTS) at a time
        true = facts.truth[row]
        others = np.delete(position[row], true, axis=1)
        out[row] = (steps[position[row][:, true]] * middle[others].prod(axis=1)).sum(axis=1)
    return out


def entropy_and_hit(facts: SelectionFacts) -> Floats:
    """DES-KL as DESlib has it: entropy of the supports, as a share of the largest there is, plus 1 where right, minus 1 where wrong."""
    return _entropy(_probabilities(facts)) + 2.0 * facts.hits - 1.0


def signed_divergence(facts: SelectionFacts) -> Floats:
    """Kullback-Leibler divergence of the supports from equal ones, between 0 and 1, with the sign of being right."""
    return (1.0 - _entropy(_probabilities(facts))) * np.where(facts.hits, 1.0, -1.0)


def logarithmic(facts: SelectionFacts) -> Floats:
    """-1 for no support of the true class, 0 for as much as by chance (1 / K), 1 for all of it; a power in between."""
    if facts.n_classes == 1:
        return np.ones(facts.hits.shape)
    support = np.clip(facts.true_class_probabilities, 0.0, 1.0)
    return np.asarray(2.0 * support ** (np.log(2.0) / np.log(facts.n_classes)) - 1.0)


def exponential(facts: SelectionFacts) -> Floats:
    """The same three points, joined by a curve that is nearly 1 as soon as the support is well above chance."""
    support = np.maximum(facts.true_class_probabilities, 0.0)
    sure = support >= 1.0
    odds = support / np.where(sure, 1.0, 1.0 - support)
    return np.where(sure, 1.0, 1.0 - 2.0 ** (1.0 - (facts.n_classes - 1.0) * odds))


def least_lead(facts: SelectionFacts) -> Floats:
    """Minimum difference: support of the true class minus the largest support of another."""
    others = _probabilities(facts).copy()
    np.put_along_axis(others, facts.truth[:, None, None], -np.inf if facts.n_classes > 1 else 0.0, axis=2)
    return np.asarray(facts.true_class_probabilities - others.max(axis=2))


# At the query.


def potential(distances: Floats) -> Floats:
    """How much a row counts at such a distance."""
    out = np.multiply(distances, distances)
    np.negative(out, out=out)  # in place: where all selection rows count, memory is most of the time
    np.exp(out, out=out)
    return np.asarray(np.maximum(out, LEAST_POTENTIAL, out=out))


def by_potential(facts: SelectionFacts, region: Region) -> Floats:
    """Mean of the source competences over the region, weighted by the potential."""
    weight = potential(region.distances)
    if region.neighbours is None:
        total = weight @ facts.trained
    else:
        total = np.zeros((len(region), facts.n_members))
        for position in range(region.k):
            total += weight[:, position, None] * facts.trained[region.neighbours[:, position]]
    return np.asarray(total / weight.sum(axis=1, keepdims=True))


def _probabilities(facts: SelectionFacts) -> Floats:
    if facts.probabilities is None:
        raise DataError("This method needs probabilities of all members, and there are votes only.")
    return facts.probabilities


def _entropy(probabilities: Floats) -> Floats:
    """Entropy as a share of the largest there is."""
    if probabilities.shape[-1] == 1:
        return np.zeros(probabilities.shape[:-1])
    whole = np.clip(probabilities, 0.0, 1.0)
    whole = whole / whole.sum(axis=-1, keepdims=True)
    return np.asarray(-xlogy(whole, whole).sum(axis=-1) / np.log(probabilities.shape[-1]))
