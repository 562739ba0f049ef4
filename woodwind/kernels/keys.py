"""Names of nodes, and draws of features by name: the hash of woodwind.base.streams, compiled."""

from typing import Any

import numpy as np

from woodwind.kernels.growing import ALLOWED, GROUPS, MEMBER, NODE_I
from woodwind.kernels.intrinsics import get_int, get_listed, get_word, words_in
from woodwind.kernels.jit import inner
from woodwind.kernels.layout import N_DEPTH, N_KEY

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

    Plain insertion moves each past half of those before it: of 8,000 features, that took ten times as long as to judge them.
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


@inner
def draw_features(growing: Any, rule: Any, node: Any, out: Any) -> Any:
    """Write the features that a node may be split by to out, ascending; returns how many.

    First those of the tree, then a draw for the level, then those that interaction constraints leave, then a draw for the node.
    """
    count = 0
    for f in range(rule.n_features):
        if get_listed(growing, ALLOWED, f):
            out[count] = f
            count += 1
    if rule.n_candidates == rule.n_features and rule.level_candidates == rule.n_features and not rule.grouped:
        return count
    count = keep_some(out, count, rule.level_candidates, hashed(rule.seed, FIRST_LEVEL + get_int(growing, NODE_I, node, N_DEPTH)))
    if rule.grouped:
        groups = words_in(growing, GROUPS)
        kept = 0
        for k in range(count):
            together = np.uint64(0)
            for g in range(groups.shape[1]):
                together |= get_word(growing, MEMBER, out[k], g) & get_word(growing, GROUPS, node, g)
            if together != 0:
                out[kept] = out[k]
                kept += 1
        count = kept
    count = keep_some(out, count, rule.n_candidates, get_int(growing, NODE_I, node, N_KEY))
    put_in_order(out, 0, count)
    return count
