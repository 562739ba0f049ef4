"""Tree learner: what boosting grows its trees with. Derivatives of all rows go in; trees, and sums over the rows of their leaves, come out.

Boosting itself does not know how rows are coded or how derivatives become integers.
"""

from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import PrecisionWarning
from woodwind.base.fixed import largest_of
from woodwind.base.notice import notice
from woodwind.base.pool import LEAST_WORK
from woodwind.data.binning.codes import Codes
from woodwind.data.binning.ranks import UNSEEN_RANK, Ranks
from woodwind.ensemble import precompile
from woodwind.kernels.histogram.leaves import leaf_sums, unrounded_leaf_sums
from woodwind.kernels.histogram.multi_output import sum_leaves
from woodwind.losses.base import Loss
from woodwind.losses.integers import is_uneven, is_vast, pack_classes, quantise_classes, quantise_rows, quantise_unrounded, refuse_runaway
from woodwind.tree.exact_grower import ExactGrower, RowStats, node_sums, real_of
from woodwind.tree.gradient_noise import room_for
from woodwind.tree.grown_tree import GrownTree, rows_by_leaf
from woodwind.tree.histogram_grower import HistogramGrower
from woodwind.tree.sampled_columns import grower_for
from woodwind.tree.settings import TreeSettings
from woodwind.tree.walk import thresholds

Floats = NDArray[np.float64]
Rows = NDArray[np.int32]
# As losses take them: numbers; two classes in bytes, several as int32.
Targets = NDArray[np.float64] | NDArray[np.uint8] | NDArray[np.int32]


class TreeLearner(Protocol):
    """Rows with a target and weights, ready to grow trees from.

    An `output` is the column of the score that a tree is for; -1 for one tree that serves all of them.
    As many trees as it has `sides` may be grown at the same time, each by one thread on a side of its own;
    a tree that is for no side (None) is grown by all threads.
    """

    sides: int

    def set_derivatives(self, loss: Loss, raw: Floats) -> None:
        """Take the derivatives of all rows at these scores; trees and sums are made from them until the next call."""

    def grow(self, name: int, rows: Rows | None, output: int, side: int | None = None) -> GrownTree:
        """Grow a tree from the rows given, a row as often as it is given, or from all; `name` is the key of all that is drawn.

        Where each row ended is kept until the next tree for that output.
        """

    def sums(self, leaf: NDArray[np.int32], n_nodes: int, rows: Rows | None, output: int) -> tuple[Floats, Floats]:
        """Gradients and hessians of the rows given, summed by the node `leaf` of each: (N,), or (N, K) for all outputs.

        To be asked for before a tree of one output is grown, which may use up what they are summed from.
        """

    def thresholds(self, tree: GrownTree) -> Floats | None:
        """Where number splits cut; None where that is at the edges of bins."""


def forget_level(tree: GrownTree, unseen: int) -> None:
    """Take the code of categories that the schema does not know out of all sets: growth takes it for a level, but no model can name it."""
    if len(tree.sets):
        tree.sets[:, [unseen >> 6, 4 + (unseen >> 6)]] &= ~(np.uint64(1) << np.uint64(unseen & 63))


# ----------------------------------------------------------------------------------------------------
# The histogram learner: rows as codes of bins, derivatives as packed integers.


UNRESOLVED = (
    "Some targets or weights are so much larger than most that trees learn from those alone: most gradients vanish beside the largest. "
    "Look at the largest targets and weights; clip them, take the logarithm of the target, or set loss='huber' or 'absolute_error'."
)


