"""Some trees of a grove as a grove of their own, in which a tree may come several times; and what each tree says."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from woodwind.kernels.forest.layout import CATEGORY_SHIFT
from woodwind.tree.forest import Forest
from woodwind.tree.grove import Grove
from woodwind.tree.leaf_targets import LeafRows

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Words of the two sets of a category split.
SET_WORDS = 8


def trees_of(grove: Grove, numbers: Iterable[int], entropy: bool = False) -> Grove:
    """The trees of these numbers, in this order. `entropy`: by what splits were judged, for the importance of features."""
    chosen = [int(number) for number in numbers]
    nodes, words = _packed_sets(grove.nodes.reshape(-1, 2)[_places(grove.roots[:, 0], chosen)], grove.words)
    leaves = _places(grove.roots[:, 1], chosen)
    leaf, mixed = _packed_leaves(grove, leaves)
    shares = {number: importance_share(tree, entropy and grove.n_classes > 0) for number, tree in enumerate(grove.separate())}
    return replace(
        grove,
        nodes=nodes,
        words=words,
        roots=np.concatenate([np.zeros((1, 2), np.int64), np.cumsum(np.diff(grove.roots, axis=0)[chosen], axis=0)]),
        leaf=leaf,
        mixed=mixed,
        cover=grove.cover[leaves],
        importance=np.sum([shares[number] for number in chosen], axis=0),
        _stops=[],
    )


def _packed_sets(nodes: NDArray[np.uint64], words: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Nodes (I, 2) in a row, and only those sets of levels that they use."""
    nodes = nodes.copy()
    category = np.flatnonzero(nodes[:, 0] >> np.uint64(CATEGORY_SHIFT) & np.uint64(1))
    sets = words[nodes[category, 1].astype(np.int64)[:, None] + np.arange(SET_WORDS)]
    nodes[category, 1] = np.arange(len(category), dtype=np.uint64) * np.uint64(SET_WORDS)
    return nodes.reshape(-1), sets.reshape(-1)


def _packed_leaves(grove: Grove, leaves: Integers) -> tuple[NDArray[np.int32] | None, Floats]:
    """Leaves, and only those rows of `mixed` that they use."""
    if grove.leaf is None:
        return None, grove.mixed[leaves]
    leaf = grove.leaf[leaves]
    some = np.flatnonzero(leaf < 0)
    mixed = grove.mixed[-1 - leaf[some]]
    leaf[some] = -1 - np.arange(some.size, dtype=np.int32)
    return leaf, mixed


def said_by_trees(grove: Grove, x: Any, threads: int = 1) -> Floats:
    """What each tree says of the rows of a table, (n, T, K or 1)."""
    ends, values = grove.ends(x, threads), grove.leaf_values()
    stops = grove.stops() if (ends < 0).any() else np.zeros((1, grove.n_outputs))
    out = np.empty((grove.n_trees, len(ends), grove.n_outputs))
    for tree, (inner, leaf) in enumerate(grove.roots[:-1]):
        end = ends[:, tree]
        out[tree] = values[leaf + np.maximum(end, 0)]
        stopped = np.flatnonzero(end < 0)
        out[tree, stopped] = stops[inner - 1 - end[stopped]]
    return out.transpose(1, 0, 2)


def leaf_rows_of(rows: LeafRows, grove: Grove, numbers: Iterable[int]) -> LeafRows:
    """The training targets in the leaves of some trees of a grove; nothing tells how to calibrate these."""
    # There is one more span than leaves for each tree: where the last one ends.
    begins = grove.roots[:, 1] + np.arange(grove.n_trees + 1)
    return replace(rows, span=rows.span[_places(begins, [int(number) for number in numbers])], levels=None)


def importance_share(tree: Forest, entropy: bool) -> Floats:
    """Share of the impurity that each feature removes in one tree."""
    split = np.flatnonzero(tree.feature >= 0)
    value = tree.value
    if entropy:
        value = np.where(value > 0.0, value * np.log(np.where(value > 0.0, value, 1.0)), 0.0)
        purity = tree.cover * value.sum(axis=1)
    else:
        purity = tree.cover * (value * value).sum(axis=1)
    left = tree.child[split]
    gain = np.maximum(purity[left] + purity[left + 1] - purity[split], 0.0)
    total = np.bincount(tree.feature[split], weights=gain, minlength=tree.n_features).astype(np.float64)
    return total / total.sum() if total.sum() > 0.0 else total


def _places(begins: Integers, chosen: list[int]) -> Integers:
    """The places from begins[t] to begins[t + 1] of all chosen t, one after another."""
    return np.concatenate([np.arange(begins[t], begins[t + 1]) for t in chosen])
