"""Clusters of members that predict the same, of which the best of each is kept.

G. Giacinto & F. Roli, "Design of effective neural network ensembles for image classification purposes", Image and Vision Computing 19
(2001): a hierarchy by how often members differ. A. Lazarevic & Z. Obradovic, "Effective pruning of neural network classifier ensembles",
IJCNN 2001: k-means of what members predict. B. Bakker & T. Heskes, "Clustering ensembles of neural network models", Neural Networks 16
(2003): numbers.

Distances of pairs (m, m) are all that is needed, for k-means too: the squared distance of a member to the mean of a cluster is
that to its members on average, less half of the mean within.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import average, cut_tree
from scipy.spatial.distance import squareform

from woodwind.base.errors import ParameterError
from woodwind.base.random_streams import key, uniform
from woodwind.selection.member_selection import MemberSelection, first_best, leaders, score_of, single_scores
from woodwind.selection.objectives import Objective

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Rounds of k-means at most, and how often it is begun: the tightest result counts.
ROUNDS = 100
BEGINNINGS = 20
# Numbers of clusters that are tried at most.
MOST_TRIES = 64


def clustered(
    objective: Objective,
    squared: Floats,
    n_clusters: int | Literal["score", "silhouette"] = "score",
    *,
    linkage: Literal["average", "kmeans"] = "average",
    seed: int = 0,
) -> MemberSelection:
    """The best member of each cluster, all with the same weight; the best clusters come first.

    squared: mean squared distances of pairs of members (m, m), see `squared_distances`. n_clusters: so many; or by 'score' as many as
    have the best score, of which the path has all that were tried; or by 'silhouette' as many as are told apart best (Rousseeuw 1987).
    linkage: 'average' joins the two closest clusters again and again; 'kmeans' looks for tight ones, from beginnings drawn by key.
    """
    clusterings = MemberClusters(squared, linkage, seed)
    alone = single_scores(objective)
    if n_clusters == "score":
        tries = [_best_of_each(clusterings.into(k), alone) for k in numbers_to_try(len(squared))]
    else:
        tries = [_best_of_each(clusterings.by_silhouette() if n_clusters == "silhouette" else clusterings.into(n_clusters), alone)]
    path = np.array([score_of(objective, np.isin(np.arange(len(squared)), order).astype(np.float64)) for order in tries])
    order = tries[first_best(path)]
    counts = np.zeros(len(squared))
    counts[order] = 1.0
    return MemberSelection(counts, order, path, float(path[first_best(path)]))


def numbers_to_try(m: int) -> Integers:
    """Numbers of clusters: all up to some dozen, and of more members some in growing steps."""
    return np.unique(np.round(np.geomspace(1, m, MOST_TRIES)).astype(np.int64)) if m > MOST_TRIES else np.arange(1, m + 1)


class MemberClusters:
    """Ways to part m members into clusters."""

    def __init__(self, squared: Floats, linkage: str = "average", seed: int = 0) -> None:
        self.squared, self.seed, self.m = squared, seed, len(squared)
        self.distances = np.sqrt(squared)
        self.tree = average(squareform(self.distances, checks=False)) if linkage == "average" and self.m > 1 else None

    def into(self, k: int) -> Integers:
        """The number of each member's cluster (m,), counted from the first member on."""
        if not 1 <= k <= self.m:
            raise ParameterError(f"{self.m} members can be parted into 1 to {self.m} clusters, not into {k}.")
        if self.m == 1:
            return np.zeros(1, np.int64)
        return renumbered(k_means(self.squared, int(k), self.seed) if self.tree is None else cut_tree(self.tree, k)[:, 0])

    def by_silhouette(self) -> Integers:
        """Into as many as are told apart best; copies of one member are one cluster, and two members two."""
        if not self.distances.any():
            return np.zeros(self.m, np.int64)
        tries = [self.into(k) for k in numbers_to_try(self.m) if 1 < k < self.m]
        if not tries:
            return np.arange(self.m)
        return tries[int(leaders(np.array([silhouette(self.distances, labels) for labels in tries]))[0])]


def k_means(squared: Floats, k: int, seed: int) -> Integers:
    """Clusters of the smallest squared distances to their means; begun several times as k-means++ does (Arthur & Vassilvitskii 2007)."""
    tries = [_improved(squared, _beginning(squared, k, key(seed, "clusters", k, trial))) for trial in range(BEGINNINGS)]
    return tries[int(np.argmin([round(spread, 12) for spread, _ in tries]))][1]


def _beginning(squared: Floats, k: int, name: int) -> Integers:
    """Labels by the closest of k members, each drawn by its squared distance from those before it."""
    m = len(squared)
    draws = uniform(name, k)
    centres = [int(draws[0] * m)]
    for draw in draws[1:]:
        nearest = squared[:, centres].min(axis=1)
        nearest[centres] = 0.0
        if nearest.any():
            reach = np.cumsum(nearest)
            centres.append(int(np.searchsorted(reach, draw * reach[-1], side="right")))
        else:  # equal members are left only: any of them
            centres.append(int(np.setdiff1d(np.arange(m), centres)[0]))
    labels: Integers = np.argmin(squared[:, centres], axis=1).astype(np.int64)
    labels[centres] = np.arange(k)  # so that none is empty
    return labels


def _improved(squared: Floats, labels: Integers) -> tuple[float, Integers]:
    """Lloyd's rounds until nothing changes: the sum of squared distances, and the labels."""
    k = labels.max() + 1
    for _ in range(ROUNDS):
        belongs = (labels[:, None] == np.arange(k)).astype(np.float64)
        sizes = belongs.sum(axis=0)
        to_members = squared @ belongs / sizes
        within = 0.5 * (belongs * to_members).sum(axis=0) / sizes
        to_means = to_members - within
        moved = np.argmin(np.round(to_means, 12), axis=1)
        # A cluster that would be left without members keeps the one that is closest to its mean.
        for empty in np.setdiff1d(np.arange(k), moved):
            moved[np.flatnonzero(labels == empty)[to_means[labels == empty, empty].argmin()]] = empty
        if (moved == labels).all():
            break
        labels = moved
    return float(to_means[np.arange(len(labels)), labels].sum()), labels


def silhouette(distances: Floats, labels: Integers) -> float:
    """Mean silhouette (Rousseeuw 1987): how much closer members are to their own cluster than to the next one; 0 for one alone."""
    belongs = (labels[:, None] == np.arange(labels.max() + 1)).astype(np.float64)
    sizes = belongs.sum(axis=0)
    m = len(labels)
    sums = distances @ belongs
    own = sums[np.arange(m), labels] / np.maximum(sizes[labels] - 1.0, 1.0)
    others = np.where(belongs > 0.0, np.inf, sums / sizes).min(axis=1)
    larger = np.maximum(own, others)
    return float(np.where((sizes[labels] > 1.0) & (larger > 0.0), (others - own) / np.where(larger > 0.0, larger, 1.0), 0.0).mean())


def renumbered(labels: Integers) -> Integers:
    """Clusters counted in the order in which members name them."""
    _, first, positions = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[positions].astype(np.int64)


def _best_of_each(labels: Integers, alone: Floats) -> Integers:
    """The member of each cluster with the best score of its own, the best of them first."""
    clusters = (np.flatnonzero(labels == cluster) for cluster in range(labels.max() + 1))
    best = np.array([members[leaders(alone[members])[0]] for members in clusters])
    return best[np.argsort(-alone[best], kind="stable")].astype(np.int64)
