"""New nodes, and the slots that their histograms are kept in.

A histogram is kept for each open node, so that of two children only the smaller has to be summed.
"""

from typing import Any

import numpy as np

from woodwind.kernels.histogram.frontier import C_FREE, C_FREE_WIDE, C_NODES, C_OPEN
from woodwind.kernels.histogram.layout import WIDE2
from woodwind.kernels.histogram.memory import CONTROL, FREE, NODE_F, NODE_I, OPENED, TABLES
from woodwind.kernels.runtime.intrinsics import floats, get_float, get_int, get_listed, ints, put_float, put_int, put_listed
from woodwind.kernels.runtime.jit import inner
from woodwind.kernels.tree.layout import (
    F_HIGH,
    F_LOW,
    F_PRIORITY,
    N_BEGIN,
    N_BUFFER,
    N_DEPTH,
    N_END,
    N_LAYOUT,
    N_MISSING,
    N_PARENT,
    N_SLOT,
    STOP,
)

NOTHING = -1


@inner
def new_node(growing: Any, parent: Any, begin: Any, end: Any, buffer: Any) -> Any:
    """A node without split, children or histogram."""
    node = get_listed(growing, CONTROL, C_NODES)
    put_listed(growing, CONTROL, C_NODES, get_listed(growing, CONTROL, C_NODES) + 1)
    what = ints(growing, NODE_I)[node]
    what[:] = NOTHING
    put_int(growing, NODE_I, node, N_PARENT, parent)
    put_int(growing, NODE_I, node, N_DEPTH, get_int(growing, NODE_I, parent, N_DEPTH) + 1 if parent >= 0 else 0)
    put_int(growing, NODE_I, node, N_BEGIN, begin)
    put_int(growing, NODE_I, node, N_END, end)
    put_int(growing, NODE_I, node, N_BUFFER, buffer)
    put_int(growing, NODE_I, node, N_MISSING, STOP)
    real = floats(growing, NODE_F)[node]
    real[:] = 0.0
    put_float(growing, NODE_F, node, F_LOW, -np.inf)
    put_float(growing, NODE_F, node, F_HIGH, np.inf)
    return node


@inner
def rows_of(growing: Any, node: Any) -> Any:
    """Number of rows in a node."""
    return get_int(growing, NODE_I, node, N_END) - get_int(growing, NODE_I, node, N_BEGIN)


@inner
def release(growing: Any, slot: Any, layout: Any) -> None:
    """Give a slot back."""
    if slot >= 0:
        if layout == WIDE2:
            put_listed(growing, FREE, len(ints(growing, TABLES)) + get_listed(growing, CONTROL, C_FREE_WIDE), slot)
            put_listed(growing, CONTROL, C_FREE_WIDE, get_listed(growing, CONTROL, C_FREE_WIDE) + 1)
        else:
            put_listed(growing, FREE, get_listed(growing, CONTROL, C_FREE), slot)
            put_listed(growing, CONTROL, C_FREE, get_listed(growing, CONTROL, C_FREE) + 1)


@inner
def obtain(growing: Any, layout: Any) -> Any:
    """Take a slot. If none is free the least promising open node loses its own: its children will be summed one by one."""
    if layout == WIDE2 and get_listed(growing, CONTROL, C_FREE_WIDE) > 0:
        put_listed(growing, CONTROL, C_FREE_WIDE, get_listed(growing, CONTROL, C_FREE_WIDE) - 1)
        return get_listed(growing, FREE, len(ints(growing, TABLES)) + get_listed(growing, CONTROL, C_FREE_WIDE))
    if layout != WIDE2 and get_listed(growing, CONTROL, C_FREE) > 0:
        put_listed(growing, CONTROL, C_FREE, get_listed(growing, CONTROL, C_FREE) - 1)
        return get_listed(growing, FREE, get_listed(growing, CONTROL, C_FREE))
    worst = NOTHING
    for k in range(get_listed(growing, CONTROL, C_OPEN)):
        node = get_listed(growing, OPENED, k)
        if get_int(growing, NODE_I, node, N_SLOT) >= 0 and (get_int(growing, NODE_I, node, N_LAYOUT) == WIDE2) == (layout == WIDE2):
            if worst < 0 or get_float(growing, NODE_F, node, F_PRIORITY) < get_float(growing, NODE_F, worst, F_PRIORITY):
                worst = node
    slot = get_int(growing, NODE_I, worst, N_SLOT)
    put_int(growing, NODE_I, worst, N_SLOT, NOTHING)
    return slot


@inner
def forget_histogram(growing: Any, node: Any) -> None:
    """Give back the slot of a node."""
    release(growing, get_int(growing, NODE_I, node, N_SLOT), get_int(growing, NODE_I, node, N_LAYOUT))
    put_int(growing, NODE_I, node, N_SLOT, NOTHING)
