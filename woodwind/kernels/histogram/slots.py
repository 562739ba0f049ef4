"""The slots that histograms are kept in.

A histogram is kept for each open node, so that of two children only the smaller has to be summed.
"""

from typing import Any

from woodwind.kernels.histogram import memory
from woodwind.kernels.histogram.layout import WIDE2
from woodwind.kernels.runtime.jit import inner
from woodwind.kernels.runtime.records import Tree
from woodwind.kernels.tree import nodes
from woodwind.kernels.tree.layout import NOTHING


@inner
def free_all(tree: Tree) -> None:
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
def release(tree: Tree, slot: int, layout: int) -> None:
    """Give a slot back."""
    if slot >= 0:
        if layout == WIDE2:
            memory.set_free_slot(tree, len(memory.histograms(tree)) + memory.n_free_wide(tree), slot)
            memory.set_n_free_wide(tree, memory.n_free_wide(tree) + 1)
        else:
            memory.set_free_slot(tree, memory.n_free(tree), slot)
            memory.set_n_free(tree, memory.n_free(tree) + 1)


@inner
def obtain(tree: Tree, layout: int) -> Any:
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
def forget_histogram(tree: Tree, node: int) -> None:
    """Give back the slot of a node."""
    release(tree, memory.slot(tree, node), memory.layout(tree, node))
    memory.set_slot(tree, node, NOTHING)
