"""The nearest rows by Euclidean distance, without SciPy: models that look for neighbours load this and no more."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import run_ranges
from woodwind.kernels.nearest import nearest, nearest_by_values
from woodwind.select.facts import Floats, Integers, Region

# From so many columns on, a product of matrices is faster than one query after another.
MANY_COLUMNS = 256
# Values of a block of queries by all rows: 4 MB in float32.
BLOCK_VALUES = 1 << 20


@dataclass(frozen=True, eq=False)
class EuclideanRows:
    """Rows as `kernels/nearest.py` wants them: in a unit in which none is far, and about their mean, where rounding does least."""

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
    def n_dimensions(self) -> int:
        """Columns, and one for what rounding adds, up to a multiple of four."""
        return int(self.table.shape[1] + 4) // 4 * 4

    @cached_property
    def narrow(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Columns (D, r) and halves of squared norms (r,) in float32."""
        return self._in(np.float32)

    def _in(self, kind: type) -> tuple[NDArray[Any], NDArray[Any]]:
        centred = self.table - self.centre
        squares = np.einsum("rd,rd->r", centred, centred)
        columns: NDArray[Any] = np.zeros((self.n_dimensions, len(centred)), kind)
        columns[: centred.shape[1]] = centred.T
        columns[centred.shape[1]] = np.sqrt(squares)
        # Rounding of the square itself is taken off here, that of the product by the last dimension.
        return columns, (0.5 * squares * (1.0 - self._rounding(kind))).astype(kind)

    def _rounding(self, kind: type) -> float:
        """What rounding adds at most to a sum of so many products of this type, as a share of the sum of their sizes."""
        return float((2 * self.n_dimensions + 8) * np.finfo(kind).eps)

    def _asking(self, queries: Floats, kind: type) -> NDArray[Any]:
        """Queries (q, D), negated, in the type of the columns."""
        # A query so far away that its square is infinite is proven nothing about.
        centred = np.clip(queries - self.centre, -1e15, 1e15) if kind is np.float32 else queries - self.centre
        out: NDArray[Any] = np.zeros((len(queries), self.n_dimensions), kind)
        out[:, : centred.shape[1]] = -centred
        out[:, centred.shape[1]] = -self._rounding(kind) * np.sqrt(np.einsum("qd,qd->q", centred, centred))
        return out

    def near(self, queries: Floats, k: int, threads: int) -> Region:
        """The k nearest rows to each query; those that float32 cannot prove to be the nearest are looked for in float64."""
        queries = np.require(queries / self.unit, np.float64, ["C", "W"])
        rows, distances = np.empty((len(queries), k), np.int64), np.empty((len(queries), k))
        proven = np.empty(len(queries), np.bool_)
        find = self._by_product if self.table.shape[1] >= MANY_COLUMNS else self._one_by_one
        find(queries, rows, distances, proven, threads)
        open_ = np.flatnonzero(~proven)
        if open_.size:
            again = np.empty((len(open_), k), np.int64), np.empty((len(open_), k))
            self._in_float64(queries[open_], *again, threads)
            rows[open_], distances[open_] = again
        return Region(rows, distances * self.unit)

    def _one_by_one(self, queries: Floats, rows: Integers, distances: Floats, proven: NDArray[np.bool_], threads: int) -> None:
        columns, half = self.narrow
        asking = self._asking(queries, np.float32)

        def part(begin: int, end: int) -> None:
            ends = slice(begin, end)
            nearest(asking[ends], columns, half, queries[ends], self.table, rows[ends], distances[ends], proven[ends])

        run_ranges(part, len(queries), threads, max(1, columns.size // 8))

    def _by_product(self, queries: Floats, rows: Integers, distances: Floats, proven: NDArray[np.bool_], threads: int) -> None:
        columns, half = self.narrow
        asking = self._asking(queries, np.float32)
        step = max(64, BLOCK_VALUES // len(self.table))
        for first in range(0, len(queries), step):
            values = asking[first : first + step] @ columns
            values += half

            def part(begin: int, end: int, first: int = first, values: NDArray[Any] = values) -> None:
                ends = slice(first + begin, first + end)
                nearest_by_values(values[begin:end], asking[ends], queries[ends], self.table, rows[ends], distances[ends], proven[ends])

            run_ranges(part, len(values), threads, len(self.table))

    def _in_float64(self, queries: Floats, rows: Integers, distances: Floats, threads: int) -> None:
        columns, half = self._in(np.float64)
        asking = self._asking(queries, np.float64)
        proven = np.empty(len(queries), np.bool_)

        def part(begin: int, end: int) -> None:
            ends = slice(begin, end)
            nearest(asking[ends], columns, half, queries[ends], self.table, rows[ends], distances[ends], proven[ends])

        run_ranges(part, len(queries), threads, max(1, columns.size // 8))
