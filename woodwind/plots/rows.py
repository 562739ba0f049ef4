"""Rows to draw: columns of numbers out of any table, and tables of the same kind made of new numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import TableError

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NumericRows:
    """All columns of a small table, as numbers."""

    values: Floats  # (n, count)
    names: tuple[str, ...] | None
    kind: type | None  # of the frame that they came in; None for an array

    @classmethod
    def of(cls, X: Any, count: int, owner: str) -> "NumericRows":
        """Read a table of so many columns."""
        names = list(getattr(X, "column_names", getattr(X, "columns", [])))
        n_columns = len(names) if names else (np.shape(X)[1] if np.ndim(X) == 2 else 0)
        if n_columns != count:
            what = f"{n_columns} columns" if n_columns else f"the shape {np.shape(X)}"
            raise TableError(f"{owner}: this is a picture of {count} {'column' if count == 1 else 'columns'} of X, but it has {what}.")
        try:
            values = np.column_stack([X[name].to_numpy() for name in names]) if names else np.asarray(X)
            values = values.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise TableError(f"{owner}: the columns of X must be numbers to be drawn: {error}.") from error
        if not np.isfinite(values).all():
            raise TableError(f"{owner}: X has missing or infinite values, which have no place in the picture. Leave those rows out.")
        return cls(values, tuple(str(name) for name in names) if names else None, type(X) if names else None)

    def name(self, column: int) -> str:
        """What to write on an axis."""
        return f"feature {column}" if self.names is None else self.names[column]

    def like(self, values: Floats) -> Any:
        """Other numbers in a table of the same kind, with the same names."""
        if self.kind is None or self.names is None:
            return values
        columns = {name: values[:, position] for position, name in enumerate(self.names)}
        made: Any = self.kind.from_pydict(columns) if hasattr(self.kind, "from_pydict") else self.kind(columns)
        return made
