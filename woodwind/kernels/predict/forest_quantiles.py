"""Quantiles of the training targets that share leaves with a row (Meinshausen 2006, "Quantile regression forests").

The slow twin is in `tests/reference/naive_forest.py`.
"""

from typing import Any, NamedTuple

import numpy as np

from woodwind.kernels.forest.layout import LEFT_LEAF_SHIFT, LOW_HALF, RIGHT_LEAF_SHIFT
from woodwind.kernels.runtime.bits import lowest_bit
from woodwind.kernels.runtime.jit import inlined, inner, kernel

U = np.uint64
ONE, S6, LOW6 = np.uint64(1), np.uint64(6), np.uint64(63)
REFERENCE = np.uint64(LOW_HALF)


class LeafTargets(NamedTuple):
    """The training targets of every leaf."""

    rank: Any  # int32[E]: place of a target among the different ones, leaf after leaf, tree after tree
    weight: Any  # float32[E]
    span: Any  # int64[L + T]: where the entries of a leaf begin; one more for each tree
    values: Any  # float64[V]: the different targets, ascending


@inner
def outer_leaf(nodes: Any, base: Any, node: Any, side: Any) -> Any:
    """The first (side 0) or last (side 1) leaf below an inner node."""
    while True:
        word = nodes[2 * (base + node)]
        left_leaf = (word >> U(LEFT_LEAF_SHIFT)) & ONE
        is_leaf = (word >> U(RIGHT_LEAF_SHIFT if side else LEFT_LEAF_SHIFT)) & ONE
        refers = np.int64(word & REFERENCE)
        if is_leaf != U(0):
            return refers if (left_leaf == U(0) or side == 0) else refers + 1
        node = refers if side == 1 and left_leaf == U(0) else node + 1


@inlined
def entries_at(end: Any, walk: Any, targets: Any, tree: Any) -> Any:
    """The targets that a tree has where a walk ended, of a leaf or of all leaves below a node: the first, and behind the last."""
    first = last = np.int64(end)
    if first < 0:
        node = -1 - first
        first = outer_leaf(walk.nodes, walk.roots[tree, 0], node, 0)
        last = outer_leaf(walk.nodes, walk.roots[tree, 0], node, 1)
    at = walk.roots[tree, 1] + tree
    return targets.span[at + first], targets.span[at + last + 1]


@kernel
def shares_below(ends: Any, walk: Any, targets: Any, own: Any, unseen: Any, begin: int, end: int, out: Any) -> None:
    """What share of the targets that rows meet is below their own, and what share is equal: out float64[2, n], NaN for rows that meet none.

    own int32[n]: rank of the target of a row; unseen bool[T, n]: trees that are asked about it; ends as below.
    """
    for row in range(begin, end):
        out[0, row] = 0.0
        out[1, row] = 0.0
        asked = 0
        for tree in range(ends.shape[1]):
            if not unseen[tree, row]:
                continue
            first, last = entries_at(ends[row, tree], walk, targets, tree)
            weight = 0.0
            below = 0.0
            equal = 0.0
            for j in range(first, last):
                w = np.float64(targets.weight[j])
                weight += w
                below += w if targets.rank[j] < own[row] else 0.0
                equal += w if targets.rank[j] == own[row] else 0.0
            out[0, row] += below / weight
            out[1, row] += equal / weight
            asked += 1
        for side in range(2):
            out[side, row] = out[side, row] / asked if asked > 0 else np.nan


@kernel
def quantiles_of_rows(ends: Any, walk: Any, targets: Any, wanted: Any, begin: int, end: int, out: Any) -> None:
    """Quantiles of rows begin..end: out float64[n, Q], for wanted float64[Q] ascending; ends int32[n, T] from `find_leaves`.

    A tree gives every target of the leaf its share of the weight there. A quantile is the least target up to which, itself included,
    the share is at least as large.
    """
    n_values = len(targets.values)
    share = np.zeros(n_values, np.float64)
    words = np.zeros((n_values >> 6) + 1, np.uint64)
    n_trees = ends.shape[1]
    for row in range(begin, end):
        for tree in range(n_trees):
            first, last = entries_at(ends[row, tree], walk, targets, tree)
            total = 0.0
            for j in range(first, last):
                total += np.float64(targets.weight[j])
            for j in range(first, last):
                rank = U(targets.rank[j])
                share[rank] += np.float64(targets.weight[j]) / total
                words[rank >> S6] |= ONE << (rank & LOW6)
        done = 0.0
        q = 0
        latest = np.int64(0)
        for w in range(U(len(words))):
            word = words[w]
            words[w] = U(0)
            while word != U(0):
                rank = (w << S6) + U(lowest_bit(word))
                word &= word - ONE
                latest = np.int64(rank)
                done += share[rank]
                share[rank] = 0.0
                # A little less than the share, for what adding up has lost.
                while q < len(wanted) and done >= (wanted[q] - 1e-12) * n_trees:
                    out[row, q] = targets.values[latest]
                    q += 1
        while q < len(wanted):
            out[row, q] = targets.values[latest]
            q += 1
