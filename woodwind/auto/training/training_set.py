"""Training set: what all members of a job are trained on. Codes are made once, and shared by all folds of all members."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.auto.members.view import View
from woodwind.base.random_streams import key
from woodwind.data.binning.codes import Codes
from woodwind.data.binning.cuts import Cuts
from woodwind.data.binning.forest_codes import ForestCodes
from woodwind.data.blocks.block_table import BlockTable
from woodwind.data.tables.matrix_form import MatrixForm
from woodwind.data.tables.schema import Schema
from woodwind.data.tables.table import Table
from woodwind.shards.disk_shards import DiskShards

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Rows of a table in blocks that are looked at for the form of a matrix.
FORM_ROWS = 1 << 14


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """A table and its target, and the fold in which each row is held out."""

    schema: Schema
    table: Table
    y: NDArray[Any]  # class numbers (int32), or numbers (float64)
    weight: Floats | None
    n_classes: int  # 0 for numbers
    fold: Integers  # (n,) from 0 on; -1 for rows that are never held out
    seed: int
    threads: int
    ordered: bool = False  # folds follow each other in time, and none learns from a later one
    member_bytes: float = math.inf  # that a member may store
    queries: Integers | None = None  # (n,) the number of the query of each row, where rows are ranked

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.table.n_rows

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return int(self.fold.max()) + 1

    @property
    def width(self) -> int:
        """Scores of a row."""
        return self.n_classes if self.n_classes > 2 else 1

    @property
    def most_categories(self) -> int:
        """Categories of the column that has most of them."""
        return int(self.schema.category_counts.max(initial=0))

    @property
    def scored(self) -> NDArray[np.bool_]:
        """Rows that are held out in some fold."""
        return self.fold >= 0

    def train_rows(self, fold: int) -> Integers:
        """The rows that a member learns while a fold is held out."""
        return np.flatnonzero(self.fold < fold if self.ordered else self.fold != fold)

    def held(self, fold: int) -> Integers:
        """The rows of a fold."""
        return np.flatnonzero(self.fold == fold)

    def without(self, folds: Sequence[int]) -> "TrainingSet":
        """The same with one fold, the rows of these, and other draws, for a model on one thread; forms of the table are shared."""
        out = replace(
            self, fold=np.where(np.isin(self.fold, folds), 0, -1), seed=key(self.seed, "without", *folds), threads=1,
            member_bytes=self.member_bytes / self.n_folds,
        )  # fmt: skip
        names = {one.name for one in fields(self)}
        vars(out).update({name: made for name, made in vars(self).items() if name not in names})
        return out

    def use_blocks(self, blocks: BlockTable) -> None:
        """Take bins and codes from blocks on disk; what numbers are like from the rows at the beginning, which no member of trees asks."""
        some = self.table.take(np.arange(min(FORM_ROWS, self.n_rows)))
        vars(self).update(cuts=blocks.cuts, codes=DiskShards(blocks), form=MatrixForm.of_table(self.schema, some))

    # Forms of the table, made when they are first asked for. Bins and codes know nothing of the target: they may see all rows.

    @cached_property
    def cuts(self) -> Cuts:
        """How numbers are divided into bins."""
        return Cuts.fit(self.table, weight=self.weight, threads=self.threads)

    @cached_property
    def codes(self) -> Codes:
        """Bins and categories, for boosting."""
        return self.cuts.encode(self.table, self.threads)

    @cached_property
    def forest_codes(self) -> ForestCodes:
        """Bins and ranks, for forests."""
        return ForestCodes.of(self.table, weight=self.weight, threads=self.threads)

    @cached_property
    def form(self) -> MatrixForm:
        """How the table becomes numbers without gaps."""
        return MatrixForm.of_table(self.schema, self.table, weight=self.weight)

    @cached_property
    def view(self) -> View:
        """The rows as members of a model see them."""
        return View(self.table, self.form)

    def some_rows(self, rows: Integers) -> View:
        """Some of the rows, as members see them."""
        return View(self.table.take(rows), self.form)

    def matrix_rows(self, rows: Integers) -> View:
        """Some of the rows, as members see them who look at the matrix alone: the table is that of all rows."""
        return View(self.table, self.form, self.view.matrix[rows])
