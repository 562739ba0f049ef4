"""Forests: independent trees on drawn rows, and what the rows that a tree has not seen say about it.

Breiman 2001, "Random forests"; Geurts, Ernst & Wehenkel 2006, "Extremely randomized trees". Pages: docs/algorithms/random-forest.md and
docs/algorithms/extra-trees.md. Everything that is drawn is named by a key of (seed, tree), so that the forest is the same for any number
of threads, and growing it in several parts changes nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.base.fixed import scale_for, sum_scale
from woodwind.base.mapped import MappedRoom
from woodwind.base.pool import run_ranges, side_by_side
from woodwind.base.random_streams import hashes, key, permutation
from woodwind.data.binning.forest_codes import MAPPED_ROWS, ForestCodes
from woodwind.data.tables.table import Table
from woodwind.ensemble.resampling import OutOfBag, Resampling
from woodwind.kernels.forest.layout import FEATURE_MASK, FEATURE_SHIFT
from woodwind.kernels.forest.sort import MOST_CODES
from woodwind.kernels.predict.forest_walk import find_leaves
from woodwind.kernels.runtime.jit import read_only
from woodwind.tree.cart import TargetUnit, weighted_median
from woodwind.tree.compact_forest import WORK_PER_TREE, CompactForest
from woodwind.tree.compact_forest_grower import (
    SUM_BITS,
    WEIGHT_BITS,
    CompactForestGrower,
    CompactForestRows,
    CompactForestSettings,
    CompactTree,
    SeveralColumns,
)
from woodwind.tree.forest import Forest
from woodwind.tree.predictor import column_block

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

# No row is drawn more often than this in a sample of as many draws as rows (once in 10**13 samples): room that sums leave for it.
MOST_TIMES = 16
# Of codes on disk, a tree has a copy of its rows in memory where it has drawn no larger share of them.
COPIED_SHARE = 0.25


def classification_rows(classes: NDArray[np.integer], n_classes: int, weight: Floats | None) -> CompactForestRows:
    """Classes as trees learn them."""
    whole, unit = whole_weights(weight, len(classes))
    real = np.stack([classes.astype(np.float64), np.ones(len(classes)) if weight is None else weight])
    return CompactForestRows(classes.astype(np.int64), whole, real, n_classes, 1.0, unit)


def regression_rows(y: Floats, weight: Floats | None, criterion: str = "squared_error") -> CompactForestRows:
    """Numbers as trees learn them: their distance from a centre, in fixed point, times their weight; for medians, their ranks."""
    whole, unit = whole_weights(weight, len(y))
    scale = sum_scale(1.0, MOST_TIMES * len(y), SUM_BITS) if weight is None else scale_for(1.0, SUM_BITS - WEIGHT_BITS - 1)
    real = np.stack([y, np.ones(len(y)) if weight is None else weight])
    distinct, rank = np.unique(y, return_inverse=True) if criterion == "absolute_error" else (y, None)
    fixed = np.rint(TargetUnit.by(criterion, y).scaled(distinct) * scale).astype(np.int64)
    if rank is not None:
        return CompactForestRows(rank.astype(np.int64), whole, real, 0, unit / scale, unit, fixed)
    return CompactForestRows(fixed * whole, whole, real, 0, unit / scale, unit)


def several_regression_rows(y: Floats, weight: Floats | None) -> CompactForestRows:
    """Several targets (n, k) as trees learn them: each in fixed point of its own, and the squares of their sums in units of the widest."""
    rows = regression_rows(y[:, 0], weight)
    units = [TargetUnit.of(column) for column in y.T]
    scale = rows.weight_unit / rows.target_unit
    fixed = np.stack([np.rint(unit.scaled(column) * scale) for unit, column in zip(units, y.T, strict=True)], axis=1)
    widest = several_unit(y).exponent
    factors = np.ldexp(1.0, [min(2 * (unit.exponent - widest), 0) for unit in units])
    several = SeveralColumns(fixed.astype(np.int64) * rows.weight[:, None], np.ascontiguousarray(y), factors)
    return replace(rows, target=np.arange(len(y)), several=several)


def several_unit(y: Floats) -> TargetUnit:
    """The units of gains for several targets: those of the widest; a target that is the same everywhere has no say."""
    return TargetUnit(0.0, max((TargetUnit.of(column).exponent for column in y.T if (column != column[0]).any()), default=0))


def several_label_rows(classes: NDArray[np.integer], n_classes: tuple[int, ...], weight: Floats | None) -> CompactForestRows:
    """Several columns of labels (n, k) as trees learn them."""
    rows = classification_rows(classes[:, 0], 0, weight)
    begin = np.concatenate([[0], np.cumsum(n_classes)[:-1]]).astype(np.int64)
    several = SeveralColumns(classes.astype(np.int64) + begin, np.zeros((1, 1)), np.ones(sum(n_classes)), n_classes)
    return replace(rows, target=np.arange(len(classes)), several=several)


def several_votes(compact: CompactForest, n_classes: Sequence[int], seed: int, first: int) -> CompactForest:
    """The same trees, each of which votes for the most frequent class of each target; of equals one is drawn, as in `voting`."""
    sizes, width = np.diff(compact.roots[:, 1]), compact.n_outputs
    drawn = [hashes(key(seed, "votes", first + tree), int(size) * width) for tree, size in enumerate(sizes)]
    ties = np.concatenate([np.zeros(0, np.uint64), *drawn]).reshape(-1, width) >> np.uint64(12)
    votes, begin = np.zeros_like(compact.mixed), 0
    for count in n_classes:
        part = slice(begin, begin + count)
        shares = compact.mixed[:, part]
        best = np.where(shares == shares.max(axis=1, keepdims=True), ties[:, part] + np.uint64(1), np.uint64(0)).argmax(axis=1)
        votes[np.arange(len(votes)), begin + best] = 1.0
        begin += count
    return replace(compact, mixed=votes, _stops=[])


def several_error(mean: Floats, several: SeveralColumns, scored: NDArray[np.bool_]) -> float:
    """Squared error of means of several targets, of those rows: of numbers in units of each, or of the class probabilities."""
    if len(mean) == 0:
        return np.inf
    if several.n_classes:
        mean = mean.copy()
        for column in several.columns[scored].T:
            mean[np.arange(len(mean)), column] -= 1.0
        return float((mean**2).sum() / len(mean))
    spread = several.real.std(axis=0)
    return float((((mean - several.real[scored]) / np.where(spread > 0.0, spread, 1.0)) ** 2).mean())


def whole_weights(weight: Floats | None, n: int) -> tuple[Rows, float]:
    """Weights as whole numbers of at least one, and what one of them is worth; zero stays zero."""
    if weight is None:
        return np.ones(n, np.int64), 1.0
    scale = scale_for(float(weight.sum()), WEIGHT_BITS) / MOST_TIMES
    whole = np.where(weight > 0.0, np.maximum(np.rint(weight * scale), 1.0), 0.0)
    return whole.astype(np.int64), 1.0 / scale


@dataclass(frozen=True, eq=False)
class ForestGrowth:
    """How the trees of a forest are grown: any of them at any time, on any thread."""

    forest_codes: ForestCodes
    rows: CompactForestRows
    settings: CompactForestSettings
    resampling: Resampling
    keep_rows: bool = False
    _idle: list[CompactForestGrower] = field(default_factory=list)  # growers have memory of their own: each grows one tree at a time
    room: MappedRoom | None = None  # of the codes, where they are on disk

    def tree(self, number: int) -> CompactTree:
        """The tree of this number."""
        times, name = self.resampling.counts(number), key(self.resampling.seed, "tree", number)
        if self.room is not None and np.count_nonzero(times) <= COPIED_SHARE * len(times) and self._ranks_fit:
            return self._tree_of_copy(self.room, times, name)
        try:
            grower = self._idle.pop()
        except IndexError:
            grower = CompactForestGrower(self.forest_codes, self.rows, self.settings)
        tree = grower.grow(times, name, self.keep_rows)
        self._idle.append(grower)
        return tree

    @property
    def _ranks_fit(self) -> bool:
        """Whether kernels that sort the rows of a table of few rows have room for the ranks of this one."""
        return max((len(values) for values in self.forest_codes.values), default=0) <= MOST_CODES

    def _tree_of_copy(self, room: MappedRoom, times: NDArray[np.int32], name: int) -> CompactTree:
        """The same tree, grown on a copy of its own rows: few rows of many are read once, and not again for every node."""
        drawn = np.flatnonzero(times)
        grower = CompactForestGrower(self.forest_codes.take(drawn), self.rows.take(drawn), self.settings, len(times))
        room.let_go()
        tree = grower.grow(times[drawn], name, self.keep_rows)
        return tree if tree.rows is None else replace(tree, rows=drawn[tree.rows].astype(np.int32))


def single_tree(forest_codes: ForestCodes, rows: CompactForestRows, settings: CompactForestSettings, times: Rows, name: int) -> Forest:
    """One tree as a general model, with the gains of its splits by the criterion, in units of the target that it was grown from.

    Its inner nodes know what their own rows say: under absolute error the median of these, not the mean of the medians of its leaves.
    """
    tree = CompactForestGrower(forest_codes, rows, settings).grow(times.astype(np.int32), name, keep_rows=True)
    compact = CompactForest.of([tree], forest_codes.n_categories, rows.n_classes)
    (forest,) = compact.separate()
    order = compact.level_order(0)
    gain = np.zeros(forest.n_nodes)
    split = forest.feature >= 0
    gain[split] = tree.gain[order[split]]
    value = forest.value
    if rows.ranked is not None:
        value = value.copy()
        value[split, 0] = inner_medians(compact, tree, rows, times)[order[split]]
    return replace(forest, gain=gain, value=value)


def inner_medians(compact: CompactForest, tree: CompactTree, rows: CompactForestRows, times: Rows) -> Floats:
    """Weighted median of the targets of each inner node: its leaves stand side by side, and so do their rows."""
    assert tree.rows is not None
    assert tree.span is not None
    left, right = compact.children(0)
    size = len(left)
    begin, end = (np.concatenate([np.zeros(size, np.int64), tree.span[side : side + size + 1]]) for side in (0, 1))
    for node in range(size - 1, -1, -1):  # children come after their parents
        begin[node], end[node] = begin[left[node]], end[right[node]]
    y, weight = rows.real[0, tree.rows], rows.real[1, tree.rows] * times[tree.rows]
    return np.array([weighted_median(y[begin[node] : end[node]], weight[begin[node] : end[node]]) for node in range(size)])


def matrix_of(table: Table) -> NDArray[Any]:
    """All rows of a table as one C-ordered array of floats: the caller's own, if it is such a one."""
    matrix = table.matrix
    if matrix is not None and matrix.flags.c_contiguous and matrix.flags.aligned:
        return matrix
    return column_block(table.columns, 0, table.n_rows)


