"""What any input is first turned into: columns as they came, not yet features."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from woodwind.base.errors import PrecisionWarning
from woodwind.base.notice import notice
from woodwind.data.tables.table import SparseMatrix


@dataclass(frozen=True, eq=False)
class SparseColumn:
    """One column of a sparse matrix."""

    matrix: SparseMatrix
    position: int

    @property
    def n_rows(self) -> int:
        """Rows of the matrix."""
        return self.matrix.shape[0]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values as they are stored."""
        dtype: np.dtype[Any] = self.matrix.given.dtype
        return dtype

    @property
    def rows(self) -> NDArray[Any]:
        """The rows that are stored, ascending."""
        columns = self.matrix.columns
        return np.asarray(columns.indices[columns.indptr[self.position] : columns.indptr[self.position + 1]])

    @property
    def values(self) -> NDArray[Any]:
        """Their values, in the type in which they are stored."""
        columns = self.matrix.columns
        return np.asarray(columns.data[columns.indptr[self.position] : columns.indptr[self.position + 1]])

    def dense(self) -> NDArray[Any]:
        """All values, in the type of those that are stored; in doubles where absent ones are missing."""
        absent = self.matrix.absent
        filled = np.full(self.n_rows, absent, self.dtype if absent == 0.0 or self.dtype.kind == "f" else np.float64)
        filled[self.rows] = self.values
        return filled


@dataclass(frozen=True, eq=False)
class Coded:
    """A column that came as positions in a list of categories, or was turned into that."""

    positions: NDArray[Any]  # integers: position in `dictionary`; -1 for missing
    dictionary: pa.Array | NDArray[np.float64]  # text or numbers; no missing values
    ordered: bool  # whether the order of the dictionary is the user's, to be kept


@dataclass(frozen=True, eq=False)
class LazyColumn:
    """A column of a frame that is dense only once it is read, such as the sparse columns of pandas."""

    native: Any

    def __len__(self) -> int:
        return len(self.native)

    def dense(self) -> NDArray[Any]:
        """All values, in the type of the frame."""
        return np.asarray(self.native)


Values: TypeAlias = NDArray[Any] | SparseColumn | Coded | LazyColumn | pa.ChunkedArray


@dataclass(frozen=True, eq=False)
class RawColumn:
    """One column of the input. An array holds numbers or booleans; all else that NumPy knows has become Arrow."""

    label: str  # how to call it in a message: its name in quotes, or its number
    values: Values


@dataclass(frozen=True, eq=False)
class RawTable:
    """The columns of the input in its order. A column is opened when it is asked for: nobody looks at those of no use."""

    n_rows: int
    n_columns: int
    open: Callable[[int, str], Values]  # from position and label
    names: tuple[str, ...] | None = None
    matrix: NDArray[Any] | None = None  # the two-dimensional array that all the columns are views of
    sparse: SparseMatrix | None = None  # or the sparse matrix
    opened: dict[int, RawColumn] = field(default_factory=dict)

    def column(self, position: int) -> RawColumn:
        """One column; the same one when asked again."""
        if position not in self.opened:
            label = label_of(position, None if self.names is None else self.names[position])
            self.opened[position] = RawColumn(label, self.open(position, label))
        return self.opened[position]


def label_of(position: int, name: str | None = None) -> str:
    """How to call a column in a message."""
    return f"column {position}" if name is None else f"column {name!r}"


# ----------------------------------------------------------------------------------------------------
# Whole numbers that no double can tell apart, as identifiers of 64 bits are: as numbers neighbours become equal, as categories they do not.

# Whole numbers up to this have a double each.
EXACT = 2**53

# Columns that one warning names.
MOST_NAMED = 5
# What to do about such numbers in a column, and in a target.
AS_TEXT = "If they are identifiers, drop them, or make them text: categories are told apart."
SUBTRACT = "if they are quantities, subtract what they have in common."


def are_beyond_doubles(values: Any) -> bool:
    """Whether values of any kind are whole numbers by their type, and some of them have no double of their own."""
    if isinstance(values, SparseColumn):
        if values.dtype.kind == "f":
            return False
        values = values.values
    if isinstance(values, LazyColumn):
        values = np.array([values.native.min(), values.native.max()], getattr(values.native.dtype, "subtype", np.float64))
    if isinstance(values, np.ndarray):
        wide = values.dtype.kind in "iu" and values.dtype.itemsize == 8 and values.size > 0
        return wide and max(int(values.max()), -int(values.min())) > EXACT
    if not isinstance(values, pa.Array | pa.ChunkedArray):
        return False
    kind = values.type
    if kind in (pa.int64(), pa.uint64()) or (pa.types.is_decimal(kind) and kind.scale <= 0):
        ends = pc.min_max(values).as_py()
        return max(ends["max"] or 0, -(ends["min"] or 0)) > EXACT
    return False


def warn_of_precision(labels: list[str], remedy: str = AS_TEXT) -> None:
    """Warn of columns whose numbers are beyond doubles."""
    more = f" and {len(labels) - MOST_NAMED:,} more" if len(labels) > MOST_NAMED else ""
    notice(
        f"{', '.join(labels[:MOST_NAMED])}{more} {'holds' if len(labels) == 1 else 'hold'} whole numbers above 2**53: neighbouring "
        f"ones become equal as floating-point numbers. {remedy}",
        PrecisionWarning,
    )
