"""Rows to the leaves of a forest, and leaves to predictions. The form of the trees is in `forest/emit.py`.

A walk is a chain of loads that each wait for the one before, so many lanes walk side by side: one tree for many rows, or, where rows are
few, many trees for one row. Each row adds its trees in order, so that the bits depend on neither the threads nor the other rows.
The slow twin is `tests/reference/naive_forest.py`.
"""

from typing import Any, NamedTuple

import numpy as np

from woodwind.kernels.forest.layout import (
    CATEGORY_SHIFT,
    FEATURE_MASK,
    FEATURE_SHIFT,
    LEFT_LEAF_SHIFT,
    LOW_HALF,
    MISSING_SHIFT,
    RIGHT_LEAF_SHIFT,
)
from woodwind.kernels.runtime.intrinsics import prefetch
from woodwind.kernels.runtime.jit import inlined, inner, kernel
from woodwind.kernels.tree.layout import STOP

U = np.uint64
ONE, S32 = np.uint64(1), np.uint64(32)
REFERENCE = np.uint64(LOW_HALF)

# Lanes that walk side by side until the last of them has ended.
LANES = 64
# Below this number of rows the lanes are trees.
FEW_ROWS = 16
# Rows that go through one tree before the next, so that the tree stays in the second cache.
BLOCK = 2048

# States of a lane: the number of an inner node; or, with these bits, of a leaf, or of the inner node where the walk stopped.
AT_LEAF = np.uint32(1 << 31)
STOPPED = np.uint32(1 << 30)
NUMBER = np.uint32((1 << 30) - 1)


class CompactWalk(NamedTuple):
    """A forest as the kernels see it."""

    nodes: Any  # uint64[2 I]
    words: Any  # uint64[W]
    roots: Any  # int64[T + 1, 2]: first inner node and first leaf of each tree


class CompactLeaves(NamedTuple):
    """What leaves say, and inner nodes where a walk stopped."""

    leaf: Any  # int32[L]: the class of all rows, or -1 - row of `mixed`; empty for numbers
    mixed: Any  # float64[D, K - 1]: weight of every class but the first; numbers: float64[L, 1], or one for each target
    cover: Any  # float[L]
    stops: Any  # float64[I, K]: shares of the classes or the mean below an inner node; empty until it is needed


@inner
def turn(word: Any, place: Any, x: Any, words: Any) -> Any:
    """Where a value goes that is missing, or that meets a category split: LEFT, RIGHT or STOP."""
    if x != x or x == -1.0:
        return (word >> U(MISSING_SHIFT)) & U(3)
    if not 0.0 <= x < 256.0:
        return U(STOP)
    category = U(np.int64(x))
    at = place + (category >> U(6))
    left = (words[at] >> (category & U(63))) & ONE
    right = (words[at + U(4)] >> (category & U(63))) & ONE
    return U(STOP) - U(2) * left - right


@inlined
def step(word: Any, node: Any, way: Any) -> Any:
    """The child of a node on the left (way = 0) or the right (1), and whether it is a leaf."""
    left_leaf = (word >> U(LEFT_LEAF_SHIFT)) & ONE
    is_leaf = (word >> (U(LEFT_LEAF_SHIFT) + way)) & ONE
    # The reference is to the right beside an inner node, to the left if that is a leaf. Where nothing refers to the child, it
    # stands next: the next node, or the leaf after the one that is referred to.
    base = word & REFERENCE if (way ^ left_leaf) | is_leaf != U(0) else node
    return base + (ONE - (way ^ left_leaf)), is_leaf


