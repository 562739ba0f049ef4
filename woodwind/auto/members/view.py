"""View: the rows of a table in the forms that members want, each made when it is first asked for."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from woodwind.data.tables.matrix_form import MatrixForm, MatrixTable
from woodwind.data.tables.table import Table


@dataclass(frozen=True, eq=False)
class View:
    """Rows of a table, for members of a model."""

    table: Table  # features of the engine, for trees
    form: MatrixForm
    known: NDArray[np.float64] | None = None  # the matrix, where it was made before

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.table.n_rows

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """The rows as numbers without gaps (n, d), for members that measure distances or add up columns."""
        return MatrixTable(self.form, self.table).whole() if self.known is None else self.known
