"""Rows to nodes of a tree on ranks."""

from typing import Any, NamedTuple

import numpy as np

from woodwind.kernels.runtime.jit import kernel
from woodwind.kernels.tree.layout import STOP


class RankTree(NamedTuple):
    """One tree over ranks."""

    feature: Any  # int32[N]: -1 at a leaf
    rank: Any  # int64[N]: number split: left when rank <= it
    child: Any  # int32[N]: the left child, the right one follows; 0 at a leaf
    missing: Any  # uint8[N]: LEFT, RIGHT or STOP
    set_index: Any  # int64[N]: row of `sets` for a category split, -1 otherwise
    sets: Any  # uint64[n_sets, 8]: four words of categories that go left, four of categories that go right


@kernel
def walk_ranks(ranks: Any, tree: Any, begin: int, end: int, out_leaf: Any) -> None:
    """Write the node where each of the rows begin..end ends to out_leaf int32[n]; ranks int32[F * n], column after column."""
    n = len(out_leaf)
    for row in range(begin, end):
        node = np.int64(0)
        while tree.feature[node] >= 0:
            rank = np.int64(ranks[np.int64(tree.feature[node]) * n + row])
            way = np.int64(rank > tree.rank[node])
            if rank < 0:
                way = np.int64(tree.missing[node])
            elif tree.set_index[node] >= 0:
                sets = tree.sets[tree.set_index[node]]
                bit = np.uint64(rank & 63)
                way = STOP - 2 * np.int64((sets[rank >> 6] >> bit) & np.uint64(1)) - np.int64((sets[4 + (rank >> 6)] >> bit) & np.uint64(1))
            if way == STOP:
                break
            node = np.int64(tree.child[node]) + way
        out_leaf[row] = node
