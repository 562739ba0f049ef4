"""Which nodes next.

A tree that is grown best first does not depend on the order in which nodes are *prepared* (rows split, children judged),
only on the order in which splits are *committed*. So the most promising nodes are prepared several at a time,
which gives every thread something to do, and committed one by one in exact order; what was prepared in vain is dropped.

Committed leaves that can be split wait in a heap. Prepared or not, a node that has a split and no children yet is open.
"""

from typing import Any

import numpy as np

from woodwind.kernels.histogram.memory import BATCH, CONTROL, HEAP, NODE_F, NODE_I, OPENED
from woodwind.kernels.runtime.intrinsics import get_float, get_int, get_listed, put_float, put_int, put_listed
from woodwind.kernels.runtime.jit import inner
from woodwind.kernels.tree.layout import BEST_FIRST, F_GAIN, F_PRIORITY, N_CHILD, N_DEPTH, N_FEATURE, N_FINAL, N_PARENT

# Counters in the control array, behind what the team uses.
C_NODES = 32
C_OPEN = 33
C_HEAP = 34
C_FREE = 35
C_FREE_WIDE = 36
C_COMMITTED = 37  # nodes of the committed tree
C_LEAVES = 38  # leaves of the committed tree
C_SETS = 39
C_WAITING = 40  # nodes prepared but not committed so far
C_STATE = 41
C_BATCH = 42  # nodes in the batch
C_ITEMS = 43
C_BLOCKS = 44  # blocks of features that an item is judged in
C_TASKS = 45
C_RECOUNTED = 46


@inner
def rank(growing: Any, rule: Any, node: Any) -> Any:
    """What decides the order of commits: the gain, or the level."""
    if rule.order == BEST_FIRST:
        return get_float(growing, NODE_F, node, F_GAIN)
    return -np.float64(get_int(growing, NODE_I, node, N_DEPTH))


@inner
def comes_before(growing: Any, rule: Any, a: Any, b: Any) -> Any:
    """Whether committed leaf a is split before committed leaf b; equal ranks by number in the finished tree."""
    first = rank(growing, rule, a)
    second = rank(growing, rule, b)
    return first > second or (first == second and get_int(growing, NODE_I, a, N_FINAL) < get_int(growing, NODE_I, b, N_FINAL))


@inner
def push(growing: Any, rule: Any, size: Any, node: Any) -> None:
    """Add a node to a heap of `size` nodes."""
    place = size
    while place > 0:
        above = (place - 1) // 2
        if not comes_before(growing, rule, node, get_listed(growing, HEAP, above)):
            break
        put_listed(growing, HEAP, place, get_listed(growing, HEAP, above))
        place = above
    put_listed(growing, HEAP, place, node)


@inner
def drop_first(growing: Any, rule: Any, size: Any) -> None:
    """Take the first node from a heap of `size` nodes."""
    last = size - 1
    moved = get_listed(growing, HEAP, last)
    place = 0
    while 2 * place + 1 < last:
        below = 2 * place + 1
        if below + 1 < last and comes_before(growing, rule, get_listed(growing, HEAP, below + 1), get_listed(growing, HEAP, below)):
            below += 1
        if not comes_before(growing, rule, get_listed(growing, HEAP, below), moved):
            break
        put_listed(growing, HEAP, place, get_listed(growing, HEAP, below))
        place = below
    put_listed(growing, HEAP, place, moved)


@inner
def rebuild(growing: Any, rule: Any) -> None:
    """Put the heap in order again after a rank has changed."""
    for k in range(1, get_listed(growing, CONTROL, C_HEAP)):
        push(growing, rule, k, get_listed(growing, HEAP, k))


@inner
def become_leaf(growing: Any, rule: Any, node: Any) -> None:
    """Give a node the next number of the finished tree; if it has a split it may be divided later."""
    put_int(growing, NODE_I, node, N_FINAL, get_listed(growing, CONTROL, C_COMMITTED))
    put_listed(growing, CONTROL, C_COMMITTED, get_listed(growing, CONTROL, C_COMMITTED) + 1)
    put_float(growing, NODE_F, node, F_PRIORITY, rank(growing, rule, node))
    if get_int(growing, NODE_I, node, N_FEATURE) >= 0:
        push(growing, rule, get_listed(growing, CONTROL, C_HEAP), node)
        put_listed(growing, CONTROL, C_HEAP, get_listed(growing, CONTROL, C_HEAP) + 1)


