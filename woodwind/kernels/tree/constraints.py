"""Monotonic and interaction constraints: what a node hands down to its children, and which features they leave to a node."""

from typing import Any

import numpy as np

from woodwind.kernels.runtime.jit import inner
from woodwind.kernels.runtime.keys import FIRST_LEVEL, hashed, keep_some
from woodwind.kernels.runtime.records import Tree
from woodwind.kernels.tree import memory, nodes

VALUES = nodes.VALUES.going_on()

low, set_low = VALUES.column("low")  # bounds of the value of a node ...
high, set_high = VALUES.column("high")
left_value, set_left_value = VALUES.column("left_value")  # ... and the values of its children if they were leaves
right_value, set_right_value = VALUES.column("right_value")
value, set_value = VALUES.column("value")  # of a node if it were a leaf, as it was when its parent was split; not a number at the root


@inner
def free_root(tree: Tree, max_step: Any) -> None:
    """A root may have any value of at most that size, and be split by any feature."""
    set_low(tree, 0, -max_step)
    set_high(tree, 0, max_step)
    set_value(tree, 0, np.nan)
    for g in range(memory.node_groups(tree).shape[1]):
        memory.put_node_group_word(tree, 0, g, ~np.uint64(0))


@inner
def hand_down(tree: Tree, node: int) -> None:
    """Give the children of a node their values, and its bounds and its interaction groups, as far as its split leaves them."""
    left = nodes.child(tree, node)
    set_value(tree, left, left_value(tree, node))
    set_value(tree, left + 1, right_value(tree, node))
    feature = nodes.feature(tree, node)
    for child in range(left, left + 2):
        set_low(tree, child, low(tree, node))
        set_high(tree, child, high(tree, node))
        for g in range(memory.node_groups(tree).shape[1]):
            possible = memory.node_group_word(tree, node, g) & memory.feature_group_word(tree, feature, g)
            memory.put_node_group_word(tree, child, g, possible)
    direction = memory.direction_of(tree, feature)
    if direction != 0:
        # Neither side may cross the middle, now or further down.
        middle = (left_value(tree, node) + right_value(tree, node)) / 2.0
        set_high(tree, left if direction > 0 else left + 1, middle)
        set_low(tree, left + 1 if direction > 0 else left, middle)


@inner
def may_use(tree: Tree, node: int, feature: int) -> Any:
    """Whether interaction constraints leave a feature to a node."""
    together = np.uint64(0)
    for g in range(memory.node_groups(tree).shape[1]):
        together |= memory.feature_group_word(tree, feature, g) & memory.node_group_word(tree, node, g)
    return together != 0


@inner
def keep_candidates(tree: Tree, rule: Any, node: int, out: Any, count: Any, features: Any) -> Any:
    """Bring those of out[:count] that the node may be split by to the front: the draw of its level, then what constraints leave.

    Returns how many there are; a draw for the node may follow. They are features, or positions in the list `features` if that is not None.
    """
    count = keep_some(out, count, rule.level_candidates, hashed(rule.seed, FIRST_LEVEL + nodes.depth(tree, node)))
    if not rule.grouped:
        return count
    kept = 0
    for k in range(count):
        feature = out[k]
        if features is not None:
            feature = features[out[k]]
        if may_use(tree, node, feature):
            out[kept] = out[k]
            kept += 1
    return kept
