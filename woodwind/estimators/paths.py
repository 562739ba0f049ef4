"""The ways of rows through trees, as a sparse matrix."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix


def path_matrix(ends: NDArray[np.integer], parents: Sequence[NDArray[np.int64]]) -> Any:
    """The nodes that each row passes: ones in a matrix (n_rows, n_nodes), the nodes of one tree after those of another.

    `ends` (n_rows, n_trees) are the nodes where rows end, `parents` of each tree the node above each node, -1 for the root.
    """
    rows, nodes, begin = [], [], 0
    for tree, parent in enumerate(parents):
        row, node = np.arange(len(ends)), ends[:, tree].astype(np.int64)
        while row.size:
            rows.append(row)
            nodes.append(begin + node)
            above = parent[node]
            row, node = row[above >= 0], above[above >= 0]
        begin += len(parent)
    place = np.concatenate(rows), np.concatenate(nodes)
    path = csr_matrix((np.ones(len(place[0]), np.int64), place), shape=(len(ends), begin))
    path.sort_indices()
    return path
