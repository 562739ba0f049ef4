"""A table as columns of numbers and of category codes, read in blocks of rows and never copied as a whole."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol, overload

import numpy as np
from numpy.typing import NDArray

# The codes of a category column that are not categories.
MISSING = -1
UNSEEN = -2


class Reader(Protocol):
    """Reads a block of rows of one column."""

    def __call__(self, begin: int, end: int) -> NDArray[Any]:
        """Rows begin to end as a one-dimensional array."""


# Rows of a block when all columns are brought together in one matrix.
MATRIX_ROWS = 4096


@dataclass(frozen=True, eq=False)
class Column:
    """One feature of a table.

    A number column reads as float32 or float64, with NaN for missing; infinities are ordinary extreme values.
    A category column reads as int32 codes of its categories, with MISSING and UNSEEN for the two that are none.
    """

    name: str
    read: Reader
    categories: tuple[Any, ...] | None = None  # what each code stands for; None for numbers
    category_numbers: Reader | None = None  # reads the numbers of the categories before the rare ones share a code

    @property
    def category(self) -> bool:
        """Whether the column holds categories, not numbers."""
        return self.categories is not None

    def block(self, begin: int, end: int) -> NDArray[Any]:
        """Rows begin to end: a view of the caller's data where that is possible, so do not write to it."""
        return self.read(begin, end)

    def take(self, rows: NDArray[np.int64], n_rows: int) -> "Column":
        """Some rows of the `n_rows` of the column, as a column in memory with all that it had: its categories, and their numbers."""
        numbers = None if self.category_numbers is None else CachedReader(self.category_numbers(0, n_rows)[rows])
        return Column(self.name, CachedReader(self.block(0, n_rows)[rows]), self.categories, numbers)


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length.

    `source` is the caller's two-dimensional array of numbers, if it came as one, and `matrix_column` says which of its
    columns each feature is (-1 for those that are not): work on many columns then goes by blocks of rows, because
    gathering one column of an array in C order costs as much memory traffic as reading all of them.
    `sparse` is the caller's sparse matrix where all columns are its columns, in its order, as numbers.
    """

    columns: Sequence[Column]
    n_rows: int
    source: NDArray[Any] | None
    matrix_column: NDArray[np.int64]
    sparse: "SparseMatrix | None" = None

    @cached_property
    def matrix(self) -> NDArray[Any] | None:
        """The caller's float32 or float64 array when all columns are its columns in its order; else None."""
        source = self.source
        if source is None or source.dtype not in (np.float32, np.float64) or not source.dtype.isnative:
            return None
        same = source.shape[1] == len(self.columns) and bool((self.matrix_column == np.arange(len(self.columns))).all())
        return source if same else None

    def take(self, rows: NDArray[np.int64]) -> "Table":
        """Some of the rows, as a table of its own."""
        if self.sparse is not None:
            some = self.sparse.take(rows)
            return Table(SparseColumns(tuple(column.name for column in self.columns), some), len(rows), None, self.matrix_column, some)
        columns = tuple(column.take(rows, self.n_rows) for column in self.columns)
        return Table(columns, len(rows), None, np.full(len(columns), -1, np.int64))

    def float_matrix(self) -> NDArray[np.float64]:
        """All columns as float64 (n_rows, n_columns), a new array; codes stand for categories."""
        out = np.empty((self.n_rows, len(self.columns)))
        for first in range(0, self.n_rows, MATRIX_ROWS):
            past = min(first + MATRIX_ROWS, self.n_rows)
            for feature, column in enumerate(self.columns):
                out[first:past, feature] = column.block(first, past)
        return out

    def only(self, features: NDArray[np.int64]) -> "Table":
        """Some of the columns, as a table of its own."""
        return Table(tuple(self.columns[feature] for feature in features), self.n_rows, self.source, self.matrix_column[features])

    def gather(self, features: NDArray[np.int64], begin: int, end: int, room: NDArray[np.float64] | None = None) -> Iterator[NDArray[Any]]:
        """Rows begin to end of some number columns, one after another; each is to be used before the next.

        With a room for all of them, those that have to be copied are brought there, and stay until something else is.
        """
        inside = self.matrix_column[features]
        if self.source is not None and (inside >= 0).all() and abs(self.source.strides[0]) > abs(self.source.strides[1]):
            block = self.source[begin:end, inside.min() : inside.max() + 1]
            if inside.size < block.shape[1] or (np.diff(inside) != 1).any():
                block = block[:, inside - inside.min()]
            yield from np.ascontiguousarray(as_numbers(block).T) if room is None else brought(block.T, room)
            return
        for feature in features:
            yield self.columns[feature].block(begin, end)


@dataclass(frozen=True)
class CachedReader:
    """Values of a column as they were read before."""

    values: NDArray[Any]

    def __call__(self, begin: int, end: int) -> NDArray[Any]:
        """Rows begin to end."""
        return self.values[begin:end]


@dataclass(frozen=True)
class ArrayReader:
    """A one-dimensional array of numbers or booleans; other types than float32 and float64 are cast as they are read."""

    values: NDArray[Any]

    def __call__(self, begin: int, end: int) -> NDArray[Any]:
        """Rows begin to end."""
        return as_numbers(self.values[begin:end])


