"""Rows to the nodes where their walks end, on raw values: any forest, any value, one row or many.

A walk is a chain of loads that each wait for the one before. So many lanes walk side by side: all trees for one row, or
one tree for a block of rows. A list names the lanes that still move; it shrinks without a branch, so that no lane waits
for the deepest one and nothing is mispredicted.
Blocks of many rows are faster by `woodwind/kernels/sweep.py`, which leaves to this file what it does not cover.
The slow twins are in `woodwind/testing/naive_traverse.py`.
"""

from typing import Any, NamedTuple

import numpy as np

from woodwind.kernels.jit import kernel
from woodwind.kernels.layout import STOP

# Lanes walked side by side. Fewer leave the core waiting: of 32, each costs 64 ns in a tree of 255 leaves, of 256 or more 28.
LANES = 512
# Below this number of rows the lanes are trees.
FEW_ROWS = 16

# The first word of a node: the left child in the low 32 bits, the feature in the next 24, then flags.
CHILD_MASK = 0xFFFFFFFF
FEATURE_SHIFT = 32
FEATURE_MASK = 0xFFFFFF
MISSING_SHIFT = 56  # two bits: LEFT, RIGHT or STOP
CATEGORY_SHIFT = 58
INNER_SHIFT = 59  # two bits: whether the left and the right child are split again; the next bit is zero, for STOP
SPLIT_SHIFT = 62  # the node itself is split
# The second word: the threshold; of a category split the place of its sets, and above that the words of one set.
SET_SHIFT = 40
SET_MASK = 0xFFFFFFFFFF


class Walk(NamedTuple):
    """A forest as the walking kernels see it. Nodes are numbered through all trees."""

    nodes: Any  # uint64[2 N]: two words for each node, so that a step reads one line of the cache
    words: Any  # uint64[W]: sets of category levels
    value: Any  # float64[N, L]
    trees: Any  # int64[T + 1, 2]: root, and the column that the tree adds to; -1: as many columns as values have


@kernel
def turn(word: Any, place: Any, x: float, words: Any) -> Any:
    """Where a value goes that is missing, or that meets a category split: LEFT, RIGHT or STOP."""
    # Of numbers only those missing come here, so -1 is always the missing level.
    if x != x or x == -1.0:
        return (word >> np.uint64(MISSING_SHIFT)) & np.uint64(3)
    size = place >> np.uint64(SET_SHIFT)
    if not 0.0 <= x < 64.0 * np.float64(size):
        return np.uint64(STOP)
    level = np.uint64(np.int64(x))
    at = (place & np.uint64(SET_MASK)) + (level >> np.uint64(6))
    bit = level & np.uint64(63)
    left = (words[at] >> bit) & np.uint64(1)
    right = (words[at + size] >> bit) & np.uint64(1)
    return np.uint64(STOP) - np.uint64(2) * left - right


@kernel
def advance(lanes: Any, offsets: Any, moving: Any, n_moving: Any, x: Any, nodes: Any, words: Any) -> None:
    """Walk every lane that `moving` names to the node where it ends.

    lanes    uint32[LANES]: the node of each lane, an inner one for those that move; the result
    offsets  uint64[LANES]: where the row of a lane begins in x
    moving   uint16[LANES]: lanes that move, the first n_moving entries; overwritten
    n_moving uint64
    """
    numbers = nodes.view(np.float64)
    n = n_moving
    while n != np.uint64(0):
        kept = np.uint64(0)
        for j in range(n):
            i = np.uint64(moving[j])
            node = np.uint64(lanes[i])
            word = nodes[node + node]
            v = x[offsets[i] + ((word >> np.uint64(FEATURE_SHIFT)) & np.uint64(FEATURE_MASK))]
            # One branch for all that is not a plain comparison; it is guessed right where such values are rare.
            if (v != v) | ((word >> np.uint64(CATEGORY_SHIFT)) & np.uint64(1) != np.uint64(0)):
                way = turn(word, nodes[node + node + np.uint64(1)], np.float64(v), words)
                if way != np.uint64(STOP):
                    node = (word & np.uint64(CHILD_MASK)) + way
            else:
                way = np.uint64(v > numbers[node + node + np.uint64(1)])
                node = (word & np.uint64(CHILD_MASK)) + way
            lanes[i] = node
            moving[kept] = i
            kept += (word >> (np.uint64(INNER_SHIFT) + way)) & np.uint64(1)
        n = kept


@kernel
def deliver(node: Any, row: Any, tree: Any, first_tree: Any, walk: Any, out: Any, out_leaf: Any) -> None:
    """Write down that a row ends at a node of a tree."""
    if out is not None:
        column = walk.trees[tree, 1]
        if column >= 0:
            out[row, np.uint64(column)] += walk.value[node, np.uint64(0)]
        else:
            for k in range(np.uint64(walk.value.shape[1])):
                out[row, k] += walk.value[node, k]
    if out_leaf is not None:
        out_leaf[row, tree - first_tree] = np.int64(node) - walk.trees[tree, 0]


@kernel
def walk_rows(x: Any, n_features: int, n_rows: int, trees: Any, walk: Any, out: Any, out_leaf: Any) -> None:
    """Walk all rows of x float[n_rows * n_features] through trees[0]..trees[1].

    out      float64[n, n_outputs] or None: the values are added, trees in order
    out_leaf int32[n, trees[1] - trees[0]] or None: the node where each walk ends, counted from the root of its tree
    """
    lanes = np.empty(LANES, np.uint32)
    offsets = np.empty(LANES, np.uint64)
    moving = np.empty(LANES, np.uint16)
    first_tree, n_trees = np.uint64(trees[0]), np.uint64(trees[1] - trees[0])
    by_tree = n_rows < FEW_ROWS
    outer, inner = (np.uint64(n_rows), n_trees) if by_tree else (n_trees, np.uint64(n_rows))
    for begin in range(np.uint64(0), inner, np.uint64(LANES)):
        n = min(np.uint64(LANES), inner - begin)
        for one in range(outer):
            kept = np.uint64(0)
            for i in range(n):
                row, tree = (one, first_tree + begin + i) if by_tree else (begin + i, first_tree + one)
                root = np.uint64(walk.trees[tree, 0])
                lanes[i] = root
                offsets[i] = row * np.uint64(n_features)
                moving[kept] = i
                kept += (walk.nodes[root + root] >> np.uint64(SPLIT_SHIFT)) & np.uint64(1)
            advance(lanes, offsets, moving, kept, x, walk.nodes, walk.words)
            for i in range(n):
                row, tree = (one, first_tree + begin + i) if by_tree else (begin + i, first_tree + one)
                deliver(np.uint64(lanes[i]), row, tree, first_tree, walk, out, out_leaf)


@kernel
def node_means(feature: Any, child: Any, cover: Any, roots: Any, value: Any) -> None:
    """Give every inner node of value float64[N, L] the mean of its children, weighted by cover, from the leaves upwards.

    Where nothing covers the children, both weigh the same.
    """
    for tree in range(roots.shape[0] - 1):
        for node in range(roots[tree + 1] - 1, roots[tree] - 1, -1):
            if feature[node] < 0:
                continue
            left = roots[tree] + child[node]
            total = cover[left] + cover[left + 1]
            right_share = cover[left + 1] / total if total > 0.0 else 0.5
            for k in range(value.shape[1]):
                # In this form equal children have exactly their own value as the mean.
                value[node, k] = value[left, k] + (value[left + 1, k] - value[left, k]) * right_share
