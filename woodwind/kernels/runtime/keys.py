"""Randomness by key: the hash of woodwind.base.random_streams, compiled, and draws without replacement."""

from typing import Any

import numpy as np

from woodwind.kernels.runtime.jit import inner

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
SECOND_FACTOR = np.uint64(0x94D049BB133111EB)
FIRST_LEVEL = 2  # items of a tree's key: 0 and 1 name the children of the root, the following its levels


@inner
def hashed(key: Any, item: Any) -> Any:
    """Hash of an item of a key: 63 random bits."""
    word = np.uint64(key) + np.uint64(item + 1) * GOLDEN
    word = (word ^ (word >> np.uint64(30))) * FIRST_FACTOR
    word = (word ^ (word >> np.uint64(27))) * SECOND_FACTOR
    return np.int64((word ^ (word >> np.uint64(31))) >> np.uint64(1))


@inner
def keep_some(items: Any, count: Any, most: Any, key: Any) -> Any:
    """Bring `most` of items[:count], drawn without replacement, to the front; returns how many there are now."""
    if most >= count:
        return count
    for k in range(most):
        other = k + hashed(key, k) % (count - k)
        items[k], items[other] = items[other], items[k]
    return most


@inner
def put_in_order(items: Any, begin: Any, count: Any) -> None:
    """Put items[begin : begin + count] in ascending order: by insertion, of many at falling distances first (Shell 1959).

    Plain insertion moves each past half of those before it: of 8,000 features, that took ten times as long as to find their splits.
    """
    gap = 1
    while gap < count // 9:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(begin + gap, begin + count):
            moved = items[k]
            i = k
            while i >= begin + gap and items[i - gap] > moved:
                items[i] = items[i - gap]
                i -= gap
            items[i] = moved
        gap //= 3
