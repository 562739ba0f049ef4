"""What the leader decides about judging: which histograms are summed, which are differences, and what was found."""

from typing import Any

from woodwind.kernels.frontier import C_BLOCKS, C_ITEMS, C_SETS, open_node
from woodwind.kernels.growing import (
    CONTROL,
    FOUND_F,
    FOUND_I,
    FOUND_SETS,
    IS_CATEGORY,
    ITEMS,
    NODE_F,
    NODE_I,
    PARTS,
    SETS,
    TASKS,
)
from woodwind.kernels.intrinsics import floats, int_list, ints, words_in
from woodwind.kernels.jit import inner
from woodwind.kernels.layout import (
    F_GAIN,
    F_LEFT,
    F_RIGHT,
    N_BEGIN,
    N_BIN,
    N_CHILD,
    N_END,
    N_FEATURE,
    N_LAYOUT,
    N_MISSING,
    N_SET,
    N_SLOT,
    PACKED2,
    PACKED3,
    ROWS_PACKED2,
    ROWS_PACKED3,
    WIDE2,
)
from woodwind.kernels.nodes import NOTHING, forget_histogram, obtain, release, rows_of
from woodwind.kernels.tasks import (
    I_LARGE,
    I_LAYOUT,
    I_N_PARTS,
    I_PARENT,
    I_PARTS,
    I_SMALL,
    T_BEGIN,
    T_END,
    T_OUT,
    T_WHAT,
    can_split,
)

LEAST_PIECE = 2048  # rows that are worth a task of their own when summing


@inner
def accept(growing: Any, rule: Any, node: Any, found: Any) -> None:
    """Write a finding to its node if the gain is enough."""
    found_f = floats(growing, FOUND_F)[found]
    found_i = ints(growing, FOUND_I)[found]
    control = int_list(growing, CONTROL)
    what = ints(growing, NODE_I)[node]
    what[N_FEATURE] = NOTHING
    if found_i[0] < 0 or not found_f[0] > rule.min_gain:
        forget_histogram(growing, node)
        return
    what[N_FEATURE] = found_i[0]
    what[N_BIN] = found_i[1]
    what[N_MISSING] = found_i[2]
    what[N_SET] = NOTHING
    real = floats(growing, NODE_F)[node]
    real[F_GAIN] = found_f[0]
    real[F_LEFT] = found_f[1]
    real[F_RIGHT] = found_f[2]
    if int_list(growing, IS_CATEGORY)[found_i[0]]:
        row = control[C_SETS]
        control[C_SETS] += 1
        what[N_SET] = row
        sets = words_in(growing, SETS)
        for word in range(4):
            sets[row, word] = words_in(growing, FOUND_SETS)[found, word]
            sets[row, 4 + word] = 0
    open_node(growing, rule, node)


@inner
def plan_alone(growing: Any, rule: Any, node: Any) -> None:
    """An item of one node that is summed by itself."""
    control = int_list(growing, CONTROL)
    n_rows = rows_of(growing, node)
    layout = WIDE2
    if n_rows <= ROWS_PACKED3 or rule.lanes > 0:  # several outputs have one layout, with counts, for any number of rows
        layout = PACKED3
    elif n_rows <= ROWS_PACKED2:
        layout = PACKED2
    forget_histogram(growing, node)
    ints(growing, NODE_I)[node, N_LAYOUT] = layout
    ints(growing, NODE_I)[node, N_SLOT] = obtain(growing, layout)
    item = ints(growing, ITEMS)[control[C_ITEMS]]
    item[I_SMALL] = node
    item[I_LARGE] = NOTHING
    item[I_PARENT] = NOTHING
    item[I_N_PARTS] = 0
    control[C_ITEMS] += 1


