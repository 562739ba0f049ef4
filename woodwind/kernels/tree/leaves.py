"""Leaves: their values and scores by the formulas of Newton boosting, sums of their rows, and scores of rows that values are added to."""

from typing import Any

import numpy as np

from woodwind.kernels.runtime.jit import inlined, inner, kernel
from woodwind.kernels.runtime.records import Floats


@inner
def shrunk(G: Any, l1: Any) -> Any:
    """Soft threshold of a gradient sum: what an L1 penalty on the leaf value leaves of it."""
    if G > l1:
        return G - l1
    return G + l1 if G < -l1 else 0.0


@inlined
def leaf_value(G: Any, H: Any, l1: Any, l2: Any, low: Any, high: Any) -> Any:
    """The value that minimises the second-order loss of a leaf (Chen & Guestrin 2016, Eq. 5), within its bounds."""
    if H + l2 <= 0.0:
        return min(max(0.0, low), high)
    return min(max((0.0 - shrunk(G, l1)) / (H + l2), low), high)  # zero has no sign


@inlined
def score_of(G: Any, H: Any, value: Any, l1: Any, l2: Any) -> Any:
    """Twice the drop in loss that a leaf of this value brings; G^2 / (H + l2) where the value is free."""
    return -(2.0 * G * value + (H + l2) * value * value + 2.0 * l1 * abs(value))


@inlined
def smoothed_value(value: Any, rows: Any, smooth: Any, above: Any, low: Any, high: Any) -> Any:
    """A value drawn towards that of the node above, by as much as `smooth` rows would: path smoothing of LightGBM; within its bounds."""
    if smooth == 0.0:
        return value
    return min(max((rows * value + smooth * above) / (rows + smooth), low), high)


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
def unrounded_leaf_sums(leaf: Any, stats: Any, rows: Any, out: Any) -> None:
    """As `leaf_sums`, from statistics int64[2, n] that are not packed."""
    n = len(leaf) if rows is None else len(rows)
    for i in range(n):
        row = np.uint64(i if rows is None else rows[i])
        node = np.uint64(leaf[row])
        out[node, 0] += stats[0, row]
        out[node, 1] += stats[1, row]
        out[node, 2] += 1


@kernel
def newton_steps(tree: Any, sums: Any, bounds: Any, penalties: Any, out: Any) -> None:
    """Newton's step of every node within its bounds, to out float64[N].

    tree = (feature, child, count), sums = (gradient, hessian), bounds = (low, high), penalties = (l1, l2, path smoothing). A leaf without
    rows, as a symmetric tree may have some, takes the value of the node above it.
    """
    feature, child, count = tree
    l1, l2, smooth = penalties
    low, high = bounds
    for node in range(len(out)):
        out[node] = leaf_value(sums[0][node], sums[1][node], l1, l2, low[node], high[node])
    if smooth > 0.0:
        for node in range(len(out)):  # parents come before children
            if feature[node] >= 0:
                for side in range(child[node], child[node] + 2):
                    out[side] = smoothed_value(out[side], count[side], smooth, out[node], low[side], high[side])
    for node in range(len(out)):
        if feature[node] >= 0:
            for side in range(child[node], child[node] + 2):
                if count[side] == 0:
                    out[side] = out[node]


@kernel
def node_means(feature: Any, child: Any, cover: Any, roots: Any, value: Any) -> None:
    """Give every inner node of value float64[N, L] the mean of its children, weighted by cover, from the leaves upwards.

    Where nothing covers the children, both weigh the same.
    """
    for tree in range(roots.shape[0] - 1):
        for node in range(roots[tree + 1] - 1, roots[tree] - 1, -1):
            if feature[node] < 0:
                continue
            left = roots[tree] + child[node]
            total = cover[left] + cover[left + 1]
            right_share = cover[left + 1] / total if total > 0.0 else 0.5
            for k in range(value.shape[1]):
                # In this form equal children have exactly their own value as the mean.
                value[node, k] = value[left, k] + (value[left + 1, k] - value[left, k]) * right_share


@kernel
def largest_size(values: Floats) -> Any:
    """The largest absolute value of float64[N, L]."""
    found = 0.0
    for i in range(values.shape[0]):
        for k in range(values.shape[1]):
            found = max(found, abs(values[i, k]))
    return found


@kernel
def add_leaf_values(raw: Any, leaf: Any, values: Floats, begin: int, end: int) -> None:
    """raw[i] += values[leaf[i]]: raw float64[n]; leaf uint16 or int32[n]; values float64[leaves]."""
    raw, leaf = raw[begin:end], leaf[begin:end]
    for i in range(raw.shape[0]):
        raw[i] += values[np.uint64(leaf[i])]


@kernel
def add_leaf_column(raw: Any, column: int, leaf: Any, values: Floats, begin: int, end: int) -> None:
    """raw[i, column] += values[leaf[i]], for a tree that adds to one of K scores: raw float64[n, K]."""
    raw, leaf = raw[begin:end], leaf[begin:end]
    for i in range(raw.shape[0]):
        raw[i, column] += values[np.uint64(leaf[i])]


@kernel
def add_leaf_vectors(raw: Any, leaf: Any, values: Floats, begin: int, end: int) -> None:
    """raw[i] += values[leaf[i]], for a tree with K values in each leaf: raw float64[n, K]; values float64[leaves, K]."""
    raw, leaf = raw[begin:end], leaf[begin:end]
    for i in range(raw.shape[0]):
        row = np.uint64(leaf[i])
        for k in range(raw.shape[1]):
            raw[i, k] += values[row, k]
