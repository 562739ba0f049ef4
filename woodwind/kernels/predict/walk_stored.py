"""Rows of stored cells to the nodes where their walks end, on values and on codes.

A row is filled into a line that has a place for every feature, walks, and is cleared again: all that it costs is its stored cells and its
steps. The line of ten thousand codes stays in the first-level cache. The twins
are the kernels for whole rows: `tests/laws/test_sparse_is_dense.py`.
"""

from typing import Any

import numpy as np

from woodwind.kernels.predict.walk import LANES, advance, deliver
from woodwind.kernels.predict.walk_codes import walk_on
from woodwind.kernels.runtime.jit import inner, kernel


@inner
def fill(line: Any, at: Any, cells: Any, begin: Any, end: Any) -> None:
    """Put stored cells begin to end where they belong."""
    for k in range(np.uint64(begin), np.uint64(end)):
        line[np.uint64(at[k])] = cells[k]


@kernel
def walk_stored_codes(starts: Any, features: Any, codes: Any, absent: Any, begin: int, end: int, tree: Any, out_leaf: Any) -> None:
    """Write the node of a `CodeTree` where each of the rows begin..end ends into out_leaf int32[n].

    The cells of row i are starts[i] to starts[i + 1]: features int32[m], codes uint8[m]; all others have absent uint8[F].
    """
    line = np.empty(len(absent), np.uint8)
    for f in range(len(absent)):
        line[f] = absent[f]
    for i in range(begin, end):
        fill(line, features, codes, starts[i], starts[i + 1])
        out_leaf[i] = walk_on(line, np.uint64(0), np.uint64(1), tree, np.int64(0))
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            line[np.uint64(features[k])] = absent[np.uint64(features[k])]


@kernel
def walk_stored_rows(stored: Any, rows: Any, line: Any, absent: Any, trees: Any, walk: Any, out: Any, out_leaf: Any) -> None:
    """Walk rows[0]..rows[1] through trees[0]..trees[1]: `out` and `out_leaf` as in `walk_rows`, of these rows alone.

    stored = (starts int64[n + 1], features int32[m], values float[m]); line float[F]: all of it `absent`, in and out.
    """
    starts, features, values = stored
    lanes, offsets = np.empty(LANES, np.uint32), np.zeros(LANES, np.uint64)
    nodes, words, roots = walk.nodes, walk.words, walk.trees
    none, one, most = np.uint64(0), np.uint64(1), np.uint64(LANES)
    first_tree, last_tree = np.uint64(trees[0]), np.uint64(trees[1])
    for row in range(rows[0], rows[1]):
        fill(line, features, values, starts[row], starts[row + 1])
        for begin in range(first_tree, last_tree, most):
            n = min(most, last_tree - begin)
            for i in range(n):
                lanes[i] = roots[begin + i, 0]
            advance(lanes, offsets, n, line, nodes, words)
            deliver(lanes, n, (np.uint64(row - rows[0]), begin), (none, one), walk, first_tree, out, out_leaf)
        for k in range(np.uint64(starts[row]), np.uint64(starts[row + 1])):
            line[np.uint64(features[k])] = absent
