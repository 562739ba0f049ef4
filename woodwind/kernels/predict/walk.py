"""Rows to the nodes where their walks end, on raw values: any forest, any value, one row or many.

A walk is a chain of loads that each wait for the one before. So many lanes walk side by side: all trees for one row, or
one tree for a block of rows. A lane that has ended stays where it is: leaves lead to themselves, and a stop is a stop again.
Blocks of many rows are faster by `woodwind/kernels/predict/questions.py`, which leaves to this file what it does not cover.
The slow twins are in `tests/reference/naive_traverse.py`.
"""

from typing import Any, NamedTuple

import numpy as np

from woodwind.kernels.predict.question_plan import BLOCK
from woodwind.kernels.runtime.intrinsics import prefetch
from woodwind.kernels.runtime.jit import inner, kernel
from woodwind.kernels.tree.layout import STOP

# Lanes of one call: those of a block, whose rows may have to walk on.
LANES = BLOCK
# Lanes walked side by side until the last of them has ended. Enough for a prefetched node to arrive before its turn, which
# halves the time in trees of 20,000 nodes; a list of the lanes that still move costs more than the steps it saves.
GROUP = 64
# Below this number of rows the lanes are trees.
FEW_ROWS = 16

# The first word of a node: the left child in the low 32 bits, the feature in the next 24, then flags.
CHILD_MASK = 0xFFFFFFFF
FEATURE_SHIFT = 32
FEATURE_MASK = 0xFFFFFF
MISSING_SHIFT = 56  # two bits: LEFT, RIGHT or STOP
CATEGORY_SHIFT = 58
# The second word: the threshold; of a category split the position of its sets, and above that the words of one set.
SET_SHIFT = 40
SET_MASK = 0xFFFFFFFFFF


class Walk(NamedTuple):
    """A forest as the walking kernels see it. Nodes are numbered through all trees."""

    nodes: Any  # uint64[2 N]: two words for each node, so that a step reads one line of the cache; a leaf is its own left child
    words: Any  # uint64[W]: sets of categories, as bits
    value: Any  # float64[N, L]
    trees: Any  # int64[T + 1, 2]: root, and the column that the tree adds to; -1: as many columns as values have


@inner
def turn(word: Any, sets: Any, x: float, words: Any) -> Any:
    """Where a value goes that is missing, or that meets a category split: LEFT, RIGHT or STOP."""
    # Of numbers only those missing come here, so -1 is always a missing category. `sets` is the second word of the node.
    if x != x or x == -1.0:
        return (word >> np.uint64(MISSING_SHIFT)) & np.uint64(3)
    size = sets >> np.uint64(SET_SHIFT)
    if not 0.0 <= x < 64.0 * np.float64(size):
        return np.uint64(STOP)
    category = np.uint64(np.int64(x))
    at = (sets & np.uint64(SET_MASK)) + (category >> np.uint64(6))
    bit = category & np.uint64(63)
    left = (words[at] >> bit) & np.uint64(1)
    right = (words[at + size] >> bit) & np.uint64(1)
    return np.uint64(STOP) - np.uint64(2) * left - right


@inner
def advance(lanes: Any, offsets: Any, n: Any, x: Any, nodes: Any, words: Any) -> None:
    """Walk the first n lanes to the nodes where they end: lanes uint32, the node of each lane, in and out.

    offsets uint64: where the row of a lane begins in x.
    """
    numbers = nodes.view(np.float64)
    for first in range(np.uint64(0), n, np.uint64(GROUP)):
        last = min(first + np.uint64(GROUP), n)
        moved = np.uint64(1)
        while moved != np.uint64(0):
            moved = np.uint64(0)
            for i in range(first, last):
                node = np.uint64(lanes[i])
                word = nodes[node + node]
                v = x[offsets[i] + ((word >> np.uint64(FEATURE_SHIFT)) & np.uint64(FEATURE_MASK))]
                # One branch for all that is not a plain comparison; it is guessed right where such values are rare.
                if (v != v) | ((word >> np.uint64(CATEGORY_SHIFT)) & np.uint64(1) != np.uint64(0)):
                    way = turn(word, nodes[node + node + np.uint64(1)], np.float64(v), words)
                    to = node if way == np.uint64(STOP) else (word & np.uint64(CHILD_MASK)) + way
                else:
                    to = (word & np.uint64(CHILD_MASK)) + np.uint64(v > numbers[node + node + np.uint64(1)])
                prefetch(nodes, to + to)
                moved |= node ^ to
                lanes[i] = to


