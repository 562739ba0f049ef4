"""A grown tree in the form in which it is kept: inner nodes from the root downwards, left before right, and leaves in the same order.

Two words for each inner node. A child that is not a leaf either stands next or is referred to, and one reference is enough:

    left inner                  left is the next node, the reference is to the right child, leaf or not
    left leaf, right inner      the reference is to the left leaf, right is the next node
    both leaves                 the reference is to the left leaf, the right one follows it
"""

from typing import Any

import numpy as np

from woodwind.kernels.forest.memory import (
    BEGIN,
    BOTH,
    C_INNER,
    C_LEAVES,
    C_ROWS,
    CATEGORY_SHIFT,
    CHILD,
    CONTROL,
    CUT,
    END,
    FEATURE,
    FEATURE_SHIFT,
    GAIN,
    HEAP,
    LEFT_LEAF_SHIFT,
    MISSING,
    MISSING_SHIFT,
    NODE_F,
    NODE_I,
    OUT_COVER,
    OUT_GAIN,
    OUT_NODES,
    OUT_SPAN,
    OUT_VALUE,
    R_COUNTED,
    R_N_CLASSES,
    REAL,
    RIGHT_LEAF_SHIFT,
    ROWS,
    SET,
    SUM,
    TIMES,
)
from woodwind.kernels.runtime.intrinsics import floats, int_list, ints, prefetch, row_list, word_list
from woodwind.kernels.runtime.jit import inner

U = np.uint64

AHEAD = 12


@inner
def value_leaf(growing: Any, leaf: Any, begin: Any, end: Any) -> None:
    """Weight of each class among the rows of a leaf, or the mean of their targets: summed in the order of rows."""
    rows = row_list(growing, ROWS)
    times = row_list(growing, TIMES)
    real = floats(growing, REAL)
    value = floats(growing, OUT_VALUE)[leaf]
    for k in range(len(value)):
        value[k] = 0.0
    cover = 0.0
    n_classes = growing[R_N_CLASSES]
    y = real[0, rows[begin]]
    same = True
    last = int_list(growing, CONTROL)[C_ROWS] - 1
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
    floats(growing, OUT_COVER)[0, leaf] = cover
    int_list(growing, OUT_SPAN)[leaf] = begin


@inner
def value_counted_leaf(growing: Any, leaf: Any, node: Any) -> None:
    """The same for two classes and rows that weigh one: known from growing."""
    what = ints(growing, NODE_I)[node]
    value = floats(growing, OUT_VALUE)[leaf]
    cover = np.float64(what[BOTH] >> 32)
    value[1] = np.float64(what[SUM])
    value[0] = cover - value[1]
    floats(growing, OUT_COVER)[0, leaf] = cover
    int_list(growing, OUT_SPAN)[leaf] = what[BEGIN]


@inner
def write_inner(growing: Any, number: Any, node: Any) -> None:
    """Write an inner node, without its reference."""
    what = ints(growing, NODE_I)[node]
    out = word_list(growing, OUT_NODES)
    word = (U(what[FEATURE]) << U(FEATURE_SHIFT)) | (U(what[MISSING]) << U(MISSING_SHIFT))
    if what[SET] >= 0:
        word |= U(1) << U(CATEGORY_SHIFT)
        out[2 * number + 1] = U(8 * what[SET])
    else:
        out.view(np.float64)[2 * number + 1] = floats(growing, NODE_F)[node, CUT]
    out[2 * number] = word
    floats(growing, OUT_GAIN)[0, number] = floats(growing, NODE_F)[node, GAIN]


@inner
def emit_tree(growing: Any) -> None:
    """Write the tree to the OUT arrays."""
    control = int_list(growing, CONTROL)
    nodes = ints(growing, NODE_I)
    stack = int_list(growing, HEAP)
    out = word_list(growing, OUT_NODES)
    # Of each node that waits: itself, and twice the number of its parent, plus one on the right.
    stack[0] = 0
    stack[1] = -1
    size = 1
    counted = growing[R_COUNTED] != 0
    inner_nodes = np.int64(0)
    leaves = np.int64(0)
    while size > 0:
        size -= 1
        node = stack[2 * size]
        above = stack[2 * size + 1]
        parent = above >> 1
        is_leaf = nodes[node, FEATURE] < 0
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
                value_counted_leaf(growing, leaves, node)
            else:
                value_leaf(growing, leaves, nodes[node, BEGIN], nodes[node, END])
            leaves += 1
        else:
            write_inner(growing, inner_nodes, node)
            stack[2 * size] = nodes[node, CHILD] + 1
            stack[2 * size + 1] = 2 * inner_nodes + 1
            stack[2 * size + 2] = nodes[node, CHILD]
            stack[2 * size + 3] = 2 * inner_nodes
            size += 2
            inner_nodes += 1
    int_list(growing, OUT_SPAN)[leaves] = nodes[0, END]
    control[C_INNER] = inner_nodes
    control[C_LEAVES] = leaves
