"""What is left to do for a tree that has its values: means at inner nodes, and scores of the rows."""

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import run_ranges
from woodwind.kernels.derivatives import add_leaf_column, add_leaf_values, add_leaf_vectors
from woodwind.kernels.traverse import node_means
from woodwind.tree.assemble import ValuedTree


def with_means(tree: ValuedTree) -> ValuedTree:
    """Inner nodes get the cover-weighted mean of the leaves below: what a walk that ends there takes."""
    roots: NDArray[np.int64] = np.array([0, len(tree.feature)])
    node_means(tree.feature, tree.child, tree.cover, roots, tree.value)
    return tree


def add_tree(raw: NDArray[np.float64], tree: ValuedTree, leaf: NDArray[np.int32], threads: int) -> None:
    """Add the value of the leaf of each row to its score, or to its scores."""
    values = np.ascontiguousarray(tree.value)

    def part(begin: int, end: int) -> None:
        if tree.output < 0:
            add_leaf_vectors(raw, leaf, values, begin, end)
        elif raw.ndim == 1:
            add_leaf_values(raw, leaf, values[:, 0], begin, end)
        else:
            add_leaf_column(raw, tree.output, leaf, values[:, 0], begin, end)

    run_ranges(part, len(raw), threads, 1)
