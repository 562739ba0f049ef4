"""How much a forest relies on each column, by the rows that its trees have not seen.

Impurity removed in training favours columns of many values, also where they are noise; rows out of the bag know better.
"""

import numpy as np
from numpy.typing import NDArray

from woodwind.base.pool import side_by_side
from woodwind.base.streams import key, permutation
from woodwind.ensemble.forest import Unseen
from woodwind.kernels.forest.layout import FEATURE_MASK, FEATURE_SHIFT
from woodwind.kernels.predict.forest_walk import find_leaves
from woodwind.tree.grove import Grove
from woodwind.tree.predictor import read_only

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def features_of(grove: Grove, tree: int) -> Integers:
    """The feature of every inner node of a tree."""
    begin, end = grove.roots[tree, 0], grove.roots[tree + 1, 0]
    return ((grove.nodes[2 * begin : 2 * end : 2] >> np.uint64(FEATURE_SHIFT)) & np.uint64(FEATURE_MASK)).astype(np.int64)


def permutation_importance(grove: Grove, bag: Unseen, y: Floats, source: Integers, seed: int, threads: int) -> Floats:
    """By how much the error of a tree on rows out of its bag rises when a column is shuffled among them (Breiman 2001): mean over trees.

    The error is the share of wrong votes, or the squared error. `source`: the column of each feature; those of one column move together.
    """
    n_columns = int(source.max(initial=-1)) + 1

    def error(tree: int, x: NDArray[np.float64], truth: Floats) -> float:
        out = np.zeros((len(x), grove.n_outputs))
        grove.add(x, None, (tree, tree + 1), out)
        if grove.n_classes:
            return float((out.argmax(axis=1) != truth).mean())
        return float(((out[:, 0] - truth) ** 2).mean())

    def of_tree(_side: int, tree: int) -> Floats:
        rise = np.zeros(n_columns)
        rows = bag.drawing.unseen(tree)
        if rows.size == 0:
            return rise
        x, truth = np.array(bag.x[rows]), y[rows]
        before = error(tree, x, truth)
        for column in np.unique(source[features_of(grove, tree)]):
            own = np.flatnonzero(source == column)
            kept = x[:, own]
            x[:, own] = kept[permutation(key(seed, "shuffle", tree, int(column)), len(rows))]
            rise[column] = error(tree, x, truth) - before
            x[:, own] = kept
        return rise

    found = side_by_side(of_tree, list(range(grove.n_trees)), min(threads, grove.n_trees))
    return np.asarray(sum(found, np.zeros(n_columns)) / max(grove.n_trees, 1))


def debiased_importance(grove: Grove, bag: Unseen, y: Floats, source: Integers, threads: int) -> Floats:
    """The impurity that the splits by each column remove, as rows out of the bag see it (Li, Wang, Basu, Kumbier & Yu 2019, "A debiased MDI
    feature importance measure for random forests"): mean over trees, about zero for noise.

    On its way down a tree a row passes means; a split is worth the step between them times what the row itself is.
    """
    n_columns = int(source.max(initial=-1)) + 1
    inner, leaves = grove.stops(), grove.leaf_values()
    centred = y if grove.n_classes else y - y.mean()

    def of_tree(_side: int, tree: int) -> Floats:
        out = np.zeros(n_columns)
        rows = bag.drawing.unseen(tree)
        begin, first = grove.roots[tree]
        end, last = grove.roots[tree + 1]
        if rows.size == 0 or begin == end:
            return out
        ends = np.empty((len(rows), 1), np.int32)
        find_leaves(read_only(bag.x.reshape(-1)), (len(rows), bag.x.shape[1]), rows, (tree, tree + 1), grove.walk, ends)
        left, right = grove.children(tree)
        size = len(left)
        parent = np.full(int(end - begin + last - first), -1)
        parent[left] = parent[right] = np.arange(size)
        value = np.concatenate([inner[begin:end], leaves[first:last]])
        column = source[features_of(grove, tree)]
        node = np.where(ends[:, 0] >= 0, size + ends[:, 0].astype(np.int64), -1 - ends[:, 0].astype(np.int64))
        own = centred[rows]
        while (going := parent[node] >= 0).any():
            node, own = node[going], own[going]
            above = parent[node]
            if grove.n_classes:
                step = value[node, own.astype(np.int64)] - value[above, own.astype(np.int64)]
            else:
                step = (value[node, 0] - value[above, 0]) * own
            out += np.bincount(column[above], weights=step, minlength=n_columns)
            node = above
        return out / len(rows)

    found = side_by_side(of_tree, list(range(grove.n_trees)), min(threads, grove.n_trees))
    return np.asarray(sum(found, np.zeros(n_columns)) / max(grove.n_trees, 1))
