"""Linear members: a weighted sum of the columns of the matrix."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.members.blas_threads import one_blas_thread
from woodwind.auto.members.view import View
from woodwind.base.errors import DataError
from woodwind.base.validate import require
from woodwind.data.tables.matrix_form import MatrixForm
from woodwind.data.tables.schema import Schema

Floats = NDArray[np.float64]

# Standard deviations at which columns are cut off: one typing error in a table must not move a score beyond all others.
REACH = 10.0
# Rows that are multiplied at a time. The last block is filled up, so that a row has the same bits in whatever company it comes.
BLOCK = 256


@dataclass(frozen=True, eq=False)
class LinearMember:
    """Logistic or ridge regression: start + matrix @ coefficients, for numbers kept near the range that training saw."""

    coef: Floats  # (d, width)
    start: Floats  # (width,)
    low: float  # ends of the scores
    high: float

    def scores(self, view: View, threads: int = 1) -> Floats:
        """Scores (n, width)."""
        return self.scores_of(view.matrix)

    def scores_of(self, matrix: Floats) -> Floats:
        """Scores (n, width) of rows as numbers."""
        check_columns(matrix, self.coef.shape[0])
        out = np.empty((len(matrix), self.coef.shape[1]))
        with one_blas_thread():
            for begin, count, rows in blocks(matrix):
                out[begin : begin + count] = (np.clip(rows, -REACH, REACH) @ self.coef)[:count]
        return np.asarray(np.clip(out + self.start, self.low, self.high))

    def check(self) -> "LinearMember":
        """Raise DataError where something does not fit."""
        if self.coef.ndim != 2 or self.coef.shape[1] < 1 or self.start.shape != self.coef.shape[1:]:
            raise DataError("the coefficients of a linear member do not fit its start")
        ends = np.isfinite([self.low, self.high]).all() and self.low <= self.high
        if not (np.isfinite(self.coef).all() and np.isfinite(self.start).all() and ends):
            raise DataError("the numbers of a linear member are not finite")
        return self

    def check_for(self, schema: Schema, form: MatrixForm) -> None:
        """Raise DataError unless the matrix has the columns that were learned."""
        del schema
        check_form(self.n_columns, form)

    @property
    def n_columns(self) -> int:
        """Columns of the matrix that it reads."""
        return len(self.coef)

    @property
    def width(self) -> int:
        """Scores of a row."""
        return int(self.coef.shape[1])


def check_form(wanted: int, form: MatrixForm) -> None:
    """The matrix will be the one that was learned."""
    require(form.width == wanted, f"a member learned {wanted} columns of numbers, and the table gives {form.width}")


def check_columns(matrix: Floats, wanted: int) -> None:
    """The matrix is the one that was learned."""
    if matrix.ndim != 2 or matrix.shape[1] != wanted:
        raise DataError(f"a member learned {wanted} columns of numbers, but the table has the shape {matrix.shape}")


def blocks(matrix: Floats) -> "list[tuple[int, int, Floats]]":
    """First row, number of rows, and so many rows, filled up to a whole block by zeros."""
    found = []
    for begin in range(0, len(matrix), BLOCK):
        rows = matrix[begin : begin + BLOCK]
        if len(rows) < BLOCK:
            rows = np.concatenate([rows, np.zeros((BLOCK - len(rows), matrix.shape[1]))])
        found.append((begin, min(BLOCK, len(matrix) - begin), rows))
    return found
