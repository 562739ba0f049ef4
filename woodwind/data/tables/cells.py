"""Cells: what a table holds, in the words of its reader: numbers, categories, dates, and what is missing."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.data.tables.fields import StatisticsField
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.table import MISSING, UNSEEN, Table

NOTHING = "missing"
NEW = "a category never seen"


@dataclass(frozen=True, eq=False)
class Cells:
    """The rows of a table that was read by a schema, column by column of the input."""

    schema: Schema
    table: Table

    def row(self, number: int) -> tuple[str, ...]:
        """One row in words, one for each input column."""
        return tuple(self._word(column, position, number) for column, position in enumerate(self._first))

    def words(self, column: int) -> tuple[str, ...]:
        """All rows of an input column in words."""
        position = self._first[column]
        return tuple(self._word(column, position, row) for row in range(self.table.n_rows))

    def numbers(self, column: int) -> NDArray[np.float64] | None:
        """All rows of an input column that has an order, NaN for missing; None for categories."""
        feature = self.table.columns[self._first[column]]
        is_category = feature.category or isinstance(self.schema.fields[column], StatisticsField)
        return None if is_category else np.asarray(feature.block(0, self.table.n_rows), np.float64)

    def first_features(self) -> NDArray[np.float64]:
        """The first feature of each input column, (n_rows, n_columns): numbers, and codes of categories."""
        columns = [self.table.columns[position].block(0, self.table.n_rows) for position in self._first]
        return np.column_stack(columns).astype(np.float64)

    @property
    def _first(self) -> list[int]:
        """The first feature of each input column: of a date, the moment itself."""
        return np.flatnonzero(np.diff(self.schema.source, prepend=-1)).tolist()

    def _word(self, column: int, position: int, number: int) -> str:
        feature, field = self.table.columns[position], self.schema.fields[column]
        if isinstance(field, StatisticsField) and feature.category_numbers is not None:
            category = int(feature.category_numbers(number, number + 1)[0])
            return {MISSING: NOTHING, UNSEEN: NEW}.get(category) or field.categories.label(category)
        value = feature.block(number, number + 1)[0]
        if feature.categories is not None:
            return {MISSING: NOTHING, UNSEEN: NEW}.get(int(value)) or str(feature.categories[int(value)])
        return in_words(float(value), self.schema.moments[position])


def in_words(value: float, moment: Any = None) -> str:
    """A number; a date, if it is one: `moment` is what stands behind it."""
    if math.isnan(value):
        return NOTHING
    if moment is None or not math.isfinite(value):
        return f"{int(value):d}" if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"
    return str(np.datetime64(math.floor(value), "s")).replace("T", " ").removesuffix(" 00:00:00") + str(moment)
