"""Small tables of numbers and categories, column by column."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.data.tables.table import ArrayReader, Column, Table

# Categories of every category.
N_LEVELS = 6


@dataclass(frozen=True, eq=False)
class CategoryReader:
    """Reads the codes of categories."""

    codes: NDArray[np.int32]

    def __call__(self, begin: int, end: int) -> NDArray[np.int32]:
        """Rows begin to end."""
        return self.codes[begin:end]


def table_of(columns: Sequence[Any], is_category: Sequence[bool]) -> Table:
    """A table of numbers, and of codes of categories where `is_category` says so."""
    made = [
        Column(f"x{k}", CategoryReader(np.asarray(column, np.int32)), tuple(range(N_LEVELS)))
        if category
        else Column(f"x{k}", ArrayReader(np.asarray(column, np.float64)))
        for k, (column, category) in enumerate(zip(columns, is_category, strict=True))
    ]
    return Table(tuple(made), len(columns[0]), None, np.full(len(columns), -1))
