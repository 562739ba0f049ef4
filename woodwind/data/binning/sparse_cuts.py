"""Sparse cuts: where the stored numbers of each column of a sparse matrix are divided into bins, and their codes.

docs/algorithms/sparse-and-bundling.md has a case worked by hand.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import run_ranges
from woodwind.data.binning import sketch
from woodwind.data.binning.sketch import Sketch, keys_of, midpoints, values_of
from woodwind.data.binning.sparse_codes import CodedCells, SparseCodes, within
from woodwind.data.tables.table import SparseMatrix, StoredCells, Table
from woodwind.kernels.binning.sparse_cells import keep_uncommon
from woodwind.kernels.binning.sparse_columns import border_keys, encode_stored

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


def column_groups(starts: Integers, apart: Integers) -> list[tuple[int, int]]:
    """Neighbouring columns, first and past the last, of about `CALL_CELLS` stored cells together; some stand apart, in none."""
    n_columns = len(starts) - 1
    wanted = np.searchsorted(starts + np.arange(n_columns + 1), np.arange(0, starts[-1] + n_columns, CALL_CELLS))
    ends = np.unique(np.concatenate([wanted, apart, apart + 1, [0, n_columns]]))
    lone = set(apart.tolist())
    return [(first, past) for first, past in pairwise(ends.tolist()) if first not in lone]