def mapped_matrix(table: Table, room: MappedRoom) -> NDArray[Any]:
    """The same in mapped room."""
    x = room.empty((table.n_rows, len(table.columns)), np.float64)
    for begin in range(0, table.n_rows, MAPPED_ROWS):
        end = min(begin + MAPPED_ROWS, table.n_rows)
        x[begin:end] = column_block(table.columns, begin, end)
        room.let_go()
    return x


@dataclass(eq=False)
class OutOfBagForest:
    """The rows of a training, and what the trees that have not seen them say: trees are asked in their order, in any number of parts."""

    x: NDArray[Any]
    resampling: Resampling
    found: OutOfBag
    n_trees: int = 0  # asked so far

    @classmethod
    def of(cls, table: Table, resampling: Resampling, n_outputs: int, room: MappedRoom | None = None) -> "OutOfBagForest":
        """Before the first tree; the rows are in mapped room where there is one."""
        x = matrix_of(table) if room is None else mapped_matrix(table, room)
        return cls(x, resampling, OutOfBag.nobody(table.n_rows, n_outputs))

    def ask(self, compact_forest: CompactForest, threads: int) -> None:
        """Ask the next trees."""
        # Sums of their own until all of them were asked: an interrupt leaves none that some trees have half added to.
        total, voters = self.found.total.copy(), self.found.voters.copy()
        for tree in range(compact_forest.n_trees):
            rows = self.resampling.unseen(self.n_trees + tree)
            voters[rows] += 1

            def work(begin: int, end: int, rows: NDArray[np.int32] = rows, tree: int = tree) -> None:
                compact_forest.add(self.x, rows[begin:end], (tree, tree + 1), total)

            run_ranges(work, len(rows), threads, WORK_PER_TREE)
        self.found, self.n_trees = OutOfBag(total, voters), self.n_trees + compact_forest.n_trees


