"""Forest codes: a table in two grains at once, for forests. Bins for nodes of many rows, and a code for each distinct value for the
rest."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from woodwind.base.mapped import MappedRoom
from woodwind.base.pool import run_ranges, side_by_side
from woodwind.data.binning.ranks import Ranking, rank_column
from woodwind.data.tables.table import Column, Table
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

    def take(self, rows: NDArray[np.int64]) -> "ForestCodes":
        """The codes of some rows, in memory; ranks are still those of all."""
        some = ForestCodes(np.ascontiguousarray(self.coarse[:, rows]), self.fine[rows], self.span, self.values, self.n_categories)
        vars(some)["numbers"] = self.numbers
        return some

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """What the ranks of all features stand for, feature after feature, and a zero."""
        return np.concatenate([*self.values, np.zeros(1)])

    @cached_property
    def coarse_rows(self) -> NDArray[np.uint8]:
        """Coarse codes by row (n, stride)."""
        out = np.zeros(self.fine.shape, np.uint8)
        out[:, : self.n_features] = self.coarse.T
        return out

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
    return bins_by_mass(np.bincount(column[there], None if weight is None else weight[there], n_codes).astype(np.float64), max_bins)


def bins_by_mass(mass: NDArray[np.float64], max_bins: int) -> NDArray[np.int64]:
    """The same from the weight of the rows of every rank."""
    middle = np.cumsum(mass) - mass / 2
    position = np.minimum((middle * (max_bins / mass.sum())).astype(np.int64), max_bins - 1)
    return np.cumsum(np.diff(position, prepend=position[0]) > 0)


# ----------------------------------------------------------------------------------------------------
# Tables whose codes are not to be in memory.

# Rows that are turned into codes together.
MAPPED_ROWS = 1 << 16


def mapped_forest_codes(
    table: Table, room: MappedRoom, max_bins: int, weight: NDArray[np.float64] | None, threads: int, numbers: bool
) -> ForestCodes:
    """`ForestCodes.of` with all arrays in mapped room, a column at a time; `numbers`: also what random cuts ask for.

    A column takes some 24 bytes of memory for each row while its values are put in order.
    """
    n_features, n = len(table.columns), table.n_rows
    coarse, columns = room.empty((n_features, n), np.uint8), room.empty((n_features, n), np.int32)
    span: NDArray[np.int64] = np.zeros((2 * n_features, 256), np.int64)
    kept: list[NDArray[np.float64]] = []
    for feature, column in enumerate(table.columns):
        distinct = np.empty(0) if column.category else _distinct(column, n)
        kept.append(room.empty(distinct.shape, np.float64))
        kept[-1][:] = distinct
        _rank(column, distinct, columns[feature], threads)
        if column.category:
            coarse[feature] = np.where(columns[feature] == MISSING_CODE, COARSE_MISSING, columns[feature])
            continue
        bins = np.append(_bins_of_mapped(columns[feature], len(distinct), max_bins, weight), COARSE_MISSING)
        first = np.flatnonzero(np.diff(bins[:-1], prepend=-1))
        span[2 * feature, : first.size] = first
        span[2 * feature + 1, : first.size] = np.append(first[1:], len(distinct)) - 1
        for begin, end in _stretches(n):
            coarse[feature, begin:end] = bins[np.minimum(columns[feature, begin:end], len(distinct))]
        room.let_go()
    stride = -(-n_features // LINE) * LINE
    fine, coarse_rows = room.empty((n, stride), np.int32), room.empty((n, stride), np.uint8)
    for begin, end in _stretches(n):
        fine[begin:end, :n_features] = columns[:, begin:end].T
        coarse_rows[begin:end, :n_features] = coarse[:, begin:end].T
        room.let_go()
    n_categories = Ranking.fit(table).n_categories
    ends = np.cumsum([0, *(len(one) for one in kept)]).tolist()
    everything = room.empty((ends[-1] + 1,), np.float64)
    for one, begin in zip(kept, ends, strict=False):
        everything[begin : begin + len(one)] = one
    values = tuple(everything[begin:end] for begin, end in pairwise(ends))
    found = ForestCodes(coarse, fine, span, values, n_categories)
    vars(found).update({"coarse_rows": coarse_rows, "columns": columns, "numbers": everything})
    if numbers:
        real = room.empty((n, stride), np.float64)
        for feature in np.flatnonzero(n_categories == 0).tolist():
            known = np.append(values[feature], np.nan)
            for begin, end in _stretches(n):
                real[begin:end, feature] = known[np.minimum(columns[feature, begin:end], len(known) - 1)]
                room.let_go()
        vars(found)["real"] = real
    room.let_go()
    return found


def _stretches(n: int) -> list[tuple[int, int]]:
    """Rows in stretches."""
    return [(begin, min(begin + MAPPED_ROWS, n)) for begin in range(0, n, MAPPED_ROWS)]


def _distinct(column: Column, n: int) -> NDArray[np.float64]:
    """The distinct numbers of a column, ascending."""
    found = np.empty(n)
    filled = 0
    for begin, end in _stretches(n):
        block = column.block(begin, end)
        block = block[~np.isnan(block)]
        found[filled : filled + len(block)] = block
        filled += len(block)
    found = found[:filled]
    found += 0.0  # there is one zero
    found.sort()
    return found[np.append(True, found[1:] != found[:-1])] if filled else found


def _rank(column: Column, distinct: NDArray[np.float64], out: NDArray[np.int32], threads: int) -> None:
    """Write the rank of every row, or the code of its category; MISSING_CODE where there is none."""

    def part(_: int, rows: tuple[int, int]) -> None:
        begin, end = rows
        block = column.block(begin, end)
        if column.category:
            out[begin:end] = np.where(block < 0, MISSING_CODE, block)
            return
        # In their order, one search leads to where the next begins.
        order = np.argsort(block)
        ranks = np.searchsorted(distinct, block[order])
        ranks[np.isnan(block[order])] = MISSING_CODE
        out[begin + order] = ranks

    side_by_side(part, _stretches(len(out)), threads)


def _bins_of_mapped(column: NDArray[np.int32], n_codes: int, max_bins: int, weight: NDArray[np.float64] | None) -> NDArray[np.uint8]:
    """As `bins_of`, of a column that is looked at a stretch at a time."""
    if n_codes <= max_bins:
        return np.arange(n_codes, dtype=np.uint8)
    mass: NDArray[np.float64] = np.zeros(n_codes)
    for begin, end in _stretches(len(column)):
        there = column[begin:end] != MISSING_CODE
        # In the order of rows, as a sum of all at once.
        np.add.at(mass, column[begin:end][there], 1.0 if weight is None else weight[begin:end][there])
    return bins_by_mass(mass, max_bins).astype(np.uint8)
