"""Which features a node may be split by."""

from typing import Any

import numpy as np

from woodwind.kernels.histogram.memory import ALLOWED, GROUPS, MEMBER, NODE_I
from woodwind.kernels.runtime.intrinsics import get_int, get_listed, get_word, words_in
from woodwind.kernels.runtime.jit import inner
from woodwind.kernels.runtime.keys import FIRST_LEVEL, hashed, keep_some, put_in_order
from woodwind.kernels.tree.layout import N_DEPTH, N_KEY


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
