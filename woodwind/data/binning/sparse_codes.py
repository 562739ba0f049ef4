"""Sparse codes: a table of stored cells as small integers. What is not stored takes neither memory nor time.

docs/algorithms/sparse-and-bundling.md has a case worked by hand.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import run_ranges
from woodwind.data.binning import sketch
from woodwind.data.binning.sketch import Sketch, keys_of, midpoints, values_of
from woodwind.data.tables.table import SparseMatrix, StoredCells, Table
from woodwind.kernels.binning.sparse_columns import border_keys, encode_stored, keep_uncommon, take_lines, transpose

Integers = NDArray[np.int64]

# A sparse matrix that stores a larger share of its cells, or of fewer cells altogether, is coded as an array is. Adding a listed cell to a
# histogram costs half as much again as adding one of a whole row, and a stored code takes ten bytes in place of one.
MOST_STORED = 0.25
LEAST_CELLS = 20_000
# Stored cells of the columns that are cut or coded in one call of a kernel.
CALL_CELLS = 1 << 17
# What a stored cell costs to be cut or coded, in the units of the pool.
WORK_PER_CELL = 4
ZERO = keys_of(np.zeros(1))[0]


def is_thin(table: Table) -> bool:
    """Whether a table is coded by its stored cells alone."""
    if table.sparse is None:
        return False
    cells = table.n_rows * len(table.columns)
    return cells >= LEAST_CELLS and table.sparse.n_stored <= MOST_STORED * cells


class CodedCells(NamedTuple):
    """Coded cells line after line, where lines are columns or rows; those of a line ascend."""

    starts: Integers  # (lines + 1,) where the cells of each line begin
    at: NDArray[np.int32]  # (m,) row of each cell where lines are columns, else its column
    codes: NDArray[np.uint8]  # (m,)

    def transposed(self, n_lines: int) -> "CodedCells":
        """The same cells by rows in place of columns, or the other way round; there are so many of those."""
        out = CodedCells(np.empty(n_lines + 1, np.int64), np.empty_like(self.at), np.empty_like(self.codes))
        transpose(*self, *out)
        return out


@dataclass(frozen=True, eq=False)
class SparseCodes:
    """The codes of a table of which few cells are stored: those that differ from the code of an absent cell.

    Codes mean what they mean in `Codes`. All columns are numbers.
    """

    by_column: CodedCells
    absent: NDArray[np.uint8]  # (F,) the code of each cell that is not among these
    n_rows: int
    n_bins: NDArray[np.int32]  # (F,)
    width: int  # codes are below it; a power of two from 4 to 256

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.n_bins)

    @property
    def is_category(self) -> NDArray[np.bool_]:
        """(F,) none of them."""
        return np.zeros(self.n_features, np.bool_)

    @property
    def missing(self) -> int:
        """The code of a missing value, in every feature."""
        return self.width - 1

    @property
    def unseen(self) -> int:
        """The code of a category that training never saw: no cell has it."""
        return self.width - 2

    @property
    def has_unseen(self) -> bool:
        """Whether some row has a category that training never saw."""
        return False

    @cached_property
    def by_row(self) -> CodedCells:
        """The cells of each row."""
        return self.by_column.transposed(self.n_rows)

    def take(self, rows: Integers) -> "SparseCodes":
        """Some of the rows, each as often as it is named."""
        if len(rows) and not (-self.n_rows <= rows.min() and rows.max() < self.n_rows):
            raise IndexError(f"there are {self.n_rows} rows, and of these some were asked for that are not there")
        rows = np.where(rows < 0, rows + self.n_rows, rows).astype(np.int64)
        starts, at, codes = self.by_row
        taken: Integers = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(np.diff(starts)[rows], out=taken[1:])
        some = CodedCells(taken, np.empty(taken[-1], np.int32), np.empty(taken[-1], np.uint8))
        take_lines(starts, at, codes, rows, *some)
        return replace(self, by_column=some.transposed(self.n_features), n_rows=len(rows))

    def column(self, feature: int) -> NDArray[np.uint8]:
        """(n,) all codes of one feature."""
        out = np.full(self.n_rows, self.absent[feature], np.uint8)
        stored = slice(*self.by_column.starts[feature : feature + 2])
        out[self.by_column.at[stored]] = self.by_column.codes[stored]
        return out


def sparse_edges(matrix: SparseMatrix, max_bins: int, weight: Integers | None, threads: int) -> list[NDArray[np.float64]]:
    """The borders of the bins of every column: those that `Sketch.edges` gives for all of its cells, stored or not."""
    stored, n_columns = matrix.by_column, matrix.shape[1]
    whole = 0 if np.isnan(matrix.absent) else matrix.shape[0] if weight is None else int(weight.sum())
    edges: list[NDArray[np.float64]] = [np.empty(0)] * n_columns
    sizes = np.zeros(n_columns, np.int64)
    large = np.flatnonzero(np.diff(stored.starts) >= sketch.MOST_CELLS)
    groups = column_groups(stored.starts, large)

    def fit(begin: int, end: int) -> None:
        for first, past in groups[begin:end]:
            base = stored.starts[first]
            below, above = np.empty((2, stored.starts[past] - base), np.uint64)
            border_keys(stored, (first, past), weight, (whole, ZERO), max_bins, (below, above, sizes))
            at = np.repeat(stored.starts[first:past] - base, sizes[first:past]) + within(sizes[first:past])
            borders = midpoints(values_of(below[at]), values_of(above[at]))
            ends = np.append(0, np.cumsum(sizes[first:past])).tolist()
            edges[first:past] = [borders[low:high] for low, high in pairwise(ends)]

    run_ranges(fit, len(groups), threads, WORK_PER_CELL * CALL_CELLS)
    for column in large.tolist():
        edges[column] = _large_sketch(stored, column, weight, whole).edges(max_bins)
    return edges


def _large_sketch(stored: StoredCells, column: int, weight: Integers | None, whole: int) -> Sketch:
    """The summary of a column of so many stored cells that they may have to share the cells of the summary."""
    begin, end = stored.starts[column : column + 2].tolist()
    total, rest = Sketch.empty(), whole
    for first in range(begin, end, sketch.MOST_CELLS):
        cells = slice(first, min(first + sketch.MOST_CELLS, end))
        own = None if weight is None else weight[stored.at[cells]]
        total = total.merge(Sketch.of(stored.values[cells], own, total.shift))
        rest -= cells.stop - cells.start if own is None else int(own.sum())
    absent = Sketch(np.array([ZERO], np.uint64), np.array([rest], np.int64), 0)
    return total.merge(absent) if rest > 0 else total


def encode_sparse(
    matrix: SparseMatrix, edges: tuple[NDArray[np.float64], ...], n_bins: NDArray[np.int32], width: int, threads: int
) -> SparseCodes:
    """The codes of the stored cells of a matrix with these borders."""
    stored, n_columns = matrix.by_column, matrix.shape[1]
    edges_at: Integers = np.zeros(n_columns + 1, np.int64)
    np.cumsum(n_bins - 1, out=edges_at[1:])
    flat = np.concatenate([*edges, np.empty(0)])
    if np.isnan(matrix.absent):
        absent = np.full(n_columns, width - 1, np.uint8)
    else:
        below = np.append(0, np.cumsum(flat < 0.0))
        absent = np.diff(below[edges_at]).astype(np.uint8)
    codes, uncommon = np.empty(len(stored.at), np.uint8), np.zeros(n_columns, np.int64)
    groups = column_groups(stored.starts, np.empty(0, np.int64))

    def encode(begin: int, end: int) -> None:
        for columns in groups[begin:end]:
            encode_stored(stored, columns, flat, edges_at, width - 1, absent, codes, uncommon)

    run_ranges(encode, len(groups), threads, WORK_PER_CELL * CALL_CELLS)
    cells = CodedCells(stored.starts, stored.at, codes)
    kept = int(uncommon.sum())
    if kept < len(codes):
        starts: Integers = np.zeros(n_columns + 1, np.int64)
        np.cumsum(uncommon, out=starts[1:])
        out = CodedCells(starts, np.empty(kept, np.int32), np.empty(kept, np.uint8))
        keep_uncommon(*cells, absent, *out)
        cells = out
    return SparseCodes(cells, absent, matrix.shape[0], n_bins, width)


def within(sizes: Integers) -> Integers:
    """Numbers from zero on in each of several groups of these sizes, one after another."""
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def column_groups(starts: Integers, apart: Integers) -> list[tuple[int, int]]:
    """Neighbouring columns, first and past the last, of about `CALL_CELLS` stored cells together; some stand apart, in none."""
    n_columns = len(starts) - 1
    wanted = np.searchsorted(starts + np.arange(n_columns + 1), np.arange(0, starts[-1] + n_columns, CALL_CELLS))
    ends = np.unique(np.concatenate([wanted, apart, apart + 1, [0, n_columns]]))
    lone = set(apart.tolist())
    return [(first, past) for first, past in pairwise(ends.tolist()) if first not in lone]
