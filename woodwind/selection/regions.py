"""Regions: which selection rows tell how good members are near a query."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from woodwind.base.random_streams import key, uniform
from woodwind.base.validate import require, require_array
from woodwind.selection.facts import Floats, Integers, Region
from woodwind.selection.neighbours import Metric, Search

# Rounds of k-means after which it is good enough.
MOST_ROUNDS = 100
# Clusters that a fast search looks into.
MOST_PROBES = 6


@dataclass(frozen=True, eq=False)
class BalancedSearch:
    """Neighbours of which each class has its part: k-NN equality (Sierra et al. 2011)."""

    table: Floats  # (r, d)
    truth: Integers  # (r,)
    metric: Metric = "euclidean"

    @property
    def n_rows(self) -> int:
        """Rows."""
        return len(self.table)

    def check(self) -> "BalancedSearch":
        """There is a class for each row; returns self, or raises DataError."""
        Search(self.table, self.metric).check()
        require_array(self.truth, (len(self.table),), "the classes of rows")
        return self

    @property
    def width(self) -> int:
        """Columns of a query."""
        return int(self.table.shape[1])

    @cached_property
    def _classes(self) -> "list[tuple[Integers, Search]]":
        present = [np.flatnonzero(self.truth == label) for label in np.unique(self.truth)]
        return [(rows, Search(self.table[rows], self.metric)) for rows in present]

    def near(self, queries: Floats, k: int | None, threads: int = 1) -> Region:
        """k / K rows of each class, nearest first; what is left of k goes to the nearest of what each class has next.

        A class with fewer rows gives what it has: there may then be fewer than k rows.
        """
        if k is None:
            return Search(self.table, self.metric).near(queries, None, threads)
        share, rest = divmod(k, len(self._classes))
        first, more = [], []
        for rows, search in self._classes:
            region = search.near(queries, min(share + (rest > 0), search.n_rows), threads)
            found = Region(rows[region.rows()], region.distances)
            first.append(_columns(found, slice(None, share)))
            more.append(_columns(found, slice(share, None)))
        nearest = _sorted(first)
        return nearest if rest == 0 else _joined([nearest, _columns(_sorted(more), slice(None, rest))])


def _columns(region: Region, some: slice) -> Region:
    return Region(region.rows()[:, some], region.distances[:, some])


def _joined(regions: list[Region]) -> Region:
    return Region(np.hstack([region.rows() for region in regions]), np.hstack([region.distances for region in regions]))


def _sorted(regions: list[Region]) -> Region:
    whole = _joined(regions)
    order = np.argsort(whole.distances, axis=1, kind="stable")
    return Region(np.take_along_axis(whole.rows(), order, axis=1), np.take_along_axis(whole.distances, order, axis=1))


def without_itself(region: Region) -> Region:
    """Regions (r, k) of the selection rows, from regions (r, k + 1) that may hold the row itself; else the last is left out."""
    rows = region.rows()
    own = rows == np.arange(len(rows))[:, None]
    own[~own.any(axis=1), -1] = True
    kept = ~own
    shape = (len(rows), region.k - 1)
    return Region(rows[kept].reshape(shape), region.distances[kept].reshape(shape))


def profiles(probabilities: Floats) -> Floats:
    """Output profiles (n, m K) of what members predict (n, m, K); of two classes one is enough."""
    n, _, n_classes = probabilities.shape
    return np.ascontiguousarray(probabilities[:, :, 0] if n_classes == 2 else probabilities.reshape(n, -1))


def centres_of(table: Floats, count: int, seed: int) -> Floats:
    """Centres (c, d) of k-means, begun by k-means++ with draws by key; fewer where there are fewer different rows."""
    centres = table[[int(uniform(key(seed, "centre", 0), 1)[0] * len(table))]]
    squared = _squared(table, centres)[:, 0]
    while len(centres) < count and squared.max() > 0.0:
        heap = np.cumsum(squared)
        position = int(np.searchsorted(heap, uniform(key(seed, "centre", len(centres)), 1)[0] * heap[-1], side="right"))
        centres = np.vstack([centres, table[min(position, len(table) - 1)]])
        squared = np.minimum(squared, _squared(table, centres[-1:])[:, 0])
    labels: NDArray[np.int64] = np.full(len(table), -1)
    for _ in range(MOST_ROUNDS):
        now = _squared(table, centres).argmin(axis=1)
        if (now == labels).all():
            break
        labels = now
        centres = np.stack([table[labels == one].mean(axis=0) if (labels == one).any() else centres[one] for one in range(len(centres))])
    return centres


def _squared(table: Floats, centres: Floats) -> Floats:
    """Squared distances (n, c), the same for a row whatever stands beside it."""
    return np.stack([((table - centre) ** 2).sum(axis=1) for centre in centres], axis=1)


@dataclass(frozen=True, eq=False)
class ClusterSearch:
    """The cluster of a query stands in place of its neighbours."""

    centres: Floats  # (c, d)

    @property
    def n_rows(self) -> int:
        """Clusters."""
        return len(self.centres)

    def check(self) -> "ClusterSearch":
        """The centres are finite; returns self, or raises DataError."""
        Search(self.centres).check()
        return self

    @property
    def width(self) -> int:
        """Columns of a query."""
        return int(self.centres.shape[1])

    def near(self, queries: Floats, k: int | None, threads: int = 1) -> Region:
        """The number of the nearest centre (q, 1), and its distance."""
        return Search(self.centres).near(queries, 1, threads)


@dataclass(frozen=True, eq=False)
class FastSearch:
    """Neighbours among the rows of the clusters that are nearest to a query: fast, and now and then not the nearest."""

    table: Floats  # (r, d)
    centres: Floats  # (c, d)
    clusters: tuple[tuple[Integers, Search], ...]  # the rows of each
    probes: int  # clusters that are looked into

    @property
    def n_rows(self) -> int:
        """Rows."""
        return len(self.table)

    def check(self) -> "FastSearch":
        """Every row is in one cluster, and clusters have their rows; returns self, or raises DataError."""
        Search(self.table).check()
        require_array(self.centres, (len(self.clusters), self.table.shape[1]), "the centres of clusters")
        require(1 <= self.probes <= len(self.clusters), "there are no clusters to look into")
        require(all(own.ndim == 1 for own, _ in self.clusters), "the rows of a cluster are no list")
        owned = np.concatenate([own for own, _ in self.clusters])
        require(np.array_equal(np.sort(owned), np.arange(len(self.table))), "a row is in no cluster, or in two")
        for own, search in self.clusters:
            require(len(own) == search.n_rows and search.width == self.width, "a cluster has other rows than it should")
        return self

    @property
    def width(self) -> int:
        """Columns of a query."""
        return int(self.table.shape[1])

    @classmethod
    def of(cls, table: Floats, seed: int) -> "FastSearch":
        """Half as many clusters as the root of the number of rows; their centres are looked for among a part of the rows."""
        count = max(1, int(np.sqrt(len(table)) / 2.0))
        step = max(1, len(table) // (64 * count))
        centres = centres_of(table[::step], count, seed)
        label = Search(centres).near(table, 1).rows()[:, 0]
        members = [np.flatnonzero(label == one) for one in range(len(centres))]
        some = [one for one, rows in enumerate(members) if rows.size]
        clusters = tuple((members[one], Search(table[members[one]])) for one in some)
        return cls(table, centres[some], clusters, min(len(some), MOST_PROBES))

    def near(self, queries: Floats, k: int | None, threads: int = 1) -> Region:
        """k rows near each query; where the clusters that are looked into have fewer, the nearest of all."""
        if k is None:
            return Search(self.table).near(queries, None, threads)
        probed = Search(self.centres).near(queries, self.probes, threads).rows()
        rows: NDArray[np.int64] = np.zeros((len(queries), self.probes, k), np.int64)
        distances = np.full(rows.shape, np.inf)
        for number, (own, search) in enumerate(self.clusters):
            request, slot = np.nonzero(probed == number)
            if request.size:
                found = search.near(queries[request], min(k, len(own)), threads)
                rows[request, slot, : found.k] = own[found.rows()]
                distances[request, slot, : found.k] = found.distances
        best = _columns(_sorted([Region(rows.reshape(len(queries), -1), distances.reshape(len(queries), -1))]), slice(None, k))
        few = np.flatnonzero(np.isinf(best.distances[:, -1]))
        if few.size:
            again = Search(self.table).near(queries[few], k, threads)
            best.rows()[few], best.distances[few] = again.rows(), again.distances
        return best
