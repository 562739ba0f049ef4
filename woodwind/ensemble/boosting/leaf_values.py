"""Values of leaves in a round of boosting: Newton steps from sums of derivatives, or from residuals where the loss `refits`; linear leaves.

All are before the learning rate but those of linear leaves.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.ensemble.boosting.boost_plan import BoostPlan, hessian_factors, leaf_hessian
from woodwind.ensemble.boosting.tree_learner import Floats, Rows, Targets, TreeLearner
from woodwind.losses.base import Loss, RowsByLeaf
from woodwind.tree.grown_tree import GrownTree, ValuedTree, fill_empty, leaf_steps, newton_tree, newton_values, rows_by_leaf, within_bounds
from woodwind.tree.linear_leaves import LinearInputs, LinearLeaves, LinearPlan, fitted_terms, path_terms


@dataclass(eq=False)  # not frozen: that triples the time of making one
class LeafValues:
    """How the leaves of the trees of a round get their values."""

    loss: Loss  # as it stands in the round
    plan: BoostPlan
    learner: TreeLearner  # has the derivatives of the round
    y: Targets
    raw: Floats  # scores before the round
    weight: Floats | None  # of the rows, in the round

    def of_grown(self, tree: GrownTree, output: int, rows: Rows | None, threads: int) -> Floats:
        """Values of the nodes of a tree that was grown from these rows: (N,), or (N, K) of a tree for all outputs."""
        if self.loss.refits:
            by_node = RowsByLeaf(tree.rows.astype(np.int32), tree.begin, tree.end)
            values = refitted_nodes(self.loss, output, by_node, tree.leaves, self.y, self.raw, self.weight, threads)
            return fill_empty(tree, values if output < 0 else within_bounds(tree, values))
        settings = self.plan.tree
        if output < 0:
            gradient, hessian = self.learner.sums(tree.leaf_of_row, tree.n_nodes, rows, output)
            steps = fill_empty(tree, newton_values(gradient, leaf_hessian(self.plan, hessian), settings.l1, settings.l2))
        else:
            steps = newton_tree(tree, leaf_hessian(self.plan, tree.hessian), settings.penalties)
        return self.loss.rescaled_steps(steps, output)

    def of_rows(self, tree: ValuedTree, leaf: NDArray[np.int32], rows: Rows | None, counts: NDArray[np.int64]) -> Floats:
        """Values of the nodes of a tree from the rows that end in them, and so many do; nodes without any have no meaning."""
        n_nodes = len(tree.feature)
        if self.loss.refits:
            by_node = RowsByLeaf(*rows_by_leaf(leaf, rows, n_nodes))
            return refitted_nodes(self.loss, tree.output, by_node, counts > 0, self.y, self.raw, self.weight, self.plan.threads)
        gradient, hessian = self.learner.sums(leaf, n_nodes, rows, tree.output)
        sums, settings = (gradient, leaf_hessian(self.plan, hessian)), self.plan.tree
        steps = leaf_steps(tree.feature, tree.child, counts, sums, settings.penalties, settings.longest_step)
        return self.loss.rescaled_steps(steps, tree.output)


def refitted_nodes(
    loss: Loss, output: int, by_node: RowsByLeaf, nodes: NDArray[Any], y: Targets, raw: Floats, weight: Floats | None, threads: int = 1
) -> Floats:
    """Values of some nodes from the residuals of their rows, (N,) or (N, K), and zero for all others."""
    found = loss.refitted(output, RowsByLeaf(by_node.rows, by_node.begins[nodes], by_node.ends[nodes]), y, raw, weight, threads)
    values = np.zeros((len(by_node.begins), *found.shape[1:]))
    values[nodes] = found
    return values


class LinearLeafFitter:
    """Fits the linear parts of the leaves of trees, by the derivatives of a round."""

    def __init__(self, inputs: LinearInputs, y: Targets, plan: BoostPlan) -> None:
        self.inputs, self.y, self.plan = inputs, y, plan
        self._gradient = self._hessian = np.empty((0, 1))  # of all rows (n, K)

    def set_derivatives(self, loss: Loss, raw: Floats, weight: Floats | None) -> None:
        """Take the derivatives of all rows at these scores."""
        gradient, hessian = loss.derivatives(self.y, raw, weight, self.plan.threads)
        factor = hessian_factors(loss, self.plan.softmax_hessian)[1]
        self._gradient, self._hessian = gradient.reshape(len(raw), -1), hessian.reshape(len(raw), -1) * factor

    def fitted(self, tree: ValuedTree, leaf: NDArray[np.int32], rows: Rows | None, rate: float, threads: int) -> LinearLeaves:
        """The linear parts of the leaves of a tree, from the rows given, a row as often as it is given; times the learning rate.

        Their terms are those that the tree has already, or the numbers of their paths.
        """
        terms = tree.linear
        if terms is None:
            terms = path_terms(tree.feature, tree.child, tree.value[:, 0], self.inputs.scale)
        derivatives = np.ascontiguousarray(self._gradient[:, tree.output]), np.ascontiguousarray(self._hessian[:, tree.output])
        by_leaf = rows_by_leaf(leaf, rows, len(tree.feature))
        plan = LinearPlan(self.plan.linear_l2 or 0.0, (self.plan.tree.l1, self.plan.tree.l2, rate))
        return fitted_terms(terms, self.inputs.values, derivatives, by_leaf, tree.value[:, 0], plan, threads)
