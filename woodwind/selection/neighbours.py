"""Neighbours: which selection rows are nearest to a query."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import DataError, ParameterError
from woodwind.base.pool import run_ranges
from woodwind.base.validate import require, require_array
from woodwind.kernels.neighbours.nearest import nearest, nearest_of_all
from woodwind.kernels.neighbours.panels import PANEL, WORD
from woodwind.selection.facts import Floats, Integers, Region

# ----------------------------------------------------------------------------------------------------
# The nearest rows by Euclidean distance, without SciPy: models that look for neighbours load this and no more.

# Numbers in float32 of a line of the cache.
LINE = 16


def _cdist(a: Floats, b: Floats, metric: Any) -> Floats:
    """SciPy's distances; it is imported here, so that who predicts with euclidean distances does without it."""
    return np.asarray(importlib.import_module("scipy.spatial.distance").cdist(a, b, metric))


@dataclass(frozen=True, eq=False)
class EuclideanRows:
    """Rows as `kernels/neighbours` wants them: in a unit in which none is far, and about their mean, where rounding does least."""

    table: Floats  # (r, d) in units
    centre: Floats  # (d,) in units
    unit: float  # a power of two, so that nothing is rounded

    @classmethod
    def of(cls, table: Floats) -> "EuclideanRows":
        """Rows of any table of numbers."""
        _, power = np.frexp(np.abs(table - table.mean(axis=0)).max(initial=0.0))
        unit = float(np.ldexp(1.0, int(power)))
        rows = np.require(table / unit, np.float64, ["C", "W"])
        return cls(rows, rows.mean(axis=0), unit)

    @property
    def rounding(self) -> float:
        """What rounding in float32 adds at most to a value, as a share of half the squares of both: products, their sum, and a reserve."""
        return float((2 * self.table.shape[1] + 8) * np.finfo(np.float32).eps)

    @cached_property
    def panels(self) -> NDArray[np.float32]:
        """Rows about the centre in panels (p, 16 (d + 1)): halves of squares of sixteen, infinite where there is no row; then columns."""
        n_rows, n_columns = self.table.shape
        n_panels = -(-n_rows // WORD) * (WORD // PANEL)
        whole: Floats = np.zeros((n_panels * PANEL, 1 + n_columns))
        whole[n_rows:, 0] = np.inf
        whole[:n_rows, 1:] = self.table - self.centre
        # What rounding adds to the values of a row is taken off here, as far as it goes by the square of the row.
        whole[:n_rows, 0] = 0.5 * (1.0 - self.rounding) * np.einsum("rd,rd->r", whole[:n_rows, 1:], whole[:n_rows, 1:])
        panels = aligned(n_panels, (1 + n_columns) * PANEL)
        panels.reshape(n_panels, 1 + n_columns, PANEL)[:] = whole.reshape(n_panels, PANEL, 1 + n_columns).transpose(0, 2, 1)
        return panels

    @cached_property
    def columns(self) -> Floats:
        """The table by column (d, r)."""
        return np.ascontiguousarray(self.table.T)

    def near(self, queries: Floats, k: int, threads: int) -> Region:
        """The k nearest rows to each query; those that float32 cannot prove to be the nearest are looked for in float64."""
        queries = np.require(queries / self.unit, np.float64, ["C", "W"])
        rows, distances = np.empty((len(queries), k), np.int64), np.empty((len(queries), k))
        proven = np.empty(len(queries), np.bool_)
        self._by_panels(queries, rows, distances, proven, threads)
        open_ = np.flatnonzero(~proven)
        if open_.size:
            again = np.empty((len(open_), k), np.int64), np.empty((len(open_), k))
            self._of_all(queries[open_], *again, threads)
            rows[open_], distances[open_] = again
        return Region(rows, distances * self.unit)

    def _by_panels(self, queries: Floats, rows: Integers, distances: Floats, proven: NDArray[np.bool_], threads: int) -> None:
        panels, rounding = self.panels, self.rounding

        def part(begin: int, end: int) -> None:
            ends = slice(begin, end)
            nearest(queries[ends], self.table, self.centre, panels, rounding, rows[ends], distances[ends], proven[ends])

        run_ranges(part, len(queries), threads, max(1, panels.size // 8))

    def _of_all(self, queries: Floats, rows: Integers, distances: Floats, threads: int) -> None:
        columns = self.columns

        def part(begin: int, end: int) -> None:
            nearest_of_all(queries[begin:end], columns, rows[begin:end], distances[begin:end])

        run_ranges(part, len(queries), threads, max(1, columns.size))


def aligned(n_rows: int, n_columns: int) -> NDArray[np.float32]:
    """Room for numbers that begins where a line of the cache does: a vector that lies on two of them takes twice as long to load."""
    room: NDArray[np.float32] = np.empty(n_rows * n_columns + LINE, np.float32)
    skipped = -room.ctypes.data % (4 * LINE) // 4
    return room[skipped : skipped + n_rows * n_columns].reshape(n_rows, n_columns)


Metric = str | Callable[[Floats, Floats], float]
# Distances of a block of queries from all rows: 8 MB.
BLOCK_VALUES = 1 << 20


@dataclass(frozen=True, eq=False)
class Search:
    """Rows among which neighbours are looked for."""

    table: Floats  # (r, d)
    metric: Metric = "euclidean"

    def check(self) -> "Search":
        """The rows are a table of finite numbers; returns self, or raises DataError."""
        require_array(self.table, (None, None), "the rows to search in")
        require(len(self.table) > 0, "there are no rows to search in")
        try:
            _cdist(np.ones((1, 2)), np.zeros((1, 2)), self.metric)
        except (TypeError, ValueError):
            require(False, "a distance is not known")
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
        return _cdist(queries, self.table, self.metric)

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
