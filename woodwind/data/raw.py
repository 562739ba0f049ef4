"""What any input is first turned into: columns as they came, not yet features."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class SparseColumn:
    """One column of a sparse matrix: the rows that are stored, ascending, and their values; all others are zero."""

    rows: NDArray[Any]
    values: NDArray[Any]
    n_rows: int

    def dense(self) -> NDArray[Any]:
        """All values, in the type of those that are stored."""
        filled = np.zeros(self.n_rows, self.values.dtype)
        filled[self.rows] = self.values
        return filled


@dataclass(frozen=True, eq=False)
class Coded:
    """A column that came as places in a list of levels, or was turned into that."""

    places: NDArray[Any]  # integers: place in `dictionary`; -1 for missing
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
    open: Callable[[int, str], Values]  # from place and label
    names: tuple[str, ...] | None = None
    matrix: NDArray[Any] | None = None  # the two-dimensional array that all the columns are views of
    opened: dict[int, RawColumn] = field(default_factory=dict)

    def column(self, place: int) -> RawColumn:
        """One column; the same one when asked again."""
        if place not in self.opened:
            label = label_of(place, None if self.names is None else self.names[place])
            self.opened[place] = RawColumn(label, self.open(place, label))
        return self.opened[place]


def label_of(place: int, name: str | None = None) -> str:
    """How to call a column in a message."""
    return f"column {place}" if name is None else f"column {name!r}"
