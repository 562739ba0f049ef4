"""Which features a node may be split by."""

from typing import Any

import numpy as np

from woodwind.kernels.histogram import memory
from woodwind.kernels.runtime.jit import inner
from woodwind.kernels.runtime.keys import FIRST_LEVEL, hashed, keep_some, put_in_order
from woodwind.kernels.tree import memory as common
from woodwind.kernels.tree import nodes


@inner
def draw_features(tree: Any, rule: Any, node: Any, out: Any) -> Any:
    """Write the features that a node may be split by to out, ascending; returns how many.

    First those of the tree, then a draw for the level, then those that interaction constraints leave, then a draw for the node.
    """
    count = 0
    for f in range(rule.n_features):
        if memory.is_allowed(tree, f):
            out[count] = f
            count += 1
    if rule.n_candidates == rule.n_features and rule.level_candidates == rule.n_features and not rule.grouped:
        return count
    count = keep_some(out, count, rule.level_candidates, hashed(rule.seed, FIRST_LEVEL + nodes.depth(tree, node)))
    if rule.grouped:
        groups = common.node_groups(tree)
        kept = 0
        for k in range(count):
            together = np.uint64(0)
            for g in range(groups.shape[1]):
                together |= common.feature_group_word(tree, out[k], g) & common.node_group_word(tree, node, g)
            if together != 0:
                out[kept] = out[k]
                kept += 1
        count = kept
    count = keep_some(out, count, rule.n_candidates, nodes.key(tree, node))
    put_in_order(out, 0, count)
    return count
