"""Leaf values of a boosted forest, learned once more from rows of another table: the splits stay."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.ensemble.boosting.boost_plan import hessian_factors
from woodwind.ensemble.boosting.exact_learner import summed_by_leaf
from woodwind.ensemble.boosting.leaf_values import refitted_nodes
from woodwind.ensemble.boosting.training_rows import in_rows
from woodwind.losses.base import Loss, RowsByLeaf
from woodwind.tree.forest import Forest, tree_of
from woodwind.tree.grown_tree import covers_below, leaf_steps, rows_by_leaf
from woodwind.tree.linear_leaves import LinearLeaves, LinearPlan, fitted_terms, joined_linear, number_matrix

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


def refit_leaves(
    forest: Forest, x: tuple[Any, NDArray[np.int64]], y: NDArray[Any], weight: Floats | None, offset: Floats | None, plan: RefitPlan
) -> Forest:
    """The same splits with a start and leaf values from some rows of a table, which the trees need not have been grown from.

    A leaf that none of these rows reaches has the value that it had. `x` is the table and which of its rows count; `offset` are scores to
    start from; without them it is the best constant.
    """
    loss, weight = plan.loss, in_rows(weight)
    is_given = offset is not None or plan.constant is not None
    start = np.full(loss.width, plan.constant or 0.0) if is_given else loss.start(y, weight)
    first = np.full(len(y), start[0]) if loss.width == 1 else np.tile(start, (len(y), 1))
    raws = [first + (0.0 if offset is None else offset) for _ in range(plan.members)]
    values, covers = np.array(forest.value), np.array(forest.cover)
    gradient, hessian, now, before = np.zeros((0, 0)), np.zeros((0, 0)), loss, first
    rate = plan.learning_rate / plan.parallel_trees
    table, rows = x
    numbers = np.zeros((len(rows), 0)) if forest.linear is None else number_matrix(table)[rows]
    linear: list[LinearLeaves] = []
    for tree, ends in forest.staged_leaves(table, plan.threads):
        leaf = ends[rows]
        nodes, output = slice(forest.roots[tree], forest.roots[tree + 1]), int(forest.output[tree])
        raw = raws[tree // plan.trees_per_round % plan.members]
        if tree % plan.trees_per_round == 0:
            before = raw if plan.parallel_trees == 1 else raw.copy()
            now = loss if loss.is_resolved else loss.resolved(y, raw, weight)
            gradient, hessian = (part.reshape(len(y), -1) for part in now.derivatives(y, raw, weight, plan.threads))
        order, begin, end = rows_by_leaf(leaf, None, nodes.stop - nodes.start)
        splits = forest.feature[nodes], forest.child[nodes]
        if now.refits:
            by_node = RowsByLeaf(order, begin, end)
            found = refitted_nodes(now, output, by_node, end > begin, y, before, weight, plan.threads).reshape(len(begin), -1)
        else:
            columns = range(loss.width) if output < 0 else range(output, output + 1)
            found = new_steps((gradient, hessian), columns, (order, begin, end), splits, plan, now)
        found = np.clip(found, -plan.longest_step, plan.longest_step)
        # Values of the forest are parts of the mean of all members.
        old = values[nodes] * plan.members
        new = np.where((end > begin)[:, None], plan.decay * old + (1.0 - plan.decay) * found * rate, old)
        cover = np.bincount(leaf, weight, minlength=len(new)).astype(np.float64)
        finished = replace(tree_of(forest, tree), value=new, cover=covers_below(*splits, cover)).with_node_values()
        values[nodes], covers[nodes] = finished.value / plan.members, finished.cover
        if finished.linear is not None:
            parts = gradient[:, output], hessian[:, output] * hessian_factors(loss, plan.softmax_hessian)[1]
            terms = new_terms(finished.linear, numbers, parts, (order, begin, end), found[:, 0] * rate, plan)
            finished = replace(finished, linear=terms)
            linear.append(terms)
        finished.add_leaves(numbers, (0, 1), leaf[:, None], raw.reshape(len(raw), -1), plan.threads)
    joined = joined_linear([(part, part.first.size - 1) for part in linear])
    return replace(forest, value=values, cover=covers, start=start, linear=None if joined is None else joined.scaled(1.0 / plan.members))


def new_steps(
    derivatives: tuple[Floats, Floats], columns: range, by_leaf: Any, splits: tuple[Any, Any], plan: RefitPlan, loss: Loss
) -> Floats:
    """Values of the nodes of a tree (N, L), before the learning rate, from the derivatives (n, K) of rows, for some of the K scores."""
    (gradient, hessian), (order, begin, end) = derivatives, by_leaf
    found = np.zeros((len(begin), len(columns)))
    for position, column in enumerate(columns):
        total = summed_by_leaf(gradient[order, column], hessian[order, column], begin, end)
        total = total[0], total[1] * hessian_factors(plan.loss, plan.softmax_hessian)[1]
        steps = leaf_steps(*splits, end - begin, total, plan.penalties, plan.longest_step)
        found[:, position] = loss.in_scores(steps, column)
    return found


def new_terms(
    linear: LinearLeaves, numbers: Floats, derivatives: tuple[Floats, Floats], by_leaf: Any, value: Floats, plan: RefitPlan
) -> LinearLeaves:
    """The linear parts of a tree of a forest, learned once more from rows; `value` (N,) are the new constant values."""
    old = linear.scaled(plan.members)
    how = LinearPlan(plan.linear_l2, (*plan.penalties[:2], plan.learning_rate / plan.parallel_trees))
    gradient, hessian = (np.ascontiguousarray(part) for part in derivatives)
    new = fitted_terms(old, numbers, (gradient, hessian), by_leaf, value, how, plan.threads)
    return new if plan.decay == 0.0 else old.mixed(plan.decay, new)
