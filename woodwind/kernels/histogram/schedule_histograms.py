"""What the leader decides about judging: which histograms are summed, which are differences, and what was found."""

from typing import Any

from woodwind.kernels.histogram.frontier import C_BLOCKS, C_ITEMS, C_LEAVES, C_SETS, open_node
from woodwind.kernels.histogram.layout import PACKED2, PACKED3, ROWS_PACKED2, ROWS_PACKED3, WIDE2
from woodwind.kernels.histogram.memory import (
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
from woodwind.kernels.histogram.slots import NOTHING, forget_histogram, obtain, release, rows_of
from woodwind.kernels.histogram.tasks import (
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
from woodwind.kernels.runtime.intrinsics import (
    get_float,
    get_int,
    get_listed,
    get_word,
    ints,
    put_float,
    put_int,
    put_listed,
    put_word,
)
from woodwind.kernels.runtime.jit import inner
from woodwind.kernels.tree.layout import (
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
    N_PARENT,
    N_SET,
    N_SLOT,
    SYMMETRIC,
)

LEAST_PIECE = 2048  # rows that are worth a task of their own when summing


@inner
def accept(growing: Any, rule: Any, node: Any, found: Any) -> None:
    """Write a finding to its node if the gain is enough."""
    put_int(growing, NODE_I, node, N_FEATURE, NOTHING)
    if get_int(growing, FOUND_I, found, 0) < 0 or not get_float(growing, FOUND_F, found, 0) > rule.min_gain:
        forget_histogram(growing, node)
        return
    put_int(growing, NODE_I, node, N_FEATURE, get_int(growing, FOUND_I, found, 0))
    put_int(growing, NODE_I, node, N_BIN, get_int(growing, FOUND_I, found, 1))
    put_int(growing, NODE_I, node, N_MISSING, get_int(growing, FOUND_I, found, 2))
    row = get_int(growing, NODE_I, node, N_SET)  # of an earlier judgement: used again, since a node may be judged many times
    put_int(growing, NODE_I, node, N_SET, NOTHING)
    put_float(growing, NODE_F, node, F_GAIN, get_float(growing, FOUND_F, found, 0))
    put_float(growing, NODE_F, node, F_LEFT, get_float(growing, FOUND_F, found, 1))
    put_float(growing, NODE_F, node, F_RIGHT, get_float(growing, FOUND_F, found, 2))
    if get_listed(growing, IS_CATEGORY, get_int(growing, FOUND_I, found, 0)):
        if row < 0:
            row = get_listed(growing, CONTROL, C_SETS)
            put_listed(growing, CONTROL, C_SETS, get_listed(growing, CONTROL, C_SETS) + 1)
        put_int(growing, NODE_I, node, N_SET, row)
        for word in range(4):
            put_word(growing, SETS, row, word, get_word(growing, FOUND_SETS, found, word))
            put_word(growing, SETS, row, 4 + word, 0)
    open_node(growing, rule, node)


@inner
def plan_alone(growing: Any, rule: Any, node: Any) -> None:
    """An item of one node that is summed by itself."""
    n_rows = rows_of(growing, node)
    parent = get_int(growing, NODE_I, node, N_PARENT)
    # Differences from a large node have its layout: a child that is summed for want of one is rounded in the same way.
    of_large = parent >= 0 and rows_of(growing, parent) > ROWS_PACKED3
    layout = WIDE2
    if rule.lanes > 0 or (n_rows <= ROWS_PACKED3 and not of_large and not rule.unrounded):
        layout = PACKED3  # several outputs have one layout, with counts, for any number of rows
    elif n_rows <= ROWS_PACKED2 and not rule.unrounded:
        layout = PACKED2
    forget_histogram(growing, node)
    put_int(growing, NODE_I, node, N_LAYOUT, layout)
    put_int(growing, NODE_I, node, N_SLOT, obtain(growing, layout))
    put_int(growing, ITEMS, get_listed(growing, CONTROL, C_ITEMS), I_SMALL, node)
    put_int(growing, ITEMS, get_listed(growing, CONTROL, C_ITEMS), I_LARGE, NOTHING)
    put_int(growing, ITEMS, get_listed(growing, CONTROL, C_ITEMS), I_PARENT, NOTHING)
    put_int(growing, ITEMS, get_listed(growing, CONTROL, C_ITEMS), I_N_PARTS, 0)
    put_listed(growing, CONTROL, C_ITEMS, get_listed(growing, CONTROL, C_ITEMS) + 1)


@inner
def plan_pair(growing: Any, rule: Any, node: Any) -> None:
    """Items for the children of a node: a pair where its histogram helps, else each alone."""
    left = get_int(growing, NODE_I, node, N_CHILD)
    right = left + 1
    # With one leaf to be had, one more split is all there will be.
    is_last = rule.order != SYMMETRIC and get_listed(growing, CONTROL, C_LEAVES) + 1 >= rule.max_leaves
    if is_last or not (can_split(growing, rule, left) or can_split(growing, rule, right)):
        forget_histogram(growing, node)
        return
    small = left if rows_of(growing, left) <= rows_of(growing, right) else right
    large = left + right - small
    slot = get_int(growing, NODE_I, node, N_SLOT)
    layout = get_int(growing, NODE_I, node, N_LAYOUT)
    if slot < 0 or (layout != PACKED3 and rows_of(growing, node) <= ROWS_PACKED3 and not rule.unrounded):
        forget_histogram(growing, node)
        for child in (small, large):
            if can_split(growing, rule, child):
                plan_alone(growing, rule, child)
        return
    put_int(growing, NODE_I, node, N_SLOT, NOTHING)
    for child in (small, large):
        put_int(growing, NODE_I, child, N_LAYOUT, PACKED3)
        if layout != PACKED3:
            packs = rows_of(growing, child) <= ROWS_PACKED2 and not rule.unrounded
            put_int(growing, NODE_I, child, N_LAYOUT, PACKED2 if packs else WIDE2)
    put_int(growing, NODE_I, small, N_SLOT, obtain(growing, get_int(growing, NODE_I, small, N_LAYOUT)))
    put_int(
        growing,
        NODE_I,
        large,
        N_SLOT,
        slot if get_int(growing, NODE_I, large, N_LAYOUT) == layout else obtain(growing, get_int(growing, NODE_I, large, N_LAYOUT)),
    )
    put_int(growing, ITEMS, get_listed(growing, CONTROL, C_ITEMS), I_SMALL, small)
    put_int(growing, ITEMS, get_listed(growing, CONTROL, C_ITEMS), I_LARGE, large)
    put_int(growing, ITEMS, get_listed(growing, CONTROL, C_ITEMS), I_PARENT, slot)
    put_int(growing, ITEMS, get_listed(growing, CONTROL, C_ITEMS), I_LAYOUT, layout)
    put_int(growing, ITEMS, get_listed(growing, CONTROL, C_ITEMS), I_N_PARTS, 0)
    put_listed(growing, CONTROL, C_ITEMS, get_listed(growing, CONTROL, C_ITEMS) + 1)


@inner
def plan_sums(growing: Any, threads: Any) -> Any:
    """Tasks that sum the smaller node of every item; one of many rows is summed in parts by several threads."""
    n_items = get_listed(growing, CONTROL, C_ITEMS)
    total = 0
    for k in range(n_items):
        total += rows_of(growing, get_int(growing, ITEMS, k, I_SMALL))
    piece = max(total // (3 * threads) + 1, LEAST_PIECE)
    n_tasks = 0
    part = 0
    for k in range(n_items):
        node = get_int(growing, ITEMS, k, I_SMALL)
        begin = get_int(growing, NODE_I, node, N_BEGIN)
        size = get_int(growing, NODE_I, node, N_END) - begin
        pieces = 1
        if threads > 1 and size > piece + piece // 2:
            pieces = max(1, min(size // piece + 1, len(ints(growing, PARTS)) - part))
        put_int(growing, ITEMS, k, I_PARTS, part)
        put_int(growing, ITEMS, k, I_N_PARTS, pieces if pieces > 1 else 0)
        for p in range(pieces):
            put_int(growing, TASKS, n_tasks, T_WHAT, node)
            put_int(growing, TASKS, n_tasks, T_BEGIN, begin + size * p // pieces)
            put_int(growing, TASKS, n_tasks, T_END, begin + size * (p + 1) // pieces)
            put_int(growing, TASKS, n_tasks, T_OUT, part + p if pieces > 1 else NOTHING)
            n_tasks += 1
        if pieces > 1:
            part += pieces
    return n_tasks


@inner
def plan_judging(growing: Any, rule: Any, threads: Any) -> Any:
    """Tasks that judge the nodes of every item, in blocks of features where items are few."""
    n_items = get_listed(growing, CONTROL, C_ITEMS)
    features = rule.n_features
    blocks = 1
    if threads > 1 and n_items > 0:
        blocks = max(1, min((4 * threads + n_items - 1) // n_items, (features + 7) // 8))
    put_listed(growing, CONTROL, C_BLOCKS, blocks)
    for k in range(n_items):
        for b in range(blocks):
            put_int(growing, TASKS, k * blocks + b, T_WHAT, k)
            put_int(growing, TASKS, k * blocks + b, T_BEGIN, features * b // blocks)
            put_int(growing, TASKS, k * blocks + b, T_END, features * (b + 1) // blocks)
    return n_items * blocks


@inner
def take_judgement(growing: Any, rule: Any) -> None:
    """Give every judged node the best of what the blocks of features found."""
    blocks = get_listed(growing, CONTROL, C_BLOCKS)
    for k in range(get_listed(growing, CONTROL, C_ITEMS)):
        for which in range(2):
            if get_int(growing, ITEMS, k, which) < 0:
                continue
            best = 2 * (k * blocks) + which
            for b in range(1, blocks):
                other = 2 * (k * blocks + b) + which
                if get_int(growing, FOUND_I, other, 0) >= 0 and (
                    get_int(growing, FOUND_I, best, 0) < 0 or get_float(growing, FOUND_F, other, 0) > get_float(growing, FOUND_F, best, 0)
                ):
                    best = other
            accept(growing, rule, get_int(growing, ITEMS, k, which), best)
    release_parents(growing)


@inner
def release_parents(growing: Any) -> None:
    """Give back the histograms of parents that neither child has taken over."""
    for k in range(get_listed(growing, CONTROL, C_ITEMS)):
        large = get_int(growing, ITEMS, k, I_LARGE)
        if large >= 0 and get_int(growing, ITEMS, k, I_LAYOUT) == WIDE2 and get_int(growing, NODE_I, large, N_LAYOUT) != WIDE2:
            release(growing, get_int(growing, ITEMS, k, I_PARENT), WIDE2)
