"""What the leader decides about judging: which histograms are summed, which are differences, and what was found."""

from typing import Any

from woodwind.kernels.histogram import memory, pairs, tasks
from woodwind.kernels.histogram.frontier import open_node
from woodwind.kernels.histogram.layout import PACKED2, PACKED3, ROWS_PACKED2, ROWS_PACKED3, WIDE2
from woodwind.kernels.histogram.slots import forget_histogram, obtain, release
from woodwind.kernels.histogram.verbs import can_split
from woodwind.kernels.runtime.jit import inner
from woodwind.kernels.tree import category_sets, constraints, counters, found, nodes
from woodwind.kernels.tree import memory as common
from woodwind.kernels.tree.layout import NOTHING, SYMMETRIC

LEAST_PIECE = 2048  # rows that are worth a task of their own when summing


@inner
def accept(tree: Any, rule: Any, node: Any, which: Any) -> None:
    """Give a node what was found for it, if the gain is enough: then it is open."""
    feature = found.feature(tree, which)
    nodes.set_feature(tree, node, NOTHING)
    if feature < 0 or not found.gain(tree, which) > rule.min_gain:
        forget_histogram(tree, node)
        return
    nodes.set_feature(tree, node, feature)
    nodes.set_bin(tree, node, found.bin(tree, which))
    nodes.set_missing(tree, node, found.missing(tree, which))
    nodes.set_gain(tree, node, found.gain(tree, which))
    constraints.set_left_value(tree, node, found.left_value(tree, which))
    constraints.set_right_value(tree, node, found.right_value(tree, which))
    row = nodes.category_set(tree, node)  # of an earlier split: used again, since a node may get many
    nodes.set_category_set(tree, node, NOTHING)
    if common.is_category_of(tree, feature):
        if row < 0:
            row = category_sets.new_set(tree)
        nodes.set_category_set(tree, node, row)
        category_sets.take_found(tree, row, which)
    open_node(tree, rule, node)


@inner
def plan_alone(tree: Any, rule: Any, node: Any) -> None:
    """An item of one node that is summed by itself."""
    n_rows = nodes.n_rows(tree, node)
    parent = memory.parent(tree, node)
    # Differences from a large node have its layout: a child that is summed for want of one is rounded in the same way.
    of_large = parent >= 0 and nodes.n_rows(tree, parent) > ROWS_PACKED3
    layout = WIDE2
    if rule.lanes > 0 or (n_rows <= ROWS_PACKED3 and not of_large and not rule.unrounded):
        layout = PACKED3  # several outputs have one layout, with counts, for any number of rows
    elif n_rows <= ROWS_PACKED2 and not rule.unrounded:
        layout = PACKED2
    forget_histogram(tree, node)
    memory.set_layout(tree, node, layout)
    memory.set_slot(tree, node, obtain(tree, layout))
    pairs.set_small(tree, memory.n_pairs(tree), node)
    pairs.set_large(tree, memory.n_pairs(tree), NOTHING)
    pairs.set_parent_slot(tree, memory.n_pairs(tree), NOTHING)
    pairs.set_n_parts(tree, memory.n_pairs(tree), 0)
    memory.set_n_pairs(tree, memory.n_pairs(tree) + 1)


