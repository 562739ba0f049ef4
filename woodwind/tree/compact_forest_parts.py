"""Some trees of a CompactForest as a CompactForest of their own, in which a tree may come several times; and what each tree predicts."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.kernels.forest.layout import (
    CATEGORY_SHIFT,
    FEATURE_MASK,
    FEATURE_SHIFT,
    LEFT_LEAF_SHIFT,
    LOW_HALF,
    MISSING_SHIFT,
    RIGHT_LEAF_SHIFT,
)
from woodwind.kernels.forest.score import CRITERIA
from woodwind.kernels.tree.layout import SET_WORDS
from woodwind.tree.compact_forest import CompactForest
from woodwind.tree.forest import STOP, Forest
from woodwind.tree.leaf_targets import LeafRows

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def trees_of(compact: CompactForest, numbers: Iterable[int], criterion: str = "gini") -> CompactForest:
    """The trees of these numbers, in this order. `criterion`: by what splits were scored, for the importance of features."""
    chosen = [int(number) for number in numbers]
    nodes, words = _packed_sets(compact.nodes.reshape(-1, 2)[_positions(compact.roots[:, 0], chosen)], compact.words)
    leaves = _positions(compact.roots[:, 1], chosen)
    leaf, mixed = _packed_leaves(compact, leaves)
    shares = {number: importance_share(tree, criterion) for number, tree in enumerate(compact.separate())}
    return replace(
        compact,
        nodes=nodes,
        words=words,
        roots=np.concatenate([np.zeros((1, 2), np.int64), np.cumsum(np.diff(compact.roots, axis=0)[chosen], axis=0)]),
        leaf=leaf,
        mixed=mixed,
        cover=compact.cover[leaves],
        importance=np.sum([shares[number] for number in chosen], axis=0),
        _stops=[],
    )


def _packed_sets(nodes: NDArray[np.uint64], words: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Nodes (I, 2) in a row, and only those sets of categories that they use."""
    nodes = nodes.copy()
    category = np.flatnonzero(nodes[:, 0] >> np.uint64(CATEGORY_SHIFT) & np.uint64(1))
    sets = words[nodes[category, 1].astype(np.int64)[:, None] + np.arange(2 * SET_WORDS)]
    nodes[category, 1] = np.arange(len(category), dtype=np.uint64) * np.uint64(2 * SET_WORDS)
    return nodes.reshape(-1), sets.reshape(-1)


def _packed_leaves(compact: CompactForest, leaves: Integers) -> tuple[NDArray[np.int32] | None, Floats]:
    """Leaves, and only those rows of `mixed` that they use."""
    if compact.leaf is None:
        return None, compact.mixed[leaves]
    leaf = compact.leaf[leaves]
    some = np.flatnonzero(leaf < 0)
    mixed = compact.mixed[-1 - leaf[some]]
    leaf[some] = -1 - np.arange(some.size, dtype=np.int32)
    return leaf, mixed


def predicted_by_trees(compact: CompactForest, x: Any, threads: int = 1) -> Floats:
    """What each tree predicts for the rows of a table, (n, T, K or 1)."""
    ends, values = compact.ends(x, threads), compact.leaf_values()
    stops = compact.stops() if (ends < 0).any() else np.zeros((1, compact.n_outputs))
    out = np.empty((compact.n_trees, len(ends), compact.n_outputs))
    for tree, (inner, leaf) in enumerate(compact.roots[:-1]):
        end = ends[:, tree]
        out[tree] = values[leaf + np.maximum(end, 0)]
        stopped = np.flatnonzero(end < 0)
        out[tree, stopped] = stops[inner - 1 - end[stopped]]
    return out.transpose(1, 0, 2)


def leaf_rows_of(rows: LeafRows, compact: CompactForest, numbers: Iterable[int]) -> LeafRows:
    """The training targets in the leaves of some trees of a CompactForest; nothing tells how to calibrate these."""
    # There is one more span than leaves for each tree: where the last one ends.
    begins = compact.roots[:, 1] + np.arange(compact.n_trees + 1)
    return replace(rows, span=rows.span[_positions(begins, [int(number) for number in numbers])], levels=None)


def importance_share(tree: Forest, criterion: str) -> Floats:
    """Share of the impurity that each feature removes in one tree."""
    split = np.flatnonzero(tree.feature >= 0)
    purity = tree.cover * CRITERIA[criterion].purity(tree.value)
    left = tree.child[split]
    gain = np.maximum(purity[left] + purity[left + 1] - purity[split], 0.0)
    total = np.bincount(tree.feature[split], weights=gain, minlength=tree.n_features).astype(np.float64)
    return total / total.sum() if total.sum() > 0.0 else total


