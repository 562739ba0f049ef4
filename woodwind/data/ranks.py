"""Ranks: exact codes, one for each distinct value, and the rows of every feature in their order.

For trees that consider every threshold. Four bytes a value, twice: an affair of one process, in memory.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import run_ranges
from woodwind.data.table import Column, Table


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
    place = np.argsort(block)  # NaN last; the fast sort leaves ties in any order, which is set right below
    ordered = block[place]
    n_present = ordered.size - int(np.count_nonzero(np.isnan(ordered)))
    first = np.ones(ordered.size, np.bool_)
    first[1:n_present] = ordered[1:n_present] != ordered[: max(n_present - 1, 0)]
    first[n_present + 1 :] = False  # all missing values share one rank here, so that their rows come in order
    dense = np.cumsum(first) - 1
    # Rank and row in one integer: sorting these puts the rows of each rank in order.
    both = np.sort((dense << 32) | place)
    out_order[:] = both & (2**32 - 1)
    out_rank[place[:n_present]] = dense[:n_present]
    out_rank[place[n_present:]] = -1
    return np.asarray(ordered[:n_present][first[:n_present]], np.float64) + 0.0


def _order_levels(column: Column, out_rank: NDArray[np.int32], out_order: NDArray[np.int32]) -> None:
    """Codes of one category column, and its rows by code."""
    np.maximum(column.block(0, out_rank.size), -1, out=out_rank)
    # As unsigned numbers, the code of a missing level is the largest.
    out_order[:] = np.argsort(out_rank.astype(np.uint16), kind="stable")
