"""Forests of random structure: complete trees whose questions are drawn before a row is seen; only the leaves are filled from data.

Daumé, *A course in machine learning*, chapter on ensembles: "random forests". The questions do not depend on the target, so that trees are
the same for any target, and a tree costs one walk of the rows. The page is docs/algorithms/random-structure-forest.md.
"""

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import side_by_side
from woodwind.base.random_streams import hashes, integers, key, uniform
from woodwind.kernels.forest.layout import CATEGORY_SHIFT, FEATURE_SHIFT, LEFT_LEAF_SHIFT, MISSING_SHIFT, RIGHT_LEAF_SHIFT
from woodwind.kernels.predict.forest_walk import CompactWalk, find_leaves
from woodwind.kernels.runtime.jit import read_only
from woodwind.tree.compact_forest import CompactForest
from woodwind.tree.compact_forest_grower import CompactTree

Floats = NDArray[np.float64]
U = np.uint64


def references(depth: int) -> NDArray[np.uint64]:
    """The first words of a complete tree, from the root downwards, without features: references and which children are leaves."""
    size = (1 << depth) - 1
    level, leaves = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for node in range(size):
        # The left child stands next; the right one behind all that is below the left.
        if level[node] + 1 < depth:
            right = node + (1 << (depth - level[node] - 1))
            level[node + 1] = level[right] = level[node] + 1
            leaves[node + 1], leaves[right] = leaves[node], leaves[node] + (1 << (depth - level[node] - 1))
    inner = level + 1 < depth
    right = np.arange(size) + (1 << (depth - level - 1))
    both = (U(1) << U(LEFT_LEAF_SHIFT)) | (U(1) << U(RIGHT_LEAF_SHIFT))
    return np.where(inner, right.astype(np.uint64), leaves.astype(np.uint64) | both)


def questions(
    frame: NDArray[np.uint64], low: Floats, high: Floats, n_categories: NDArray[np.int32], name: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Nodes and sets of one tree: a random feature, and a uniform threshold in its range or a coin for each category, at every node."""
    size = len(frame)
    feature = integers(key(name, "feature"), len(low), size)
    share = uniform(key(name, "cut"), size)
    missing = integers(key(name, "missing"), 2, size)
    cut = low[feature] + share * (high[feature] - low[feature])
    category = n_categories[feature] > 0
    nodes = np.empty(2 * size, np.uint64)
    nodes[::2] = frame | (feature.astype(np.uint64) << U(FEATURE_SHIFT)) | (missing.astype(np.uint64) << U(MISSING_SHIFT))
    nodes[::2] |= category.astype(np.uint64) << U(CATEGORY_SHIFT)
    nodes[1::2] = cut.view(np.uint64)
    positions = np.flatnonzero(category)
    nodes[2 * positions + 1] = (8 * np.arange(positions.size)).astype(np.uint64)
    coins = hashes(key(name, "levels"), 4 * positions.size).reshape(-1, 4)
    return nodes, np.concatenate([coins, ~coins], axis=1).reshape(-1)


def filled(sums: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Sums and weights of the leaves of a complete tree; one without rows takes those of the smallest subtree around it that has some."""
    out, cover = sums.copy(), weight.copy()
    group = 1
    while (cover == 0.0).any() and group < len(cover):
        group *= 2
        empty = cover == 0.0
        around = np.repeat(sums.reshape(-1, group, sums.shape[1]).sum(axis=1), group, axis=0)
        out[empty], cover[empty] = around[empty], np.repeat(weight.reshape(-1, group).sum(axis=1), group)[empty]
    return out, cover


def structure_forest(
    x: NDArray[np.floating],
    y: Floats,
    weight: Floats,
    n_classes: int,
    n_categories: NDArray[np.int32],
    depth: int,
    seeds: tuple[int, int, int],
) -> CompactForest:
    """Complete trees of a depth on the rows of a C-ordered array; seeds = (seed, number of trees, threads)."""
    seed, n_trees, threads = seeds
    frame = references(depth)
    present = weight > 0.0
    numbers = np.where(np.isfinite(x) & present[:, None], x, np.nan).astype(np.float64)
    known = ~np.isnan(numbers).all(axis=0)
    low, high = np.zeros(x.shape[1]), np.zeros(x.shape[1])
    low[known], high[known] = np.nanmin(numbers[:, known], axis=0), np.nanmax(numbers[:, known], axis=0)
    flat, n_leaves = read_only(x.reshape(-1)), 1 << depth
    roots = read_only(np.array([[0, 0], [n_leaves - 1, n_leaves]]))

    def tree(_side: int, number: int) -> CompactTree:
        nodes, words = questions(frame, low, high, n_categories, key(seed, "structure", number))
        ends = np.empty((len(x), 1), np.int32)
        find_leaves(flat, x.shape, None, (0, 1), CompactWalk(read_only(nodes), read_only(words), roots), ends)
        leaf = ends[:, 0].astype(np.int64)
        position, what = (leaf * n_classes + y.astype(np.int64), weight) if n_classes else (leaf, weight * y)
        added = np.bincount(position, weights=what, minlength=n_leaves * max(n_classes, 1)).astype(np.float64).reshape(n_leaves, -1)
        sums, cover = filled(added, np.bincount(leaf, weights=weight, minlength=n_leaves).astype(np.float64))
        value = sums if n_classes else sums / cover[:, None]
        if n_classes:
            cover = value.sum(axis=1)  # added up in the same order, so that a leaf of one class is known by it
        return CompactTree(nodes, np.zeros(n_leaves - 1), words, value, cover, None, None)

    return CompactForest.of(side_by_side(tree, list(range(n_trees)), min(threads, n_trees)), n_categories, n_classes)
