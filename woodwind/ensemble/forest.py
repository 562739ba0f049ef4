"""Forests: independent trees on drawn rows, and what the rows that a tree has not seen say about it.

Breiman 2001, "Random forests"; Geurts, Ernst & Wehenkel 2006, "Extremely randomized trees". Pages: docs/algorithms/random-forest.md and
docs/algorithms/extra-trees.md. Everything that is drawn is named by a key of (seed, tree), so that the forest is the same for any number
of threads, and growing it in several parts changes nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.fixed import scale_for, sum_scale
from woodwind.base.pool import on_threads, run_ranges
from woodwind.base.streams import key
from woodwind.data.grades import Grades
from woodwind.data.table import Table
from woodwind.kernels.draw import count_bootstrap, draw_exact
from woodwind.tree.cart import Unit
from woodwind.tree.grove import WORK_PER_TREE, Grove
from woodwind.tree.grove_grower import SUM_BITS, WEIGHT_BITS, GroveGrower, GroveRows, GroveSettings, GroveTree
from woodwind.tree.predictor import column_block

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

# No row is drawn more often than this in a sample of as many draws as rows (once in 10**13 samples): room that sums leave for it.
MOST_TIMES = 16


@dataclass(frozen=True, eq=False)
class Draws:
    """Which rows each tree sees, and how often."""

    n_rows: int
    take: Rows | None  # rows that can be drawn, repeated ones several times; None for each once
    bootstrap: bool  # with replacement
    size: int  # rows of a tree
    seed: int

    @property
    def n(self) -> int:
        """How many there are to draw from."""
        return self.n_rows if self.take is None else len(self.take)

    def times(self, tree: int) -> NDArray[np.int32]:
        """How often each row of the table is in a tree."""
        drawn = np.ones(self.n, np.int32)
        name = key(self.seed, "rows", tree)
        if self.bootstrap:
            count_bootstrap(name, self.n, self.size, drawn)
        elif self.size < self.n:
            rows = np.empty(self.n, np.int32)
            count = draw_exact(name, self.n, self.size, rows)
            drawn[:] = 0
            drawn[rows[:count]] = 1
        if self.take is None:
            return drawn
        return np.bincount(self.take, weights=drawn, minlength=self.n_rows).astype(np.int32)

    def unseen(self, tree: int) -> NDArray[np.int32]:
        """The rows that could be drawn for a tree, but were not: out of its bag."""
        out = self.times(tree) == 0
        if self.take is not None:
            present = np.zeros(self.n_rows, np.bool_)
            present[self.take] = True
            out &= present
        return np.flatnonzero(out).astype(np.int32)


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


@dataclass(eq=False)
class Growing:
    """A forest in the making: grows trees in any number of parts, on several threads, each tree on one."""

    grades: Grades
    rows: GroveRows
    settings: GroveSettings
    draws: Draws
    threads: int
    keep_rows: bool = False
    interrupted: bool = False
    _growers: dict[int, GroveGrower] = field(default_factory=dict)

    def trees(self, first: int, count: int, told: Callable[[int], object] | None = None) -> list[GroveTree]:
        """Trees first .. first + count; after an interrupt those that are finished, without gaps. `told` hears how many are done."""
        found: list[GroveTree | None] = [None] * count
        places = iter(range(count))

        def part(side: int) -> None:
            try:
                for place in places:
                    if self.interrupted:
                        return
                    found[place] = self._tree(side, first + place)
                    if side == 0 and told is not None:
                        told(place + 1)
            except KeyboardInterrupt:
                self.interrupted = True

        on_threads(part, max(min(self.threads, count), 1))
        done = found.index(None) if None in found else count
        return [tree for tree in found[:done] if tree is not None]

    def _tree(self, side: int, tree: int) -> GroveTree:
        if side not in self._growers:
            self._growers[side] = GroveGrower(self.grades, self.rows, self.settings)
        return self._growers[side].grow(self.draws.times(tree), key(self.draws.seed, "tree", tree), self.keep_rows)


def matrix_of(table: Table) -> NDArray[Any]:
    """All rows of a table as one C-ordered array of floats: the caller's own, if it is such a one."""
    matrix = table.matrix
    if matrix is not None and matrix.flags.c_contiguous and matrix.flags.aligned:
        return matrix
    return column_block(table.columns, 0, table.n_rows)


@dataclass(eq=False)
class OutOfBag:
    """Predictions for training rows by the trees that have not seen them."""

    x: NDArray[Any]
    draws: Draws
    total: Floats  # (n, K or 1)
    count: NDArray[np.int64]  # (n,)

    @classmethod
    def of(cls, table: Table, draws: Draws, n_outputs: int) -> "OutOfBag":
        """Before the first tree."""
        return cls(matrix_of(table), draws, np.zeros((table.n_rows, n_outputs)), np.zeros(table.n_rows, np.int64))

    def add(self, grove: Grove, first: int, threads: int) -> None:
        """Add the trees of a grove, of which the first has this number in the forest."""
        for tree in range(grove.n_trees):
            rows = self.draws.unseen(first + tree)
            self.count[rows] += 1

            def work(begin: int, end: int, rows: NDArray[np.int32] = rows, tree: int = tree) -> None:
                grove.add(self.x, rows[begin:end], (tree, tree + 1), self.total)

            run_ranges(work, len(rows), threads, WORK_PER_TREE)

    def mean(self) -> Floats:
        """Their mean (n, K or 1); NaN for rows that every tree has seen."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.total / self.count[:, None]

