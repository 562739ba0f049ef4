"""Ordered boosting: the gradient of a row is taken where a model stands that has never seen it (Prokhorenkova et al. 2018, Algorithm 2).

Plain boosting takes the gradient of a row at the score of a model that was fitted to this very row: residuals are too small, and on few,
noisy rows trees are chosen by what is left of the noise. Here the rows are put in several drawn orders. Each order has supporting models,
trained on its first 1, 2, 4, 8 ... rows, all with the same trees but with leaf values of their own rows. A tree is chosen by gradients at
the scores that rows have from the longest prefix before them, of one order for each round. The model itself gets the values of its leaves
from all rows, as in plain boosting. The page is docs/algorithms/ordered-boosting.md.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from woodwind.base.errors import ParameterError, TargetError
from woodwind.base.pool import LEAST_WORK, side_by_side
from woodwind.base.random_streams import integers, key, permutation
from woodwind.ensemble.boosting.boost import Booster
from woodwind.ensemble.boosting.boost_plan import BoostPlan, hessian_factors
from woodwind.ensemble.boosting.leaf_values import LeafValues, refitted_nodes
from woodwind.ensemble.boosting.tree_learner import Floats, Rows, Targets, TreeLearner
from woodwind.losses.base import Loss, RowsByLeaf
from woodwind.tree.grown_tree import (
    GrownTree,
    TreeWithLeaves,
    ValuedTree,
    add_leaf_scores,
    covers_below,
    newton_values,
    rows_by_leaf,
)

# The shortest prefix has at most this part of the rows, and so many: of fewer, gradients far from all others come out. Rows of it have no
# model that has not seen them, and are left out while a tree is chosen by this order.
SHORTEST_SHARE = 32
SHORTEST_MOST = 64


def drawn_order(seed: int, number: int, rows: Rows) -> Rows:
    """The rows in the order of this number; copies of a row stay together."""
    present, times = np.unique(rows, return_counts=True)
    drawn = permutation(key(seed, "order", number), len(present))
    return np.repeat(present[drawn], times[drawn])


def prefix_lengths(n_rows: int) -> list[int]:
    """How many rows each supporting model is trained on: powers of two below the number of rows, each twice the one before."""
    length = 1 << max(min(n_rows // SHORTEST_SHARE, SHORTEST_MOST).bit_length() - 1, 0)
    lengths = []
    while length < n_rows:
        lengths.append(length)
        length *= 2
    return lengths


def prefix_start(loss: Loss, y: Targets, weight: Floats | None, length: int) -> Floats:
    """The score that a supporting model of the first rows starts from: their best constant, with a row of each class added to them.

    Where they have none, such as counts that are all zero, it is that of all rows.
    """
    first, own = y[:length], None if weight is None else weight[:length]
    if loss.task == "classification":
        classes = np.arange(max(loss.width, 2)).astype(y.dtype)
        first, own = np.concatenate([first, classes]), None if own is None else np.concatenate([own, np.ones(len(classes))])
    try:
        return loss.start(first, own)
    except (TargetError, ParameterError):
        return loss.start(y, weight)


class SupportingModels:
    """The models of one order of the rows. Model j has learned from a prefix, and scores its rows and as many behind them.

    What each model says of each of its rows stands in one array, model by model: at most four entries for every row of the table.
    """

    def __init__(self, order: Rows, y: Targets, weight: Floats | None, loss: Loss, offset: Floats | None) -> None:
        """`offset` are the scores to start from, of all rows of the table; None for the best constant of each prefix."""
        self.order, lengths = order, np.array(prefix_lengths(len(order)), np.int64)
        ends = np.minimum(2 * lengths, len(order))
        self.n_models, first = len(lengths), int(lengths[0]) if len(lengths) else 0
        # Rows that some model has not seen, ascending as learners take them.
        self.scored: Rows = np.sort(order[first:]) if first else order[:0]
        self._model = np.repeat(np.arange(self.n_models), ends)
        self._row = np.concatenate([order[:end] for end in ends]) if first else order[:0]
        position = np.arange(len(self._row)) - np.repeat(np.cumsum(ends) - ends, ends)
        is_seen = position < lengths[self._model]
        self._seen, self._unseen = np.flatnonzero(is_seen).astype(np.int32), np.flatnonzero(~is_seen)
        self._y, self._weight = y[self._row], None if weight is None else weight[self._row]
        if offset is None:
            targets, weights = y[order], None if weight is None else weight[order]
            starts = [prefix_start(loss, targets, weights, int(length)) for length in lengths]
            raw = np.array(starts).reshape(-1, loss.width)[self._model]
        else:
            raw = offset[self._row].reshape(-1, loss.width)
        self._raw = raw[:, 0].copy() if loss.width == 1 else raw

    def scores(self, raw: Floats) -> Floats:
        """A copy of the scores in which every row that is scored here has that of the longest prefix before it."""
        out, unseen = raw.copy(), self._unseen[::-1]  # of copies of a row the first is written last
        out[self._row[unseen]] = self._raw[unseen]
        return out

    def add(self, loss: Loss, trees: Sequence[TreeWithLeaves], rate: float, plan: BoostPlan) -> None:
        """Give every model the trees of a round, with values of the leaves from its own prefix; a leaf without any of its rows has zero."""
        gradient, hessian = (part.reshape(len(self._row), -1) for part in loss.derivatives(self._y, self._raw, self._weight))
        raw = self._raw.reshape(len(self._row), -1)  # a view: what is added stays
        for tree, leaf in trees:
            n_nodes = len(tree.feature)
            node = self._model * n_nodes + leaf[self._row]  # the nodes of all models, one behind the other
            low, high = np.tile(tree.low, self.n_models), np.tile(tree.high, self.n_models)
            for column in range(raw.shape[1]) if tree.output < 0 else (tree.output,):
                if loss.refits:
                    values = self._refitted(loss, column, node, n_nodes)
                else:
                    steps = self._newton(loss, gradient[:, column], hessian[:, column], node, self.n_models * n_nodes, plan)
                    values = loss.rescaled_steps(steps, column)
                raw[:, column] += np.clip(values * rate, low, high)[node]

    def _newton(self, loss: Loss, gradient: Floats, hessian: Floats, node: NDArray[np.int64], size: int, plan: BoostPlan) -> Floats:
        """Newton steps of all nodes of all models; sums are in the order of the rows, whatever the number of threads."""
        at = node[self._seen]
        sums = [np.bincount(at, part[self._seen], minlength=size).astype(np.float64, copy=False) for part in (gradient, hessian)]
        return newton_values(sums[0], sums[1] * hessian_factors(loss, plan.softmax_hessian)[1], plan.tree.l1, plan.tree.l2)

    def _refitted(self, loss: Loss, column: int, node: NDArray[np.int64], n_nodes: int) -> Floats:
        """Values of all nodes of all models where a leaf is no Newton step."""
        by_node = RowsByLeaf(*rows_by_leaf(node.astype(np.int32), self._seen, self.n_models * n_nodes))
        return refitted_nodes(loss, column, by_node, by_node.ends > by_node.begins, self._y, self._raw, self._weight)


@dataclass(frozen=True, eq=False)
class OrderedOrigin:
    """What ordered boosting needs to know of how scores and codes came to be."""

    first: Floats  # scores of all rows before the first of the rounds that are done
    done: Sequence[tuple[ValuedTree, ...]] = ()  # rounds whose trees are in the scores
    offset: Floats | None = None  # scores to start from, where they were given
    learner_in: Callable[[Rows], TreeLearner] | None = None  # a learner for an order of the rows, where codes depend on it


class OrderedBooster(Booster):
    """A booster whose trees are chosen by ordered gradients. What it draws is named by the seed, the order and the round."""

    def __init__(
        self,
        learner: TreeLearner,
        y: Targets,
        plan: BoostPlan,
        raw: Floats,
        weight: Floats | None = None,
        rows: Rows | None = None,
        origin: OrderedOrigin | None = None,
    ) -> None:
        """See `Booster`; without an `origin`, supporting models start from constants of their own, and no rounds are done."""
        super().__init__(learner, y, plan, raw, weight, rows)
        self._origin = origin or OrderedOrigin(raw)
        self._learner_in = self._origin.learner_in

    @cached_property
    def supports(self) -> list[tuple[SupportingModels, TreeLearner]]:
        """For every order its models, and the learner whose codes are of that order; with the rounds that are done already."""
        count = self.plan.permutations
        rows = np.arange(self.learner.n_rows, dtype=np.int32) if self.rows is None else self.rows
        orders = [drawn_order(self.plan.seed, number, rows) for number in range(count)]
        learners = [self.learner if self._learner_in is None else self._learner_in(order) for order in orders]
        models = [SupportingModels(order, self.y, self.weight, self.plan.loss, self._origin.offset) for order in orders]
        made = list(zip(models, learners, strict=True))
        now, self.raw = self.raw, self._origin.first.copy()
        for trees in self._origin.done:
            self._support(self._resolved(), trees, made)
            add_leaf_scores(self.raw, [(tree, self.leaf_of(tree)) for tree in trees], self.plan.threads)
        self.raw = now
        return made

    def order_of(self, number: int) -> int:
        """Which of the orders a round is of."""
        return int(integers(key(self.plan.seed, "order of round", number), self.plan.permutations, 1)[0])

    def _trees(self, loss: Loss, number: int) -> list[ValuedTree]:
        """The trees of one round, chosen by ordered gradients, with values from all rows."""
        models, learner = self.supports[self.order_of(number)]
        if models.n_models == 0:  # one row
            return super()._trees(loss, number)
        ordered = models.scores(self.raw)
        rows, weight, cached = self._sampled(loss, number, ordered, models.scored)
        learner.set_derivatives(cached, ordered, weight)
        grown = self._for_outputs(
            learner, lambda worker, output: self._grown(learner, self._tree_key(number, output), rows, output, worker)
        )
        self.learner.set_derivatives(loss, self.raw, self.weight)
        values = LeafValues(loss, self.plan, self.learner, self.y, self.raw, self.weight)
        with_leaves = []
        for output, tree in zip(self._outputs, grown, strict=True):
            all_rows = self._with_all_rows(loss, tree, output)
            with_leaves.append(self._valued(values, all_rows, output, self.rows, self.plan.threads))
        trees = [tree for tree, _ in with_leaves]
        self._support(loss, trees, self.supports)
        add_leaf_scores(self.raw, with_leaves, self.plan.threads)
        return trees

    def _with_all_rows(self, loss: Loss, tree: GrownTree, output: int) -> GrownTree:
        """A grown tree with the sums and rows that it has in plain boosting from all rows, at the scores of the model."""
        leaf = np.empty(self.learner.n_rows, np.int32)
        self.learner.walk(ValuedTree.of(tree, np.zeros(tree.n_nodes), output, 1.0, tree.threshold), leaf, self.plan.threads)
        ends = leaf if self.rows is None else leaf[self.rows]
        count = covers_below(tree.feature, tree.child, np.bincount(ends, minlength=tree.n_nodes).astype(np.float64)).astype(np.int64)
        tree = replace(tree, leaf_of_row=leaf, count=count)
        if loss.refits:
            rows, begin, end = rows_by_leaf(leaf, self.rows, tree.n_nodes)
            return replace(tree, rows=rows.astype(np.int64), begin=begin, end=end)
        if output < 0:
            return tree
        sums = self.learner.sums(leaf, tree.n_nodes, self.rows, output)
        gradient, hessian = (covers_below(tree.feature, tree.child, part) for part in sums)
        return replace(tree, gradient=gradient, hessian=hessian)

    def _support(self, loss: Loss, trees: Sequence[ValuedTree], made: list[tuple[SupportingModels, TreeLearner]]) -> None:
        """Add the trees of a round to all supporting models; those of one order are on one thread."""
        shared = None if self._learner_in is not None else [(tree, self.leaf_of(tree)) for tree in trees]

        def add(_: int, one: tuple[SupportingModels, TreeLearner]) -> None:
            models, learner = one
            found = shared
            if found is None:
                leaves = [np.empty(learner.n_rows, np.int32) for _ in trees]
                for tree, leaf in zip(trees, leaves, strict=True):
                    learner.walk(tree, leaf, 1)
                found = list(zip(trees, leaves, strict=True))
            models.add(loss, found, self.plan.learning_rate, self.plan)

        is_worth = len(self.y) * self.plan.loss.width * len(trees) >= LEAST_WORK // 100
        side_by_side(add, made, min(self.plan.threads, len(made)) if is_worth else 1)
