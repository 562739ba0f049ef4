"""Ranks: exact codes, one for each distinct value, and the rows of every feature in their order.

For trees that consider every threshold. Four bytes a value, twice: an affair of one process, in memory.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import run_ranges
from woodwind.base.validate import require, require_array
from woodwind.data.binning.sketch import values_of
from woodwind.data.tables.table import UNSEEN, Column, SparseReader, Table, for_kernel
from woodwind.kernels.binning.encode import sort_pairs, weigh

# The code of a category that training never saw: behind those of all categories, of which a byte has room for 253.
UNSEEN_RANK = 254


@dataclass(frozen=True, eq=False)
class Ranking:
    """How tables become ranks: what `Cuts` is to codes. A rank is a position among the values of its own table: there is little to say."""

    n_categories: NDArray[np.int32]  # (F,) categories of each feature; 0 for numbers

    @classmethod
    def fit(cls, table: Table) -> "Ranking":
        """The ranking of tables like this one."""
        return cls(np.array([0 if column.categories is None else len(column.categories) for column in table.columns], np.int32))

    def check(self) -> "Ranking":
        """Categories have room beside the codes for missing and unseen; returns self, or raises DataError."""
        require_array(self.n_categories, (None,), "the numbers of categories")
        require((self.n_categories >= 0) & (self.n_categories < UNSEEN_RANK), "a feature has too many categories")
        return self

    def encode(self, table: Table, threads: int = 1) -> "Ranks":
        """Rank every column of a table."""
        return Ranks.of(table, threads)


@dataclass(frozen=True, eq=False)
class Ranks:
    """The dense rank of every value in its feature."""

    by_column: NDArray[np.int32]  # (F, n): rank, or code of a category; -1 for missing, UNSEEN_RANK for a category that training never saw
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
                values[feature], n_codes[feature] = rank_column(table.columns[feature], by_column[feature], order[feature])

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

    @property
    def has_unseen(self) -> bool:
        """Whether some row has a category that training never saw."""
        return bool((self.by_column[self.is_category] == UNSEEN_RANK).any())

    @property
    def ranking(self) -> Ranking:
        """How the table was ranked."""
        return Ranking(np.where(self.is_category, self.n_codes, np.int32(0)))

    def take(self, rows: NDArray[np.int64]) -> "Ranks":
        """Some of the rows, each as often as it is named."""
        by_column = np.ascontiguousarray(self.by_column[:, rows])
        # As unsigned numbers, the rank of a missing value is the largest.
        order = np.argsort(by_column.view(np.uint32), axis=1, kind="stable").astype(np.int32)
        return replace(self, by_column=by_column, order=order)


def rank_column(column: Column, out_rank: NDArray[np.int32], out_order: NDArray[np.int32]) -> tuple[NDArray[np.float64], int]:
    """Rank one column, and put its rows in order, as `Ranks` has them; its distinct numbers and the number of its codes are returned.

    Of a sparse column only the cells that are stored are sorted.
    """
    if column.categories is not None:
        _order_categories(column, out_rank, out_order)
        return np.empty(0, np.float64), len(column.categories)
    if isinstance(column.read, SparseReader):
        values = _rank_stored(column.read, out_rank, out_order)
    else:
        values = _rank_numbers(column.block(0, out_rank.size), out_rank, out_order)
    return values, values.size


def _rank_stored(reader: SparseReader, out_rank: NDArray[np.int32], out_order: NDArray[np.int32]) -> NDArray[np.float64]:
    """Rank a column of a sparse matrix by its stored cells, and one more that stands for all others."""
    rows, stored = reader.stored()
    if rows.size == out_rank.size:
        return _rank_numbers(stored, out_rank, out_order)
    ranks, order = np.empty((2, rows.size + 1), np.int32)
    values = _rank_numbers(np.append(stored, np.array([reader.matrix.absent], stored.dtype)), ranks, order)
    out_rank.fill(ranks[-1])
    out_rank[rows] = ranks[:-1]
    before, after = np.flatnonzero(order == rows.size)[0], order.size
    # Cells of the rank of absent ones are just before theirs, and those of larger ranks after it.
    first = np.searchsorted(ranks[order].view(np.uint32), ranks[-1:].view(np.uint32)[0])
    alike = np.flatnonzero(out_rank == ranks[-1])
    out_order[:first] = rows[order[:first]]
    out_order[first : first + alike.size] = alike
    out_order[first + alike.size :] = rows[order[before + 1 : after]]
    return values


def _rank_numbers(block: NDArray[Any], out_rank: NDArray[np.int32], out_order: NDArray[np.int32]) -> NDArray[np.float64]:
    """Rank a column of numbers; its distinct numbers are returned."""
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


def _order_categories(column: Column, out_rank: NDArray[np.int32], out_order: NDArray[np.int32]) -> None:
    """Codes of one category column, and its rows by code."""
    codes = column.block(0, out_rank.size)
    out_rank[:] = np.where(codes == UNSEEN, UNSEEN_RANK, codes)
    # As unsigned numbers, the code of a missing category is the largest.
    out_order[:] = np.argsort(out_rank.astype(np.uint16), kind="stable")