@inner
def deliver(lanes: Any, n: Any, first: Any, step: Any, walk: Any, first_tree: Any, out: Any, out_leaf: Any) -> None:
    """Write down where the first n lanes ended; first and step are (row, tree) of lane 0 and from one lane to the next."""
    # Arrays are taken out of the tuple once: each time counts a reference, which cost 30 ns for every lane.
    value, trees = walk.value, walk.trees
    row, tree = first
    scalar = value.shape[1] == 1
    for i in range(n):
        node = np.uint64(lanes[i])
        if out is not None:
            if scalar:
                out[row, np.uint64(trees[tree, 1])] += value[node, np.uint64(0)]
            else:
                for k in range(np.uint64(value.shape[1])):
                    out[row, k] += value[node, k]
        if out_leaf is not None:
            out_leaf[row, tree - first_tree] = np.int64(node) - trees[tree, 0]
        row += step[0]
        tree += step[1]


@kernel
def walk_rows(x: Any, n_features: int, n_rows: int, trees: Any, walk: Any, out: Any, out_leaf: Any) -> None:
    """Walk all rows of x float[n_rows * n_features] through trees[0]..trees[1].

    out      float64[n, n_outputs] or None: the values are added, trees in order
    out_leaf int32[n, trees[1] - trees[0]] or None: the node where each walk ends, counted from the root of its tree
    """
    lanes, offsets = np.empty(LANES, np.uint32), np.empty(LANES, np.uint64)
    nodes, words, roots = walk.nodes, walk.words, walk.trees
    none, one, width, most = np.uint64(0), np.uint64(1), np.uint64(n_features), np.uint64(LANES)
    first_tree, last_tree, last_row = np.uint64(trees[0]), np.uint64(trees[1]), np.uint64(n_rows)
    if n_rows < FEW_ROWS:
        for row in range(last_row):
            for begin in range(first_tree, last_tree, most):
                n = min(most, last_tree - begin)
                for i in range(n):
                    lanes[i] = roots[begin + i, 0]
                    offsets[i] = row * width
                advance(lanes, offsets, n, x, nodes, words)
                deliver(lanes, n, (row, begin), (none, one), walk, first_tree, out, out_leaf)
        return
    for begin in range(none, last_row, most):
        n = min(most, last_row - begin)
        for tree in range(first_tree, last_tree):
            for i in range(n):
                lanes[i] = roots[tree, 0]
                offsets[i] = (begin + i) * width
            advance(lanes, offsets, n, x, nodes, words)
            deliver(lanes, n, (begin, tree), (one, none), walk, first_tree, out, out_leaf)


@kernel
def walk_sparse_rows(stored: Any, rows: Any, line: Any, absent: Any, trees: Any, walk: Any, out: Any, out_leaf: Any) -> None:
    """Walk rows[0]..rows[1] through trees[0]..trees[1]: `out` and `out_leaf` as in `walk_rows`, of these rows alone.

    A row is filled into a line that has room for every feature, walks, and is cleared again: all that it costs is its stored cells and its
    steps. The line of ten thousand codes stays in the first-level cache. The twin is `walk_rows`: `tests/laws/test_sparse_is_dense.py`.
    stored = (starts int64[n + 1], features int32[m], values float[m]); line float[F]: all of it `absent`, in and out.
    """
    starts, features, values = stored
    lanes, offsets = np.empty(LANES, np.uint32), np.zeros(LANES, np.uint64)
    nodes, words, roots = walk.nodes, walk.words, walk.trees
    none, one, most = np.uint64(0), np.uint64(1), np.uint64(LANES)
    first_tree, last_tree = np.uint64(trees[0]), np.uint64(trees[1])
    for row in range(rows[0], rows[1]):
        for k in range(np.uint64(starts[row]), np.uint64(starts[row + 1])):
            line[np.uint64(features[k])] = values[k]
        for begin in range(first_tree, last_tree, most):
            n = min(most, last_tree - begin)
            for i in range(n):
                lanes[i] = roots[begin + i, 0]
            advance(lanes, offsets, n, line, nodes, words)
            deliver(lanes, n, (np.uint64(row - rows[0]), begin), (none, one), walk, first_tree, out, out_leaf)
        for k in range(np.uint64(starts[row]), np.uint64(starts[row + 1])):
            line[np.uint64(features[k])] = absent


def direct(compiled: Any, *arguments: Any) -> Any:
    """The compiled code of a kernel for arguments of exactly these types, without the look at them that every call takes.

    It saves 1.4 microseconds a call, and trusts the caller: arguments of other types would be read as if they were these.
    Whether an array may be written to makes no difference.
    """
    if not hasattr(compiled, "typeof_pyval"):  # the compiler is off
        return compiled
    return compiled.compile(tuple(compiled.typeof_pyval(argument) for argument in arguments))
