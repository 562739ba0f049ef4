"""Any table as a matrix of numbers without gaps, for whoever measures distances or adds up columns.

Numbers are standardised, missing ones filled with the mean and marked. Categories become indicators, dates the parts that the data package
makes of them. Two rows of different categories are then as far apart as two rows that differ by 1.4 standard deviations of a number: about
as much as two rows drawn at random differ.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from woodwind.base.fixed import exact_mean
from woodwind.base.validate import require, require_array
from woodwind.data.tables.categories import RARE
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.table import MISSING, Column, Table

Floats = NDArray[np.float64]

# Categories of a column that have an indicator of their own; all others that training saw share one.
MOST_CATEGORIES = 30
# What becomes of categories that training never saw.
LIKE_NONE = "Each such row is taken as unlike every category that training saw."
# Rows that are turned into numbers together: a block of a hundred columns is then 13 MB.
BLOCK_ROWS = 1 << 14


class MatrixPart(Protocol):
    """What one feature becomes."""

    @property
    def names(self) -> tuple[str, ...]:
        """Its columns of the matrix."""

    def fill(self, values: NDArray[Any], out: Floats) -> None:
        """Write the columns (n, width) of some values of the feature."""


@dataclass(frozen=True)
class NumberPart:
    """A number: centred, scaled, gaps filled with the centre, and marked if training met any."""

    name: str
    centre: float
    scale: float
    shift: float  # what is subtracted: the centre, or nothing
    low: float  # the finite ends that training saw, which infinities become
    high: float
    marks: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The number, then the mark."""
        return (self.name, f"{self.name}:missing") if self.marks else (self.name,)

    @classmethod
    def learn(cls, name: str, values: NDArray[Any], weight: Floats | None, standard: bool, may_mark: bool) -> "NumberPart":
        """Look at the values of the training table."""
        values = values.astype(np.float64)
        there = np.isfinite(values)
        missing = np.isnan(values)
        # A mark that is the same in all rows says nothing.
        marks = may_mark and bool(missing.any()) and not bool(missing.all())
        values, weight = values[there], None if weight is None else weight[there]
        if values.size == 0:
            return cls(name, 0.0, 1.0, 0.0, 0.0, 0.0, marks)
        low, high = float(values.min()), float(values.max())
        # Numbers whose squares would overflow are looked at in units of the largest.
        unit = max(abs(low), abs(high))
        unit = unit if unit > 1e100 else 1.0
        middle = exact_mean(values / unit, weight)
        spread = float(np.sqrt(exact_mean((values / unit - middle) ** 2, weight)))
        # What is left of a constant after rounding is no spread.
        spread = spread * unit if spread > 1e-12 * max(abs(middle), 1e-300) and low < high else 1.0
        centre = min(max(middle * unit, low), high)
        return cls(name, centre, spread if standard else 1.0, centre if standard else 0.0, low, high, marks)

    def check(self) -> "NumberPart":
        """All numbers are finite, and the scale is none to divide by in vain; returns self, or raises DataError."""
        require(np.isfinite([self.centre, self.scale, self.shift, self.low, self.high]) & (self.scale > 0.0), "a scale is impossible")
        return self

    def fill(self, values: NDArray[Any], out: Floats) -> None:
        """Write the number, and the mark."""
        missing = np.isnan(values)
        out[:, 0] = np.where(missing, self.centre, values)
        endless = np.isinf(out[:, 0])
        if endless.any():
            out[endless, 0] = np.where(out[endless, 0] > 0, self.high, self.low)
        out[:, 0] -= self.shift
        out[:, 0] /= self.scale
        if self.marks:
            out[:, 1] = missing


@dataclass(frozen=True, eq=False)
class CategoryPart:
    """A category: an indicator for each frequent category, one for all others together, one for missing if training met any."""

    names: tuple[str, ...]
    position: NDArray[np.int64]  # the indicator of each code, then that of missing; -1 for none

    @classmethod
    def learn(cls, column: Column, codes: NDArray[Any], weight: Floats | None, most: int) -> "CategoryPart":
        """Look at the codes of the training table."""
        categories = column.categories or ()
        counts = np.bincount(codes + 1, weight, minlength=len(categories) + 1)
        gap, counts = counts[0] > 0, counts[1:]
        names = [f"{column.name}={category}" for category in categories]
        position = np.arange(len(categories))
        if len(categories) > most:
            own = np.sort(np.argsort(-counts, kind="stable")[: most - 1])
            position = np.full(len(categories), most - 1)
            position[own] = np.arange(most - 1)
            names = [names[one] for one in own] + [f"{column.name}={RARE}"]
        return cls((*names, *([f"{column.name}:missing"] if gap else [])), np.append(position, len(names) if gap else -1))

    def check(self) -> "CategoryPart":
        """Every code has a position that exists, or none; returns self, or raises DataError."""
        require_array(self.position, (None,), "the positions of categories")
        require(
            self.position.size >= 1 and ((self.position >= -1) & (self.position < len(self.names))).all(),
            "a category has a position that is not there",
        )
        return self

    def fill(self, values: NDArray[Any], out: Floats) -> None:
        """Write the indicators; a category that training never saw has none."""
        out[:] = 0.0
        position = np.where(values >= MISSING, self.position[np.maximum(values, MISSING)], -1)
        rows = np.flatnonzero(position >= 0)
        out[rows, position[rows]] = 1.0