class HistogramLearner:
    """See `TreeLearner`. `capacity` is the largest number of rows of a tree; `outputs` is how many scores one tree is for."""

    def __init__(
        self,
        codes: Codes,
        y: Targets,
        weight: Floats | None,
        settings: TreeSettings,
        threads: int,
        capacity: int,
        width: int,
        outputs: int,
    ) -> None:
        self.codes, self.y, self.weight, self.settings, self.threads = codes, y, weight, settings, threads
        self.capacity, self.width, self.outputs = capacity, width, outputs
        self._growers: list[HistogramGrower] = []
        self._unrounded_growers: list[HistogramGrower] = []
        self._scales = np.ones(2)
        self._constant = False
        self._keep_rows = True
        # Rows of very different sizes are not rounded: by their weights in all rounds, by their derivatives in some.
        self._uneven = is_uneven(weight)
        self._unrounded = False
        self._warned = False
        if outputs > 1:
            self._gradients = np.empty((codes.n_rows, width + 1), np.int32)
            self._hessians = np.empty((codes.n_rows, width), np.int32)
        elif width > 1:
            self._stats = np.empty((width, codes.n_rows * (2 if self._uneven else 1)), np.int64)
            self._leaves = np.empty((width, codes.n_rows), np.int32)
        large = codes.n_rows * codes.n_features >= LEAST_WORK // 10
        # Trees of one thread each, side by side, wait for nobody.
        self.sides = threads if outputs == 1 and large and width >= threads else 1

    @property
    def grower(self) -> HistogramGrower:
        """The memory to grow trees in: that of the first side."""
        return self.growers[0]

    @property
    def growers(self) -> list[HistogramGrower]:
        """The memory of every side, made when derivatives come in for the first time; the first is for all threads as well."""
        made = self._unrounded_growers if self._unrounded else self._growers
        while len(made) < self.sides:
            beside = made or self._growers or self._unrounded_growers
            threads = self.threads if not made else 1
            first = beside[0] if beside else None
            made.append(grower_for(self.codes, self.settings, threads, self.capacity, self.outputs, first, self._unrounded))
        return made

    def set_derivatives(self, loss: Loss, raw: Floats) -> None:
        """Turn the derivatives of all rows into integers."""
        self._unrounded = self._uneven and self.outputs == 1
        self.growers[0].renew_columns()
        self._keep_rows = loss.refit is not None or self.settings.prune
        self._constant = loss.constant_hessian and self.weight is None
        room = room_for(self.settings.gradient_noise)
        if self.outputs > 1:
            self._scales = quantise_classes(loss, self.y, raw, self.weight, self._gradients, self._hessians, self.threads, room)
        elif self.width > 1 and not self._unrounded:
            self._scales = pack_classes(loss, self.y, raw, self.weight, self._stats, self.threads, room)
        elif not self._unrounded:
            self._scales, resolved = quantise_rows(loss, self.y, raw, self.weight, self.grower.stats, self.threads, room)
            # Where derivatives have bounds, a small one is of a row that is fitted well.
            self._unrounded = not resolved and loss.bounds() is None
        if self._unrounded:
            stats = self._stats if self.width > 1 else self.grower.stats
            out = stats.reshape(self.width, 2, -1)
            self._scales, resolved = quantise_unrounded(loss, self.y, raw, self.weight, out, self.capacity, self.threads, room)
            if not self._warned and ((self._uneven and not resolved) or (loss.bounds() is None and is_vast(self.y))):
                notice(UNRESOLVED, PrecisionWarning)
            self._warned = True

    def grow(self, name: int, rows: Rows | None, output: int, side: int | None = None) -> GrownTree:
        """Grow a tree for one output, or for all."""
        precompile.wait()
        grower = self.growers[side or 0]
        if output < 0:
            grower.fill(self._gradients)
        elif self.width > 1:
            grower.lend(self._stats[output], self._leaves[output])
        tree = grower.grow(self._scales, name, rows, self._constant, None if side is None else 1, self._keep_rows)
        forget_level(tree, self.codes.unseen)
        return tree

    def sums(self, leaf: NDArray[np.int32], n_nodes: int, rows: Rows | None, output: int) -> tuple[Floats, Floats]:
        """Gradients and hessians of the rows of each node, from all bits of their statistics, not from histograms."""
        if output < 0:
            total = np.zeros((n_nodes, 2 * self.width), np.int64)
            sum_leaves(leaf, self._gradients, self._hessians, rows, total)
            return total[:, : self.width] / self._scales[0], total[:, self.width :] / self._scales[1]
        stats = self._stats[output] if self.width > 1 else self.grower.filled_stats
        total = np.zeros((n_nodes, 3), np.int64)
        if self._unrounded:
            unrounded_leaf_sums(leaf, stats.reshape(2, -1), rows, total)
        else:
            leaf_sums(leaf, stats, rows, total)
        return total[:, 0] / self._scales[0], total[:, 1] / self._scales[1]

    def thresholds(self, tree: GrownTree) -> None:
        """At the edges of bins."""


