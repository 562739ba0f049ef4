"""Cuts: where the numbers of each feature are divided into bins, and the encoding of a table by them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.fixed import integer_weights
from woodwind.base.pool import run_ranges
from woodwind.base.scratch import Scratch
from woodwind.base.validate import require, require_array
from woodwind.data.binning.codes import Codes, aligned_rows, positions_in_row, shared_stride, width_for
from woodwind.data.binning.counting_sketch import counted
from woodwind.data.binning.sketch import Sketch
from woodwind.data.binning.sparse_codes import SparseCodes
from woodwind.data.binning.sparse_cuts import encode_sparse, is_thin, sparse_edges
from woodwind.data.tables.table import Column, Table, brought, for_kernel
from woodwind.kernels.binning.encode import BORDERS, EncodeLayout, encode_numbers, rows_from_columns

MOST_BINS = 255

# Rows that are sorted at a time: that stays inside the second cache.
_SKETCH_ROWS = 2**16

# Rows from which on most columns are counted instead: a sample and two more kernels are then worth their time.
_COUNTED_ROWS = 2**17

# Columns of a matrix that are taken together: eight doubles are one line of the cache, so that a matrix in C order is
# read once or twice however many columns it has, and only the counters or sketches of so many columns, 2 MB each, exist at a time.
_GROUP = 8

# Bytes of a block that has to be cast or filled before it can be encoded.
_CAST_BYTES = 2**21

# Rows that one call of a kernel encodes: a few milliseconds, so that an interrupt is soon noticed.
_ENCODE_ROWS = 2**15


@dataclass(frozen=True, eq=False)
class Cuts:
    """The division of every feature into bins: frozen, and all that is needed to encode other rows the same way.

    The code of a number is the number of edges below it, so that code <= k says the same as value <= edges[k].
    A category feature has no edges: its codes are its categories.
    """

    edges: tuple[NDArray[np.float64], ...]
    is_category: NDArray[np.bool_]
    n_bins: NDArray[np.int32]
    width: int

    @property
    def n_categories(self) -> NDArray[np.int32]:
        """Categories of each feature; 0 for numbers."""
        return np.where(self.is_category, self.n_bins, np.int32(0))

    @classmethod
    def fit(
        cls,
        table: Table,
        max_bins: int = MOST_BINS,
        weight: NDArray[np.float64] | None = None,
        threads: int = 1,
    ) -> "Cuts":
        """Cut every number column into at most `max_bins` bins of about equal weight.

        A column of no more distinct values than that has a bin for each. A weight of two equals a row given twice,
        and rows of weight zero are absent. `max_bins` does not concern categories: those keep a code for each category.
        """
        if not 2 <= max_bins <= MOST_BINS:
            raise ValueError(f"max_bins must be from 2 to {MOST_BINS}, got {max_bins!r}")
        integers = None if weight is None else integer_weights(weight)
        if table.sparse is not None and is_thin(table):
            thin = tuple(sparse_edges(table.sparse, max_bins, integers, threads))
            n_bins, none = np.array([len(edge) + 1 for edge in thin], np.int32), np.zeros(len(thin), np.bool_)
            return cls(thin, none, n_bins, width_for(n_bins, none))
        is_category = np.array([column.category for column in table.columns], np.bool_)
        edges = [np.empty(0, np.float64) for _ in table.columns]
        groups = _groups(np.flatnonzero(~is_category), threads)

        def fit_groups(begin: int, end: int) -> None:
            for group in groups[begin:end]:
                for feature, sketch in _sketches(table, group, integers):
                    edges[feature] = sketch.edges(max_bins)
                    del sketch  # a megabyte or two, before the next is made

        largest = max((group.size for group in groups), default=1)
        run_ranges(fit_groups, len(groups), threads, table.n_rows * largest)
        return cls.of(edges, table.columns)

    @classmethod
    def of(cls, edges: Sequence[NDArray[np.float64]], columns: Sequence[Column]) -> "Cuts":
        """Cuts with the given edges for the number columns; those of category columns are not looked at."""
        is_category = np.array([column.category for column in columns], np.bool_)
        n_bins = np.array(
            [
                len(edge) + 1 if column.categories is None else max(len(column.categories), 1)
                for edge, column in zip(edges, columns, strict=True)
            ],
            np.int32,
        )
        return cls(tuple(edges), is_category, n_bins, width_for(n_bins, is_category))

    def check(self) -> "Cuts":
        """Edges ascend and are few enough for a byte, and so are categories; returns self, or raises DataError."""
        n_features = len(self.edges)
        require_array(self.is_category, (n_features,), "which features are categories")
        require_array(self.n_bins, (n_features,), "the numbers of bins")
        for edge, category, n_bins in zip(self.edges, self.is_category.tolist(), self.n_bins.tolist(), strict=True):
            require(
                edge.ndim == 1 and edge.size < MOST_BINS and not np.isnan(edge).any(), "there are too many edges, or some are no numbers"
            )
            require(edge[1:] > edge[:-1], "edges do not ascend")
            require(1 <= n_bins <= MOST_BINS - 1 if category else n_bins == edge.size + 1, "a feature has an impossible number of bins")
        require(self.width == width_for(self.n_bins, self.is_category) <= 1 << 8, "codes have an impossible width")
        return self

    @cached_property
    def _search(self) -> tuple[dict[Any, NDArray[Any]], NDArray[np.int64]]:
        """The borders as the kernel wants them, in both sizes of number, and the first step of each search."""
        wide = np.full((len(self.edges), BORDERS), np.inf)
        steps = np.zeros(len(self.edges), np.int64)
        for feature, edge in enumerate(self.edges):
            wide[feature, : edge.size] = edge
            steps[feature] = (1 << edge.size.bit_length()) // 2
        return {np.dtype(np.float64): wide.reshape(-1), np.dtype(np.float32): round_down(wide).reshape(-1)}, steps

    def encode_stored(self, table: Table, threads: int = 1) -> Codes | SparseCodes:
        """The codes of a table with the same features, for who takes those of stored cells alone where few are stored."""
        if table.sparse is None or not is_thin(table):
            return self.encode(table, threads)
        return encode_sparse(table.sparse, self.edges, self.n_bins, self.width, threads)

    def encode(self, table: Table, threads: int = 1) -> Codes:
        """The codes of a table with the same features, each cell in a byte."""
        n, n_features = table.n_rows, len(self.edges)
        stride = shared_stride(self.n_bins)
        by_row = aligned_rows(n, stride)
        from_matrix = np.flatnonzero((table.matrix_column >= 0) & ~self.is_category)
        others = np.setdiff1d(np.arange(n_features), from_matrix)
        places = positions_in_row(self.n_bins, stride)
        order = np.argsort(places)

        def encode_rows(begin: int, end: int) -> None:
            room = _cast_room(table.source, end - begin)
            block = np.empty((n_features, min(_ENCODE_ROWS, end - begin)), np.uint8)
            for first in range(begin, end, _ENCODE_ROWS):
                last = min(first + _ENCODE_ROWS, end)
                self._encode_matrix(table, from_matrix, first, last, block, room)
                for feature in others:
                    self._encode_column(table.columns[feature], int(feature), first, last, block)
                rows_from_columns(block, order, first, last, 0, by_row)

        run_ranges(encode_rows, n, threads, n_features)
        return Codes(by_row, self.n_bins, self.width, self.is_category, places)

    def _encode_matrix(
        self, table: Table, features: NDArray[np.int64], begin: int, end: int, out: NDArray[np.uint8], room: NDArray[np.float64]
    ) -> None:
        """Encode rows of the number columns that stand in the caller's array; another type is cast block by block, in the room."""
        if features.size == 0 or table.source is None:
            return
        source = table.source
        flat = _flat(source)
        wanted = np.array([table.matrix_column[features], features], np.int64)
        if flat is not None:
            self._run(flat, source.strides, -begin, wanted, (0, end - begin), out)
            return
        step = room.size // source.shape[1]
        for first in range(begin, end, step):
            last = min(first + step, end)
            block = brought(source[first:last], room)
            self._run(block.reshape(-1), block.strides, first - begin, wanted, (first - begin, last - begin), out)

    def _run(
        self,
        flat: NDArray[Any],
        strides: tuple[int, ...],
        first_row: int,
        wanted: NDArray[np.int64],
        rows: tuple[int, int],
        out: NDArray[np.uint8],
    ) -> None:
        """One call of the kernel; `strides` are in bytes, as NumPy has them."""
        borders, steps = self._search
        row, column = (stride // flat.itemsize for stride in strides)
        layout = EncodeLayout(row, column, first_row, out.shape[1], self.width - 1)
        encode_numbers(flat, layout, wanted, borders[flat.dtype], steps, rows[0], rows[1], out.reshape(-1))

    def _encode_column(self, column: Column, feature: int, begin: int, end: int, out: NDArray[np.uint8]) -> None:
        """Encode one column that is read by itself."""
        block = column.block(begin, end)
        if column.category:
            # -1 becomes the missing code and -2 the unseen one: the low bits of a negative number say so.
            np.bitwise_and(block, self.width - 1, out=out[feature, : end - begin], casting="unsafe")
            return
        values = for_kernel(block)
        wanted = np.array([[0], [feature]], np.int64)
        self._run(values, (values.itemsize, 0), 0, wanted, (0, end - begin), out)


def round_down(wide: NDArray[np.float64]) -> NDArray[np.float32]:
    """The largest single not above each double: for singles, x <= double says the same as x <= that single."""
    with np.errstate(over="ignore"):
        near = wide.astype(np.float32)
    return np.where(near > wide, np.nextafter(near, np.float32(-np.inf)), near)


def _flat(source: NDArray[Any]) -> NDArray[Any] | None:
    """A flat view of an array that the kernel can read as it is, or None."""
    if source.dtype not in (np.float32, np.float64) or not source.dtype.isnative or not source.flags.writeable:
        return None
    if source.flags.c_contiguous:
        return source.reshape(-1)
    return source.T.reshape(-1) if source.flags.f_contiguous else None


def _cast_room(source: NDArray[Any] | None, n_rows: int) -> NDArray[np.float64]:
    """Room for as many rows of an array as are cast at a time, at least one; none where the kernel reads it is."""
    if source is None or _flat(source) is not None or source.shape[1] == 0:
        return np.empty(0)
    step = max(_CAST_BYTES // (8 * source.shape[1]), 1)
    return np.empty(n_rows * source.shape[1]) if n_rows < step else Scratch().zeros(step * source.shape[1], np.float64)


def _groups(features: NDArray[np.int64], threads: int) -> list[NDArray[np.int64]]:
    """Features in groups of equal size, at most `_GROUP` each, and as many groups for every thread."""
    if features.size == 0:
        return []
    parts = -(-features.size // _GROUP)
    parts = min(-(-parts // threads) * threads, features.size)
    return np.array_split(features, parts)


def _sketches(table: Table, group: NDArray[np.int64], weight: NDArray[np.int64] | None) -> Iterator[tuple[int, Sketch]]:
    """Some number columns with their summaries, in any order."""
    left = group
    if table.n_rows >= _COUNTED_ROWS:
        for feature, sketch in counted(table, group, weight):
            yield feature, sketch
            del sketch  # a megabyte or two, before the next is made
            left = left[left != feature]
    if left.size:
        yield from zip(left.tolist(), _sorted_sketches(table, left, weight), strict=True)


def _sorted_sketches(table: Table, group: NDArray[np.int64], weight: NDArray[np.int64] | None) -> list[Sketch]:
    """The summaries of some number columns, block of rows by block of rows."""
    sketches = [Sketch.empty() for _ in group]
    room = None if table.n_rows < _SKETCH_ROWS else Scratch().zeros(group.size * _SKETCH_ROWS, np.float64)
    for begin in range(0, table.n_rows, _SKETCH_ROWS):
        end = min(begin + _SKETCH_ROWS, table.n_rows)
        rows_weight = None if weight is None else weight[begin:end]
        for position, values in enumerate(table.gather(group, begin, end, room)):
            sketches[position] = sketches[position].merge(Sketch.of(values, rows_weight, sketches[position].shift))
    return sketches
