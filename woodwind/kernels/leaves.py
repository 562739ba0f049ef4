"""Sums of the rows of each leaf, and statistics of one class."""

from typing import Any

import numpy as np

from woodwind.kernels.jit import kernel


@kernel
def leaf_sums(leaf: Any, stats: Any, rows: Any, out: Any) -> None:
    """Add gradient, hessian and count of each row to its node in out int64[N, 3]; rows None: all, once each."""
    n = len(leaf) if rows is None else len(rows)
    for i in range(n):
        row = np.uint64(i if rows is None else rows[i])
        node = np.uint64(leaf[row])
        out[node, 0] += stats[row] >> 32
        out[node, 1] += stats[row] & 0xFFFFFFFF
        out[node, 2] += 1


@kernel
def pack_class(gradients: Any, hessians: Any, column: Any, out: Any) -> None:
    """(g << 32) + h of one class: gradients int32[n, K + 1], hessians int32[n, K]."""
    for i in range(len(out)):
        out[i] = (np.int64(gradients[i, column]) << 32) + np.int64(hessians[i, column])