# ----------------------------------------------------------------------------------------------------
# The exact learner: rows as ranks, derivatives as the widest integers whose sums fit.


class ExactLearner:
    """See `TreeLearner`. A tree is for one output: an exact node has one gradient to sum."""

    def __init__(
        self,
        ranks: Ranks,
        y: Targets,
        weight: Floats | None,
        settings: TreeSettings,
        threads: int,
    ) -> None:
        self.ranks, self.y, self.weight, self.settings, self.threads = ranks, y, weight, settings, threads
        self.sides = 1
        self._grower: ExactGrower | None = None
        self._gradient = self._hessian = np.empty((0, 1))

    @property
    def grower(self) -> ExactGrower:
        """The memory to grow trees in, made when the first tree is grown."""
        if self._grower is None:
            self._grower = ExactGrower(self.ranks, self.settings, self.threads)
        return self._grower

    def set_derivatives(self, loss: Loss, raw: Floats) -> None:
        """Keep the derivatives of all rows, one column for each output."""
        gradient, hessian = loss.derivatives(self.y, raw, self.weight, self.threads)
        refuse_runaway((largest_of(gradient), largest_of(hessian)), len(raw))
        self._gradient, self._hessian = gradient.reshape(len(raw), -1), hessian.reshape(len(raw), -1)

    def grow(self, name: int, rows: Rows | None, output: int, _side: int | None = None) -> GrownTree:
        """Grow a tree for one output."""
        gradient, hessian = np.ascontiguousarray(self._gradient[:, output]), np.ascontiguousarray(self._hessian[:, output])
        tree = self.grower.grow_from(gradient, hessian, name, rows)
        forget_level(tree, UNSEEN_RANK)
        return tree if rows is None else with_repeats(tree, np.bincount(rows, minlength=self.ranks.n_rows))

    def sums(self, leaf: NDArray[np.int32], n_nodes: int, rows: Rows | None, output: int) -> tuple[Floats, Floats]:
        """Gradients and hessians of the rows of each node."""
        order, begin, end = rows_by_leaf(leaf, rows, n_nodes)
        return summed_by_leaf(self._gradient[order, output], self._hessian[order, output], begin, end)

    def thresholds(self, tree: GrownTree) -> Floats:
        """Where number splits cut."""
        return thresholds(tree, self.ranks)


def summed_by_leaf(gradient: Floats, hessian: Floats, begin: NDArray[np.int64], end: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Sums of derivatives over ranges of rows, as integers so wide that nothing depends on the order of the rows."""
    stats = RowStats.of(gradient, hessian)
    total = node_sums(stats.rows[:, :2], begin, end)
    return real_of(total[:, 0], stats.gradient_unit), real_of(total[:, 1], stats.hessian_unit)


def with_repeats(tree: GrownTree, times: NDArray[np.int64]) -> GrownTree:
    """The tree with each of its rows as often as it was given; exact growth names it once."""
    before = np.concatenate([[0], np.cumsum(times[tree.rows])])
    return replace(tree, rows=np.repeat(tree.rows, times[tree.rows]), begin=before[tree.begin], end=before[tree.end])
