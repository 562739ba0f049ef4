"""Minimal cost-complexity pruning: Breiman, Friedman, Olshen & Stone 1984, chapter 3.

A subtree costs its error plus alpha for each leaf. As alpha rises from zero, subtrees become leaves one after another, always the one
whose error falls least for each of its leaves (the weakest link). The fall in error of a subtree is the sum of the gains of its splits,
so the whole path can be read from a forest of one tree.
"""

import heapq
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from woodwind.kernels.tree.layout import STOP
from woodwind.tree.forest import Forest

Floats = NDArray[np.float64]


def weakest_links(forest: Forest) -> Iterator[tuple[float, int]]:
    """The alpha at which each subtree becomes a leaf, ascending, and its root; until only the root of the tree is left.

    Errors are divided by the weight of all rows. Of equal links the one with the lowest number comes first.
    """
    n_nodes = forest.n_nodes
    child, gain, weight = forest.child.tolist(), forest.gain.tolist(), float(forest.cover[0])
    parent, leaves, fall = [-1] * n_nodes, [1] * n_nodes, [0.0] * n_nodes
    for node in range(n_nodes - 1, -1, -1):
        if child[node]:
            for side in (child[node], child[node] + 1):
                parent[side] = node
            _renew(node, child, gain, leaves, fall)
    waiting = [(_link(node, leaves, fall, weight), node) for node in range(n_nodes) if child[node]]
    heapq.heapify(waiting)
    while waiting:
        alpha, node = heapq.heappop(waiting)
        # An entry is out of date if the node has been cut off, is a leaf now, or has lost leaves since.
        if leaves[node] == 1 or alpha != _link(node, leaves, fall, weight) or _is_gone(node, parent, leaves):
            continue
        yield alpha, node
        leaves[node], fall[node] = 1, 0.0
        above = parent[node]
        while above >= 0:
            _renew(above, child, gain, leaves, fall)
            heapq.heappush(waiting, (_link(above, leaves, fall, weight), above))
            above = parent[above]


def _renew(node: int, child: list[int], gain: list[float], leaves: list[int], fall: list[float]) -> None:
    """Leaves and fall in error of the subtree of a node, from those of its children."""
    left = child[node]
    leaves[node] = leaves[left] + leaves[left + 1]
    fall[node] = gain[node] + (fall[left] + fall[left + 1])


def _link(node: int, leaves: list[int], fall: list[float], weight: float) -> float:
    """Fall in error for each leaf more than one: Breiman et al. 1984, g(t)."""
    return fall[node] / (leaves[node] - 1) / weight if leaves[node] > 1 else -1.0


def _is_gone(node: int, parent: list[int], leaves: list[int]) -> bool:
    """Whether some node above has become a leaf."""
    above = parent[node]
    while above >= 0:
        if leaves[above] == 1:
            return True
        above = parent[above]
    return False


def pruned(forest: Forest, alpha: float) -> Forest:
    """The smallest subtree among those whose cost is least at this alpha."""
    cut = np.zeros(forest.n_nodes, np.bool_)
    for link, node in weakest_links(forest):
        if link > alpha:
            break
        cut[node] = True
    return with_leaves(forest, cut) if cut.any() else forest


def with_leaves(forest: Forest, cut: NDArray[np.bool_]) -> Forest:
    """A forest of one tree in which some nodes have become leaves; what was below them is gone."""
    kept = [0]
    for node in kept:
        if forest.child[node] and not cut[node]:
            kept += [int(forest.child[node]), int(forest.child[node]) + 1]
    nodes = np.sort(np.array(kept))
    number = np.full(forest.n_nodes, -1)
    number[nodes] = np.arange(len(nodes))
    inner = (forest.child[nodes] > 0) & ~cut[nodes]
    sets, words, position = np.full(len(nodes), -1), [forest.words[:0]], 0
    for new in np.flatnonzero(inner & (forest.sets[nodes] >= 0)):
        old = nodes[new]
        size = 2 * int(forest.set_words[forest.feature[old]])
        words.append(forest.words[forest.sets[old] : forest.sets[old] + size])
        sets[new], position = position, position + size
    return replace(
        forest,
        roots=np.array([0, len(nodes)]),
        feature=np.where(inner, forest.feature[nodes], -1),
        threshold=np.where(inner, forest.threshold[nodes], 0.0),
        child=np.where(inner, number[forest.child[nodes]], 0),
        missing=np.where(inner, forest.missing[nodes], STOP),
        sets=sets,
        words=np.concatenate(words),
        value=forest.value[nodes],
        cover=forest.cover[nodes],
        gain=np.where(inner, forest.gain[nodes], 0.0),
    )


def pruning_path(forest: Forest, impurity: float) -> tuple[Floats, Floats]:
    """The alphas at which the tree shrinks, from zero on, and the impurity of the leaves that are then left.

    `impurity` is that of all rows together.
    """
    left = impurity - float(forest.gain.sum()) / float(forest.cover[0])
    alphas, impurities = [0.0], [left]
    removed = np.zeros(forest.n_nodes, np.bool_)
    for alpha, node in weakest_links(forest):
        fall, below = 0.0, [node]
        for item in below:
            if forest.child[item] and not removed[item]:
                fall += float(forest.gain[item])
                below += [int(forest.child[item]), int(forest.child[item]) + 1]
        removed[node] = True
        alphas.append(alpha)
        impurities.append(impurities[-1] + fall / float(forest.cover[0]))
    return np.array(alphas), np.array(impurities)