@dataclass(frozen=True, eq=False)
class MatrixTable:
    """A table that is turned into numbers block by block."""

    form: "MatrixForm"
    table: Table

    @property
    def n_rows(self) -> int:
        """Rows."""
        return self.table.n_rows

    def block(self, begin: int, end: int, out: Floats | None = None) -> Floats:
        """Rows begin to end as numbers (end - begin, d), in a place that may be given."""
        out = np.empty((end - begin, self.form.width)) if out is None else out
        plain = self.form.plain
        if plain is not None and self.table.matrix is not None:
            given = self.table.matrix[begin:end]
            if np.isfinite(given).all():
                np.subtract(given, plain[0], out=out)
                out /= plain[1]
                return out
        position = 0
        for part, values in zip(self.form.parts, self._features(begin, end), strict=True):
            width = len(part.names)
            part.fill(values, out[:, position : position + width])
            position += width
        return out

    def _features(self, begin: int, end: int) -> Any:
        """The values of each feature."""
        if all(isinstance(part, NumberPart) for part in self.form.parts):
            return self.table.gather(np.arange(len(self.form.parts)), begin, end)
        return (column.block(begin, end) for column in self.table.columns)

    def whole(self) -> Floats:
        """All rows (n, d)."""
        out = np.empty((self.n_rows, self.form.width))
        for begin in range(0, self.n_rows, BLOCK_ROWS):
            end = min(begin + BLOCK_ROWS, self.n_rows)
            self.block(begin, end, out[begin:end])
        return out


@dataclass(frozen=True, eq=False)
class MatrixForm:
    """How tables like the training table become numbers (n, d)."""

    schema: Schema
    parts: tuple[MatrixPart, ...]  # one for each feature

    @classmethod
    def learn(
        cls,
        X: Any,
        *,
        scale: bool = True,
        weight: Floats | None = None,
        max_categories: int = MOST_CATEGORIES,
        categorical_features: Any = None,
        owner: str = "Woodwind",
    ) -> "MatrixForm":
        """Look at a table of any kind. `scale=False` leaves numbers as they are; rows of weight zero are not looked at."""
        schema, table = Schema.learn(X, categorical_features, weight=weight, owner=owner)
        return cls.of_table(schema, table, scale=scale, weight=weight, max_categories=max_categories)

    @classmethod
    def of_table(
        cls, schema: Schema, table: Table, *, scale: bool = True, weight: Floats | None = None, max_categories: int = MOST_CATEGORIES
    ) -> "MatrixForm":
        """Look at a table that has been read by its schema."""
        # The parts of a date are missing together: one mark is enough.
        first = np.diff(schema.source, prepend=-1) > 0
        there = None if weight is None else weight > 0.0
        parts: list[MatrixPart] = []
        for column, may_mark in zip(table.columns, first, strict=True):
            values = column.block(0, table.n_rows)
            values, counts = (values, None) if there is None or weight is None else (values[there], weight[there])
            if column.category:
                parts.append(CategoryPart.learn(column, values, counts, max_categories))
            else:
                parts.append(NumberPart.learn(column.name, values, counts, scale, bool(may_mark)))
        return cls(schema, tuple(parts))

    def check(self) -> "MatrixForm":
        """Every feature of the schema has a part of its own kind; returns self, or raises DataError."""
        self.check_for(self.schema)
        return self

    def check_for(self, schema: Schema) -> None:
        """It turns tables that are read by this schema into numbers; or DataError."""
        require(len(self.parts) == len(schema.categories), "features have not one part each")
        for part, categories in zip(self.parts, schema.categories, strict=True):
            require(isinstance(part, NumberPart if categories is None else CategoryPart), "a feature is turned into numbers in a wrong way")
            require(
                not isinstance(part, CategoryPart) or part.position.size == len(categories or ()) + 1,
                "a category has no position among the indicators",
            )

    def opened(self, X: Any, owner: str = "Woodwind") -> MatrixTable:
        """Another table, whose columns are found by name, to be turned into numbers."""
        return MatrixTable(self, self.schema.read(X, owner=owner, unseen=LIKE_NONE))

    def of(self, X: Any, owner: str = "Woodwind") -> Floats:
        """Another table as numbers (n, d)."""
        return self.opened(X, owner).whole()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What the columns of the matrix are."""
        return tuple(name for part in self.parts for name in part.names)

    @cached_property
    def plain(self) -> tuple[Floats, Floats] | None:
        """What is subtracted from each column and what it is divided by, if all are numbers without marks; else None."""
        numbers = [part for part in self.parts if isinstance(part, NumberPart) and not part.marks]
        if len(numbers) < len(self.parts):
            return None
        return np.array([part.shift for part in numbers]), np.array([part.scale for part in numbers])

    @property
    def width(self) -> int:
        """How many there are."""
        return len(self.names)
