"""Forest codes: a table in two grains at once, for forests. Bins for nodes of many rows, and a code for each distinct value for the
rest."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import run_ranges
from woodwind.data.binning.ranks import Ranking, rank_column
from woodwind.data.tables.table import Table
from woodwind.kernels.forest.layout import COARSE_MISSING, LINE, MISSING_CODE


@dataclass(frozen=True, eq=False)
class ForestCodes:
    """The codes of a table. Coarse ones never decrease where fine ones increase; those of categories are the same."""

    coarse: NDArray[np.uint8]  # (F, n): bins or categories; COARSE_MISSING
    fine: NDArray[np.int32]  # (n, stride): ranks or categories, by row; MISSING_CODE
    span: NDArray[np.int64]  # (2 F, 256): first and last rank of every bin
    values: tuple[NDArray[np.float64], ...]  # what the ranks stand for; empty for categories
    n_categories: NDArray[np.int32]  # (F,): 0 for numbers

    @classmethod
    def of(cls, table: Table, max_bins: int = 255, weight: NDArray[np.float64] | None = None, threads: int = 1) -> "ForestCodes":
        """Code every column; bins have about equal weight, and a column of no more distinct values has a bin for each."""
        n_features, n = len(table.columns), table.n_rows
        n_categories = Ranking.fit(table).n_categories
        values = [np.empty(0)] * n_features
        coarse = np.empty((n_features, n), np.uint8)
        fine = np.zeros((n, -(-n_features // LINE) * LINE), np.int32)
        span: NDArray[np.int64] = np.zeros((2 * n_features, 256), np.int64)

        def code_features(begin: int, end: int) -> None:
            # Ranks of one column after another: those of all, with their orders, would take more memory than the codes.
            column, order = np.empty(n, np.int32), np.empty(n, np.int32)
            for feature in range(begin, end):
                values[feature], n_codes = rank_column(table.columns[feature], column, order)
                fine[:, feature] = np.where(column < 0, MISSING_CODE, column)
                if table.columns[feature].category:
                    coarse[feature] = np.where(column < 0, COARSE_MISSING, column)
                    continue
                bins = bins_of(column, n_codes, max_bins, weight)
                # The last entry is for rank -1: missing.
                coarse[feature] = np.append(bins, COARSE_MISSING).astype(np.uint8)[column]
                first = np.flatnonzero(np.diff(bins, prepend=-1))
                span[2 * feature, : first.size] = first
                span[2 * feature + 1, : first.size] = np.append(first[1:], bins.size) - 1

        run_ranges(code_features, n_features, threads, 8 * n)
        return cls(coarse, fine, span, tuple(values), n_categories)

    @cached_property
    def real(self) -> NDArray[np.float64]:
        """The numbers of the table (n, stride), by row; NaN for missing ones. Zeros for categories."""
        out = np.zeros(self.fine.shape)
        for feature in np.flatnonzero(self.n_categories == 0):
            # The last entry is for what is missing.
            values = np.append(self.values[feature], np.nan)
            out[:, feature] = values[np.minimum(self.fine[:, feature], values.size - 1)]
        return out

    @cached_property
    def columns(self) -> NDArray[np.int32]:
        """Fine codes by column (F, n)."""
        return np.ascontiguousarray(self.fine[:, : self.n_features].T)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.coarse.shape[1])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.coarse.shape[0])


def bins_of(column: NDArray[np.int32], n_codes: int, max_bins: int, weight: NDArray[np.float64] | None) -> NDArray[np.int64]:
    """The bin of every rank: a rank belongs where the middle of its rows falls."""
    if n_codes <= max_bins:
        return np.arange(n_codes)
    there = column >= 0
    mass = np.bincount(column[there], None if weight is None else weight[there], n_codes).astype(np.float64)
    middle = np.cumsum(mass) - mass / 2
    position = np.minimum((middle * (max_bins / mass.sum())).astype(np.int64), max_bins - 1)
    return np.cumsum(np.diff(position, prepend=position[0]) > 0)
