"""What is left to do for a tree that has its values: means at inner nodes, and scores of the rows."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import run_ranges
from woodwind.kernels.histogram.leaves import add_leaf_column, add_leaf_values, add_leaf_vectors
from woodwind.kernels.predict.walk import node_means
from woodwind.tree.assemble import ValuedTree

# Rows to which all trees of a round are added before the next ones: their scores stay in the second-level cache.
ADD_ROWS = 4096
Placed = tuple[ValuedTree, NDArray[np.int32]]  # a tree, and the node where each row of the table ends


def with_means(tree: ValuedTree) -> ValuedTree:
    """Inner nodes get the cover-weighted mean of the leaves below: what a walk that ends there takes."""
    roots: NDArray[np.int64] = np.array([0, len(tree.feature)])
    node_means(tree.feature, tree.child, tree.cover, roots, tree.value)
    return tree


def add_placed(raw: NDArray[np.float64], placed: Sequence[Placed], threads: int) -> None:
    """Add the values of trees to the scores of all rows."""

    def part(begin: int, end: int) -> None:
        step = end - begin if len(placed) == 1 else ADD_ROWS
        for first in range(begin, end, step):
            for tree, leaf in placed:
                values, past = np.ascontiguousarray(tree.value), min(first + step, end)
                if tree.output < 0:
                    add_leaf_vectors(raw, leaf, values, first, past)
                elif raw.ndim == 1:
                    add_leaf_values(raw, leaf, values[:, 0], first, past)
                else:
                    add_leaf_column(raw, tree.output, leaf, values[:, 0], first, past)

    run_ranges(part, len(raw), threads, len(placed))
