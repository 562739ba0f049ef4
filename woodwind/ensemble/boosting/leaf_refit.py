"""Leaf values of a boosted forest, learned once more from rows of another table: the splits stay."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.ensemble.boosting.boost_plan import hessian_factors
from woodwind.ensemble.boosting.exact_learner import summed_by_leaf
from woodwind.ensemble.boosting.leaf_values import refitted_nodes
from woodwind.losses.base import Loss, RowsByLeaf, in_rows
from woodwind.tree.forest import Forest, tree_of
from woodwind.tree.grown_tree import covers_below, leaf_steps, rows_by_leaf
from woodwind.tree.linear_leaves import LinearLeaves, LinearPlan, fitted_terms, joined_linear

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RefitPlan:
    """How the leaves of a boosted forest are learned once more, from other rows."""

    loss: Loss
    penalties: tuple[float, float, float]  # L1, L2 and path smoothing
    longest_step: float  # largest size of a leaf value before the learning rate
    learning_rate: float
    members: int  # models whose mean the forest is
    trees_per_round: int  # of one of them
    parallel_trees: int  # of these, for the same scores
    constant: float | None = None  # the score to start from; None for the best one
    softmax_hessian: str = "friedman"
    linear_l2: float = 0.0  # of the coefficients of linear leaves
    decay: float = 0.0  # share of the old value of a leaf that stays
    threads: int = 1

    @property
    def rate(self) -> float:
        """The learning rate of one tree."""
        return self.learning_rate / self.parallel_trees

    def start(self, y: NDArray[Any], weight: Floats | None, offset: Floats | None) -> Floats:
        """The score before the first tree: given, or the best constant."""
        if offset is not None or self.constant is not None:
            return np.full(self.loss.width, self.constant or 0.0)
        return self.loss.start(y, weight)


class MemberScores:
    """Scores of the rows by one of the models whose mean a forest is; and in its present round the loss and its derivatives."""

    def __init__(self, raw: Floats, y: NDArray[Any], weight: Floats | None, plan: RefitPlan) -> None:
        self.raw, self.y, self.weight, self.plan = raw, y, weight, plan
        self.loss, self.before = plan.loss, raw
        self.gradient = self.hessian = np.zeros((0, 0))  # (n, K)

    def begin_round(self) -> None:
        """Take the derivatives at the present scores."""
        loss, plan = self.plan.loss, self.plan
        self.before = self.raw if plan.parallel_trees == 1 else self.raw.copy()
        self.loss = loss if loss.is_resolved else loss.resolved(self.y, self.raw, self.weight)
        found = self.loss.derivatives(self.y, self.raw, self.weight, plan.threads)
        self.gradient, self.hessian = (part.reshape(len(self.y), -1) for part in found)

    def values(self, tree: Forest, by_node: RowsByLeaf) -> Floats:
        """Values of the nodes of a forest of one tree (N, L), before the learning rate, from the rows that end at each."""
        plan, output = self.plan, int(tree.output[0])
        if self.loss.refits:
            full = by_node.ends > by_node.begins
            found = refitted_nodes(self.loss, output, by_node, full, self.y, self.before, self.weight, plan.threads)
            return np.clip(found.reshape(len(full), -1), -plan.longest_step, plan.longest_step)
        order, begins, ends = by_node
        columns = []
        for column in range(self.loss.width) if output < 0 else (output,):
            gradient, hessian = summed_by_leaf(self.gradient[order, column], self.hessian[order, column], begins, ends)
            sums = gradient, hessian * hessian_factors(plan.loss, plan.softmax_hessian)[1]
            steps = leaf_steps(tree.feature, tree.child, ends - begins, sums, plan.penalties, plan.longest_step)
            columns.append(self.loss.rescaled_steps(steps, column))
        return np.clip(np.stack(columns, axis=1), -plan.longest_step, plan.longest_step)

    def linear_parts(self, tree: Forest, linear: LinearLeaves, numbers: Floats, by_node: RowsByLeaf, value: Floats) -> LinearLeaves:
        """The linear parts of a forest of one tree, from rows; `value` (N,) are the new constant values, times the learning rate."""
        plan, output = self.plan, int(tree.output[0])
        old = linear.scaled(plan.members)
        how = LinearPlan(plan.linear_l2, (*plan.penalties[:2], plan.rate))
        hessian = self.hessian[:, output] * hessian_factors(plan.loss, plan.softmax_hessian)[1]
        derivatives = np.ascontiguousarray(self.gradient[:, output]), np.ascontiguousarray(hessian)
        new = fitted_terms(old, numbers, derivatives, by_node, value, how, plan.threads)
        return new if plan.decay == 0.0 else old.mixed(plan.decay, new)


def refit_leaves(
    forest: Forest, x: tuple[Any, NDArray[np.int64]], y: NDArray[Any], weight: Floats | None, offset: Floats | None, plan: RefitPlan
) -> Forest:
    """The same splits with a start and leaf values from some rows of a table, which the trees need not have been grown from.

    A leaf that none of these rows reaches has the value that it had. `x` is the table and which of its rows count; `offset` are scores to
    start from; without them it is the best constant.
    """
    weight = in_rows(weight)
    start = plan.start(y, weight, offset)
    first = np.full(len(y), start[0]) if len(start) == 1 else np.tile(start, (len(y), 1))
    members = [MemberScores(first + (0.0 if offset is None else offset), y, weight, plan) for _ in range(plan.members)]
    table, rows = x
    numbers = np.zeros((len(rows), 0)) if forest.linear is None else table.float_matrix()[rows]
    values, covers = np.array(forest.value), np.array(forest.cover)
    linear: list[LinearLeaves] = []
    for number, ends in forest.staged_leaves(table, plan.threads):
        tree, leaf, nodes = tree_of(forest, number), ends[rows], slice(forest.roots[number], forest.roots[number + 1])
        member = members[number // plan.trees_per_round % plan.members]
        if number % plan.trees_per_round == 0:
            member.begin_round()
        by_node = RowsByLeaf(*rows_by_leaf(leaf, None, nodes.stop - nodes.start))
        found = member.values(tree, by_node)
        # Values of the forest are parts of the mean of all members.
        old = values[nodes] * plan.members
        new = np.where((by_node.ends > by_node.begins)[:, None], plan.decay * old + (1.0 - plan.decay) * found * plan.rate, old)
        cover = covers_below(tree.feature, tree.child, np.bincount(leaf, weight, minlength=len(new)).astype(np.float64))
        tree = replace(tree, value=new, cover=cover).with_node_values()
        values[nodes], covers[nodes] = tree.value / plan.members, tree.cover
        if tree.linear is not None:
            linear.append(member.linear_parts(tree, tree.linear, numbers, by_node, found[:, 0] * plan.rate))
            tree = replace(tree, linear=linear[-1])
        tree.add_leaves(numbers, (0, 1), leaf[:, None], member.raw.reshape(len(y), -1), plan.threads)
    joined = joined_linear([(part, part.first.size - 1) for part in linear])
    return replace(forest, value=values, cover=covers, start=start, linear=None if joined is None else joined.scaled(1.0 / plan.members))
