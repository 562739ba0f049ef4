"""Choice of members that are good near the query and, of those, err on different rows: DES-KNN and DES-clustering.

R. G. F. Soares, A. Santana, A. M. P. Canuto & M. C. P. de Souto, "Using accuracy and diversity to select classifiers to build ensembles",
International Joint Conference on Neural Networks (2006). The page is docs/algorithms/dynamic-selection-diverse.md.
"""

import math
from dataclasses import dataclass

import numpy as np

from woodwind.base.errors import ParameterError
from woodwind.base.validate import require_shapes
from woodwind.selection.facts import Floats, Integers, Mask, Region, SelectionFacts

MEASURES = ("double_fault", "q", "ratio_of_errors")
# Two members without a common error differ by as much as can be; so much that no sum of ratios of counts comes near.
NO_COMMON_ERROR = 1e12
# Pairs of members are counted for so many queries at a time that their m * m table stays small: 8 million cells.
BLOCK_CELLS = 8_000_000


@dataclass(frozen=True, eq=False)
class Clusters:
    """What is known of each cluster of selection rows."""

    accuracy: Floats  # (c, m)
    diversity: Floats  # (c, m)

    def check(self) -> "Clusters":
        """Both are known of the same clusters and members; returns self, or raises DataError."""
        require_shapes("clusters", {"accuracy": (self.accuracy, "c m"), "diversity": (self.diversity, "c m")})
        return self


# Clusters in place of neighbours.


def learn_clusters(facts: SelectionFacts, clusters: Integers, *, diversity: str = "double_fault") -> Clusters:
    """Accuracy and diversity of the members in each cluster; `clusters` (r,) says to which one a selection row belongs."""
    _check(diversity)
    n_clusters = int(clusters.max()) + 1
    accuracy, diverse = np.zeros((n_clusters, facts.n_members)), np.zeros((n_clusters, facts.n_members))
    for number in range(n_clusters):
        hits = facts.hits[clusters == number]
        if len(hits):
            accuracy[number] = hits.mean(axis=0)
            diverse[number] = apartness(hits[None], diversity)[0]
    return Clusters(accuracy, diverse)


def hits_of_cluster(facts: SelectionFacts, region: Region) -> Floats:
    """Accuracy in the cluster of the query, which stands in place of a neighbour."""
    known: Clusters = facts.trained
    return np.asarray(known.accuracy[region.rows()[:, 0]])


# Choices.


def good_and_apart(
    scores: Floats,
    facts: SelectionFacts,
    region: Region,
    *,
    pct_accuracy: float = 0.5,
    pct_diversity: float = 0.3,
    diversity: str = "double_fault",
    more_diverse: bool = True,
) -> Mask:
    """DES-KNN: of `pct_accuracy` of the members, those with the highest scores, the most diverse in the region, `pct_diversity` of all."""
    _check(diversity)
    rows = region.rows()
    n_good, n_apart = numbers_of(facts.n_members, pct_accuracy, pct_diversity)
    out = np.zeros(scores.shape, np.bool_)
    block = max(1, BLOCK_CELLS // (facts.n_members * max(facts.n_members, region.k)))
    for first in range(0, len(scores), block):
        some = slice(first, first + block)
        diverse = apartness(facts.hits[rows[some]], diversity)
        out[some] = two_cuts(scores[some], diverse if more_diverse else -diverse, n_good, n_apart)
    return out


def good_and_apart_in_cluster(
    scores: Floats,
    facts: SelectionFacts,
    region: Region,
    *,
    pct_accuracy: float = 0.5,
    pct_diversity: float = 0.33,
    more_diverse: bool = True,
) -> Mask:
    """DES-clustering: the same for the rows of the query's cluster."""
    known: Clusters = facts.trained
    diverse = known.diversity[region.rows()[:, 0]]
    return two_cuts(scores, diverse if more_diverse else -diverse, *numbers_of(facts.n_members, pct_accuracy, pct_diversity))


def numbers_of(n_members: int, pct_accuracy: float, pct_diversity: float) -> tuple[int, int]:
    """How many members pass the first cut and the second."""
    n_good, n_apart = int(n_members * pct_accuracy), math.ceil(n_members * pct_diversity)
    if not 0 < n_apart <= n_good:
        raise ParameterError(
            f"Of {n_members} members, pct_accuracy={pct_accuracy} leaves {n_good}, and pct_diversity={pct_diversity} takes {n_apart} of "
            "these: at least one, and no more than there are. Give more members, a larger pct_accuracy or a smaller pct_diversity."
        )
    return n_good, n_apart


def two_cuts(scores: Floats, diverse: Floats, n_good: int, n_apart: int) -> Mask:
    """The `n_good` with the highest scores, and of these the `n_apart` most diverse.

    Of equal scores the more diverse passes, of equally diverse ones the better, and the first of those that are equal in both: scores of
    few neighbours are often equal.
    """
    best = np.lexsort((-diverse, -scores), axis=1)[:, :n_good]
    left = np.take_along_axis(diverse, best, axis=1)
    order = np.argsort(-left, axis=1, kind="stable")[:, :n_apart]  # `best` is in the order of scores
    mask = np.zeros(scores.shape, np.bool_)
    np.put_along_axis(mask, np.take_along_axis(best, order, axis=1), True, axis=1)
    return mask


# Diversity of each member from all others, larger for more: sums over pairs.


def apartness(hits: Mask, measure: str) -> Floats:
    """How much each member differs from the others (q, m), by its hits on the rows of a region (q, k, m)."""
    if measure == "double_fault":
        return -common_errors(hits)
    both, first, second, neither = pair_counts(hits)
    values = -yules_q(both, first, second, neither) if measure == "q" else ratio_of_errors(first + second, neither)
    np.einsum("qii->qi", values)[:] = 0.0  # nobody is a pair with itself
    return np.asarray(values.sum(axis=2))


def common_errors(hits: Mask) -> Floats:
    """Double fault, the share of rows on which both are wrong, summed over the others: a row that n members miss counts n - 1 for each."""
    misses = ~hits
    others = misses.sum(axis=2, keepdims=True) - 1
    return np.asarray((misses * others).sum(axis=1) / hits.shape[1])


def yules_q(both: Floats, first: Floats, second: Floats, neither: Floats) -> Floats:
    """Q of each pair, by the rows on which both are right, only the first, only the second, neither; 0 where it is not defined."""
    like, unlike = both * neither, first * second
    total = like + unlike
    return np.asarray((like - unlike) / np.where(total > 0.0, total, 1.0))


def ratio_of_errors(alone: Floats, neither: Floats) -> Floats:
    """Errors of one of the two for each common error."""
    return np.where(neither > 0.0, alone / np.maximum(neither, 1.0), NO_COMMON_ERROR)


def pair_counts(hits: Mask) -> tuple[Floats, Floats, Floats, Floats]:
    """Rows on which both members of a pair are right, only the first, only the second, neither (q, m, m)."""
    right = hits.astype(np.float64)
    both = right.swapaxes(1, 2) @ right
    each = right.sum(axis=1)
    first, second = each[:, :, None] - both, each[:, None, :] - both
    return both, first, second, hits.shape[1] - both - first - second


def _check(diversity: str) -> None:
    if diversity not in MEASURES:
        raise ParameterError(f"diversity must be one of {', '.join(map(repr, MEASURES))}, not {diversity!r}.")