@inner
def advance(lanes: Any, offsets: Any, bases: Any, n: Any, x: Any, walk: Any, moving: Any) -> None:
    """Walk n lanes to their ends. offsets uint64: where the row of a lane begins in x; bases uint64: first node of its tree.

    moving uint64: scratch, (node << 32) + lane. Lanes that have ended leave the list: full trees have leaves at very different
    depths, and the list has no branch that would be guessed wrong at every end.
    """
    nodes = walk.nodes
    numbers = nodes.view(np.float64)
    words = walk.words
    left = U(0)
    for i in range(n):
        moving[left] = (U(lanes[i]) << S32) | i
        left += U(lanes[i] < STOPPED)
    while left != U(0):
        count = left
        left = U(0)
        for j in range(count):
            i = moving[j] & REFERENCE
            node = moving[j] >> S32
            place = (bases[i] + node) * U(2)
            word = nodes[place]
            v = x[offsets[i] + ((word >> U(FEATURE_SHIFT)) & U(FEATURE_MASK))]
            way = U(v > numbers[place + ONE])
            # One branch for all that is not a plain comparison; it is guessed right where such values are rare.
            if (v != v) | ((word >> U(CATEGORY_SHIFT)) & ONE != U(0)):
                way = turn(word, nodes[place + ONE], np.float64(v), words)
                if way == U(STOP):
                    lanes[i] = np.uint32(node) | STOPPED
                    continue
            to, is_leaf = step(word, node, way)
            lanes[i] = np.uint32(to | (is_leaf << U(31)))
            # By the turn of the lane in the next round its node is there.
            prefetch(nodes, (bases[i] + to) * U(2) * (ONE - is_leaf))
            moving[left] = (to << S32) | i
            left += ONE - is_leaf


@inner
def begin_lane(lanes: Any, offsets: Any, bases: Any, i: Any, offset: Any, roots: Any, tree: Any) -> None:
    """Put a lane at the root of a tree; a tree without splits is a leaf."""
    lanes[i] = AT_LEAF if roots[tree, 0] == roots[tree + ONE, 0] else np.uint32(0)
    offsets[i] = offset
    bases[i] = U(roots[tree, 0])


@inner
def add_lane(state: Any, base: Any, first_leaf: Any, leaves: Any, row: Any, out: Any) -> Any:
    """Add what the end of a walk says to a row of out; 1 if that is not known yet."""
    if state < AT_LEAF:
        if len(leaves.stops) == 0:
            return 1
        node = base + U(state & NUMBER)
        for k in range(U(out.shape[1])):
            out[row, k] += leaves.stops[node, k]
        return 0
    number = first_leaf + U(state & NUMBER)
    mixed = leaves.mixed
    if len(leaves.leaf) == 0:
        out[row, U(0)] += mixed[number, U(0)]
        for k in range(ONE, U(mixed.shape[1])):
            out[row, k] += mixed[number, k]
        return 0
    entry = np.int64(leaves.leaf[number])
    if entry >= 0:
        out[row, U(entry)] += 1.0
        return 0
    cover = np.float64(leaves.cover[number])
    rest = cover
    for k in range(U(mixed.shape[1])):
        weight = mixed[U(-1 - entry), k]
        rest -= weight
        out[row, k + ONE] += weight / cover
    out[row, U(0)] += rest / cover
    return 0