def _positions(begins: Integers, chosen: list[int]) -> Integers:
    """The positions from begins[t] to begins[t + 1] of all chosen t, one after another."""
    return np.concatenate([np.arange(begins[t], begins[t + 1]) for t in chosen])


# ----------------------------------------------------------------------------------------------------
# A CompactForest in the general form with as little work as possible: every array of all trees at once, and no order but what kernels need.
#
# `CompactForest.forest` numbers nodes level by level and tells what splits gain, tree by tree. Explaining needs neither, and for a few rows
# in a large forest the form would take as long as the explanation.


U = np.uint64


def quick_form(compact: CompactForest, divisor: int) -> Forest:
    """The trees of a CompactForest as a Forest, their values divided; gains are left out."""
    word, second = compact.nodes[::2], compact.nodes[1::2]
    (inner, leaf), sizes = positions_of(compact), np.diff(compact.roots, axis=0)
    rank = np.arange(len(word)) - np.repeat(compact.roots[:-1, 0], sizes[:, 0])
    n = len(inner) + len(leaf)
    category = (word >> U(CATEGORY_SHIFT)) & U(1) == 1

    # Sets stand in the order of the trees: of those of all trees, the ones that these use.
    used = second[category].astype(np.int64)
    low, high = (int(used.min()), int(used.max()) + 2 * SET_WORDS) if used.size else (0, 0)
    sets = np.full(len(word), -1)
    sets[category] = used - low

    def spread(values: NDArray[Any], at_leaves: float) -> NDArray[Any]:
        out = np.full(n, at_leaves, values.dtype)
        out[inner] = values
        return out

    means, covers = compact._means()
    value, cover = np.empty((n, compact.n_outputs)), np.empty(n)
    value[inner], value[leaf] = means / divisor, compact.leaf_values() / divisor
    cover[inner], cover[leaf] = covers, compact.cover
    return Forest(
        roots=compact.roots.sum(axis=1),
        feature=spread(((word >> U(FEATURE_SHIFT)) & U(FEATURE_MASK)).astype(np.int32), -1),
        threshold=spread(np.where(category, 0.0, np.ascontiguousarray(second).view(np.float64)), 0.0),
        child=spread((1 + 2 * rank).astype(np.int32), 0),
        missing=spread(((word >> U(MISSING_SHIFT)) & U(3)).astype(np.uint8), STOP),
        sets=spread(sets, -1),
        words=compact.words[low:high],
        set_words=np.where(compact.n_categories > 0, SET_WORDS, 0),
        value=value,
        cover=cover,
        gain=np.zeros(n),
        output=np.full(compact.n_trees, -1 if compact.n_outputs > 1 else 0),
        n_outputs=compact.n_outputs,
        start=np.zeros(compact.n_outputs),
    )


def positions_of(compact: CompactForest) -> tuple[Integers, Integers]:
    """The place of every inner node and of every leaf: in each tree the root, then the children of its inner nodes in their order.

    A split has a smaller rank than those below it, and so children stand behind their parents.
    """
    word, sizes = compact.nodes[::2], np.diff(compact.roots, axis=0)
    begin, first_leaf = (np.repeat(part, sizes[:, 0]) for part in (compact.roots[:-1].sum(axis=1), compact.roots[:-1, 1]))
    first_inner = np.repeat(compact.roots[:-1, 0], sizes[:, 0])
    own = np.arange(len(word))
    left = begin + 1 + 2 * (own - first_inner)
    left_leaf, right_leaf = ((word >> U(shift)) & U(1) == 1 for shift in (LEFT_LEAF_SHIFT, RIGHT_LEAF_SHIFT))
    refers = (word & U(LOW_HALF)).astype(np.int64)
    inner, leaf = np.empty(len(word), np.int64), np.empty(len(compact.cover), np.int64)
    grows = sizes[:, 0] > 0
    inner[compact.roots[:-1, 0][grows]] = compact.roots[:-1].sum(axis=1)[grows]
    leaf[compact.roots[:-1, 1][~grows]] = compact.roots[:-1].sum(axis=1)[~grows]
    inner[own[~left_leaf] + 1] = left[~left_leaf]
    leaf[(first_leaf + refers)[left_leaf]] = left[left_leaf]
    inner[np.where(left_leaf, own + 1, first_inner + refers)[~right_leaf]] = left[~right_leaf] + 1
    leaf[(first_leaf + refers + left_leaf)[right_leaf]] = left[right_leaf] + 1
    return inner, leaf
