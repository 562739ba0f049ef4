"""Gradient boosting as a generator of rounds: Friedman 2001, with Newton leaves as in Chen & Guestrin 2016.

A round is: derivatives of the loss at the present scores, as integers; trees grown from them; values of their leaves;
scores updated. Progress, early stopping, deadlines and callbacks are consumers of the rounds (ensemble/stopping.py).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import run_ranges
from woodwind.base.streams import key, share_threshold
from woodwind.data.codes import Codes
from woodwind.kernels.derivatives import add_leaf_column, add_leaf_values, add_leaf_vectors
from woodwind.kernels.draw import draw_bootstrap, draw_share
from woodwind.kernels.leaves import leaf_sums, pack_class
from woodwind.kernels.traverse import node_means
from woodwind.kernels.traverse_codes import CodeTree, walk_codes
from woodwind.kernels.vector import sum_leaves
from woodwind.losses.base import Loss
from woodwind.losses.integers import quantise_classes, quantise_rows
from woodwind.tree.assemble import ValuedTree
from woodwind.tree.grow import Grower, GrownTree, pruned
from woodwind.tree.leaves import fill_empty, newton_tree, newton_values, within_bounds
from woodwind.tree.settings import TreeSettings

Floats = NDArray[np.float64]
Rows = NDArray[np.int32]


@dataclass(frozen=True)
class BoostPlan:
    """What a boosting run does, all decided."""

    loss: Loss
    tree: TreeSettings = field(default_factory=TreeSettings)
    learning_rate: float = 0.1
    subsample: float = 1.0
    bootstrap: bool = False
    one_per_class: bool = False
    seed: int = 0
    threads: int = 1


@dataclass(frozen=True, eq=False)
class Round:
    """One finished round. `raw` is the array of scores, which later rounds will change."""

    number: int
    trees: tuple[ValuedTree, ...]
    raw: Floats


class Booster:
    """Scores of all rows of a table, and the rounds that improve them.

    `rows` are the rows that trees learn from, a row as often as it is given; the scores of the others are kept up to date
    all the same, so that they can be watched. None: all rows, once each.
    """

    def __init__(
        self,
        codes: Codes,
        y: NDArray[np.float64] | NDArray[np.int32],
        plan: BoostPlan,
        raw: Floats,
        weight: Floats | None = None,
        rows: Rows | None = None,
    ) -> None:
        self.codes, self.y, self.plan, self.raw, self.weight, self.rows = codes, y, plan, raw, weight, rows
        self._grower: Grower | None = None
        n = codes.n_rows
        # What a loss takes from all residuals, such as Huber's delta, it takes from the rows that trees learn from.
        self._shares = weight
        if rows is not None:
            often = np.bincount(rows, minlength=n).astype(np.float64)
            self._shares = often if weight is None else often * weight
        if plan.loss.width > 1:
            self._gradients = np.empty((n, plan.loss.width + 1), np.int32)
            self._hessians = np.empty((n, plan.loss.width), np.int32)

    @property
    def grower(self) -> Grower:
        """The memory to grow trees in, made when the first tree is grown."""
        if self._grower is None:
            plan = self.plan
            capacity = self.codes.n_rows if self.rows is None else len(self.rows)
            outputs = 1 if plan.one_per_class else plan.loss.width
            self._grower = Grower(self.codes, plan.tree, plan.threads, capacity, outputs)
        return self._grower

    def rounds(self, count: int, first: int = 0) -> Iterator[Round]:
        """Boost for `count` rounds; `first` is the number of the first one, which names what it draws."""
        for number in range(first, first + count):
            loss = self.plan.loss.settled(self.y, self.raw, self._shares)
            trees = tuple(self._several(loss, number) if loss.width > 1 else self._single(loss, number))
            yield Round(number, trees, self.raw)

    def replay(self, trees: Sequence[ValuedTree]) -> Iterator[ValuedTree]:
        """The same splits with leaf values learnt from the rows of this booster; scores are updated tree by tree.

        As accurate as training anew on these rows, at a fraction of the time.
        """
        together = self.plan.loss.width if self.plan.one_per_class else 1
        for place in range(0, len(trees), together):
            loss = self.plan.loss.settled(self.y, self.raw, self._shares)
            scales = self._derivatives(loss)
            for tree in trees[place : place + together]:
                leaf = self.leaf_of(tree)
                yield self._revalued(loss, tree, leaf, scales)

    # One score per row.

    def _single(self, loss: Loss, number: int) -> Iterator[ValuedTree]:
        grower = self.grower
        scales = quantise_rows(loss, self.y, self.raw, self.weight, grower.stats, self.plan.threads)
        rows = self._drawn(number)
        constant = loss.constant_hessian and self.weight is None
        tree = grower.grow(scales, key(self.plan.seed, "tree", number), rows, constant)
        yield self._valued(loss, tree, 0, rows)

    # Several scores per row.

    def _several(self, loss: Loss, number: int) -> Iterator[ValuedTree]:
        grower = self.grower
        scales = self._derivatives(loss)
        rows = self._drawn(number)
        if not self.plan.one_per_class:
            grower.fill(self._gradients)
            tree = grower.grow(scales, key(self.plan.seed, "tree", number), rows)
            yield self._valued_vector(loss, tree, scales, rows)
            return
        for output in range(loss.width):
            pack_class(self._gradients, self._hessians, output, grower.stats)
            tree = grower.grow(scales, key(self.plan.seed, "tree", number, output), rows)
            yield self._valued(loss, tree, output, rows)

    def _valued_vector(self, loss: Loss, tree: GrownTree, scales: Floats, rows: Rows | None) -> ValuedTree:
        """Give a tree of several outputs its values and add them to the scores of all rows."""
        if self.plan.tree.prune:
            tree = pruned(tree, self.plan.tree.min_gain)
        shape = (tree.n_nodes, loss.width)
        unvalued = ValuedTree.of(tree, np.zeros(shape), -1, self.plan.learning_rate)
        leaf = tree.leaf_of_row
        values = self._vector_values(loss, leaf, rows, scales, shape)
        finished = with_means(replace(unvalued, value=fill_empty(tree, values)))
        if rows is not None:
            leaf = self.leaf_of(finished, tree)
        self._add(finished, leaf)
        return finished

    def _vector_values(
        self, loss: Loss, leaf: NDArray[np.int32], rows: Rows | None, scales: Floats, shape: tuple[int, int]
    ) -> Floats:
        """Newton steps of every output of every leaf, times the learning rate."""
        sums = np.zeros((shape[0], 2 * shape[1]), np.int64)
        sum_leaves(leaf, self._gradients, self._hessians, rows, sums)
        gradient, hessian = sums[:, : shape[1]] / scales[0], sums[:, shape[1] :] / scales[1]
        tree = self.plan.tree
        return newton_values(gradient, self._curvature(loss, hessian), tree.l1, tree.l2) * self.plan.learning_rate

    def _derivatives(self, loss: Loss) -> Floats:
        """Fill the integer derivatives of all rows; returns their scales."""
        if loss.width == 1:
            return quantise_rows(loss, self.y, self.raw, self.weight, self.grower.stats, self.plan.threads)
        return quantise_classes(
            loss, self.y, self.raw, self.weight, self._gradients, self._hessians, self.plan.threads
        )

    def _stats_of(self, output: int) -> NDArray[np.int64]:
        stats = self.grower.stats
        if self.plan.loss.width > 1:
            pack_class(self._gradients, self._hessians, output, stats)
        return stats

    def _drawn(self, number: int) -> Rows | None:
        """Rows for one round; None for all, once each."""
        plan = self.plan
        pool = self.codes.n_rows if self.rows is None else len(self.rows)
        if plan.bootstrap:
            drawn = np.empty(max(1, round(pool * plan.subsample)), np.int32)
            draw_bootstrap(key(plan.seed, "rows", number), pool, len(drawn), drawn)
        elif plan.subsample < 1.0:
            drawn = np.empty(pool, np.int32)
            drawn = drawn[: draw_share(key(plan.seed, "rows", number), pool, share_threshold(plan.subsample), drawn)]
            if len(drawn) == 0:
                return self.rows
        else:
            return self.rows
        return drawn if self.rows is None else self.rows[drawn]

    # Values and scores.

    def _valued(self, loss: Loss, tree: GrownTree, output: int, rows: Rows | None) -> ValuedTree:
        """Give a grown tree its values and add them to the scores of all rows."""
        plan = self.plan
        if plan.tree.prune:
            tree = pruned(tree, plan.tree.min_gain)
        if loss.refit is None:
            values = newton_tree(tree, self._curvature(loss, tree.hessian), plan.tree.l1, plan.tree.l2, plan.learning_rate)
        else:
            values = np.zeros(tree.n_nodes)
            leaves = tree.leaves
            residual = self.y - self.raw
            values[leaves] = loss.refit.values(
                tree.rows.astype(np.int32), tree.begin[leaves], tree.end[leaves], residual, self.weight, plan.threads
            )
            values = fill_empty(tree, within_bounds(tree, values) * plan.learning_rate)
        finished = with_means(ValuedTree.of(tree, values, output, plan.learning_rate))
        leaf = tree.leaf_of_row
        if rows is not None:
            leaf = self.leaf_of(finished, tree)
        self._add(finished, leaf)
        return finished

    def _revalued(self, loss: Loss, tree: ValuedTree, leaf: NDArray[np.int32], scales: Floats) -> ValuedTree:
        """A tree whose leaf values are learnt from the rows that end in them."""
        plan = self.plan
        n_nodes = len(tree.feature)
        counts = np.bincount(leaf if self.rows is None else leaf[self.rows], minlength=n_nodes)
        if tree.output < 0:
            values = self._vector_values(loss, leaf, self.rows, scales, tree.value.shape)
        elif loss.refit is None:
            sums = np.zeros((n_nodes, 3), np.int64)
            leaf_sums(leaf, self._stats_of(tree.output), self.rows, sums)
            hessian = self._curvature(loss, sums[:, 1] / scales[1])
            values = newton_values(sums[:, 0] / scales[0], hessian, plan.tree.l1, plan.tree.l2) * plan.learning_rate
        else:
            order, begins, ends = rows_by_leaf(leaf, self.rows, n_nodes)
            values = np.zeros(n_nodes)
            full = ends > begins
            values[full] = loss.refit.values(order, begins[full], ends[full], self.y - self.raw, self.weight, plan.threads)
            values *= plan.learning_rate
        values = values.reshape(n_nodes, -1)
        # A leaf that none of these rows reaches keeps what it had.
        values = np.where(counts[:, None] > 0, values, tree.value)
        values = np.clip(values, tree.low[:, None], tree.high[:, None])
        finished = with_means(tree.with_values(values, counts.astype(np.float64)))
        self._add(finished, leaf)
        return finished

    def _curvature(self, loss: Loss, hessian: Floats) -> Floats:
        """Hessian of a leaf. Scores of classes move together, so that one class alone takes K / (K - 1) of its own (Friedman 2001)."""
        return hessian * (loss.width / (loss.width - 1.0)) if loss.width > 1 else hessian

    def leaf_of(self, tree: ValuedTree, grown: GrownTree | None = None) -> NDArray[np.int32]:
        """The node where each row of the table ends."""
        leaf = np.empty(self.codes.n_rows, np.int32) if grown is None else grown.leaf_of_row
        walk_tree(tree, self.codes, leaf, self.plan.threads)
        return leaf

    def _add(self, tree: ValuedTree, leaf: NDArray[np.int32]) -> None:
        raw, values = self.raw, np.ascontiguousarray(tree.value)

        def part(begin: int, end: int) -> None:
            if tree.output < 0:
                add_leaf_vectors(raw, leaf, values, begin, end)
            elif raw.ndim == 1:
                add_leaf_values(raw, leaf, values[:, 0], begin, end)
            else:
                add_leaf_column(raw, tree.output, leaf, values[:, 0], begin, end)

        run_ranges(part, len(raw), self.plan.threads, 1)


def with_means(tree: ValuedTree) -> ValuedTree:
    """Inner nodes get the cover-weighted mean of the leaves below: what a walk that ends there takes."""
    roots: NDArray[np.int64] = np.array([0, len(tree.feature)])
    node_means(tree.feature, tree.child, tree.cover, roots, tree.value)
    return tree


def walk_tree(tree: ValuedTree, codes: Codes, out: NDArray[np.int32], threads: int = 1) -> None:
    """Write the node where each row ends to `out`."""
    code_tree = CodeTree(
        tree.feature,
        tree.bin.astype(np.uint8),
        tree.child,
        tree.missing,
        tree.set.astype(np.int32),
        tree.sets,
        codes.missing,
    )
    flat, steps = codes.by_row.reshape(-1), (codes.by_row.shape[1], 1)
    run_ranges(lambda begin, end: walk_codes(flat, steps, None, begin, end, code_tree, out), codes.n_rows, threads, 8)


def rows_by_leaf(
    leaf: NDArray[np.int32], rows: Rows | None, n_nodes: int
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Rows in the order of their leaves, and where each leaf begins and ends."""
    of_row = leaf if rows is None else leaf[rows]
    order = np.argsort(of_row, kind="stable").astype(np.int32)
    sizes = np.bincount(of_row, minlength=n_nodes)
    ends = np.cumsum(sizes)
    return (order if rows is None else rows[order]), ends - sizes, ends
