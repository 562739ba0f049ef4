"""New nodes, and the slots that their histograms are kept in.

A histogram is kept for each open node, so that of two children only the smaller has to be summed.
"""

from typing import Any

import numpy as np

from woodwind.kernels.frontier import C_FREE, C_FREE_WIDE, C_NODES, C_OPEN
from woodwind.kernels.growing import CONTROL, FREE, NODE_F, NODE_I, OPENED, TABLES
from woodwind.kernels.intrinsics import floats, int_list, ints
from woodwind.kernels.jit import inner
from woodwind.kernels.layout import (
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
    WIDE2,
)

NOTHING = -1


@inner
def new_node(growing: Any, parent: Any, begin: Any, end: Any, buffer: Any) -> Any:
    """A node without split, children or histogram."""
    control = int_list(growing, CONTROL)
    node = control[C_NODES]
    control[C_NODES] += 1
    what = ints(growing, NODE_I)[node]
    what[:] = NOTHING
    what[N_PARENT] = parent
    what[N_DEPTH] = ints(growing, NODE_I)[parent, N_DEPTH] + 1 if parent >= 0 else 0
    what[N_BEGIN] = begin
    what[N_END] = end
    what[N_BUFFER] = buffer
    what[N_MISSING] = STOP
    real = floats(growing, NODE_F)[node]
    real[:] = 0.0
    real[F_LOW] = -np.inf
    real[F_HIGH] = np.inf
    return node


@inner
def rows_of(growing: Any, node: Any) -> Any:
    """Number of rows in a node."""
    nodes = ints(growing, NODE_I)
    return nodes[node, N_END] - nodes[node, N_BEGIN]


@inner
def release(growing: Any, slot: Any, layout: Any) -> None:
    """Give a slot back."""
    control = int_list(growing, CONTROL)
    free = int_list(growing, FREE)
    if slot >= 0:
        if layout == WIDE2:
            free[len(ints(growing, TABLES)) + control[C_FREE_WIDE]] = slot
            control[C_FREE_WIDE] += 1
        else:
            free[control[C_FREE]] = slot
            control[C_FREE] += 1


@inner
def obtain(growing: Any, layout: Any) -> Any:
    """Take a slot. If none is free the least promising open node loses its own: its children will be summed one by one."""
    control = int_list(growing, CONTROL)
    free = int_list(growing, FREE)
    nodes = ints(growing, NODE_I)
    urgency = floats(growing, NODE_F)
    if layout == WIDE2:
        control[C_FREE_WIDE] -= 1
        return free[len(ints(growing, TABLES)) + control[C_FREE_WIDE]]
    if control[C_FREE] > 0:
        control[C_FREE] -= 1
        return free[control[C_FREE]]
    worst = NOTHING
    for k in range(control[C_OPEN]):
        node = int_list(growing, OPENED)[k]
        if nodes[node, N_SLOT] >= 0 and nodes[node, N_LAYOUT] != WIDE2:
            if worst < 0 or urgency[node, F_PRIORITY] < urgency[worst, F_PRIORITY]:
                worst = node
    slot = nodes[worst, N_SLOT]
    nodes[worst, N_SLOT] = NOTHING
    return slot


@inner
def forget_histogram(growing: Any, node: Any) -> None:
    """Give back the slot of a node."""
    what = ints(growing, NODE_I)[node]
    release(growing, what[N_SLOT], what[N_LAYOUT])
    what[N_SLOT] = NOTHING
