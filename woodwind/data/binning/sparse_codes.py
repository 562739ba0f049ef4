"""Sparse codes: a table of stored cells as small integers. What is not stored takes neither memory nor time.

docs/algorithms/sparse-and-bundling.md has a case worked by hand.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from woodwind.kernels.binning.sparse_cells import take_lines, transpose

Integers = NDArray[np.int64]


class CodedCells(NamedTuple):
    """Coded cells line after line, where lines are columns or rows; those of a line ascend."""

    starts: Integers  # (lines + 1,) where the cells of each line begin
    at: NDArray[np.int32]  # (m,) row of each cell where lines are columns, else its column
    codes: NDArray[np.uint8]  # (m,)

    def transposed(self, n_lines: int) -> "CodedCells":
        """The same cells by rows in place of columns, or the other way round; there are so many of those."""
        out = CodedCells(np.empty(n_lines + 1, np.int64), np.empty_like(self.at), np.empty_like(self.codes))
        transpose(*self, *out)
        return out


@dataclass(frozen=True, eq=False)
class SparseCodes:
    """The codes of a table of which few cells are stored: those that differ from the code of an absent cell.

    Codes mean what they mean in `Codes`. All columns are numbers.
    """

    by_column: CodedCells
    absent: NDArray[np.uint8]  # (F,) the code of each cell that is not among these
    n_rows: int
    n_bins: NDArray[np.int32]  # (F,)
    width: int  # codes are below it; a power of two from 4 to 256

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.n_bins)

    @property
    def is_category(self) -> NDArray[np.bool_]:
        """(F,) none of them."""
        return np.zeros(self.n_features, np.bool_)

    @property
    def missing(self) -> int:
        """The code of a missing value, in every feature."""
        return self.width - 1

    @property
    def unseen(self) -> int:
        """The code of a category that training never saw: no cell has it."""
        return self.width - 2

    @property
    def has_unseen(self) -> bool:
        """Whether some row has a category that training never saw."""
        return False

    @cached_property
    def by_row(self) -> CodedCells:
        """The cells of each row."""
        return self.by_column.transposed(self.n_rows)

    def take(self, rows: Integers) -> "SparseCodes":
        """Some of the rows, each as often as it is named."""
        if len(rows) and not (-self.n_rows <= rows.min() and rows.max() < self.n_rows):
            raise IndexError(f"there are {self.n_rows} rows, and of these some were asked for that are not there")
        rows = np.where(rows < 0, rows + self.n_rows, rows).astype(np.int64)
        starts, at, codes = self.by_row
        taken: Integers = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(np.diff(starts)[rows], out=taken[1:])
        some = CodedCells(taken, np.empty(taken[-1], np.int32), np.empty(taken[-1], np.uint8))
        take_lines(starts, at, codes, rows, *some)
        return replace(self, by_column=some.transposed(self.n_features), n_rows=len(rows))

    def column(self, feature: int) -> NDArray[np.uint8]:
        """(n,) all codes of one feature."""
        out = np.full(self.n_rows, self.absent[feature], np.uint8)
        stored = slice(*self.by_column.starts[feature : feature + 2])
        out[self.by_column.at[stored]] = self.by_column.codes[stored]
        return out


def within(sizes: Integers) -> Integers:
    """Numbers from zero on in each of several groups of these sizes, one after another."""
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