# ----------------------------------------------------------------------------------------------------
# How much a forest relies on each column, by the rows that its trees have not seen.
#
# Impurity removed in training favours columns of many values, also where they are noise; rows out of the bag know better.


Integers = NDArray[np.int64]


def features_of(compact_forest: CompactForest, tree: int) -> Integers:
    """The feature of every inner node of a tree."""
    begin, end = compact_forest.roots[tree, 0], compact_forest.roots[tree + 1, 0]
    return ((compact_forest.nodes[2 * begin : 2 * end : 2] >> np.uint64(FEATURE_SHIFT)) & np.uint64(FEATURE_MASK)).astype(np.int64)


def permutation_importance(
    compact_forest: CompactForest, bag: OutOfBagForest, y: Floats, source: Integers, seed: int, threads: int
) -> Floats:
    """By how much the error of a tree on rows out of its bag rises when a column is shuffled among them (Breiman 2001): mean over trees.

    The error is the share of wrong votes, or the squared error. `source`: the column of each feature; those of one column move together.
    """
    n_columns = int(source.max(initial=-1)) + 1

    def error(tree: int, x: NDArray[np.float64], truth: Floats) -> float:
        out = np.zeros((len(x), compact_forest.n_outputs))
        compact_forest.add(x, None, (tree, tree + 1), out)
        if compact_forest.n_classes:
            return float((out.argmax(axis=1) != truth).mean())
        return float(((out[:, 0] - truth) ** 2).mean())

    def of_tree(_side: int, tree: int) -> Floats:
        rise = np.zeros(n_columns)
        rows = bag.resampling.unseen(tree)
        if rows.size == 0:
            return rise
        x, truth = np.array(bag.x[rows]), y[rows]
        before = error(tree, x, truth)
        for column in np.unique(source[features_of(compact_forest, tree)]):
            own = np.flatnonzero(source == column)
            kept = x[:, own]
            x[:, own] = kept[permutation(key(seed, "shuffle", tree, int(column)), len(rows))]
            rise[column] = error(tree, x, truth) - before
            x[:, own] = kept
        return rise

    found = side_by_side(of_tree, list(range(compact_forest.n_trees)), min(threads, compact_forest.n_trees))
    return np.asarray(sum(found, np.zeros(n_columns)) / max(compact_forest.n_trees, 1))


