"""Gradient boosting as a generator of rounds: Friedman 2001, with Newton leaves as in Chen & Guestrin 2016.

A round is: derivatives of the loss at the present scores, as integers; trees grown from them; values of their leaves;
scores updated. Progress, early stopping, deadlines and callbacks are consumers of the rounds (ensemble/boosting/early_stopping.py).
What grows the trees is a `TreeLearner`, which the caller gives: boosting itself does not know how rows are coded or how derivatives become
integers (`HistogramLearner` in ensemble/boosting/histogram_learner.py, `ExactLearner` in ensemble/boosting/exact_learner.py).
The page is docs/algorithms/gradient-boosting.md.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import side_by_side
from woodwind.base.random_streams import key, share_threshold, uniform
from woodwind.ensemble.boosting.gradient_sampling import GradientSampling
from woodwind.ensemble.boosting.line_search import search_line
from woodwind.kernels.runtime.keys import draw_bootstrap, draw_share
from woodwind.losses.base import Loss, RowsByLeaf
from woodwind.tree.grown_tree import (
    GrownTree,
    TreeWithLeaves,
    ValuedTree,
    add_leaf_scores,
    fill_empty,
    newton_tree,
    newton_values,
    pruned,
    rows_by_leaf,
    smoothed_steps,
    with_means,
    within_bounds,
)
from woodwind.tree.linear_leaves import LinearInputs, LinearLeaves, LinearPlan, fitted_terms, path_terms
from woodwind.tree.settings import TreeSettings

Floats = NDArray[np.float64]
Rows = NDArray[np.int32]
# As losses take them: numbers; two classes in bytes, several as int32.
Targets = NDArray[np.float64] | NDArray[np.uint8] | NDArray[np.int32]


class TreeLearner(Protocol):
    """Rows with a target and weights, ready to grow trees from.

    An `output` is the column of the score that a tree is for; -1 for one tree that serves all of them.
    As many trees as it has workers may be grown at the same time, each by one thread; a tree that is for no worker (None) is grown by all
    threads.
    """

    n_rows: int
    outputs: int  # scores that one tree serves
    n_workers: int
    has_unseen: bool  # whether some row has a category that no split can name, so that it ends higher up than growth took it for

    def set_derivatives(self, loss: Loss, raw: Floats, weight: Floats | None) -> None:
        """Take the derivatives of all rows at these scores, times their weights; trees and sums are made from them until the next call.

        Hessians of classes have their factor in gains: see `hessian_factors`.
        """

    def grow(self, tree_key: int, rows: Rows | None, output: int, worker: int | None = None) -> GrownTree:
        """Grow a tree from the rows given, a row as often as it is given, or from all; `tree_key` is the key of all that is drawn.

        Where each row ended is kept until the next tree for that output.
        """

    def sums(self, leaf: NDArray[np.int32], n_nodes: int, rows: Rows | None, output: int) -> tuple[Floats, Floats]:
        """Gradients and hessians of the rows given, summed by the node `leaf` of each: (N,), or (N, K) for all outputs.

        To be asked for before a tree of one output is grown, which may use up what they are summed from.
        """

    def thresholds(self, tree: GrownTree) -> Floats | None:
        """Where number splits cut; None where that is at the edges of bins."""

    def walk(self, tree: ValuedTree, out: NDArray[np.int32], threads: int) -> None:
        """Write the node of the tree where each row ends to `out`."""


@dataclass(frozen=True)
class DropoutPlan:
    """Which earlier rounds are left out while a round is trained: DART, Rashmi & Gilad-Bachrach 2015."""

    drop_rate: float = 0.1  # chance of every earlier round to be left out
    skip_drop: float = 0.5  # chance of a round to leave nothing out
    max_drop: int | None = 50  # most rounds that are left out on average

    def dropped(self, seed: int, number: int) -> list[int]:
        """The numbers of the rounds that round `number` is trained without."""
        drawn = uniform(key(seed, "dropout", number), number + 1)
        if number == 0 or drawn[0] < self.skip_drop:
            return []
        rate = self.drop_rate if self.max_drop is None else min(self.drop_rate, self.max_drop / number)
        return [int(position) for position in np.flatnonzero(drawn[1:] < rate)]


@dataclass(frozen=True)
class BoostPlan:
    """What a boosting run does, all decided."""

    loss: Loss
    tree: TreeSettings = field(default_factory=TreeSettings)
    learning_rate: float = 0.1
    subsample: float = 1.0
    bootstrap: bool = False
    sampling: GradientSampling | None = None  # rows are drawn by their gradients; None: all alike, by `subsample`
    one_per_class: bool = False
    parallel_trees: int = 1  # trees of a round for the same scores, each with rows and features of its own; their mean is added
    seed: int = 0
    threads: int = 1
    dropout: DropoutPlan | None = None
    softmax_hessian: str = "friedman"  # see `hessian_factors`
    linear_l2: float | None = None  # leaves are linear, and what the square of a slope costs; None: leaves are constant
    permutations: int = 0  # orders of the rows for ordered boosting (ordered_boosting.py); none for plain boosting
    line_search: bool = False  # the trees of a round are stretched together, as far as the loss of the training rows falls


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


def hessian_factors(loss: Loss, convention: str) -> tuple[float, float]:
    """What the hessians p (1 - p) of several classes are multiplied by in gains, and in values of leaves; one for other losses.

    Scores of classes move together, so that one class alone takes K / (K - 1) of its own (Friedman 2001). Libraries differ.
    """
    if not loss.redundant_scores:
        return 1.0, 1.0
    alone = loss.width / (loss.width - 1.0)
    return {"friedman": (1.0, alone), "xgboost": (2.0, 2.0), "lightgbm": (alone, alone), "sklearn": (1.0, 1.0)}[convention]


def leaf_hessian(plan: BoostPlan, hessian: Floats) -> Floats:
    """Hessian of a leaf, from one that has its factor in gains already."""
    in_gains, in_leaves = hessian_factors(plan.loss, plan.softmax_hessian)
    return hessian if in_leaves == in_gains else hessian * (in_leaves / in_gains)


class Booster:
    """Scores of all rows of a table, and the rounds that improve them.

    `rows` are the rows that trees learn from, a row as often as it is given; the scores of the others are kept up to date
    all the same, so that they can be watched. None: all rows, once each.
    """

    def __init__(
        self,
        learner: TreeLearner,
        y: Targets,
        plan: BoostPlan,
        raw: Floats,
        weight: Floats | None = None,
        rows: Rows | None = None,
        done: Sequence[tuple[ValuedTree, ...]] = (),
        inputs: LinearInputs | None = None,
    ) -> None:
        """`done` are earlier rounds, whose trees are in `raw` and shrink where they are left out; `inputs` are for linear leaves."""
        self.learner, self.y, self.plan, self.raw, self.weight, self.rows = learner, y, plan, raw, weight, rows
        self.inputs = inputs
        self._derivatives = (np.empty((0, 1)), np.empty((0, 1)))  # of all rows (n, K), where leaves are linear
        self._rate, self._done = plan.learning_rate / plan.parallel_trees, list(done)
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
            if self.plan.dropout is None:
                yield BoostingRound(number, tuple(self._trees(self._resolved(), number)), self.raw)
            else:
                yield self._round_with_dropout(self.plan.dropout, number)

    def _round_with_dropout(self, dropout: DropoutPlan, number: int) -> BoostingRound:
        """A round that is trained as if k earlier ones were not there; then it is 1 / (k + 1) of itself, and each of those k / (k + 1)."""
        dropped = [tree for position in dropout.dropped(self.plan.seed, number) for tree in self._done[position]]
        k = len(dropped) // self.trees_per_round
        leaves = [self.leaf_of(tree) for tree in dropped]

        def add(share: float) -> None:
            for tree, leaf in zip(dropped, leaves, strict=True):
                self._add([(tree.scaled(share), leaf)])

        add(-1.0)
        self._rate = self.plan.learning_rate / self.plan.parallel_trees / (k + 1)
        trees = tuple(self._trees(self._resolved(), number))
        add(k / (k + 1))
        lost = tuple(tree.scaled(-1.0 / (k + 1)) for tree in dropped)
        for tree in dropped:
            tree.linear = None if tree.linear is None else tree.linear.scaled(k / (k + 1))
            tree.value, tree.low, tree.high = (part * (k / (k + 1)) for part in (tree.value, tree.low, tree.high))
        self._done.append(trees)
        return BoostingRound(number, trees, self.raw, lost=lost)

    def replay(self, trees: Sequence[ValuedTree]) -> Iterator[ValuedTree]:
        """The same splits with leaf values learned from the rows of this booster; scores are updated tree by tree.

        As accurate as training anew on these rows, at a fraction of the time.
        """
        together = self.trees_per_round
        for position in range(0, len(trees), together):
            loss = self._resolved()
            self._set_derivatives(loss, self.weight)
            before = self.raw if self.plan.parallel_trees == 1 else self.raw.copy()
            for tree in trees[position : position + together]:
                yield self._revalued(loss, tree, self.leaf_of(tree), before)

    def _trees(self, loss: Loss, number: int) -> list[ValuedTree]:
        """The trees of one round: one, or one for each score of a row, times the parallel ones."""
        if self.plan.parallel_trees == 1:
            positioned = self._parallel(loss, number, ())
        else:  # the next trees take the memory in which these have the leaves of rows
            every = range(self.plan.parallel_trees)
            positioned = [(tree, leaf.copy()) for parallel in every for tree, leaf in self._parallel(loss, number, (parallel,))]
        if self.plan.line_search:
            search_line(loss, self.y, self.raw, self._row_counts, positioned, self._rate * self.plan.parallel_trees)
        self._add(positioned)
        return [finished for finished, _leaf in positioned]

    def _parallel(self, loss: Loss, number: int, parallel: tuple[int, ...]) -> list[TreeWithLeaves]:
        """A tree for each score of a row, or for all; `parallel` names what is drawn for it beside the number of the round."""
        rows, weight = self._drawn(loss, number, self.raw, self.rows, parallel)
        self._set_derivatives(loss, weight)
        workers, every = self.learner.n_workers, self._outputs

        def tree(worker: int | None, output: int) -> TreeWithLeaves:
            threads = self.plan.threads if worker is None else 1
            grown = self.learner.grow(self._tree_key(number, output, parallel), rows, output, worker)
            return self._valued(loss, grown, output, rows, weight, threads)

        # What would leave a worker idle is grown by all threads together.
        beside = len(every) // workers * workers if workers > 1 else 0
        return [*side_by_side(tree, every[:beside], workers), *(tree(None, output) for output in every[beside:])]

    def _tree_key(self, number: int, output: int, parallel: tuple[int, ...] = ()) -> int:
        """The key of all that is drawn for a tree."""
        return key(self.plan.seed, "tree", number, *([output] if len(self._outputs) > 1 else []), *parallel)

    def _drawn(
        self, loss: Loss, number: int, raw: Floats, rows: Rows | None, parallel: tuple[int, ...] = ()
    ) -> tuple[Rows | None, Floats | None]:
        """Rows for one round, of some or all rows, None for all, once each; and how much every row of the table counts in it."""
        sampling = self.plan.sampling
        if sampling is None:
            return self._drawn_alike(number, rows, parallel), self.weight
        if not sampling.begins(number, self.plan.learning_rate):
            return rows, self.weight
        gradient, hessian = loss.derivatives(self.y, raw, self.weight, self.plan.threads)
        if rows is not None:
            gradient, hessian = gradient[rows], hessian[rows]
        drawn, factor = sampling.draw(key(self.plan.seed, "rows", number, *parallel), gradient, hessian, self.plan.threads)
        if len(drawn) in (0, len(factor)):
            return rows, self.weight
        if rows is None:
            return drawn, factor if self.weight is None else factor * self.weight
        weight = np.ones(self.learner.n_rows) if self.weight is None else self.weight.copy()
        chosen = rows[drawn]
        weight[chosen] = factor[drawn] if self.weight is None else factor[drawn] * self.weight[chosen]
        return chosen, weight

    def _drawn_alike(self, number: int, rows: Rows | None = None, parallel: tuple[int, ...] = ()) -> Rows | None:
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

    def _valued(self, loss: Loss, tree: GrownTree, output: int, rows: Rows | None, weight: Floats | None, threads: int) -> TreeWithLeaves:
        """Give a grown tree its values, and find the leaf of every row."""
        plan = self.plan
        if plan.tree.prune:
            tree = pruned(tree, plan.tree.min_gain)
        if loss.refits:
            leaves = RowsByLeaf(tree.rows.astype(np.int32), tree.begin[tree.leaves], tree.end[tree.leaves])
            found = loss.refitted(output, leaves, self.y, self.raw, weight, threads)
            values = np.zeros((tree.n_nodes, *found.shape[1:]))
            values[tree.leaves] = found
            values = fill_empty(tree, (values if output < 0 else within_bounds(tree, values)) * self._rate)
        elif output < 0:
            sums = self.learner.sums(tree.leaf_of_row, tree.n_nodes, rows, output)
            values = fill_empty(tree, self._newton(loss, output, *sums) * self._rate)
        elif loss.has_units:
            values = fill_empty(tree, self._newton(loss, output, tree.gradient, tree.hessian) * self._rate)
        else:
            values = newton_tree(tree, leaf_hessian(plan, tree.hessian), plan.tree.penalties, self._rate)
        finished = with_means(ValuedTree.of(tree, values, output, self._rate, self.learner.thresholds(tree)))
        leaf = tree.leaf_of_row
        if rows is not None or self.learner.has_unseen:
            self.learner.walk(finished, leaf, threads)
        if self.plan.linear_l2 is not None:
            assert self.inputs is not None
            terms = path_terms(finished.feature, finished.child, finished.value[:, 0], self.inputs.scale)
            finished.linear = self._linear(finished, terms, leaf, rows, threads)
        return finished, leaf

    def _set_derivatives(self, loss: Loss, weight: Floats | None) -> None:
        """Derivatives of all rows for the trees that follow."""
        self.learner.set_derivatives(loss, self.raw, weight)
        if self.plan.linear_l2 is not None:
            gradient, hessian = loss.derivatives(self.y, self.raw, weight, self.plan.threads)
            factor = hessian_factors(loss, self.plan.softmax_hessian)[1]
            self._derivatives = gradient.reshape(len(self.raw), -1), hessian.reshape(len(self.raw), -1) * factor

    def _linear(self, tree: ValuedTree, terms: LinearLeaves, leaf: NDArray[np.int32], rows: Rows | None, threads: int) -> LinearLeaves:
        """The linear parts of the leaves of a tree, from the rows given, a row as often as it is given."""
        assert self.inputs is not None
        assert self.plan.linear_l2 is not None
        gradient, hessian = (np.ascontiguousarray(part[:, tree.output]) for part in self._derivatives)
        plan = LinearPlan(self.plan.linear_l2, (self.plan.tree.l1, self.plan.tree.l2, self._rate))
        by_leaf = rows_by_leaf(leaf, rows, len(tree.feature))
        return fitted_terms(terms, self.inputs.values, (gradient, hessian), by_leaf, tree.value[:, 0], plan, threads)

    def _add(self, positioned: Sequence[TreeWithLeaves]) -> None:
        """Add trees to the scores of all rows."""
        add_leaf_scores(self.raw, positioned, self.plan.threads, None if self.inputs is None else self.inputs.values)

    def _revalued(self, loss: Loss, tree: ValuedTree, leaf: NDArray[np.int32], raw: Floats) -> ValuedTree:
        """A tree whose leaf values are trained on the rows that end in them, and their scores before the round."""
        n_nodes = len(tree.feature)
        counts = np.bincount(leaf if self.rows is None else leaf[self.rows], minlength=n_nodes)
        if loss.refits:
            order, begins, ends = rows_by_leaf(leaf, self.rows, n_nodes)
            full = ends > begins
            leaves = RowsByLeaf(order, begins[full], ends[full])
            found = loss.refitted(tree.output, leaves, self.y, raw, self.weight, self.plan.threads)
            values = np.zeros((n_nodes, *found.shape[1:]))
            values[full] = found
        else:
            gradient, hessian = self.learner.sums(leaf, n_nodes, self.rows, tree.output)
            values = self._newton(loss, tree.output, gradient, hessian)
            if self.plan.tree.path_smooth > 0.0:
                sums = gradient, leaf_hessian(self.plan, hessian)
                steps = smoothed_steps(tree.feature, tree.child, counts, sums, self.plan.tree.penalties, self.plan.tree.longest_step)
                values = loss.in_scores(steps, tree.output)
        values = (values * self._rate).reshape(n_nodes, -1)
        # A leaf that none of these rows reaches keeps what it had.
        values = np.where(counts[:, None] > 0, values, tree.value)
        values = np.clip(values, tree.low[:, None], tree.high[:, None])
        finished = with_means(tree.with_values(values, counts.astype(np.float64)))
        if tree.linear is not None:
            finished.linear = self._linear(finished, tree.linear, leaf, self.rows, self.plan.threads)
        self._add([(finished, leaf)])
        return finished

    def _newton(self, loss: Loss, output: int, gradient: Floats, hessian: Floats) -> Floats:
        """Newton steps of leaves."""
        return loss.in_scores(newton_values(gradient, leaf_hessian(self.plan, hessian), self.plan.tree.l1, self.plan.tree.l2), output)

    def leaf_of(self, tree: ValuedTree) -> NDArray[np.int32]:
        """The node where each row of the table ends."""
        leaf = np.empty(self.learner.n_rows, np.int32)
        self.learner.walk(tree, leaf, self.plan.threads)
        return leaf