@inner
def plan_pair(tree: Any, rule: Any, node: Any) -> None:
    """Items for the children of a node: a pair where its histogram helps, else each alone."""
    left = nodes.child(tree, node)
    right = left + 1
    # With one leaf to be had, one more split is all there will be.
    is_last = rule.order != SYMMETRIC and counters.n_leaves(tree) + 1 >= rule.max_leaves
    if is_last or not (can_split(tree, rule, left) or can_split(tree, rule, right)):
        forget_histogram(tree, node)
        return
    small = left if nodes.n_rows(tree, left) <= nodes.n_rows(tree, right) else right
    large = left + right - small
    slot = memory.slot(tree, node)
    layout = memory.layout(tree, node)
    if slot < 0 or (layout != PACKED3 and nodes.n_rows(tree, node) <= ROWS_PACKED3 and not rule.unrounded):
        forget_histogram(tree, node)
        for child in (small, large):
            if can_split(tree, rule, child):
                plan_alone(tree, rule, child)
        return
    memory.set_slot(tree, node, NOTHING)
    for child in (small, large):
        memory.set_layout(tree, child, PACKED3)
        if layout != PACKED3:
            packs = nodes.n_rows(tree, child) <= ROWS_PACKED2 and not rule.unrounded
            memory.set_layout(tree, child, PACKED2 if packs else WIDE2)
    memory.set_slot(tree, small, obtain(tree, memory.layout(tree, small)))
    memory.set_slot(tree, large, slot if memory.layout(tree, large) == layout else obtain(tree, memory.layout(tree, large)))
    pairs.set_small(tree, memory.n_pairs(tree), small)
    pairs.set_large(tree, memory.n_pairs(tree), large)
    pairs.set_parent_slot(tree, memory.n_pairs(tree), slot)
    pairs.set_parent_layout(tree, memory.n_pairs(tree), layout)
    pairs.set_n_parts(tree, memory.n_pairs(tree), 0)
    memory.set_n_pairs(tree, memory.n_pairs(tree) + 1)


@inner
def plan_sums(tree: Any, threads: Any) -> Any:
    """Tasks that sum the smaller node of every item; one of many rows is summed in parts by several threads."""
    n_items = memory.n_pairs(tree)
    total = 0
    for k in range(n_items):
        total += nodes.n_rows(tree, pairs.small(tree, k))
    piece = max(total // (3 * threads) + 1, LEAST_PIECE)
    n_tasks = 0
    part = 0
    for k in range(n_items):
        node = pairs.small(tree, k)
        begin = nodes.begin(tree, node)
        size = nodes.end(tree, node) - begin
        pieces = 1
        if threads > 1 and size > piece + piece // 2:
            pieces = max(1, min(size // piece + 1, len(memory.partial_histograms(tree)) - part))
        pairs.set_first_part(tree, k, part)
        pairs.set_n_parts(tree, k, pieces if pieces > 1 else 0)
        for p in range(pieces):
            tasks.set_what(tree, n_tasks, node)
            tasks.set_begin(tree, n_tasks, begin + size * p // pieces)
            tasks.set_end(tree, n_tasks, begin + size * (p + 1) // pieces)
            tasks.set_out(tree, n_tasks, part + p if pieces > 1 else NOTHING)
            n_tasks += 1
        if pieces > 1:
            part += pieces
    return n_tasks


@inner
def plan_judging(tree: Any, rule: Any, threads: Any) -> Any:
    """Tasks that judge the nodes of every item, in blocks of features where items are few."""
    n_items = memory.n_pairs(tree)
    features = rule.n_features
    blocks = 1
    if threads > 1 and n_items > 0:
        blocks = max(1, min((4 * threads + n_items - 1) // n_items, (features + 7) // 8))
    memory.set_n_blocks(tree, blocks)
    for k in range(n_items):
        for b in range(blocks):
            tasks.set_what(tree, k * blocks + b, k)
            tasks.set_begin(tree, k * blocks + b, features * b // blocks)
            tasks.set_end(tree, k * blocks + b, features * (b + 1) // blocks)
    return n_items * blocks


@inner
def take_judgement(tree: Any, rule: Any) -> None:
    """Give every judged node the best of what the blocks of features found."""
    blocks = memory.n_blocks(tree)
    for k in range(memory.n_pairs(tree)):
        for which in range(2):
            if pairs.node(tree, k, which) < 0:
                continue
            best = 2 * (k * blocks) + which
            for b in range(1, blocks):
                other = 2 * (k * blocks + b) + which
                if found.feature(tree, other) >= 0 and (found.feature(tree, best) < 0 or found.gain(tree, other) > found.gain(tree, best)):
                    best = other
            accept(tree, rule, pairs.node(tree, k, which), best)
    release_parents(tree)


@inner
def release_parents(tree: Any) -> None:
    """Give back the histograms of parents that neither child has taken over."""
    for k in range(memory.n_pairs(tree)):
        large = pairs.large(tree, k)
        if large >= 0 and pairs.parent_layout(tree, k) == WIDE2 and memory.layout(tree, large) != WIDE2:
            release(tree, pairs.parent_slot(tree, k), WIDE2)
