"""A grown tree in the form in which it is kept: inner nodes from the root downwards, left before right, and leaves in the same order.

Two words for each inner node. A child that is not a leaf either stands next or is referred to, and one reference is enough:

    left inner                  left is the next node, the reference is to the right child, leaf or not
    left leaf, right inner      the reference is to the left leaf, right is the next node
    both leaves                 the reference is to the left leaf, the right one follows it
"""

from typing import Any

import numpy as np

from woodwind.kernels.forest import memory
from woodwind.kernels.forest.layout import CATEGORY_SHIFT, FEATURE_SHIFT, LEFT_LEAF_SHIFT, MEDIANS, MISSING_SHIFT, RIGHT_LEAF_SHIFT, SEVERAL
from woodwind.kernels.forest.medians import median_of_rows
from woodwind.kernels.forest.several import value_several
from woodwind.kernels.runtime.intrinsics import prefetch
from woodwind.kernels.runtime.jit import inner
from woodwind.kernels.runtime.records import Tree
from woodwind.kernels.tree import memory as common
from woodwind.kernels.tree import nodes

U = np.uint64

AHEAD = 12


@inner
def value_leaf(tree: Tree, leaf: Any, begin: Any, end: Any) -> None:
    """Weight of each class among the rows of a leaf, or the mean of their targets, or the median: summed in the order of rows."""
    rows = memory.rows(tree)
    times = memory.times(tree)
    real = memory.real_rows(tree)
    value = memory.out_value(tree, leaf)
    for k in range(len(value)):
        value[k] = 0.0
    cover = 0.0
    n_classes = memory.n_classes(tree)
    y = real[0, rows[begin]]
    same = True
    last = memory.n_tree_rows(tree) - 1
    for j in range(begin, end):
        row = rows[j]
        # Leaves are valued in the order of their rows, so that what comes next is known.
        coming = rows[min(j + AHEAD, last)]
        prefetch(times, coming)
        prefetch(real[0], coming)
        prefetch(real[1], coming)
        weight = np.float64(times[row]) * real[1, row]
        cover += weight
        if n_classes > 0:
            value[np.int64(real[0, row])] += weight
        else:
            value[0] += weight * real[0, row]
            same = same and real[0, row] == y
    if n_classes == 0:
        # Rows of one target say just that, without any rounding.
        value[0] = y if same else value[0] / cover
    if memory.criterion(tree) == MEDIANS:
        value[0] = median_of_rows(tree, begin, end)
    memory.out_cover(tree)[leaf] = cover
    memory.out_span(tree)[leaf] = begin


@inner
def value_counted_leaf(tree: Tree, leaf: Any, node: int) -> None:
    """The same for two classes and rows that weigh one: known from tree."""
    value = memory.out_value(tree, leaf)
    cover = np.float64(memory.both(tree, node) >> 32)
    value[1] = np.float64(memory.total(tree, node))
    value[0] = cover - value[1]
    memory.out_cover(tree)[leaf] = cover
    memory.out_span(tree)[leaf] = nodes.begin(tree, node)


@inner
def write_inner(tree: Tree, number: Any, node: int) -> None:
    """Write an inner node, without its reference."""
    out = memory.out_nodes(tree)
    word = (U(nodes.feature(tree, node)) << U(FEATURE_SHIFT)) | (U(nodes.missing(tree, node)) << U(MISSING_SHIFT))
    if nodes.category_set(tree, node) >= 0:
        word |= U(1) << U(CATEGORY_SHIFT)
        out[2 * number + 1] = U(8 * nodes.category_set(tree, node))
    else:
        out.view(np.float64)[2 * number + 1] = memory.threshold(tree, node)
    out[2 * number] = word
    memory.out_gain(tree)[number] = nodes.gain(tree, node)


@inner
def emit_tree(tree: Tree) -> None:
    """Write the tree to the out arrays."""
    stack = common.heap(tree)
    out = memory.out_nodes(tree)
    # Of each node that waits: itself, and twice the number of its parent, plus one on the right.
    stack[0] = 0
    stack[1] = -1
    size = 1
    counted = memory.is_counted(tree) != 0
    inner_nodes = np.int64(0)
    leaves = np.int64(0)
    while size > 0:
        size -= 1
        node = stack[2 * size]
        above = stack[2 * size + 1]
        parent = above >> 1
        is_leaf = nodes.feature(tree, node) < 0
        number = leaves if is_leaf else inner_nodes
        if above >= 0:
            word = out[2 * parent]
            left_leaf = (word >> U(LEFT_LEAF_SHIFT)) & U(1)
            if above & 1 == 0 and is_leaf:
                word |= (U(1) << U(LEFT_LEAF_SHIFT)) | U(number)
            elif above & 1 == 1:
                if left_leaf == U(0):
                    word |= U(number)
                if is_leaf:
                    word |= U(1) << U(RIGHT_LEAF_SHIFT)
            out[2 * parent] = word
        if is_leaf:
            if counted:
                value_counted_leaf(tree, leaves, node)
            elif memory.criterion(tree) == SEVERAL:
                value_several(tree, leaves, nodes.begin(tree, node), nodes.end(tree, node))
            else:
                value_leaf(tree, leaves, nodes.begin(tree, node), nodes.end(tree, node))
            leaves += 1
        else:
            write_inner(tree, inner_nodes, node)
            stack[2 * size] = nodes.child(tree, node) + 1
            stack[2 * size + 1] = 2 * inner_nodes + 1
            stack[2 * size + 2] = nodes.child(tree, node)
            stack[2 * size + 3] = 2 * inner_nodes
            size += 2
            inner_nodes += 1
    memory.out_span(tree)[leaves] = nodes.end(tree, 0)
    memory.set_n_inner(tree, inner_nodes)
    common.set_n_leaves(tree, leaves)
