"""Which features a node may be split by: the draw of its level, then interaction constraints; a draw of its own may follow."""

from typing import Any

from woodwind.kernels.runtime.jit import inner
from woodwind.kernels.runtime.keys import FIRST_LEVEL, hashed, keep_some
from woodwind.kernels.runtime.records import Tree
from woodwind.kernels.tree import constraints, nodes


@inner
def keep_candidates(tree: Tree, rule: Any, node: int, out: Any, count: Any, features: Any) -> Any:
    """Bring those of out[:count] that the node may be split by to the front; returns how many there are.

    They are features, or places in the list `features` if that is not None.
    """
    count = keep_some(out, count, rule.level_candidates, hashed(rule.seed, FIRST_LEVEL + nodes.depth(tree, node)))
    if not rule.grouped:
        return count
    kept = 0
    for k in range(count):
        feature = out[k]
        if features is not None:
            feature = features[out[k]]
        if constraints.may_use(tree, node, feature):
            out[kept] = out[k]
            kept += 1
    return kept