def for_kernel(block: NDArray[Any]) -> NDArray[Any]:
    """The block as kernels are compiled for it: in C order and writable, copied if it is not.

    Numba takes a read-only array for another type: a kernel would be compiled twice, and nothing is gained by it.
    """
    return np.require(block, requirements=["C", "W"])


def as_numbers(block: NDArray[Any]) -> NDArray[Any]:
    """The block as native float32 or float64, without a copy if it is that already."""
    return block.astype(number_type(block.dtype), copy=False)


def brought(block: NDArray[Any], room: NDArray[np.float64]) -> NDArray[Any]:
    """The block as native float32 or float64, copied in C order to a room that has a double for each of its values."""
    out: NDArray[Any] = np.ndarray(block.shape, number_type(block.dtype), room)
    np.copyto(out, block, casting="unsafe")
    return out


def number_type(dtype: np.dtype[Any]) -> type[np.float32] | type[np.float64]:
    """What numbers of a type are read as: float32 where that holds every value of the type, else float64."""
    kind, size = dtype.kind, dtype.itemsize
    small = (kind == "f" and size <= 4) or (kind in "iu" and size <= 2) or kind == "b"
    return np.float32 if small else np.float64


# ----------------------------------------------------------------------------------------------------
# Sparse matrices: the cells that they store, by column and by row, and what all others are.


class StoredCells(NamedTuple):
    """Cells line after line, where lines are columns or rows; those of a line ascend."""

    starts: NDArray[np.int64]  # (lines + 1,) where the cells of each line begin
    at: NDArray[np.int32]  # (m,) row of each cell where lines are columns, else its column
    values: NDArray[Any]  # (m,) float32 or float64


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """SciPy's sparse matrix or array of any format. A cell that is not stored is `absent`: 0.0, or NaN where it counts as missing.

    Either form of it is made when it is first asked for: training asks for columns, prediction for rows.
    """

    given: Any
    absent: float = 0.0

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return int(self.given.shape[0]), int(self.given.shape[1])

    @property
    def n_stored(self) -> int:
        """Cells that are stored."""
        return int(self.given.nnz)

    @cached_property
    def columns(self) -> Any:
        """SciPy's matrix by column: every cell once, in the order of rows."""
        return _canonical(self.given.tocsc(), self.given)

    @cached_property
    def by_column(self) -> StoredCells:
        """The cells of each column."""
        return _stored(self.columns)

    @cached_property
    def by_row(self) -> StoredCells:
        """The cells of each row."""
        return _stored(_canonical(self.given.tocsr(), self.given))

    def take(self, rows: NDArray[np.int64]) -> "SparseMatrix":
        """Some of the rows, each as often as it is named."""
        return SparseMatrix(self.given.tocsr()[rows], self.absent)

    def block(self, begin: int, end: int) -> NDArray[Any]:
        """Rows begin to end as an array (end - begin, columns), absent cells filled in."""
        starts, at, values = self.by_row
        first, last = int(starts[begin]), int(starts[end])
        out = np.full((end - begin, self.shape[1]), self.absent, values.dtype)
        out[np.repeat(np.arange(end - begin), np.diff(starts[begin : end + 1])), at[first:last]] = values[first:last]
        return out


def _canonical(matrix: Any, given: Any) -> Any:
    """The matrix with every cell once, in order; the caller's own is not changed."""
    if not matrix.has_canonical_format:
        matrix = matrix.copy() if matrix is given else matrix
        matrix.sum_duplicates()
    return matrix


def _stored(matrix: Any) -> StoredCells:
    """The cells of a matrix by column or by row, as kernels take them."""
    at, values = matrix.indices.astype(np.int32, copy=False), as_numbers(matrix.data)
    return StoredCells(matrix.indptr.astype(np.int64), for_kernel(at), for_kernel(values))


@dataclass(frozen=True, eq=False)
class SparseReader:
    """A column of a sparse matrix, filled up with what is absent block by block."""

    matrix: SparseMatrix
    position: int

    def __call__(self, begin: int, end: int) -> NDArray[Any]:
        """Rows begin to end."""
        rows, values = self.stored()
        first, last = np.searchsorted(rows, (begin, end))
        out = np.full(end - begin, self.matrix.absent, values.dtype)
        out[rows[first:last] - begin] = values[first:last]
        return out

    def stored(self) -> tuple[NDArray[np.int32], NDArray[Any]]:
        """The rows of the cells that are stored, ascending, and what is in them."""
        starts, at, values = self.matrix.by_column
        cells = slice(int(starts[self.position]), int(starts[self.position + 1]))
        return at[cells], values[cells]


@dataclass(frozen=True, eq=False)
class SparseColumns(Sequence[Column]):
    """The columns of a sparse matrix as numbers, each made when it is asked for: tens of thousands would be a burden to the interpreter."""

    names: Sequence[str]
    matrix: SparseMatrix

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, position: int) -> Column: ...

    @overload
    def __getitem__(self, position: slice) -> Sequence[Column]: ...

    def __getitem__(self, position: int | slice) -> Column | Sequence[Column]:
        if isinstance(position, slice):
            return [self[one] for one in range(*position.indices(len(self)))]
        at = range(len(self))[position]
        return Column(self.names[at], SparseReader(self.matrix, at))
