"""What the leader decides between phases: how the work of a phase is cut into tasks, and what is made of the outcome.

Of two children the histogram of the smaller is built, and that of the larger is the parent's minus it. Rows of large nodes are partitioned
in blocks: they are counted first, then every block knows its places.
"""

from typing import Any

from woodwind.kernels.histogram import memory, pairs, tasks
from woodwind.kernels.histogram.frontier import open_node
from woodwind.kernels.histogram.layout import PACKED2, PACKED3, ROWS_PACKED2, ROWS_PACKED3, WIDE2, Rule
from woodwind.kernels.histogram.slots import forget_histogram, obtain, release
from woodwind.kernels.histogram.verbs import can_split
from woodwind.kernels.runtime.jit import inner
from woodwind.kernels.runtime.records import Tree
from woodwind.kernels.tree import category_sets, constraints, counters, found, nodes
from woodwind.kernels.tree import memory as common
from woodwind.kernels.tree.layout import LEFT, NOTHING, STOP, SYMMETRIC

SPLIT_ROWS = 16384  # rows of one task of splitting, where a node has so many that it is split in blocks
LEAST_PIECE = 2048  # rows that are worth a task of their own when summing


@inner
def accept(tree: Tree, rule: Rule, node: int, which: int) -> None:
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
def schedule_alone(tree: Tree, rule: Rule, node: int) -> None:
    """One node alone, whose histogram is built from its rows."""
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
def schedule_pair(tree: Tree, rule: Rule, node: int) -> None:
    """The children of a node: as a pair where its histogram helps, else each alone."""
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
                schedule_alone(tree, rule, child)
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
def schedule_building(tree: Tree, threads: int) -> Any:
    """Tasks that build the histogram of the smaller node of every pair; one of many rows is built in parts by several threads."""
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
def schedule_finding(tree: Tree, rule: Rule, threads: int) -> Any:
    """Tasks that find the splits of every pair, in blocks of features where pairs are few."""
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
def accept_splits(tree: Tree, rule: Rule) -> None:
    """Give every node the best of what the blocks of features found."""
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
def release_parents(tree: Tree) -> None:
    """Give back the histograms of parents that neither child has taken over."""
    for k in range(memory.n_pairs(tree)):
        large = pairs.large(tree, k)
        if large >= 0 and pairs.parent_layout(tree, k) == WIDE2 and memory.layout(tree, large) != WIDE2:
            release(tree, pairs.parent_slot(tree, k), WIDE2)


# Rows.


@inner
def schedule_partition(tree: Tree, rule: Rule, size: Any) -> Any:
    """Tasks that partition the rows of every node of the batch; large ones in blocks, which are only counted at first."""
    n_tasks = 0
    for place in range(size):
        node = memory.batch_node(tree, place)
        goes = memory.all_goes_left(tree)[place]
        row = nodes.category_set(tree, node)
        goes[:] = 0
        if row >= 0:
            for code in range(rule.width):
                memory.set_goes_left(tree, place, code, category_sets.is_left(tree, row, code))
        else:
            goes[: nodes.bin(tree, node) + 1] = 1
        memory.set_goes_left(tree, place, rule.width - 1, 1 if nodes.missing(tree, node) == LEFT else 0)
        begin = nodes.begin(tree, node)
        end = nodes.end(tree, node)
        step = SPLIT_ROWS if end - begin > 2 * SPLIT_ROWS else max(end - begin, 1)
        for first in range(begin, end, step):
            tasks.set_what(tree, n_tasks, place)
            tasks.set_begin(tree, n_tasks, first)
            tasks.set_end(tree, n_tasks, min(first + step, end))
            tasks.set_low(tree, n_tasks, 0 if end - begin > 2 * SPLIT_ROWS else 1)
            n_tasks += 1
    return n_tasks


@inner
def schedule_placing(tree: Tree, rule: Rule, size: Any, n_tasks: int) -> Any:
    """Add up what the blocks counted, note which codes were met, and give every block of a large node its places."""
    met = memory.all_codes_met(tree)
    for place in range(size):
        memory.set_rows_left(tree, place, 0)
    met[:size, :] = 0
    for t in range(n_tasks):
        place = tasks.what(tree, t)
        memory.set_rows_left(tree, place, memory.rows_left(tree, place) + tasks.out(tree, t))
        for code in range(rule.width):
            memory.set_is_met(tree, place, code, memory.is_met(tree, place, code) | memory.is_seen(tree, t, code))
    placed = 0
    before = NOTHING
    low = 0
    high = 0
    for t in range(n_tasks):
        if tasks.low(tree, t) != 0:
            continue
        place = tasks.what(tree, t)
        if place != before:
            low = nodes.begin(tree, memory.batch_node(tree, place))
            high = low + memory.rows_left(tree, place)
            before = place
        left = tasks.out(tree, t)
        begin = tasks.begin(tree, t)
        end = tasks.end(tree, t)
        tasks.set_what(tree, placed, place)
        tasks.set_begin(tree, placed, begin)
        tasks.set_end(tree, placed, end)
        tasks.set_low(tree, placed, low)
        tasks.set_high(tree, placed, high)
        low += left
        high += end - begin - left
        placed += 1
    return placed


@inner
def make_children(tree: Tree, rule: Rule, place: Any) -> None:
    """Give a node whose rows are partitioned its two children, and note what its split has met."""
    node = memory.batch_node(tree, place)
    if memory.is_met(tree, place, rule.width - 1) == 0:
        nodes.set_missing(tree, node, STOP)
    if nodes.category_set(tree, node) >= 0:
        for code in range(rule.width - 1):
            if memory.is_met(tree, place, code) and not memory.goes_left(tree, place, code):
                category_sets.put_right(tree, nodes.category_set(tree, node), code)
    left = nodes.add_children(tree, node, nodes.begin(tree, node) + memory.rows_left(tree, place))
    for child in range(left, left + 2):
        memory.set_parent(tree, child, node)
        memory.set_buffer(tree, child, 1 - memory.buffer(tree, node))
        memory.set_slot(tree, child, NOTHING)
        nodes.set_number(tree, child, NOTHING)
    constraints.hand_down(tree, node)