@inner
def commit(growing: Any, rule: Any) -> Any:
    """Commit splits in exact order as far as their children are prepared; says whether the tree is finished."""
    while get_listed(growing, CONTROL, C_HEAP) > 0 and get_listed(growing, CONTROL, C_LEAVES) < rule.max_leaves:
        node = get_listed(growing, HEAP, 0)
        child = get_int(growing, NODE_I, node, N_CHILD)
        if get_int(growing, NODE_I, node, N_FEATURE) >= 0 and child < 0:
            return False
        drop_first(growing, rule, get_listed(growing, CONTROL, C_HEAP))
        put_listed(growing, CONTROL, C_HEAP, get_listed(growing, CONTROL, C_HEAP) - 1)
        if child >= 0:
            put_listed(growing, CONTROL, C_LEAVES, get_listed(growing, CONTROL, C_LEAVES) + 1)
            put_listed(growing, CONTROL, C_WAITING, get_listed(growing, CONTROL, C_WAITING) - 1)
            for side in range(2):
                become_leaf(growing, rule, child + side)
    return True


@inner
def open_node(growing: Any, rule: Any, node: Any) -> None:
    """A node with a split may be prepared; it cannot be committed before its parent, so it is no more urgent than that."""
    parent = get_int(growing, NODE_I, node, N_PARENT)
    put_float(growing, NODE_F, node, F_PRIORITY, rank(growing, rule, node))
    if parent >= 0 and get_int(growing, NODE_I, node, N_FINAL) < 0:
        put_float(
            growing,
            NODE_F,
            node,
            F_PRIORITY,
            min(get_float(growing, NODE_F, node, F_PRIORITY), get_float(growing, NODE_F, parent, F_PRIORITY)),
        )
    put_listed(growing, OPENED, get_listed(growing, CONTROL, C_OPEN), node)
    put_listed(growing, CONTROL, C_OPEN, get_listed(growing, CONTROL, C_OPEN) + 1)


@inner
def choose_batch(growing: Any, rule: Any, most: Any) -> Any:
    """Move open nodes to the batch, at most `most`; returns how many.

    No more nodes are prepared than leaves are left to be had, and of those only half at a time where the order is
    best first: the children of a node prepared now may come before the rest. Otherwise the batch is (part of) a level.
    """
    room = rule.max_leaves - get_listed(growing, CONTROL, C_LEAVES) - get_listed(growing, CONTROL, C_WAITING)
    most = min(most, max(1, room // 2 if rule.order == BEST_FIRST else room))
    size = 0
    level = -np.inf
    while size < most and get_listed(growing, CONTROL, C_OPEN) > 0:
        best = 0
        for k in range(1, get_listed(growing, CONTROL, C_OPEN)):
            if get_float(growing, NODE_F, get_listed(growing, OPENED, k), F_PRIORITY) > get_float(
                growing, NODE_F, get_listed(growing, OPENED, best), F_PRIORITY
            ):
                best = k
                if rule.order != BEST_FIRST and get_float(growing, NODE_F, get_listed(growing, OPENED, k), F_PRIORITY) == level:
                    break
        if size == 0 and get_listed(growing, CONTROL, C_HEAP) > 0:
            # The next to be committed never waits for others of the same rank: so no more nodes are made than there is room for.
            for k in range(get_listed(growing, CONTROL, C_OPEN)):
                if get_listed(growing, OPENED, k) == get_listed(growing, HEAP, 0):
                    best = k
        node = get_listed(growing, OPENED, best)
        if rule.order != BEST_FIRST and size > 0 and get_float(growing, NODE_F, node, F_PRIORITY) != level:
            break
        level = get_float(growing, NODE_F, node, F_PRIORITY)
        put_listed(growing, BATCH, size, node)
        size += 1
        put_listed(growing, CONTROL, C_OPEN, get_listed(growing, CONTROL, C_OPEN) - 1)
        put_listed(growing, OPENED, best, get_listed(growing, OPENED, get_listed(growing, CONTROL, C_OPEN)))
    put_listed(growing, CONTROL, C_WAITING, get_listed(growing, CONTROL, C_WAITING) + size)
    return size
