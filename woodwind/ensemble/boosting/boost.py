"""Gradient boosting as a generator of rounds: Friedman 2001, with Newton leaves as in Chen & Guestrin 2016.

A round is: derivatives of the loss at the present scores, as integers; trees grown from them; values of their leaves;
scores updated. Progress, early stopping, deadlines and callbacks are consumers of the rounds (ensemble/boosting/early_stopping.py).
What grows the trees is a `TreeLearner` (tree_learner.py), which the caller gives: boosting itself does not know how rows are coded or how
derivatives become integers. How leaves get their values is in leaf_values.py. `DropoutBooster` (dropout.py) and `OrderedBooster`
(ordered_boosting.py) make their rounds in other ways.
The page is docs/algorithms/gradient-boosting.md.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import side_by_side
from woodwind.base.random_streams import key, share_threshold
from woodwind.ensemble.boosting.boost_plan import BoostPlan
from woodwind.ensemble.boosting.leaf_values import LeafValues, LinearLeafFitter
from woodwind.ensemble.boosting.line_search import search_line
from woodwind.ensemble.boosting.tree_learner import Floats, Rows, Targets, TreeLearner
from woodwind.kernels.runtime.keys import draw_bootstrap, draw_share
from woodwind.losses.base import Loss
from woodwind.tree.grown_tree import GrownTree, TreeWithLeaves, ValuedTree, add_leaf_scores, pruned, with_means
from woodwind.tree.linear_leaves import LinearInputs

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class BoostingRound:
    """One finished round. `raw` is the array of scores, which later rounds will change.

    `trees` are those of the model. `added` is what scores change by: the same, and with dropout what earlier trees have lost.
    """

    number: int
    trees: tuple[ValuedTree, ...]
    raw: Floats
    lost: tuple[ValuedTree, ...] = field(default=(), kw_only=True)

    @property
    def added(self) -> tuple[ValuedTree, ...]:
        """The trees by which the scores of rows change in this round."""
        return self.lost + self.trees


class Booster:
    """Scores of all rows of a table, and the rounds that improve them.

    `rows` are the rows that trees learn from, a row as often as it is given; the scores of the others are updated all the same, so that
    they can be watched. None: all rows, once each.
    """

    def __init__(
        self,
        learner: TreeLearner,
        y: Targets,
        plan: BoostPlan,
        raw: Floats,
        weight: Floats | None = None,
        rows: Rows | None = None,
        inputs: LinearInputs | None = None,
    ) -> None:
        """`raw` are the scores to begin with; `inputs` are for linear leaves."""
        self.learner, self.y, self.plan, self.raw, self.weight, self.rows = learner, y, plan, raw, weight, rows
        self.inputs = inputs
        self._linear: LinearLeafFitter | None = None
        if plan.linear_l2 is not None:
            assert inputs is not None  # whoever plans linear leaves has them
            self._linear = LinearLeafFitter(inputs, y, plan)
        self._rate = plan.learning_rate / plan.parallel_trees  # of one tree
        self._outputs = (-1,) if learner.outputs > 1 else tuple(range(plan.loss.width))

    @property
    def trees_per_round(self) -> int:
        """One, or one for each score of a row, times the parallel ones."""
        return len(self._outputs) * self.plan.parallel_trees

    @cached_property
    def _row_counts(self) -> Floats | None:
        """How much each row counts for trees; None for one each."""
        if self.rows is None:
            return self.weight
        often = np.bincount(self.rows, minlength=self.learner.n_rows).astype(np.float64)
        return often if self.weight is None else often * self.weight

    def _resolved(self) -> Loss:
        """The loss as it stands: what it takes from all residuals, such as Huber's delta, it takes from the rows that trees learn from."""
        loss = self.plan.loss
        return loss if loss.is_resolved else loss.resolved(self.y, self.raw, self._row_counts)

    def rounds(self, count: int, first: int = 0) -> Iterator[BoostingRound]:
        """Boost for `count` rounds; `first` is the number of the first one, which names what it draws."""
        for number in range(first, first + count):
            yield self._round(number)

    def _round(self, number: int) -> BoostingRound:
        return BoostingRound(number, tuple(self._trees(self._resolved(), number)), self.raw)

    def replay(self, trees: Sequence[ValuedTree]) -> Iterator[ValuedTree]:
        """The same splits with leaf values learned from the rows of this booster; scores are updated tree by tree.

        As accurate as training anew on these rows, at a fraction of the time.
        """
        together = self.trees_per_round
        for position in range(0, len(trees), together):
            loss = self._resolved()
            self._set_derivatives(loss, self.weight)
            before = self.raw if self.plan.parallel_trees == 1 else self.raw.copy()
            values = LeafValues(loss, self.plan, self.learner, self.y, before, self.weight)
            for tree in trees[position : position + together]:
                yield self._revalued(values, tree)

    # Growing.

    def _trees(self, loss: Loss, number: int) -> list[ValuedTree]:
        """The trees of one round: one, or one for each score of a row, times the parallel ones."""
        if self.plan.parallel_trees == 1:
            with_leaves = self._tree_per_output(loss, number, ())
        else:  # the next trees take the memory in which these have the leaves of rows
            every = range(self.plan.parallel_trees)
            with_leaves = [(tree, leaf.copy()) for parallel in every for tree, leaf in self._tree_per_output(loss, number, (parallel,))]
        if self.plan.line_search:
            search_line(loss, self.y, self.raw, self._row_counts, with_leaves, self._rate * self.plan.parallel_trees)
        self._add(with_leaves)
        return [finished for finished, _leaf in with_leaves]

    def _tree_per_output(self, loss: Loss, number: int, parallel: tuple[int, ...]) -> list[TreeWithLeaves]:
        """A tree for each score of a row, or for all; `parallel` names what is drawn for it beside the number of the round."""
        rows, weight, cached = self._sampled(loss, number, self.raw, self.rows, parallel)
        self._set_derivatives(cached, weight)
        values = LeafValues(loss, self.plan, self.learner, self.y, self.raw, weight)

        def tree(worker: int | None, output: int) -> TreeWithLeaves:
            grown = self._grown(self.learner, self._tree_key(number, output, parallel), rows, output, worker)
            return self._valued(values, grown, output, rows, self.plan.threads if worker is None else 1)

        return self._for_outputs(self.learner, tree)

    def _for_outputs(self, learner: TreeLearner, make: Callable[[int | None, int], T]) -> list[T]:
        """What is made for each output; as many at a time as the learner has workers."""
        workers, every = learner.n_workers, self._outputs
        # What would leave a worker idle is made by all threads together.
        beside = len(every) // workers * workers if workers > 1 else 0
        return [*side_by_side(make, every[:beside], workers), *(make(None, output) for output in every[beside:])]

    def _grown(self, learner: TreeLearner, tree_key: int, rows: Rows | None, output: int, worker: int | None) -> GrownTree:
        """A tree from the derivatives that the learner has, pruned if the plan says so."""
        tree = learner.grow(tree_key, rows, output, worker)
        return pruned(tree, self.plan.tree.min_gain) if self.plan.tree.prune else tree

    def _set_derivatives(self, loss: Loss, weight: Floats | None) -> None:
        """Derivatives of all rows for the trees that follow."""
        self.learner.set_derivatives(loss, self.raw, weight)
        if self._linear is not None:
            self._linear.set_derivatives(loss, self.raw, weight)

    def _tree_key(self, number: int, output: int, parallel: tuple[int, ...] = ()) -> int:
        """The key of all that is drawn for a tree."""
        return key(self.plan.seed, "tree", number, *([output] if len(self._outputs) > 1 else []), *parallel)

    def _sampled(
        self, loss: Loss, number: int, raw: Floats, rows: Rows | None, parallel: tuple[int, ...] = ()
    ) -> tuple[Rows | None, Floats | None, Loss]:
        """Rows for one round, of some or all rows, None for all, once each; how much every row of the table counts in it; and the loss.

        What sampling has computed, the loss that is returned has cached.
        """
        sampling = self.plan.sampling
        if sampling is None:
            return self._sampled_uniformly(number, rows, parallel), self.weight, loss
        if not sampling.begins(number, self.plan.learning_rate):
            return rows, self.weight, loss
        loss = loss.with_known(self.y, raw, self.plan.threads)
        gradient, hessian = loss.derivatives(self.y, raw, self.weight, self.plan.threads)
        if rows is not None:
            gradient, hessian = gradient[rows], hessian[rows]
        drawn, factor = sampling.draw(key(self.plan.seed, "rows", number, *parallel), gradient, hessian, self.plan.threads)
        if len(drawn) in (0, len(factor)):
            return rows, self.weight, loss
        if rows is None:
            return drawn, factor if self.weight is None else factor * self.weight, loss
        weight = np.ones(self.learner.n_rows) if self.weight is None else self.weight.copy()
        chosen = rows[drawn]
        weight[chosen] = factor[drawn] if self.weight is None else factor[drawn] * self.weight[chosen]
        return chosen, weight, loss

    def _sampled_uniformly(self, number: int, rows: Rows | None = None, parallel: tuple[int, ...] = ()) -> Rows | None:
        """Rows for one round, all of them as likely; None for all, once each."""
        plan, rows_key = self.plan, key(self.plan.seed, "rows", number, *parallel)
        pool = self.learner.n_rows if rows is None else len(rows)
        if plan.bootstrap:
            drawn = np.empty(max(1, round(pool * plan.subsample)), np.int32)
            draw_bootstrap(rows_key, pool, len(drawn), drawn)
        elif plan.subsample < 1.0:
            drawn = np.empty(pool, np.int32)
            drawn = drawn[: draw_share(rows_key, pool, share_threshold(plan.subsample), drawn)]
            if len(drawn) == 0:
                return rows
        else:
            return rows
        return drawn if rows is None else rows[drawn]

    # Values and scores.

    def _valued(self, values: LeafValues, tree: GrownTree, output: int, rows: Rows | None, threads: int) -> TreeWithLeaves:
        """Give a grown tree its values, and find the leaf of every row."""
        value = values.of_grown(tree, output, rows, threads) * self._rate
        finished = with_means(ValuedTree.of(tree, value, output, self._rate, tree.threshold))
        leaf = tree.leaf_of_row
        if rows is not None or self.learner.has_unseen:
            self.learner.walk(finished, leaf, threads)
        if self._linear is not None:
            finished.linear = self._linear.fitted(finished, leaf, rows, self._rate, threads)
        return finished, leaf

    def _revalued(self, values: LeafValues, tree: ValuedTree) -> ValuedTree:
        """A tree whose leaf values are trained on the rows that end in them; it is added to the scores."""
        leaf, n_nodes = self.leaf_of(tree), len(tree.feature)
        counts = np.bincount(leaf if self.rows is None else leaf[self.rows], minlength=n_nodes)
        value = (values.of_rows(tree, leaf, self.rows, counts) * self._rate).reshape(n_nodes, -1)
        # A leaf that none of these rows reaches has the value that it had.
        value = np.where(counts[:, None] > 0, value, tree.value)
        value = np.clip(value, tree.low[:, None], tree.high[:, None])
        finished = with_means(tree.with_values(value, counts.astype(np.float64)))
        if self._linear is not None and tree.linear is not None:
            finished.linear = self._linear.fitted(finished, leaf, self.rows, self._rate, self.plan.threads)
        self._add([(finished, leaf)])
        return finished

    def _add(self, with_leaves: Sequence[TreeWithLeaves]) -> None:
        """Add trees to the scores of all rows."""
        add_leaf_scores(self.raw, with_leaves, self.plan.threads, None if self.inputs is None else self.inputs.values)

    def leaf_of(self, tree: ValuedTree) -> NDArray[np.int32]:
        """The node where each row of the table ends."""
        leaf = np.empty(self.learner.n_rows, np.int32)
        self.learner.walk(tree, leaf, self.plan.threads)
        return leaf
