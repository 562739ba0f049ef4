"""Forests: independent trees on drawn rows, and what the rows that a tree has not seen say about it.

Breiman 2001, "Random forests"; Geurts, Ernst & Wehenkel 2006, "Extremely randomized trees". Pages: docs/algorithms/random-forest.md and
docs/algorithms/extra-trees.md. Everything that is drawn is named by a key of (seed, tree), so that the forest is the same for any number
of threads, and growing it in several parts changes nothing.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.fixed import scale_for, sum_scale
from woodwind.base.pool import run_ranges
from woodwind.base.streams import key
from woodwind.data.grades import Grades
from woodwind.data.table import Table
from woodwind.ensemble.drawing import Drawing
from woodwind.ensemble.out_of_bag import OutOfBag
from woodwind.tree.cart import Unit
from woodwind.tree.grove import WORK_PER_TREE, Grove
from woodwind.tree.grove_grower import SUM_BITS, WEIGHT_BITS, GroveGrower, GroveRows, GroveSettings, GroveTree
from woodwind.tree.predictor import column_block

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

# No row is drawn more often than this in a sample of as many draws as rows (once in 10**13 samples): room that sums leave for it.
MOST_TIMES = 16


def class_rows(classes: NDArray[np.integer], n_classes: int, weight: Floats | None) -> GroveRows:
    """Classes as trees learn them."""
    whole, unit = whole_weights(weight, len(classes))
    real = np.stack([classes.astype(np.float64), np.ones(len(classes)) if weight is None else weight])
    return GroveRows(classes.astype(np.int64), whole, real, n_classes, 1.0, unit)


def number_rows(y: Floats, weight: Floats | None) -> GroveRows:
    """Numbers as trees learn them: their distance from a centre, in fixed point, times their weight."""
    whole, unit = whole_weights(weight, len(y))
    away = Unit.of(y).away(y)
    scale = sum_scale(1.0, MOST_TIMES * len(y), SUM_BITS) if weight is None else scale_for(1.0, SUM_BITS - WEIGHT_BITS - 1)
    target = np.rint(away * scale).astype(np.int64) * whole
    return GroveRows(target, whole, np.stack([y, np.ones(len(y)) if weight is None else weight]), 0, unit / scale, unit)


def whole_weights(weight: Floats | None, n: int) -> tuple[Rows, float]:
    """Weights as whole numbers of at least one, and what one of them is worth; zero stays zero."""
    if weight is None:
        return np.ones(n, np.int64), 1.0
    scale = scale_for(float(weight.sum()), WEIGHT_BITS) / MOST_TIMES
    whole = np.where(weight > 0.0, np.maximum(np.rint(weight * scale), 1.0), 0.0)
    return whole.astype(np.int64), 1.0 / scale


@dataclass(frozen=True, eq=False)
class Growing:
    """How the trees of a forest are grown: any of them at any time, on any thread."""

    grades: Grades
    rows: GroveRows
    settings: GroveSettings
    drawing: Drawing
    keep_rows: bool = False
    _idle: list[GroveGrower] = field(default_factory=list)  # growers have memory of their own: each grows one tree at a time

    def tree(self, number: int) -> GroveTree:
        """The tree of this number."""
        try:
            grower = self._idle.pop()
        except IndexError:
            grower = GroveGrower(self.grades, self.rows, self.settings)
        tree = grower.grow(self.drawing.counts(number), key(self.drawing.seed, "tree", number), self.keep_rows)
        self._idle.append(grower)
        return tree


def matrix_of(table: Table) -> NDArray[Any]:
    """All rows of a table as one C-ordered array of floats: the caller's own, if it is such a one."""
    matrix = table.matrix
    if matrix is not None and matrix.flags.c_contiguous and matrix.flags.aligned:
        return matrix
    return column_block(table.columns, 0, table.n_rows)


@dataclass(eq=False)
class Unseen:
    """The rows of a training, and what the trees that have not seen them say: trees are asked in their order, in any number of parts."""

    x: NDArray[Any]
    drawing: Drawing
    found: OutOfBag
    n_trees: int = 0  # asked so far

    @classmethod
    def of(cls, table: Table, drawing: Drawing, n_outputs: int) -> "Unseen":
        """Before the first tree."""
        return cls(matrix_of(table), drawing, OutOfBag.nobody(table.n_rows, n_outputs))

    def ask(self, grove: Grove, threads: int) -> None:
        """Ask the next trees."""
        # Sums of their own until all of them were asked: an interrupt leaves none that some trees have half added to.
        total, voters = self.found.total.copy(), self.found.voters.copy()
        for tree in range(grove.n_trees):
            rows = self.drawing.unseen(self.n_trees + tree)
            voters[rows] += 1

            def work(begin: int, end: int, rows: NDArray[np.int32] = rows, tree: int = tree) -> None:
                grove.add(self.x, rows[begin:end], (tree, tree + 1), total)

            run_ranges(work, len(rows), threads, WORK_PER_TREE)
        self.found, self.n_trees = OutOfBag(total, voters), self.n_trees + grove.n_trees