@inner
def plan_pair(growing: Any, rule: Any, node: Any) -> None:
    """Items for the children of a node: a pair where its histogram helps, else each alone."""
    control = int_list(growing, CONTROL)
    nodes = ints(growing, NODE_I)
    left = nodes[node, N_CHILD]
    right = left + 1
    if not (can_split(growing, rule, left) or can_split(growing, rule, right)):
        forget_histogram(growing, node)
        return
    small = left if rows_of(growing, left) <= rows_of(growing, right) else right
    large = left + right - small
    slot = nodes[node, N_SLOT]
    layout = nodes[node, N_LAYOUT]
    if slot < 0 or (layout != PACKED3 and rows_of(growing, node) <= ROWS_PACKED3):
        forget_histogram(growing, node)
        for child in (small, large):
            if can_split(growing, rule, child):
                plan_alone(growing, rule, child)
        return
    nodes[node, N_SLOT] = NOTHING
    for child in (small, large):
        nodes[child, N_LAYOUT] = PACKED3
        if layout != PACKED3:
            nodes[child, N_LAYOUT] = PACKED2 if rows_of(growing, child) <= ROWS_PACKED2 else WIDE2
    nodes[small, N_SLOT] = obtain(growing, nodes[small, N_LAYOUT])
    nodes[large, N_SLOT] = slot if nodes[large, N_LAYOUT] == layout else obtain(growing, nodes[large, N_LAYOUT])
    item = ints(growing, ITEMS)[control[C_ITEMS]]
    item[I_SMALL] = small
    item[I_LARGE] = large
    item[I_PARENT] = slot
    item[I_LAYOUT] = layout
    item[I_N_PARTS] = 0
    control[C_ITEMS] += 1


@inner
def plan_sums(growing: Any, threads: Any) -> Any:
    """Tasks that sum the smaller node of every item; one of many rows is summed in parts by several threads."""
    items = ints(growing, ITEMS)
    nodes = ints(growing, NODE_I)
    n_items = int_list(growing, CONTROL)[C_ITEMS]
    total = 0
    for k in range(n_items):
        total += rows_of(growing, items[k, I_SMALL])
    piece = max(total // (3 * threads) + 1, LEAST_PIECE)
    n_tasks = 0
    part = 0
    for k in range(n_items):
        node = items[k, I_SMALL]
        begin = nodes[node, N_BEGIN]
        size = nodes[node, N_END] - begin
        pieces = 1
        if threads > 1 and size > piece + piece // 2:
            pieces = max(1, min(size // piece + 1, len(ints(growing, PARTS)) - part))
        items[k, I_PARTS] = part
        items[k, I_N_PARTS] = pieces if pieces > 1 else 0
        for p in range(pieces):
            task = ints(growing, TASKS)[n_tasks]
            task[T_WHAT] = node
            task[T_BEGIN] = begin + size * p // pieces
            task[T_END] = begin + size * (p + 1) // pieces
            task[T_OUT] = part + p if pieces > 1 else NOTHING
            n_tasks += 1
        if pieces > 1:
            part += pieces
    return n_tasks


@inner
def plan_judging(growing: Any, rule: Any, threads: Any) -> Any:
    """Tasks that judge the nodes of every item, in blocks of features where items are few."""
    control = int_list(growing, CONTROL)
    n_items = control[C_ITEMS]
    features = rule.n_features
    blocks = 1
    if threads > 1 and n_items > 0:
        blocks = max(1, min((4 * threads + n_items - 1) // n_items, (features + 7) // 8))
    control[C_BLOCKS] = blocks
    for k in range(n_items):
        for b in range(blocks):
            task = ints(growing, TASKS)[k * blocks + b]
            task[T_WHAT] = k
            task[T_BEGIN] = features * b // blocks
            task[T_END] = features * (b + 1) // blocks
    return n_items * blocks


@inner
def take_judgement(growing: Any, rule: Any) -> None:
    """Give every judged node the best of what the blocks of features found."""
    control = int_list(growing, CONTROL)
    found_f = floats(growing, FOUND_F)
    found_i = ints(growing, FOUND_I)
    blocks = control[C_BLOCKS]
    for k in range(control[C_ITEMS]):
        item = ints(growing, ITEMS)[k]
        for which in range(2):
            if item[which] < 0:
                continue
            best = 2 * (k * blocks) + which
            for b in range(1, blocks):
                other = 2 * (k * blocks + b) + which
                if found_i[other, 0] >= 0 and (found_i[best, 0] < 0 or found_f[other, 0] > found_f[best, 0]):
                    best = other
            accept(growing, rule, item[which], best)
    release_parents(growing)


@inner
def release_parents(growing: Any) -> None:
    """Give back the histograms of parents that neither child has taken over."""
    nodes = ints(growing, NODE_I)
    for k in range(int_list(growing, CONTROL)[C_ITEMS]):
        item = ints(growing, ITEMS)[k]
        large = item[I_LARGE]
        if large >= 0 and item[I_LAYOUT] == WIDE2 and nodes[large, N_LAYOUT] != WIDE2:
            release(growing, item[I_PARENT], WIDE2)