def debiased_importance(compact_forest: CompactForest, bag: OutOfBagForest, y: Floats, source: Integers, threads: int) -> Floats:
    """The impurity that the splits by each column remove, as rows out of the bag see it (Li, Wang, Basu, Kumbier & Yu 2019, "A debiased MDI
    feature importance measure for random forests"): mean over trees, about zero for noise.

    On its way down a tree a row passes means; a split is worth the step between them times what the row itself is.
    """
    n_columns = int(source.max(initial=-1)) + 1
    inner, leaves = compact_forest.stops(), compact_forest.leaf_values()
    centred = y if compact_forest.n_classes else y - y.mean()

    def of_tree(_side: int, tree: int) -> Floats:
        out = np.zeros(n_columns)
        rows = bag.resampling.unseen(tree)
        begin, first = compact_forest.roots[tree]
        end, last = compact_forest.roots[tree + 1]
        if rows.size == 0 or begin == end:
            return out
        ends = np.empty((len(rows), 1), np.int32)
        find_leaves(read_only(bag.x.reshape(-1)), (len(rows), bag.x.shape[1]), rows, (tree, tree + 1), compact_forest.walk, ends)
        left, right = compact_forest.children(tree)
        size = len(left)
        parent = np.full(int(end - begin + last - first), -1)
        parent[left] = parent[right] = np.arange(size)
        value = np.concatenate([inner[begin:end], leaves[first:last]])
        column = source[features_of(compact_forest, tree)]
        node = np.where(ends[:, 0] >= 0, size + ends[:, 0].astype(np.int64), -1 - ends[:, 0].astype(np.int64))
        own = centred[rows]
        while (going := parent[node] >= 0).any():
            node, own = node[going], own[going]
            above = parent[node]
            if compact_forest.n_classes:
                step = value[node, own.astype(np.int64)] - value[above, own.astype(np.int64)]
            else:
                step = (value[node, 0] - value[above, 0]) * own
            out += np.bincount(column[above], weights=step, minlength=n_columns)
            node = above
        return out / len(rows)

    found = side_by_side(of_tree, list(range(compact_forest.n_trees)), min(threads, compact_forest.n_trees))
    return np.asarray(sum(found, np.zeros(n_columns)) / max(compact_forest.n_trees, 1))
