"""Slow twins of `woodwind/kernels/losses/ensemble_sums.py`."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def log_sums(vectors: Floats, members: Integers, total: Floats, weight: Floats | None, floor: float) -> Floats:
    """The weighted sum of logarithms of total + vector, for each candidate."""
    heavy = np.ones(len(total)) if weight is None else weight
    return np.array([(heavy * np.log(np.maximum(total + vectors[member], floor))).sum() for member in members])


def hit_sums(shares: Floats, members: Integers, total: Floats, truth: Integers, weight: Floats | None) -> Floats:
    """The weight of rows whose largest sum is that of the true class: shares (m, n, K), total (n, K), classes in their own order."""
    heavy = np.ones(len(truth)) if weight is None else weight
    return np.array([heavy[(total + shares[member]).argmax(axis=1) == truth].sum() for member in members])


def true_class_first(shares: Floats, truth: Integers) -> Floats:
    """Shares (m, n, K) as the kernel takes them, (m, K, n)."""
    out = np.empty((shares.shape[0], shares.shape[2], shares.shape[1]))
    for i, own in enumerate(truth):
        out[:, 0, i] = shares[:, i, own]
        out[:, 1:, i] = np.delete(shares[:, i], own, axis=1)
    return out


def pair_sums(vectors: Floats, members: Integers, total: Floats, gain: Floats) -> Floats:
    """The weight of pairs of a positive and a negative row that are in order, equals for half, for each candidate."""
    found = []
    for member in members:
        sums = total + vectors[member]
        order = (sums[:, None] > sums[None, :]) + 0.5 * (sums[:, None] == sums[None, :])
        found.append((order * gain[1][:, None] * gain[0][None, :]).sum())
    return np.array(found)
