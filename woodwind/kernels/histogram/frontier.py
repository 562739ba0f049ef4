"""Which nodes next, and where their histograms are kept.

A tree that is grown best first does not depend on the order in which nodes are *prepared* (rows partitioned, splits of the children found),
only on the order in which splits are *committed*. So the most promising nodes are prepared several at a time,
which gives every thread something to do, and committed one by one in exact order; what was prepared in vain is dropped.

Committed leaves that can be split wait in a queue. Prepared or not, a node that has a split and no children yet is open.
A histogram is kept for each open node, in a slot, so that of two children only the smaller has to be summed.
"""

from typing import Any

import numpy as np

from woodwind.kernels.histogram import memory
from woodwind.kernels.histogram.layout import WIDE2, Rule
from woodwind.kernels.runtime.jit import inner
from woodwind.kernels.runtime.records import Tree
from woodwind.kernels.tree import memory as common
from woodwind.kernels.tree import nodes, queue
from woodwind.kernels.tree.layout import BEST_FIRST, NOTHING


@inner
def commit_priority(tree: Tree, rule: Rule, node: int) -> Any:
    """What decides the order of commits: the gain, or the depth."""
    if rule.order == BEST_FIRST:
        return nodes.gain(tree, node)
    return -np.float64(nodes.depth(tree, node))


@inner
def become_leaf(tree: Tree, rule: Rule, node: int) -> None:
    """Give a node the next number of the finished tree; if it has a split it may be divided later."""
    nodes.set_number(tree, node, memory.n_committed(tree))
    memory.set_n_committed(tree, memory.n_committed(tree) + 1)
    nodes.set_priority(tree, node, commit_priority(tree, rule, node))
    if nodes.feature(tree, node) >= 0:
        queue.push(tree, node)


@inner
def commit(tree: Tree, rule: Rule) -> Any:
    """Commit splits in exact order as far as their children are prepared; says whether the tree is finished."""
    while common.n_waiting(tree) > 0 and common.n_leaves(tree) < rule.max_leaves:
        node = queue.first(tree)
        child = nodes.child(tree, node)
        if nodes.feature(tree, node) >= 0 and child < 0:
            return False
        queue.pop(tree)
        if child >= 0:
            common.set_n_leaves(tree, common.n_leaves(tree) + 1)
            memory.set_n_prepared(tree, memory.n_prepared(tree) - 1)
            for side in range(2):
                become_leaf(tree, rule, child + side)
    return True


@inner
def add_open_node(tree: Tree, rule: Rule, node: int) -> None:
    """A node with a split may be prepared; it cannot be committed before its parent, so it is no more urgent than that."""
    parent = memory.parent(tree, node)
    nodes.set_priority(tree, node, commit_priority(tree, rule, node))
    if parent >= 0 and nodes.number(tree, node) < 0:
        nodes.set_priority(tree, node, min(nodes.priority(tree, node), nodes.priority(tree, parent)))
    memory.set_open_node(tree, memory.n_open(tree), node)
    memory.set_n_open(tree, memory.n_open(tree) + 1)


@inner
def choose_batch(tree: Tree, rule: Rule, most: Any) -> Any:
    """Move open nodes to the batch, at most `most`; returns how many.

    No more nodes are prepared than leaves are left to be had, and of those only half at a time where the order is
    best first: the children of a node prepared now may come before the rest. Otherwise the batch is (part of) a level.
    """
    room = rule.max_leaves - common.n_leaves(tree) - memory.n_prepared(tree)
    most = min(most, max(1, room // 2 if rule.order == BEST_FIRST else room))
    size = 0
    level = -np.inf
    while size < most and memory.n_open(tree) > 0:
        best = 0
        for k in range(1, memory.n_open(tree)):
            if nodes.priority(tree, memory.open_node(tree, k)) > nodes.priority(tree, memory.open_node(tree, best)):
                best = k
                if rule.order != BEST_FIRST and nodes.priority(tree, memory.open_node(tree, k)) == level:
                    break
        if size == 0 and common.n_waiting(tree) > 0:
            # The next to be committed never waits for others of the same priority: so no more nodes are made than there is room for.
            for k in range(memory.n_open(tree)):
                if memory.open_node(tree, k) == queue.first(tree):
                    best = k
        node = memory.open_node(tree, best)
        if rule.order != BEST_FIRST and size > 0 and nodes.priority(tree, node) != level:
            break
        level = nodes.priority(tree, node)
        memory.set_batch_node(tree, size, node)
        size += 1
        memory.set_n_open(tree, memory.n_open(tree) - 1)
        memory.set_open_node(tree, best, memory.open_node(tree, memory.n_open(tree)))
    memory.set_n_prepared(tree, memory.n_prepared(tree) + size)
    return size


# Slots of histograms.


@inner
def free_all_slots(tree: Tree) -> None:
    """Every slot is free."""
    slots = len(memory.histograms(tree))
    wide = len(memory.wide_histograms(tree))
    for k in range(slots):
        memory.set_free_slot(tree, k, slots - 1 - k)
    for k in range(wide):
        memory.set_free_slot(tree, slots + k, wide - 1 - k)
    memory.set_n_free(tree, slots)
    memory.set_n_free_wide(tree, wide)


@inner
def release_slot(tree: Tree, slot: int, layout: int) -> None:
    """Give a slot back."""
    if slot >= 0:
        if layout == WIDE2:
            memory.set_free_slot(tree, len(memory.histograms(tree)) + memory.n_free_wide(tree), slot)
            memory.set_n_free_wide(tree, memory.n_free_wide(tree) + 1)
        else:
            memory.set_free_slot(tree, memory.n_free(tree), slot)
            memory.set_n_free(tree, memory.n_free(tree) + 1)


@inner
def take_slot(tree: Tree, layout: int) -> Any:
    """Take a slot. If none is free the least promising open node loses its own: its children will be summed one by one."""
    if layout == WIDE2 and memory.n_free_wide(tree) > 0:
        memory.set_n_free_wide(tree, memory.n_free_wide(tree) - 1)
        return memory.free_slot(tree, len(memory.histograms(tree)) + memory.n_free_wide(tree))
    if layout != WIDE2 and memory.n_free(tree) > 0:
        memory.set_n_free(tree, memory.n_free(tree) - 1)
        return memory.free_slot(tree, memory.n_free(tree))
    worst = NOTHING
    for k in range(memory.n_open(tree)):
        node = memory.open_node(tree, k)
        if memory.slot(tree, node) >= 0 and (memory.layout(tree, node) == WIDE2) == (layout == WIDE2):
            if worst < 0 or nodes.priority(tree, node) < nodes.priority(tree, worst):
                worst = node
    slot = memory.slot(tree, worst)
    memory.set_slot(tree, worst, NOTHING)
    return slot


@inner
def release_histogram(tree: Tree, node: int) -> None:
    """Give back the slot of a node."""
    release_slot(tree, memory.slot(tree, node), memory.layout(tree, node))
    memory.set_slot(tree, node, NOTHING)
