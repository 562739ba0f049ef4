"""The exact learner: rows as ranks, derivatives as the widest integers whose sums fit, trees that consider every threshold."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from woodwind.base.fixed import largest_of
from woodwind.data.binning.ranks import UNSEEN_RANK, Ranks
from woodwind.ensemble.boosting.boost_plan import BoostPlan, hessian_factors
from woodwind.ensemble.boosting.tree_learner import Floats, Rows, Targets
from woodwind.losses.base import Loss
from woodwind.losses.integers import refuse_runaway
from woodwind.tree.exact_grower import BOOSTED, ExactGrower, RowStats, SplitCriterion, node_sums, real_of, thresholds, walk_ranks
from woodwind.tree.grown_tree import GrownTree, ValuedTree, forget_category, rows_by_leaf


class ExactLearner:
    """See `TreeLearner`. `outputs` is how many scores a tree is for."""

    def __init__(self, ranks: Ranks, y: Targets, plan: BoostPlan, outputs: int = 1) -> None:
        self.ranks, self.y, self.settings, self.threads = ranks, y, plan.tree, plan.threads
        self.n_rows, self.has_unseen = ranks.n_rows, ranks.has_unseen
        self.outputs, self.n_workers = outputs, 1
        self._factor = hessian_factors(plan.loss, plan.softmax_hessian)[0]
        self._grower: ExactGrower | None = None
        self._gradient = self._hessian = np.empty((0, 1))

    @property
    def grower(self) -> ExactGrower:
        """The memory to grow trees in, made when the first tree is grown."""
        if self._grower is None:
            criterion = BOOSTED if self.outputs == 1 else SplitCriterion("vector", self.outputs)
            self._grower = ExactGrower(self.ranks, self.settings, self.threads, criterion)
        return self._grower

    def set_derivatives(self, loss: Loss, raw: Floats, weight: Floats | None) -> None:
        """Keep the derivatives of all rows, one column for each output."""
        gradient, hessian = loss.derivatives(self.y, raw, weight, self.threads)
        hessian = hessian if self._factor == 1.0 else hessian * self._factor
        refuse_runaway((largest_of(gradient), largest_of(hessian)), len(raw))
        self._gradient, self._hessian = gradient.reshape(len(raw), -1), hessian.reshape(len(raw), -1)

    def grow(self, tree_key: int, rows: Rows | None, output: int, worker: int | None = None) -> GrownTree:
        """Grow a tree for one output, or for all."""
        if output < 0:
            times = None if rows is None else np.bincount(rows, minlength=self.n_rows)
            tree = self.grower.grow_stats(RowStats.of_outputs(self._gradient, self._hessian, times), tree_key)
        else:
            gradient, hessian = np.ascontiguousarray(self._gradient[:, output]), np.ascontiguousarray(self._hessian[:, output])
            tree = self.grower.grow_from(gradient, hessian, tree_key, rows)
        forget_category(tree, UNSEEN_RANK)
        # Here, because another learner may have other values for the same ranks: statistics of the target differ by the order of rows.
        tree.threshold = thresholds(tree, self.ranks)
        return tree if rows is None else with_repeats(tree, np.bincount(rows, minlength=self.ranks.n_rows))

    def sums(self, leaf: NDArray[np.int32], n_nodes: int, rows: Rows | None, output: int) -> tuple[Floats, Floats]:
        """Gradients and hessians of the rows of each node."""
        order, begin, end = rows_by_leaf(leaf, rows, n_nodes)
        if output < 0:
            every = [summed_by_leaf(self._gradient[order, k], self._hessian[order, k], begin, end) for k in range(self.outputs)]
            return np.column_stack([one[0] for one in every]), np.column_stack([one[1] for one in every])
        return summed_by_leaf(self._gradient[order, output], self._hessian[order, output], begin, end)

    def walk(self, tree: ValuedTree, out: NDArray[np.int32], threads: int) -> None:
        """Write the node of the tree where each row ends to `out`."""
        walk_ranks(tree, self.ranks, out, threads)


def summed_by_leaf(gradient: Floats, hessian: Floats, begin: NDArray[np.int64], end: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Sums of derivatives over ranges of rows, as integers so wide that nothing depends on the order of the rows."""
    stats = RowStats.of(gradient, hessian)
    total = node_sums(stats.rows[:, :2], begin, end)
    return real_of(total[:, 0], stats.gradient_unit), real_of(total[:, 1], stats.hessian_unit)


def with_repeats(tree: GrownTree, times: NDArray[np.int64]) -> GrownTree:
    """The tree with each of its rows as often as it was given; exact growth names it once."""
    before = np.concatenate([[0], np.cumsum(times[tree.rows])])
    return replace(tree, rows=np.repeat(tree.rows, times[tree.rows]), begin=before[tree.begin], end=before[tree.end])
