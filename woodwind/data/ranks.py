"""Ranks: exact codes, one for each distinct value, and the rows of every feature in their order.

For trees that consider every threshold. Four bytes a value, twice: an affair of one process, in memory.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import run_ranges
from woodwind.data.sketch import values_of
from woodwind.data.table import Column, Table, for_kernel
from woodwind.kernels.encode import sort_pairs, weigh


@dataclass(frozen=True, eq=False)
class Ranks:
    """The dense rank of every value in its feature."""

    by_column: NDArray[np.int32]  # (F, n): rank, or code of a level; -1 for missing
    order: NDArray[np.int32]  # (F, n): rows by rank, rows of equal rank ascending, rows with missing values last
    values: tuple[NDArray[np.float64], ...]  # sorted distinct numbers of each feature; empty for categories
    n_codes: NDArray[np.int32]  # (F,): ranks and codes are below it
    is_category: NDArray[np.bool_]  # (F,)

    @classmethod
    def of(cls, table: Table, threads: int = 1) -> "Ranks":
        """Rank every column of a table."""
        n_features, n = len(table.columns), table.n_rows
        by_column, order = np.empty((n_features, n), np.int32), np.empty((n_features, n), np.int32)
        values = [np.empty(0, np.float64)] * n_features
        n_codes = np.zeros(n_features, np.int32)

        def rank(begin: int, end: int) -> None:
            for feature in range(begin, end):
                column = table.columns[feature]
                if column.levels is None:
                    values[feature] = _rank_numbers(column, by_column[feature], order[feature])
                    n_codes[feature] = values[feature].size
                else:
                    _order_levels(column, by_column[feature], order[feature])
                    n_codes[feature] = len(column.levels)

        run_ranges(rank, n_features, threads, n)
        is_category = np.array([column.category for column in table.columns], np.bool_)
        return cls(by_column, order, tuple(values), n_codes, is_category)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.by_column.shape[1])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.by_column.shape[0])


def _rank_numbers(column: Column, out_rank: NDArray[np.int32], out_order: NDArray[np.int32]) -> NDArray[np.float64]:
    """Rank one column of numbers; its distinct numbers are returned."""
    block = column.block(0, out_rank.size)
    # Sorting keys with their rows keeps rows of equal keys in order, and takes a third of the time of NumPy's argsort.
    # A row counts from one here, because a pair of weight zero would be left out.
    keys, rows = np.empty(block.size, np.uint64), np.empty(block.size, np.int64)
    n = weigh(for_kernel(block), np.arange(1, block.size + 1), np.uint64(0), keys, rows)
    spare_keys, spare_rows = np.empty(n, np.uint64), np.empty(n, np.int64)
    if sort_pairs(keys[:n], rows[:n], spare_keys, spare_rows):
        keys, rows = spare_keys, spare_rows
    first = np.ones(n, np.bool_)
    np.not_equal(keys[1:n], keys[: max(n - 1, 0)], out=first[1:])
    out_order[:n] = rows[:n] - 1
    out_order[n:] = np.flatnonzero(np.isnan(block))
    out_rank[out_order[:n]] = np.cumsum(first) - 1
    out_rank[out_order[n:]] = -1
    return values_of(keys[:n][first])


def _order_levels(column: Column, out_rank: NDArray[np.int32], out_order: NDArray[np.int32]) -> None:
    """Codes of one category column, and its rows by code."""
    np.maximum(column.block(0, out_rank.size), -1, out=out_rank)
    # As unsigned numbers, the code of a missing level is the largest.
    out_order[:] = np.argsort(out_rank.astype(np.uint16), kind="stable")
