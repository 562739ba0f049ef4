"""Tables of any kind with a column set to the value of one of their rows, for questions such as partial dependence."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import TableError


class ReplaceableTable:
    """Rows of a two-dimensional array, or of a frame of pandas, polars or Arrow, whose columns can be set to one value."""

    def __init__(self, X: Any, owner: str, rows: NDArray[np.int64] | None = None) -> None:
        self._frame: Any = None
        if isinstance(X, np.ndarray) and X.ndim == 2:
            self.native: Any = X if rows is None else X[rows]
            self.names: tuple[Any, ...] = tuple(range(X.shape[1]))
        else:
            try:
                frame = nw.from_native(X, eager_only=True)
            except TypeError as error:
                raise TableError(
                    f"{owner}: X must be a two-dimensional NumPy array, or a frame of pandas, polars or Arrow, not {type(X).__name__}."
                ) from error
            self._frame = frame if rows is None else frame[rows.tolist()]
            self.native, self.names = self._frame.to_native(), tuple(self._frame.columns)

    def __len__(self) -> int:
        return len(self.native) if self._frame is None else len(self._frame)

    def position(self, column: Any, owner: str) -> int:
        """The position of a column that is given by its name or its position."""
        if column in self.names and not isinstance(column, bool):
            return self.names.index(column)
        if isinstance(column, int | np.integer) and 0 <= column < len(self.names):
            return int(column)
        raise TableError(f"{owner}: there is no column {column!r}; there are {len(self.names)}: {', '.join(map(str, self.names[:10]))}.")

    def values(self, column: int) -> NDArray[Any]:
        """The values of a column as they are."""
        if self._frame is None:
            return np.asarray(self.native[:, column])
        return np.asarray(self._frame[self.names[column]].to_list(), object)

    def numbers(self, column: int) -> NDArray[np.float64] | None:
        """The numbers of a column, NaN where they are missing; None for other things."""
        if self._frame is None:
            return self.native[:, column].astype(np.float64) if self.native.dtype.kind in "biuf" else None
        series = self._frame[self.names[column]]
        if not (series.dtype.is_numeric() or series.dtype == nw.Boolean):
            return None
        return np.array([np.nan if value is None else value for value in series.to_list()], np.float64)

    def with_rows(self, changes: dict[int, int]) -> Any:
        """The table with some columns set to what one row has there; everything else, types too, is as it was."""
        if self._frame is None:
            changed = self.native.copy()
            for column, row in changes.items():
                changed[:, column] = self.native[row, column]
            return changed
        columns = [self._frame[self.names[column]][[row] * len(self)] for column, row in changes.items()]
        return self._frame.with_columns(*columns).to_native()
