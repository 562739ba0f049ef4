"""Neighbours: which selection rows are nearest to a query."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial.distance import cdist

from woodwind.base.errors import DataError, ParameterError
from woodwind.base.sound import sound, sound_array
from woodwind.select.euclidean import EuclideanRows
from woodwind.select.facts import Floats, Region

Metric = str | Callable[[Floats, Floats], float]
# Distances of a block of queries from all rows: 8 MB.
BLOCK_VALUES = 1 << 20


@dataclass(frozen=True, eq=False)
class Search:
    """Rows among which neighbours are looked for."""

    table: Floats  # (r, d)
    metric: Metric = "euclidean"

    def check(self) -> "Search":
        """The rows are a table of finite numbers; gives itself, or raises DataError."""
        sound_array(self.table, (None, None), "the rows to search in")
        sound(len(self.table) > 0, "there are no rows to search in")
        try:
            cdist(np.ones((1, 2)), np.zeros((1, 2)), self.metric)
        except (TypeError, ValueError):
            sound(False, "a distance is not known")
        return self

    @property
    def n_rows(self) -> int:
        """Rows."""
        return len(self.table)

    @property
    def width(self) -> int:
        """Columns of a query."""
        return int(self.table.shape[1])

    @cached_property
    def _euclidean(self) -> "EuclideanRows":
        return EuclideanRows.of(self.table)

    def near(self, queries: Floats, k: int | None, threads: int = 1) -> Region:
        """The k nearest rows to each query, of equals the first; with None the distances of all rows, in their order."""
        if queries.ndim != 2 or queries.shape[1] != self.table.shape[1]:
            raise DataError(f"Queries must have {self.table.shape[1]} columns, but their shape is {queries.shape}.")
        if k is None:
            return Region(None, self.distances(queries))
        if not 1 <= k <= self.n_rows:
            raise ParameterError(f"There are {self.n_rows} rows to look for neighbours in: k must be from 1 to that, not {k}.")
        if self.metric == "euclidean":
            return self._euclidean.near(queries, k, threads)
        return self._by_distances(queries, k)

    def distances(self, queries: Floats) -> Floats:
        """The distances of all rows from each query (q, r)."""
        return np.asarray(cdist(queries, self.table, self.metric))

    def _by_distances(self, queries: Floats, k: int) -> Region:
        """By the distances of all rows, of any metric."""
        rows = np.empty((len(queries), k), np.int64)
        found = np.empty((len(queries), k))
        step = max(1, BLOCK_VALUES // self.n_rows)
        for begin in range(0, len(queries), step):
            distances = self.distances(queries[begin : begin + step])
            order = np.argsort(distances, axis=1, kind="stable")[:, :k]
            rows[begin : begin + step] = order
            found[begin : begin + step] = np.take_along_axis(distances, order, axis=1)
        return Region(rows, found)
