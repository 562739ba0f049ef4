"""The histogram learner: rows as codes of bins, derivatives as packed integers, trees grown from histograms."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import PrecisionWarning
from woodwind.base.notice import notice
from woodwind.base.pool import LEAST_WORK
from woodwind.data.binning.codes import Codes
from woodwind.data.binning.sparse_codes import SparseCodes
from woodwind.ensemble.boosting.boost_plan import BoostPlan, hessian_factors
from woodwind.ensemble.boosting.tree_learner import Floats, Rows, Targets
from woodwind.kernels.histogram.multi_output import sum_leaves
from woodwind.kernels.tree.leaves import leaf_sums, unrounded_leaf_sums
from woodwind.losses.base import Loss
from woodwind.losses.integers import is_uneven, is_vast, pack_classes, quantise_classes, quantise_rows, quantise_unrounded
from woodwind.shards.shard_grower import ShardGrower
from woodwind.shards.shards import Shards, walk_rows
from woodwind.shards.voting_growth import VotingGrower
from woodwind.tree.gradient_noise import room_for
from woodwind.tree.grown_tree import GrownTree, ValuedTree, forget_category
from woodwind.tree.histogram_grower import HistogramGrower
from woodwind.tree.sampled_columns import grower_for

IMPRECISE = (
    "Some targets or weights are so much larger than most that trees learn from those alone: most gradients vanish beside the largest. "
    "Look at the largest targets and weights; clip them, take the logarithm of the target, or set loss='huber' or 'absolute_error'."
)


class HistogramLearner:
    """See `TreeLearner`. `capacity` is the largest number of rows of a tree; `outputs` is how many scores one is for.

    `before_growing` is called before every tree: it waits for kernels that another process compiles (ensemble/boosting/precompile.py).
    """

    def __init__(
        self,
        codes: Codes | SparseCodes | Shards,
        y: Targets,
        weight: Floats | None,
        plan: BoostPlan,
        capacity: int,
        outputs: int,
        before_growing: Callable[[], None],
    ) -> None:
        self.codes, self.y, self.settings, self.threads = codes, y, plan.tree, plan.threads
        self.capacity, self.outputs, self.width, self._before_growing = capacity, outputs, plan.loss.width, before_growing
        self.n_rows, self.has_unseen = codes.n_rows, codes.has_unseen
        self._growers: list[HistogramGrower] = []
        self._unrounded_growers: list[HistogramGrower] = []
        self._scales = np.ones(2)
        self._factor = hessian_factors(plan.loss, plan.softmax_hessian)[0]
        self._constant = False
        self._keep_rows = True
        # Rows of very different sizes are not rounded: by their weights in all rounds, by their derivatives in some.
        self._uneven = is_uneven(weight)
        self._unrounded = False
        self._warned = False
        if outputs > 1:
            self._gradients = np.empty((codes.n_rows, self.width + 1), np.int32)
            self._hessians = np.empty((codes.n_rows, self.width), np.int32)
        elif self.width > 1:
            self._stats = np.empty((self.width, codes.n_rows * (2 if self._uneven else 1)), np.int64)
            self._leaves = np.empty((self.width, codes.n_rows), np.int32)
        large = codes.n_rows * codes.n_features >= LEAST_WORK // 10
        # Trees of one thread each, side by side, wait for nobody.
        beside = outputs == 1 and large and self.width >= self.threads and not isinstance(codes, Shards)
        self.n_workers = self.threads if beside else 1

    @property
    def grower(self) -> HistogramGrower:
        """The memory to grow trees in: that of the first worker."""
        return self.growers[0]

    @property
    def growers(self) -> list[HistogramGrower]:
        """The memory of every worker, made when derivatives come in for the first time; the first is for all threads as well."""
        made = self._unrounded_growers if self._unrounded else self._growers
        while len(made) < self.n_workers:
            beside = made or self._growers or self._unrounded_growers
            threads = self.threads if not made else 1
            first = beside[0] if beside else None
            made.append(self._new_grower(threads, first))
        return made

    def _new_grower(self, threads: int, beside: HistogramGrower | None) -> HistogramGrower:
        """Memory to grow trees in; `beside` is that of another worker, with which it shares what it can."""
        if isinstance(self.codes, Shards):
            kind = VotingGrower if self.codes.has_votes else ShardGrower
            return kind(self.codes, self.settings, threads, self.capacity, self.outputs, self._unrounded)
        return grower_for(self.codes, self.settings, threads, self.capacity, self.outputs, beside, self._unrounded)

    def set_derivatives(self, loss: Loss, raw: Floats, weight: Floats | None) -> None:
        """Turn the derivatives of all rows into integers."""
        self._unrounded = self._uneven and self.outputs == 1
        self.growers[0].renew_columns()
        self._keep_rows = bool(loss.refits) or self.settings.prune
        self._constant = loss.constant_hessian and weight is None
        room = room_for(self.settings.gradient_noise)
        if self.outputs > 1:
            self._scales = quantise_classes(loss, self.y, raw, weight, self._gradients, self._hessians, self.threads, room)
        elif self.width > 1 and not self._unrounded:
            self._scales = pack_classes(loss, self.y, raw, weight, self._stats, self.threads, room)
        elif not self._unrounded:
            self._scales, is_precise = quantise_rows(loss, self.y, raw, weight, self.grower.stats_to_fill(), self.threads, room)
            # Where derivatives have bounds, a small one is of a row that is fitted well.
            self._unrounded = not is_precise and loss.bounds() is None and not loss.small_is_fitted
        if self._unrounded:
            stats = self._stats if self.width > 1 else self.grower.stats_to_fill()
            out = stats.reshape(self.width, 2, -1)
            self._scales, is_precise = quantise_unrounded(loss, self.y, raw, weight, out, self.capacity, self.threads, room)
            if not self._warned and ((self._uneven and not is_precise) or (loss.bounds() is None and is_vast(self.y))):
                notice(IMPRECISE, PrecisionWarning)
            self._warned = True
        if self._factor != 1.0:
            self._scales = self._scales / np.array([1.0, self._factor])

    def grow(self, tree_key: int, rows: Rows | None, output: int, worker: int | None = None) -> GrownTree:
        """Grow a tree for one output, or for all."""
        self._before_growing()
        grower = self.growers[worker or 0]
        if output < 0:
            grower.fill(self._gradients)
        elif self.width > 1:
            grower.lend(self._stats[output], self._leaves[output])
        tree = grower.grow(self._scales, tree_key, rows, self._constant, None if worker is None else 1, self._keep_rows)
        forget_category(tree, self.codes.unseen)
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

    def walk(self, tree: ValuedTree, out: NDArray[np.int32], threads: int) -> None:
        """Write the node of the tree where each row ends to `out`."""
        walk_rows(tree, self.codes, out, threads)