@kernel
def predict_compact_forest(x: Any, shape: Any, rows: Any, trees: Any, walk: Any, leaves: Any, out: Any) -> int:
    """Add what the trees say about rows of x float[n * F], shape = (n, F), to out float64[n, K or 1]; gives how often it is not known.

    rows int32: row i is row rows[i] of x and of out; None for all rows. trees = (first, behind the last).
    """
    lanes, offsets, bases = np.empty(LANES, np.uint32), np.empty(LANES, np.uint64), np.empty(LANES, np.uint64)
    moving = np.empty(LANES, np.uint64)
    roots = walk.roots
    n, width = U(shape[0]), U(shape[1])
    first_tree, last_tree = U(trees[0]), U(trees[1])
    unknown = 0
    if n < U(FEW_ROWS):
        for i in range(n):
            row = i if rows is None else U(rows[i])
            for begin in range(first_tree, last_tree, U(LANES)):
                some = min(U(LANES), last_tree - begin)
                for k in range(some):
                    begin_lane(lanes, offsets, bases, k, row * width, roots, begin + k)
                advance(lanes, offsets, bases, some, x, walk, moving)
                for k in range(some):
                    unknown += add_lane(lanes[k], bases[k], U(roots[begin + k, 1]), leaves, row, out)
        return unknown
    for block in range(U(0), n, U(BLOCK)):
        last = min(block + U(BLOCK), n)
        for tree in range(first_tree, last_tree):
            for begin in range(block, last, U(LANES)):
                some = min(U(LANES), last - begin)
                for k in range(some):
                    row = begin + k if rows is None else U(rows[begin + k])
                    begin_lane(lanes, offsets, bases, k, row * width, roots, tree)
                advance(lanes, offsets, bases, some, x, walk, moving)
                for k in range(some):
                    unknown += add_lane(lanes[k], bases[k], U(roots[tree, 1]), leaves, offsets[k] // width, out)
    return unknown


@kernel
def find_leaves(x: Any, shape: Any, rows: Any, trees: Any, walk: Any, out: Any) -> None:
    """Where rows end in trees: out int32[n, trees]: a leaf of its tree, or -1 - the inner node where the walk stopped."""
    lanes, offsets, bases = np.empty(LANES, np.uint32), np.empty(LANES, np.uint64), np.empty(LANES, np.uint64)
    moving = np.empty(LANES, np.uint64)
    n, width = U(shape[0]), U(shape[1])
    for tree in range(U(trees[0]), U(trees[1])):
        for begin in range(U(0), n, U(LANES)):
            some = min(U(LANES), n - begin)
            for k in range(some):
                row = begin + k if rows is None else U(rows[begin + k])
                begin_lane(lanes, offsets, bases, k, row * width, walk.roots, tree)
            advance(lanes, offsets, bases, some, x, walk, moving)
            for k in range(some):
                number = np.int32(lanes[k] & NUMBER)
                out[begin + k, tree - U(trees[0])] = number if lanes[k] >= AT_LEAF else np.int32(-1) - number


@kernel
def inner_means(walk: Any, leaves: Any, out: Any, out_cover: Any) -> None:
    """What all leaves below each inner node say together, weighted by cover: out float64[I, K or 1], out_cover float64[I]."""
    width = out.shape[1]
    for tree in range(walk.roots.shape[0] - 1):
        base = walk.roots[tree, 0]
        first_leaf = walk.roots[tree, 1]
        for node in range(walk.roots[tree + 1, 0] - 1, base - 1, -1):
            word = walk.nodes[2 * node]
            left_leaf = np.int64((word >> U(LEFT_LEAF_SHIFT)) & ONE)
            right_leaf = np.int64((word >> U(RIGHT_LEAF_SHIFT)) & ONE)
            refers = np.int64(word & REFERENCE)
            out_cover[node] = 0.0
            for k in range(width):
                out[node, k] = 0.0
            for side in range(2):
                is_leaf = left_leaf if side == 0 else right_leaf
                if side == 0:
                    child = refers if left_leaf else node - base + 1
                else:
                    child = refers if left_leaf == 0 else (refers + 1 if right_leaf else node - base + 1)
                if is_leaf == 0:
                    cover = out_cover[base + child]
                    for k in range(width):
                        out[node, k] += out[base + child, k] * cover
                else:
                    cover = np.float64(leaves.cover[first_leaf + child])
                    if len(leaves.leaf) == 0:
                        for k in range(width):
                            out[node, k] += leaves.mixed[first_leaf + child, k] * cover
                    else:
                        entry = np.int64(leaves.leaf[first_leaf + child])
                        if entry >= 0:
                            out[node, entry] += cover
                        else:
                            rest = cover
                            for k in range(1, width):
                                out[node, k] += leaves.mixed[-1 - entry, k - 1]
                                rest -= leaves.mixed[-1 - entry, k - 1]
                            out[node, 0] += rest
                out_cover[node] += cover
            for k in range(width):
                out[node, k] /= out_cover[node]
